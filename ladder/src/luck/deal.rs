//! What one deck is worth to each side.

use zetema_rules::{Deck, Seat, Side};

use super::playout::play_out;
use super::random::Random;
use super::reference::Reference;
use super::step::Step;
use super::sums::{Sums, SumsError, quotient};

/// v: what one deck is worth to each side, whoever plays it.
///
/// A side's *lead* in a playout is how many points the reference makes for it in the whole deal, less the mean of what it makes
/// for each other side. The worth is the mean lead over the playouts. In points; over all sides it sums to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DealValues(pub(super) Sums);

impl DealValues {
    /// The values that were stored as [`DealValues::sums`].
    ///
    /// # Errors
    /// [`SumsError`] if they can't be the sums of a deal.
    pub fn from_sums(reference: Reference, sums: &[u64]) -> Result<Self, SumsError> {
        Sums::new(reference, reference.version().playouts(), sums).map(Self)
    }

    /// What they follow from, to store it: the points by side, summed over the playouts, with the last seat as the dealer.
    pub fn sums(&self) -> &[u64] {
        self.0.by_side()
    }

    /// What they were measured by.
    pub const fn reference(&self) -> Reference {
        self.0.reference
    }

    /// The worth to this side if this seat deals, in points.
    pub fn value(&self, side: Side, dealer: Seat) -> f64 {
        quotient(self.0.worth(side, dealer), self.0.denominator())
    }
}

/// Plays one deck out, a playout a step. A step takes less than a millisecond; `docs/luck.md` has the figures.
///
/// ```
/// use zetema_ladder::{Reference, ReferenceVersion, Step};
/// use zetema_rules::fair::{MatchSeed, ServerSeed};
/// use zetema_rules::{Preset, Suit};
///
/// let reference = Reference::new(&Preset::Sackson.rules(3, None)?, ReferenceVersion::One);
/// let deck = MatchSeed::derive(&ServerSeed::new([7; 32]), &[]).deck(0, Suit::Spades);
/// let mut computation = reference.deal(&deck)?;
/// assert_eq!(computation.left(), 16);
/// let values = loop {
///     // Other work may be done in between.
///     match computation.step() {
///         Step::More(more) => computation = more,
///         Step::Done(values) => break values,
///     }
/// };
/// assert_eq!(values, reference.deal(&deck)?.finish());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealComputation {
    deck: Deck,
    /// The last seat.
    dealer: Seat,
    sums: Sums,
}

impl DealComputation {
    pub(super) fn new(reference: Reference, deck: Deck) -> Self {
        let dealer = Seat::new(reference.rules().player_count().count() - 1);
        let dealer = dealer.unwrap_or_else(|| unreachable!("a match has six seats at most"));
        Self { deck, dealer, sums: Sums { reference, points: [0; Seat::MAX], playouts: 0 } }
    }

    /// How many steps are left; at least one.
    pub fn left(&self) -> u32 {
        self.sums.reference.version().playouts() - self.sums.playouts
    }

    /// Plays the deck once more.
    #[must_use]
    pub fn step(mut self) -> Step<Self, DealValues> {
        let reference = self.sums.reference;
        let mut random = Random::new(reference.version(), self.sums.playouts, &self.deck);
        let points = play_out(reference.rules(), &self.deck, self.dealer, &mut random);
        for (sum, points) in self.sums.points.iter_mut().zip(points) {
            *sum += u64::from(points);
        }
        self.sums.playouts += 1;
        if self.left() == 0 { Step::Done(DealValues(self.sums)) } else { Step::More(self) }
    }

    /// Does all steps that are left.
    pub fn finish(self) -> DealValues {
        let mut computation = self;
        loop {
            match computation.step() {
                Step::More(more) => computation = more,
                Step::Done(values) => return values,
            }
        }
    }
}
