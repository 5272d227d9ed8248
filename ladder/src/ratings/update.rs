//! What a match does to the ratings of those who played it: Weng–Lin, Bradley–Terry with full pairing.

use skillratings::MultiTeamOutcome;
use skillratings::weng_lin::{WengLinConfig, WengLinRating, expected_score, weng_lin_multi_team};
use thiserror::Error;
use zetema_rules::Seat;

use super::rating::{Mu, Rating, Sigma};
use super::settings::RatingSettings;

/// One side of a match that is to be rated: its rank and the ratings of its members before the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedSide {
    pub(super) rank: u8,
    /// One to six.
    pub(super) members: Vec<Rating>,
}

/// A side without members, or with more than there are seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the side of rank {rank} has {given} members: give the ratings of 1 to 6")]
pub struct SideSize {
    /// The side's rank.
    pub rank: u8,
    /// How many members were given.
    pub given: usize,
}

impl RankedSide {
    /// A side that came in at this rank: a lower one is better, and sides of equal rank are level.
    ///
    /// # Errors
    /// [`SideSize`] if there are none, or more than six.
    pub fn new(rank: u8, members: Vec<Rating>) -> Result<Self, SideSize> {
        match members.len() {
            1..=Seat::MAX => Ok(Self { rank, members }),
            given => Err(SideSize { rank, given }),
        }
    }
}

impl RatingSettings {
    /// The ratings after a match, in the order in which the sides and their members are given.
    ///
    /// Each side is compared with each other side by the sum of its members' μ; how much a member's rating moves goes with its
    /// own part in the side's σ². A tie is half a win. The order of the sides and of the members changes no bit.
    ///
    /// The numbers are those of openskill.py's `BradleyTerryFull` as far as every μ is within ±100 β; one beyond counts as that,
    /// which is far more than any number of matches gives.
    ///
    /// ```
    /// # use zetema_ladder::{RankedSide, RatingSettings};
    /// let settings = RatingSettings::default();
    /// let winner = RankedSide::new(1, vec![settings.first()])?;
    /// let loser = RankedSide::new(2, vec![settings.first()])?;
    /// let after = settings.rate(&[winner, loser]);
    /// assert!(after[0][0].mu > settings.first().mu && after[1][0].mu < settings.first().mu);
    /// assert!(after[0][0].sigma < settings.first().sigma);
    /// # Ok::<(), zetema_ladder::SideSize>(())
    /// ```
    pub fn rate(&self, sides: &[RankedSide]) -> Vec<Vec<Rating>> {
        // Sums of floats depend on the order of what is added: so it is always the same.
        let by_strength = |members: &[Rating]| {
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by_key(|&member| (members[member].mu, members[member].sigma));
            order
        };
        let mut order: Vec<(usize, Vec<usize>)> =
            sides.iter().map(|side| by_strength(&side.members)).enumerate().collect();
        order.sort_by_cached_key(|(side, members)| {
            let RankedSide { rank, members: ratings } = &sides[*side];
            let ratings = members.iter().map(|&member| (ratings[member].mu, ratings[member].sigma));
            (*rank, ratings.collect::<Vec<_>>())
        });

        let before: Vec<Vec<WengLinRating>> = order
            .iter()
            .map(|(side, members)| {
                members.iter().map(|&member| self.before_match(sides[*side].members[member])).collect()
            })
            .collect();
        let ranked: Vec<_> = order
            .iter()
            .zip(&before)
            .map(|((side, _), ratings)| (&ratings[..], MultiTeamOutcome::new(sides[*side].rank.into())))
            .collect();
        let after = weng_lin_multi_team(&ranked, &self.config());

        let mut rated: Vec<Vec<Rating>> = sides.iter().map(|side| side.members.clone()).collect();
        for ((side, members), ratings) in order.iter().zip(after) {
            for (&member, rating) in members.iter().zip(&ratings) {
                rated[*side][member] = self.after_match(rating);
            }
        }
        rated
    }

    /// How often a bot of the first rating is ahead of one of the second, 0 to 1, where being level is half of it; whoever else
    /// plays changes nothing. The less sure the ratings are, the nearer it is to a half.
    ///
    /// ```
    /// # use zetema_ladder::{Mu, Rating, RatingSettings, Sigma};
    /// let settings = RatingSettings::default();
    /// let known = |mu| Ok::<_, zetema_ladder::OutOfRange>(Rating { mu: Mu::new(mu)?, sigma: Sigma::new(0.001)? });
    /// assert_eq!(settings.win_chance(known(25.0)?, known(25.0)?), 0.5);
    /// let better = known(25.0 + settings.beta * 2f64.sqrt())?;
    /// assert!((settings.win_chance(better, known(25.0)?) - 0.731).abs() < 0.001);
    /// # Ok::<(), zetema_ladder::OutOfRange>(())
    /// ```
    pub fn win_chance(&self, one: Rating, other: Rating) -> f64 {
        let points = |rating: Rating| WengLinRating {
            rating: self.within_reach(rating.mu.get()),
            uncertainty: rating.sigma.get(),
        };
        expected_score(&points(one), &points(other), &self.config()).0
    }

    fn config(&self) -> WengLinConfig {
        WengLinConfig { beta: self.beta, uncertainty_tolerance: self.kappa }
    }

    /// The library knows no τ: it is added to σ here, as variances add up.
    fn before_match(&self, rating: Rating) -> WengLinRating {
        WengLinRating {
            rating: self.within_reach(rating.mu.get()),
            uncertainty: (rating.sigma.get().powi(2) + self.tau.powi(2)).sqrt(),
        }
    }

    fn after_match(&self, rating: &WengLinRating) -> Rating {
        Rating {
            mu: Mu::nearest(self.within_reach(rating.rating)),
            sigma: Sigma::nearest(rating.uncertainty),
        }
    }

    /// The library takes e to the power of a side's μ over c ≥ √2 β, which is a number up to e⁷⁰⁹: so a member's μ ends at
    /// ±100 β, and that of a side of six makes e⁴²⁵.
    fn within_reach(&self, mu: f64) -> f64 {
        mu.clamp(-100.0 * self.beta, 100.0 * self.beta)
    }
}
