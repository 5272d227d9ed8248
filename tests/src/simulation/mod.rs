//! Whole matches on simulated time, network and disk, in which everything goes wrong that a seed says.
//!
//! The tables, their tasks, clocks and subscriptions are the service's own ([`Matches`](zetema_service::matches::Matches)),
//! on tokio's paused time. The journal is a model that keeps what its trait promises and can be told to fail; each write that
//! it stores is replayed at a table of the simulation's own, which says from then on what everyone must be told. The clients
//! are models that follow the wire's contract: they join, resume, answer, and send the same again until they are told what
//! became of it.
//!
//! Held against what is stored, at every step: what is acknowledged (I1), each receipt and each refusal of a retried answer
//! (I2), every observation and snapshot of every viewer, where it is sent and where it arrives (I3, I4), what a decision cost
//! against the time in which the server ran, and that every card is in one place. At the end: that every match is over, its record
//! verifies, and every viewer can still read all of it.
//!
//! A seed says everything, so a run comes again exactly: [`Run::trace`] is the hash of all that happened in it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod creation;
mod disk;
mod expected;
mod fault;
mod network;
mod place;
mod player;
mod random;
mod server;
mod shrink;
mod stream;
mod strike;
mod tally;
mod time_line;
mod trace;
mod truth;
mod watcher;
mod world;

pub use fault::{Fault, faults_of};
pub use shrink::shrink;
pub use tally::Tally;
pub use trace::Lines;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// What was wrong first, if anything was.
    pub problem: Option<String>,
    /// The hash of all that happened.
    pub trace: u64,
    /// All that happened, if it was to be kept.
    pub lines: Vec<String>,
    /// It in numbers.
    pub tally: Tally,
}

/// Runs the matches of a seed with these faults.
pub fn run(seed: u64, faults: &[Fault], lines: Lines) -> Run {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime without I/O");
    runtime.block_on(world::run(seed, faults, lines))
}
