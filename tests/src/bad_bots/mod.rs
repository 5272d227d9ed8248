//! Bots that misbehave on a ladder, and what that does to those that don't (invariant I5).
//!
//! A [`Kind`] is one way to misbehave. A [`Run`] starts the program in a process of its own, lets six good bots play on a ladder for a
//! while beside eight others that behave, and, on a fresh server, beside one bad bot of every kind. Its [`Report`] says what the good ones felt
//! in both and what each bad one got, and [`Report::problems`] what is not as `docs/bad-bots.md` has it. Each client of a bad bot has a
//! thread of its own, and each bad bot an address. The program `bad_bots` runs it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod evidence;
mod felt;
mod kind;
mod line;
mod nuisance;
mod player;
mod report;
mod run;

pub use evidence::{Evidence, Rate};
pub use felt::{Felt, Seen};
pub use kind::Kind;
use line::Line;
use player::{Manner, Player};
pub use report::{BadRow, Bars, Figures, Report};
pub use run::{Lasts, Run};
