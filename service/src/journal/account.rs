//! Accounts as the journal keeps them: the bots that were registered, and the owners that registered themselves.

use async_trait::async_trait;

use super::{
    BotDescription, BotName, BotVersion, FaultContact, Outcome, Owner, ReadError, RequestReused, TokenChange,
    UnixMillis,
};

/// The place of a bot among all that were ever registered, in that order, from 1. It is the bot's for good, as no bot is ever
/// forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BotNumber(u64);

impl BotNumber {
    /// The bot with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A registered bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBot {
    /// Its place among all.
    pub number: BotNumber,
    /// Its name.
    pub name: BotName,
    /// Whose it is.
    pub owner: Owner,
    /// What it is, if its owner says so.
    pub description: Option<BotDescription>,
    /// Its version, if its owner says so.
    pub version: Option<BotVersion>,
    /// Whom to tell of its faults, if its owner says so.
    pub fault_contact: Option<FaultContact>,
    /// When it was registered.
    pub created_at: UnixMillis,
    /// When it was retired, if it was.
    pub retired_at: Option<UnixMillis>,
}

/// An owner that registered itself. Those that the admin makes have tokens and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOwner {
    /// Its name.
    pub name: Owner,
    /// When it was registered.
    pub created_at: UnixMillis,
}

/// All accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    /// The bots, in the order in which they were registered.
    pub bots: Vec<StoredBot>,
    /// The owners, by name.
    pub owners: Vec<StoredOwner>,
}

/// An account that is new, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Account {
    /// A bot, which takes the place of the one with its number, if there is one.
    Bot(StoredBot),
    /// An owner, which is new.
    Owner(StoredOwner),
}

/// A change of an account and of its tokens, all or none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// The account as it is from then on.
    pub account: Account,
    /// What changes among the tokens.
    pub tokens: TokenChange,
}

/// Durable memory of accounts, beside that of their tokens.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Every account.
    async fn accounts(&self) -> Result<Accounts, ReadError>;

    /// Whether a match that is over, or a webhook, is of an owner of this name.
    async fn has_left_traces(&self, owner: Owner) -> Result<bool, ReadError>;

    /// Whether a match that is over has a seat for a bot of this name.
    async fn has_played(&self, bot: BotName) -> Result<bool, ReadError>;

    /// Makes a change.
    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused>;
}
