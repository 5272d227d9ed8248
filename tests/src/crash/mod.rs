//! A server that is killed, or whose machine loses its power, again and again while bots play on it.
//!
//! A [`Crew`] plays match after match, by the SDK and by `JoinSeat`, Observe and Act, and never gives up on a
//! connection. A [`Round`] crashes the server under it. At the end every player's [`Ledger`](crate::fault_runs::Ledger)
//! is held against the record and against what the server shows: what was acknowledged is there once, nothing else is,
//! and every match has ended as its rules say. The program `crash` plays any number of rounds.
//!
//! A [`LadderRun`] kills a server on whose ladder bots wait: at the end each result has its number, the standings count each once, and
//! the ratings that were stored, and those that were shown just before each kill, are those of the records.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod audit;
mod crew;
#[cfg(target_os = "linux")]
mod disk_run;
mod ladder_audit;
mod ladder_run;
#[cfg(target_os = "linux")]
mod power;
mod round;
mod shown;

pub use audit::Audit;
pub use crew::{Crew, Played};
#[cfg(target_os = "linux")]
pub use disk_run::{Came, DiskReport, DiskRun, Then};
pub use ladder_audit::LadderAudit;
pub use ladder_run::{LadderReport, LadderRun};
#[cfg(target_os = "linux")]
pub use power::Loss;
pub use round::{Crash, Failure, Report, Round};
