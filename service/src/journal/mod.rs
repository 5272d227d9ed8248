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
//! - What is read was written: every record of a match carries a hash over itself and the one before, and a finished
//!   record one over all its columns. A match with damage is quarantined, the others run.
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
//! | file | holds |
//! |---|---|
//! | `journal.lock` | whether the journal was made, or is open: an advisory lock on it keeps a second server out |
//! | `journal.sqlite3` | the database: SQLite, WAL, `synchronous=FULL` |
//! | `journal.sqlite3-wal`, `-shm` | its WAL: part of the journal, never to be deleted or copied apart from the database |
//!
//! All have mode 0600 (a running match's secrets are in them), a folder that the journal makes 0700. The database has
//! application id `ZTMA` and these tables:
//!
//! | table | key | holds |
//! |---|---|---|
//! | `log_1`, `log_2` … | position | the segments of the log: one row per record of a running match, in the form below |
//! | `records` | result number | finished matches: what lists filter by, summary, record, hash over all columns |
//! | `requests` | caller, request id | hash and answer of each request that named itself, for 24 hours |
//! | `tokens` | token number | bearer tokens: id, scope, label, times, and the SHA-256 of the secret, never the secret |
//! | `quarantine` | match id | matches found damaged, and how many of their records are intact |
//! | `meta` | name | schema version and epoch of the journal itself, and values of its users, such as the service key |
//!
//! ## The log
//! Writing a row where the table ends is what SQLite does fastest; a key by match and version costs a factor of ten or
//! more. So a row's key is its position, which only grows, one by one, over all segments, and where the records of a
//! running match are is known in memory. At opening all of the log is read once, each hash checked, and the map built.
//!
//! A row is an envelope of 62 bytes and the payload (integers are big-endian):
//!
//! ```text
//! offset  bytes  what
//!      0      1  format, 1
//!      1      1  kind: 0 goes on, 1 the last record of its match
//!      2     16  match id
//!     18      4  version: 1 for the first record of a match
//!     22      8  epoch of the owner that wrote it
//!     30     32  chain hash
//!     62      …  payload
//!
//! content hash = SHA256(bytes 0 … 29 ‖ payload)
//! chain hash   = SHA256(chain hash of the version before ‖ content hash); 32 zero bytes come before version 1
//! ```
//!
//! A match is running when it has rows in the log and none in `records`. Rows of a match that has ended are dead. A new
//! segment begins when the last is full. A segment without a live row is dropped. When the log has more than twice its
//! live rows and two segments more, the live rows of the segment with the fewest are copied, byte by byte, to the
//! current one, a few in each transaction, until it can be dropped. So opening reads at most twice the live rows and two
//! segments, whatever the history, and each copied row frees one at least. A crash in between leaves the same row twice:
//! the later one counts.
//!
//! # What it relies on
//! - `fsync` means durable, and a file system on a local disk with working locks and shared memory.
//! - A write that SQLite says has failed before the end of its transaction was written did not happen. When a commit
//!   fails in any other way its outcome is [`Outcome::Unknown`], for the process sees it undone while a crash might still
//!   bring it back. So nothing else is written before the WAL is copied into the database and cut to nothing.
//! - Each commit is synced before the next is written, pages never reach the WAL before their transaction ends
//!   (`cache_spill` is off), and a failed commit's frames are cut off: a broken frame that is followed by a later
//!   transaction's, with the same salts, can only be damage.
//! - Damage that takes whole rows away, in an order that keeps every chain and every position, isn't found here.

mod ids;
mod outcome;
pub(crate) mod row;
mod sqlite;
mod store;
#[cfg(test)]
mod tests;
mod token;
mod values;

pub use ids::{Epoch, MatchId, ResultNumber, UnixMillis, Version};
pub use outcome::{
    AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, FinishOutcome, Health,
    Outcome, ReadError, RequestReused,
};
pub use sqlite::{
    JournalStats, OpenError, Options, Quarantine, Recovery, SqliteJournal, WalContent, WalDamage,
};
pub use store::{
    Append, Finish, FinishedFilter, FinishedMatch, FinishedPage, History, Journal, Listing, Never, NewMatch,
    NewMatches, PagePosition, Reader, Request, RequestKey, RequestState, ResultFilter, ResultRow,
    StoredMatch, StoredRecord, Visibility,
};
pub use token::{NoTokenId, Scope, SecretHash, StoredToken, TokenChange, TokenId, TokenNumber};
pub use values::{
    BodyHash, BotName, Caller, ClientReference, JournalValueError, MetaKey, MetaValue, NewRecords, Owner,
    PageSize, Payload, RecordBytes, RequestId, Response, Summary, TokenLabel,
};
