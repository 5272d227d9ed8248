//! Matches over a journal that can be told to fail.

mod any_clock;
mod before_clocks;
mod bot_seats;
mod challenges;
mod clocks;
mod deal_sets;
mod failures;
pub(crate) mod fake;
pub(crate) mod harness;
mod kept_faults;
mod length;
mod lifecycle;
mod lists;
mod live_bytes;
mod player_faults;
mod results;
mod simulation;
mod spectators;
mod streams;
mod ways;
