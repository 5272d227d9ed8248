//! Clients that misbehave on purpose, and what that does to the server and to others (invariant I5).
//!
//! A [`Flood`] is one way to misbehave. Frames are written by hand, as clients' libraries refuse to. A [`Run`] starts the program
//! in a process of its own, lets [`Honest`] clients play on it, and attacks; its [`Row`] says when the attacker was cut, what
//! it cost in memory, and what the others felt. Attackers come from 127.0.0.2, the others from 127.0.0.1. The program
//! `floods` runs them all.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod calls;
mod control;
mod ending;
mod flood;
mod frames;
mod honest;
mod host;
mod line;
mod readers;
mod request;
mod run;
mod scarce;
mod silence;
mod spectators;
mod streams;
mod tally;
mod target;

pub use ending::Ending;
pub use flood::Flood;
pub use honest::{Crowd, Figures, Honest, Length};
pub use host::{Effort, Host, Memory, Setup, Transport};
pub(crate) use host::{memory, processor_time};
use line::Line;
pub use readers::{Beside, Readers, ReadersRow};
use request::Request;
pub use run::{Enough, Row, Run};
pub use scarce::{Phase, Scarce, ScarceReport};
pub use spectators::{SpectatorsRow, watch_one};
pub use tally::{Tally, Toll};
use target::Wire;
pub use target::{Playing, Reading, Target};
