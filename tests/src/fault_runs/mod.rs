//! Whole matches over a connection with one fault: at every frame, of every kind, in both directions.
//!
//! A [`Scene`] plays the same match again and again, each time with the fault of one [`Case`], and holds what
//! the player of the faulty connection can swear to, its [`Ledger`], against the record and against what the
//! server shows by a connection that is whole. Some cases are played with a clock, some by a bot's token: see
//! [`Case::terms`]. The program `fault_runs` runs every case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod backend;
mod case;
mod check;
mod choice;
mod ledger;
mod logged;
mod problem;
mod relay;
mod scene;

pub use backend::Backend;
pub use case::{Case, Claim, Dealing, Terms, Transport, every_case, name};
pub use check::Truth;
pub use ledger::{Chosen, Ledger, Receipted, Subscription, game_events};
pub use logged::Logged;
pub use problem::Problem;
pub use relay::{Bug, Relay};
pub(crate) use scene::play;
pub use scene::{Run, Scene};
