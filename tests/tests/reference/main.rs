//! The slow reference of the rules: what it says by itself, and whether the fast rules agree.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of these tests stand outside of test functions"
)]

mod clauses;
mod comparison;
mod coverage;
mod facts;
mod played_out;
mod presets;
mod support;
