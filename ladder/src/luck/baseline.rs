//! What each place at the table is usually worth.

use zetema_rules::fair::MatchSeed;
use zetema_rules::{Seat, Side};

use super::deal::DealComputation;
use super::reference::Reference;
use super::step::Step;
use super::sums::{Sums, SumsError, quotient};

/// v̄: what each place at the table is usually worth, such as to play first: the mean of [`DealValues`](crate::DealValues)
/// over the decks of the version's published sample. In points a deal; over all sides it sums to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Baseline(pub(super) Sums);

impl Baseline {
    /// The baseline that was stored as [`Baseline::sums`].
    ///
    /// # Errors
    /// [`SumsError`] if they can't be the sums of the sample.
    pub fn from_sums(reference: Reference, sums: &[u64]) -> Result<Self, SumsError> {
        let version = reference.version();
        Sums::new(reference, version.playouts() * version.sample_decks(), sums).map(Self)
    }

    /// What it follows from, to store it: the points by side, summed over all playouts of all decks of the sample, with the
    /// last seat as the dealer.
    pub fn sums(&self) -> &[u64] {
        self.0.by_side()
    }

    /// What it was measured by.
    pub const fn reference(&self) -> Reference {
        self.0.reference
    }

    /// The worth to this side if this seat deals, in points.
    pub fn value(&self, side: Side, dealer: Seat) -> f64 {
        quotient(self.0.worth(side, dealer), self.0.denominator())
    }
}

/// Plays the decks of the sample out, a playout a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineComputation {
    seed: MatchSeed,
    /// The number of the deck that is played.
    number: u32,
    deck: DealComputation,
    sums: Sums,
}

impl BaselineComputation {
    pub(super) fn new(reference: Reference) -> Self {
        let seed = reference.version().sample_seed();
        let deck = Self::deck(reference, &seed, 0);
        Self { seed, number: 0, deck, sums: Sums { reference, points: [0; Seat::MAX], playouts: 0 } }
    }

    fn deck(reference: Reference, seed: &MatchSeed, number: u32) -> DealComputation {
        DealComputation::new(reference, seed.deck(number, reference.rules().imperial_suit))
    }

    /// How many steps are left; at least one.
    pub fn left(&self) -> u32 {
        let version = self.sums.reference.version();
        (version.sample_decks() - self.number - 1) * version.playouts() + self.deck.left()
    }

    /// Plays the next deck of the sample, or the same one once more.
    #[must_use]
    pub fn step(mut self) -> Step<Self, Baseline> {
        let values = match self.deck.step() {
            Step::More(deck) => return Step::More(Self { deck, ..self }),
            Step::Done(values) => values,
        };
        for (sum, points) in self.sums.points.iter_mut().zip(values.0.points) {
            *sum += points;
        }
        self.sums.playouts += values.0.playouts;
        let reference = self.sums.reference;
        self.number += 1;
        if self.number == reference.version().sample_decks() {
            return Step::Done(Baseline(self.sums));
        }
        self.deck = Self::deck(reference, &self.seed, self.number);
        Step::More(self)
    }

    /// Does all steps that are left.
    pub fn finish(self) -> Baseline {
        let mut computation = self;
        loop {
            match computation.step() {
                Step::More(more) => computation = more,
                Step::Done(baseline) => return baseline,
            }
        }
    }
}
