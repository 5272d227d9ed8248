//! End-to-end tests: clients from the generated code, sockets, and a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is the test's failure"
)]

mod access;
mod author_faults;
mod backend;
mod backup;
#[cfg(target_os = "linux")]
mod bad_bots;
mod bad_input;
mod cancelled;
mod challenges;
mod clocks;
mod dead_peers;
mod drain;
mod exactly_once;
#[cfg(target_os = "linux")]
mod floods;
mod halted;
mod house_bots;
mod ladders;
mod load;
mod log;
mod matrix;
mod otlp;
mod restart;
mod resume;
mod rotation;
mod secrecy;
mod takeover;
mod tls;
mod trace;
mod unary_bots;
mod webhooks;
