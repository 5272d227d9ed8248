//! How lucky each side of a match was in its cards, and what its bot scores without that luck.
//!
//! The cards of a deal are worth something to each side, whoever plays them: a player of reference plays the deck at all
//! seats, many times, and says how much. That worth, less what is usual for the place at the table, is the deal's luck.
//! It depends on the cards alone, so that taking it off a score changes no bot's mean: `docs/luck.md` has the proof.
//!
//! ```
//! use zetema_ladder::{MatchTimes, PointsPerMatch, Reference, ReferenceVersion};
//! use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
//! use zetema_rules::{EndReason, MatchResult, Preset};
//!
//! // A match of two players that ended 310 to 145 in its second deal, as its record tells.
//! let rules = Preset::Sackson.rules(2, None)?;
//! let seed = MatchSeed::derive(&ServerSeed::new([7; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
//! let dealer = seed.dealer(rules.player_count());
//! let result = MatchResult { reason: EndReason::Target, ranks: [1, 2, 0, 0, 0, 0], totals: [310, 145, 0, 0, 0, 0] };
//!
//! let reference = Reference::new(&rules, ReferenceVersion::CURRENT);
//! let deals = (0..2)
//!     .map(|deal| Ok(reference.deal(&seed.deck(deal, rules.imperial_suit))?.finish()))
//!     .collect::<Result<Vec<_>, zetema_rules::DeckError>>()?;
//! // Once for these rules, then it is kept.
//! # let sums = vec![0; 2];
//! # let baseline = zetema_ladder::Baseline::from_sums(reference, &sums)?;
//! # let _ = || {
//! let baseline = reference.baseline().finish();
//! # };
//!
//! let scores = baseline.adjusted_scores(dealer, &deals, &result)?;
//! assert_eq!(scores[0].raw, 165.0);
//! assert_eq!(scores[0].adjusted(), scores[0].raw - scores[0].luck);
//! assert_eq!(scores[0].luck, -scores[1].luck);
//!
//! let mut points = PointsPerMatch::default();
//! points.count(scores[0], MatchTimes { created_ms: 0, ended_ms: 90_000 });
//! assert_eq!((points.matches(), points.raw().mean), (1, 165.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adjusted;
mod baseline;
mod deal;
mod estimate;
mod key;
mod playout;
mod points_per_match;
mod policy;
mod published;
mod random;
mod ranks;
mod reference;
mod step;
mod sums;
mod version;

pub use adjusted::{AdjustError, AdjustedScore};
pub use baseline::{Baseline, BaselineComputation};
pub use deal::{DealComputation, DealValues};
pub use estimate::{Estimate, Interval};
pub use key::{BaselineKey, DealKey};
pub use points_per_match::{MatchTimes, PointsPerMatch};
pub use ranks::ScoresMissing;
pub use reference::Reference;
pub use step::Step;
pub use sums::SumsError;
pub use version::{ReferenceVersion, UnknownReferenceVersion};
