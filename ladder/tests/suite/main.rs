//! The ratings and standings of a ladder.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod folds;
mod openskill;
mod properties;
mod standings;
mod support;
