//! The journal: durable memory of every match.
//!
//! [`Journal`] is the trait that tables and services use; [`SqliteJournal`] keeps one in a folder. It knows no rules: a
//! record is bytes to it (a message of package `zetema.journal.v1`), and so is the finished record that users query.
//!
//! # What it promises
//! - A write that ends [`Outcome::Done`] is durable, whole, and outlives any crash. [`Outcome::Refused`] and
//!   [`Outcome::Failed`] wrote nothing. [`Outcome::Unknown`] can't tell: [`Journal::read`] can.
//! - A match has records 1, 2, 3 …: an append names the version that it expects. A later owner writes with a greater
//!   epoch; once it has written, an earlier one is refused. Each opening has an epoch of its own ([`Journal::epoch`]).
//! - The last append of a match files its whole record and gives its result a number, in one transaction. The numbers
//!   have no gap, and a result that can be read never changes.
//! - What is read was written: every record of a match carries a hash over itself and the one before, and every other
//!   row one over its columns. A match with damage is quarantined, the others run; where it can't be told which match
//!   has lost a record, and where the write-ahead log is damaged, the journal is not opened.
//!
//! ```
//! use zetema_service::journal::{
//!     Append, Journal, NewMatch, NewMatches, Options, Outcome, Payload, SqliteJournal, StoredMatch, UnixMillis, Version,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let (journal, recovery) = SqliteJournal::open(folder.path(), Options::default()).await?;
//! assert_eq!(recovery.unfinished, 0);
//!
//! let match_id = "000102030405060708090a0b0c0d0e0f".parse()?;
//! let created = NewMatch { match_id, records: Payload::new("created")?.into() };
//! let new = NewMatches::new(vec![created], journal.epoch(), UnixMillis::new(0), None)?;
//! assert!(matches!(journal.create(new).await, Outcome::Done(_)));
//!
//! let records = Payload::new("seat 1 has joined")?.into();
//! let append = Append { match_id, expected: Version::new(1), epoch: journal.epoch(), records };
//! assert_eq!(journal.append(append).await, Outcome::Done(Version::new(2)));
//!
//! let Some(StoredMatch::Running(history)) = journal.read(match_id).await? else { panic!() };
//! assert_eq!(history.records[1].payload.as_bytes().as_ref(), b"seat 1 has joined");
//! # journal.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # The files
//! The form of the files, what is relied on and what damage is found are in `docs/journal.md`.

mod account;
mod ids;
mod ladder;
mod lists;
mod outcome;
pub(crate) mod pack;
pub(crate) mod redo;
pub(crate) mod row;
mod sqlite;
mod store;
#[cfg(test)]
mod tests;
mod token;
mod values;
mod webhook;

pub use account::{Account, AccountChange, AccountStore, Accounts, BotNumber, StoredBot, StoredOwner};
pub use ids::{Epoch, MatchId, ResultNumber, UnixMillis, Version};
pub use ladder::{
    LadderChange, LadderStore, LaterRatings, OtherBots, StoredLadder, StoredLater, StoredRating,
    StoredSettings,
};
pub use lists::{FinishedFilter, FinishedPage, PagePosition, Reader, ResultFilter, ResultPage};
pub use outcome::{
    AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, FinishOutcome, Health,
    Outcome, ReadError, RequestReused,
};
pub use sqlite::{
    BackupContent, BackupError, Checked, ClosedJournal, ClosedLadders, ClosedPage, FileSizes, JournalQueue,
    JournalStats, LogStore, OpenError, Options, Quarantine, Recovery, RedoDamage, Repaired, Restoring,
    SqliteJournal, WalContent, WalDamage, backup,
};
pub(crate) use sqlite::{make_folder, private_file};
pub use store::{
    Append, Completion, Fetch, Finish, FinishedMatch, History, Journal, Listing, Never, NewMatch, NewMatches,
    Request, RequestKey, RequestState, ResultRow, ServerJournal, Standing, StoredMatch, StoredRecord,
    Visibility,
};
pub use token::{
    BotToken, Made, NoTokenId, Rotation, Scope, SecretHash, StoredToken, TokenChange, TokenId, TokenNumber,
};
pub use values::{
    BodyHash, BotDescription, BotName, BotVersion, Caller, ClientReference, FaultContact, JournalValueError,
    LadderName, MetaKey, MetaValue, NewRecords, Owner, PageSize, Payload, RecordBytes, RequestId, Response,
    Summary, TokenLabel,
};
pub use webhook::{
    DeadLetter, DeadLetterFilter, DeadLetterState, NoWebhookId, Resend, StoredWebhook, WebhookChange,
    WebhookId, WebhookNumber, WebhookStore, WebhookUrl,
};
