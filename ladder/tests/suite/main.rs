//! The ratings and standings of a ladder.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod folds;
mod openskill;
mod properties;
mod rounding;
mod standings;
mod support;
