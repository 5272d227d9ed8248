//! A match's scores without the luck of its cards.

use thiserror::Error;
use zetema_rules::{MatchResult, Seat, Side};

use super::baseline::Baseline;
use super::deal::DealValues;
use super::reference::Reference;
use super::sums::{ahead, others, quotient};

/// What one side of a match scored, and what of it was luck. Over the sides of a match each of the three numbers sums to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdjustedScore {
    /// The side's total less the mean total of the other sides, in points.
    pub raw: f64,
    /// How much more the cards of the match's deals were worth to this side than is usual, in points.
    pub luck: f64,
}

impl AdjustedScore {
    /// The score without the luck, in points.
    pub fn adjusted(self) -> f64 {
        self.raw - self.luck
    }
}

/// Deals that no score can be adjusted by.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AdjustError {
    /// A deal was measured by something else than the baseline.
    #[error(
        "deal {deal} was measured by reference {given}, rules {given_rules}, the baseline by reference {expected}, rules \
        {expected_rules}: compute the deal anew",
        given = .given.version(), given_rules = .given.rules(),
        expected = .expected.version(), expected_rules = .expected.rules())]
    OtherReference {
        /// Which deal, 0 for the first.
        deal: usize,
        /// By which it was measured.
        given: Reference,
        /// By which the baseline was.
        expected: Reference,
    },
    /// The dealer is no seat of the match.
    #[error("seat {dealer} can't deal: the match has seats 0 to {last}")]
    Dealer {
        /// Who was said to deal first.
        dealer: Seat,
        /// The last seat.
        last: usize,
    },
    /// There is no deal.
    #[error("no deal was given: give all deals of the match, the one in which it ended too")]
    NoDeal,
}

impl Baseline {
    /// The scores of a match's sides, side 0 first.
    ///
    /// `deals` are all deals that were dealt, also the one in which the match ended, with its cards in full. That is what
    /// the proof needs: whether a deal counts may not depend on its cards.
    ///
    /// # Errors
    /// [`AdjustError`] if the deals were not measured as the baseline was, there is none, or the dealer of the first is no
    /// seat.
    pub fn adjusted_scores(
        &self,
        first_dealer: Seat,
        deals: &[DealValues],
        result: &MatchResult,
    ) -> Result<Vec<AdjustedScore>, AdjustError> {
        let rules = self.reference();
        let rules = rules.rules();
        let players = rules.player_count();
        if first_dealer.index() >= players.count() {
            return Err(AdjustError::Dealer { dealer: first_dealer, last: players.count() - 1 });
        }
        if deals.is_empty() {
            return Err(AdjustError::NoDeal);
        }
        let other = |(_, values): &(usize, &DealValues)| values.reference() != self.reference();
        if let Some((deal, values)) = deals.iter().enumerate().find(other) {
            let (given, expected) = (values.reference(), self.reference());
            return Err(AdjustError::OtherReference { deal, given, expected });
        }
        let totals = &result.totals[..rules.sides()];
        let score = |side: Side| AdjustedScore {
            raw: quotient(ahead(totals, side.index()), others(rules)),
            luck: self.luck(side, first_dealer, deals),
        };
        Ok((0..rules.sides()).filter_map(Side::new).map(score).collect())
    }

    /// In points, over all the deals. It is one fraction, so that it is rounded once.
    fn luck(&self, side: Side, first_dealer: Seat, deals: &[DealValues]) -> f64 {
        let (reference, usual) = (self.reference(), self.0);
        let decks = i64::from(reference.version().sample_decks());
        let dealers = (0..).map(|places| first_dealer.clockwise(places, reference.rules().player_count()));
        let luck: i64 = deals
            .iter()
            .zip(dealers)
            .map(|(values, dealer)| decks * values.0.worth(side, dealer) - usual.worth(side, dealer))
            .sum();
        quotient(luck, usual.denominator())
    }
}
