//! The house bots, on the SDK alone: `random`, `greedy`, `appraiser`, `searcher`, each stronger in `sackson` and `quick` than the one
//! before, and a form of `greedy` to measure it by. [`Duel`] says how much stronger.
//!
//! ```
//! use zetema_bots::House;
//! use zetema_sdk::rules::Preset;
//! use zetema_sdk::{MatchInfo, numbered_seed, simulate};
//!
//! let bots = [zetema_bots::by_name("greedy")?, House::Random];
//! let make = |info: &MatchInfo| bots[info.seat.index()].make(info, 7);
//! let played = simulate(Preset::Sackson.rules(2, None)?, &numbered_seed(1), make)?;
//! assert_eq!(played.result.ranks[0], 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod appraiser;
mod budget;
mod candidates;
mod duel;
mod endgame;
mod greedy;
mod house;
mod outlook;
mod playout;
mod policy;
mod random;
mod samples;
mod searcher;

pub use appraiser::Appraiser;
pub use budget::Budget;
pub use duel::Duel;
pub use greedy::{Greedy, Zetemas};
pub use house::{House, UnknownBot, by_name};
pub use random::Random;
pub use samples::{Estimate, Samples};
pub use searcher::Searcher;
