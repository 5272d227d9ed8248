//! Tokens, owners and bots.

use std::time::Duration;

/// Bearer tokens that are kept, void ones too, some 400 bytes each in memory. The oldest void ones make room for new
/// ones, but for the last of each owner and bot, so there are never more names than this either.
pub const MAX_TOKENS: usize = 10_000;

/// Places of these that rotations leave: when there are no more, a rotation voids the old token at once.
pub const TOKENS_LEFT_BY_ROTATIONS: usize = 1_000;

/// How long a bot's token plays on, when the bot got another, the seats that the bot had: longer than any match of a ladder takes.
pub const ROTATED_TOKEN_PLAYS_ON: Duration = Duration::from_hours(24);

/// Matches that are made so soon after a rotation count as made before it: a ladder may have paired the bot already while the rotation
/// was on its way to the disk. Who has the new token has hardly connected by then.
pub const ROTATION_SETTLES: Duration = Duration::from_millis(200);

/// Bytes of a token's label, as the wire promises.
pub const MAX_TOKEN_LABEL_BYTES: usize = 64;

/// Characters of an owner's or a bot's name, as the wire promises.
pub const MAX_ACCOUNT_NAME_CHARS: usize = 64;

/// Bytes of what a bot's owner says of it, as the wire promises.
pub const MAX_BOT_DESCRIPTION_BYTES: usize = 256;

/// Bytes of a bot's version, as the wire promises.
pub const MAX_BOT_VERSION_BYTES: usize = 64;

/// Bytes of whom to tell of a bot's faults, as the wire promises.
pub const MAX_FAULT_CONTACT_BYTES: usize = 256;

/// Bots that were ever registered, some KiB each in memory and on the disk. Their owners get one valid token for each and its last
/// is kept when it is void, so that the bots and the owners that register themselves leave 3,000 of [`MAX_TOKENS`] to the admin at least.
pub const MAX_BOTS: usize = 6_000;

/// Those of them that owners may register who registered themselves: the others are for whom the admin knows.
pub const MAX_BOTS_OF_REGISTERED_OWNERS: usize = MAX_BOTS / 2;

/// Bots that one owner may ever register, retired ones too: their names are kept, so who registers and retires without end would use
/// up [`MAX_BOTS`] alone.
pub const MAX_BOTS_EVER_PER_OWNER: usize = 200;

/// Bots of one owner that are not retired, unless configured.
pub const DEFAULT_MAX_BOTS_PER_OWNER: u32 = 20;

/// Owners that may register themselves where that is open, unless configured, each with a token. The admin is not bound by it.
pub const DEFAULT_MAX_REGISTERED_OWNERS: u32 = 200;

/// Matches that a bot may be paired for at once, unless configured.
pub const DEFAULT_BOT_MATCHES_AT_ONCE: u32 = 4;

/// Matches that a bot may be paired for in any 24 hours, unless configured: half of them at any pace, and then one each nine seconds. Of
/// `sackson` for two they are some 200 MB of journal a day for two bots that play all they can.
pub const DEFAULT_BOT_MATCHES_A_DAY: u32 = 20_000;
