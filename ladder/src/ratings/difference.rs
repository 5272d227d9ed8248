//! Whether two ladders, one stored and one calculated anew, say the same.

use super::ladder::{Entry, Ladder};

/// A bot of which two ladders don't say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<B> {
    /// The bot.
    pub bot: B,
    /// What is stored; `None` if the stored ladder does not have it.
    pub stored: Option<Entry>,
    /// What was calculated anew; `None` if that ladder does not have it.
    pub recomputed: Option<Entry>,
    /// How far they are apart.
    pub deviation: Deviation,
}

/// How far two ratings are apart that don't have the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// μ and σ by at most 10⁻⁹ rating points, and all counts are equal: another build or platform rounds so.
    Rounding,
    /// More than that, or counts differ, or one of the two has no such bot: they are not of the same results.
    Beyond,
}

impl Deviation {
    /// What another build or platform may differ by, in rating points.
    pub const ROUNDING: f64 = 1e-9;

    fn between(stored: Option<&Entry>, recomputed: Option<&Entry>) -> Option<Self> {
        if stored == recomputed {
            return None;
        }
        let close = |one: f64, other: f64| (one - other).abs() <= Self::ROUNDING;
        match (stored, recomputed) {
            (Some(stored), Some(recomputed))
                if stored.tally == recomputed.tally
                    && close(stored.rating.mu.get(), recomputed.rating.mu.get())
                    && close(stored.rating.sigma.get(), recomputed.rating.sigma.get()) =>
            {
                Some(Self::Rounding)
            }
            _ => Some(Self::Beyond),
        }
    }
}

/// Each bot of which two ladders don't say the same, in the order of the bots: none if all have the same bits and counts.
///
/// It compares bots. That both ladders counted the same results is to be seen by [`Ladder::last`].
pub fn differences<B: Clone + Ord>(stored: &Ladder<B>, recomputed: &Ladder<B>) -> Vec<Difference<B>> {
    let mut bots: Vec<&B> = stored.bots().keys().chain(recomputed.bots().keys()).collect();
    bots.sort();
    bots.dedup();
    let differs = |bot: &B| {
        let (stored, recomputed) = (stored.bots().get(bot), recomputed.bots().get(bot));
        let deviation = Deviation::between(stored, recomputed)?;
        Some(Difference {
            bot: bot.clone(),
            stored: stored.copied(),
            recomputed: recomputed.copied(),
            deviation,
        })
    };
    bots.into_iter().filter_map(differs).collect()
}
