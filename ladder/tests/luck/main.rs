//! The luck of the cards, and scores without it.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::cast_precision_loss)]

mod figures;
mod places;
mod planner;
mod played;
mod player;
mod ranks;
mod scores;
mod sums;
mod values;
