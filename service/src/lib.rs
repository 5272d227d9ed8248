//! The Zetema server: tables, journal and the gRPC adapters.

pub mod access;
mod admission;
mod bots;
mod challenges;
pub mod config;
pub mod encoding;
mod executor;
mod grpc;
mod incident;
pub mod journal;
mod kept_file;
pub mod ladders;
pub mod limits;
pub mod matches;
pub mod metrics;
mod own_task;
#[cfg(test)]
mod planted;
mod prefetch;
pub mod repair;
pub mod restore;
mod seldom;
pub mod server;
mod short_queue;
/// The simulation of the workspace's tests, which sees the bugs of `planted` when it is compiled into this crate.
#[cfg(test)]
#[path = "../../tests/src/simulation/mod.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is written to be a module of another crate")]
mod simulation;
mod sleeper;
pub mod table;
mod tally;
pub mod traces;
pub mod webhooks;

pub use incident::Incident;

#[cfg(test)]
extern crate self as zetema_service;
