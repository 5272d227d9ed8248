//! Pairs of games that differ only in what a seat, or a spectator, can't see (I3).
//!
//! A game is played at random by the rules alone, and where each card went is written down. Its twin has the same
//! steps and other decks: cards change places as long as each card that was shown up to some step came to the same seat
//! before it was shown, and the observer's own cards stay. Both are then played through the whole service in this
//! process, from the bytes of a request to the bytes of its answer, on a clock, ids, keys and seeds that are the same;
//! the decks come by a [`Shuffler`](zetema_service::table::Shuffler) behind the same commitment. What the other seats do
//! unseen differs too. Everything that the observer, a spectator and a reader of lists and metrics receive must be the
//! same, byte for byte.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod http;
mod journal;
mod mischief;
mod model;
mod page;
mod pair;
mod plan;
mod run;
mod tape;
mod trace;
mod world;

pub use journal::MemoryJournal;
pub use pair::{Pair, play_pair};
pub use plan::{Clock, Plan, Setting, forms};
pub use run::Twin;
pub use tape::{Difference, Leak, Truth};
pub use world::Lab;
