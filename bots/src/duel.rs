//! Which of two bots is stronger, with an interval.

use std::fmt;
use std::ops::Range;

use zetema_sdk::rules::{MatchResult, PlayError, Side};
use zetema_sdk::{Bot, MatchInfo, Rules, numbered_seed, simulate};

use crate::outlook::share;
use crate::samples::{Estimate, Samples};

/// What two bots made of the same cards.
///
/// A sample is one numbered seed: its decks are played once for each side, with the first bot on that side and
/// the second on all others. So each bot holds each hand, the seat that begins is no advantage, and the samples
/// are independent of one another, as the intervals ask for.
///
/// ```
/// use zetema_bots::{Duel, House};
/// use zetema_sdk::rules::Preset;
///
/// let rules = Preset::Sackson.rules(2, None)?;
/// let duel = Duel::play(rules, 0..20, |info| House::Greedy.make(info, 1), |info| House::Random.make(info, 1))?;
/// assert!(duel.wins().low() > 0.5, "{duel}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duel {
    sides: usize,
    matches: u64,
    faults: u64,
    wins: Samples,
    margins: Samples,
}

impl Duel {
    /// Plays the matches of these numbered seeds in this process.
    ///
    /// # Errors
    /// None that a bot could cause, as with [`simulate`].
    pub fn play<A: Bot + 'static, B: Bot + 'static>(
        rules: Rules,
        seeds: Range<u64>,
        mut first: impl FnMut(&MatchInfo) -> A,
        mut second: impl FnMut(&MatchInfo) -> B,
    ) -> Result<Self, PlayError> {
        let sides = rules.sides();
        let (wins, margins) = (Samples::default(), Samples::default());
        let mut duel = Self { sides, matches: 0, faults: 0, wins, margins };
        for seed in seeds {
            let (mut wins, mut margins) = (0.0, 0.0);
            for side in (0..sides).filter_map(Side::new) {
                let make = |info: &MatchInfo| -> Box<dyn Bot> {
                    if info.rules.side(info.seat) == side {
                        Box::new(first(info))
                    } else {
                        Box::new(second(info))
                    }
                };
                let played = simulate(rules, &numbered_seed(seed), make)?;
                duel.matches += 1;
                duel.faults += u64::try_from(played.faults.len()).unwrap_or(u64::MAX);
                wins += share(&rules, &played.result, side);
                margins += margin(&played.result, sides, side);
            }
            let sides = to_f64(sides);
            duel.wins.add(wins / sides);
            duel.margins.add(margins / sides);
        }
        Ok(duel)
    }

    /// The share of the matches that the first bot's side won, from 0 to 1; a shared first rank is divided.
    pub fn wins(&self) -> Estimate {
        self.wins.mean()
    }

    /// How many points a match the first bot's side was ahead of the mean of the others.
    pub fn margin(&self) -> Estimate {
        self.margins.mean()
    }

    /// The share that it would have won by chance.
    pub fn chance(&self) -> f64 {
        1.0 / to_f64(self.sides)
    }

    /// How many matches were played.
    pub const fn matches(&self) -> u64 {
        self.matches
    }

    /// How often a bot fell or chose what is not legal.
    pub const fn faults(&self) -> u64 {
        self.faults
    }
}

/// The points that a side is ahead of the mean of the others.
fn margin(result: &MatchResult, sides: usize, side: Side) -> f64 {
    let own = f64::from(result.totals[side.index()]);
    let all: f64 = result.totals[..sides].iter().map(|&total| f64::from(total)).sum();
    own - (all - own) / to_f64(sides.saturating_sub(1).max(1))
}

impl fmt::Display for Duel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wins, margin) = (self.wins(), self.margin());
        write!(
            f,
            "{:.1} % [{:.1}, {:.1}] of {} matches, {:+.1} [{:+.1}, {:+.1}] points a match",
            100.0 * wins.mean,
            100.0 * wins.low(),
            100.0 * wins.high(),
            self.matches,
            margin.mean,
            margin.low(),
            margin.high()
        )
    }
}

fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
