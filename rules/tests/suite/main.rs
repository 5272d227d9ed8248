//! Tests of the rules through the crate's public surface. Each module says what it shows.

// The lint's own exception covers test functions only, not the helpers that they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cards;
mod clauses;
mod clocks;
mod completions;
mod deals;
mod fair_deals;
mod hand_counts;
mod hidden;
mod ledger;
mod legality;
mod marriages;
mod notation;
mod presets;
mod properties;
mod refusals;
mod support;
mod unseen;
mod walk;
