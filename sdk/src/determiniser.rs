//! Dealing the cards that a seat can't see.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use zetema_rules::{Card, Cards, CompleteError, Game, Seat, View, Viewer};

/// Deals the unseen cards at random, for bots that search: each [`Game`] is one that the viewer could
/// be seeing.
///
/// Every arrangement of the unseen cards that has the cards known to be held (R8) in their hands is
/// equally likely. What the way in which the others played may tell is left to the bot.
///
/// ```
/// use zetema_sdk::{Action, Bot, Decision, Determiniser};
/// use zetema_sdk::rules::View;
///
/// /// How often the next seat's first legal action is a declaration, of a hundred deals.
/// fn declarations(view: &View, seed: u64) -> usize {
///     let mut determiniser = Determiniser::new(seed);
///     let games = (0..100).filter_map(|_| determiniser.deal(view).ok());
///     games.filter(|game| !game.legal_actions().declarations.is_empty()).count()
/// }
/// ```
#[derive(Debug)]
pub struct Determiniser {
    random: StdRng,
}

/// How often a deal is tried again for the sake of equal odds: those that are left after so many
/// tries are too few to matter.
const TRIES: u32 = 1000;

impl Determiniser {
    /// A determiniser that gives the same deals for the same seed.
    pub fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }

    /// A match that this viewer could be seeing.
    ///
    /// # Errors
    /// [`CompleteError`] if no match looks like that: the view was put together, not received.
    pub fn deal(&mut self, view: &View) -> Result<Game, CompleteError> {
        let known = known_hands(view);
        let unseen = view.unseen();
        let unknown = known.iter().enumerate().filter(|&(seat, _)| !is_viewer(view, seat));
        let mut unknown: Vec<Card> =
            unknown.fold(unseen, |left, (_, known)| left.minus(*known)).iter().collect();
        let (mut hands, mut stock) = self.deal_once(view, &known, &mut unknown);
        for _ in 0..TRIES {
            if self.keeps(&known, &hands) {
                break;
            }
            (hands, stock) = self.deal_once(view, &known, &mut unknown);
        }
        view.complete(&hands, &stock)
    }

    fn deal_once(&mut self, view: &View, known: &[Cards], unknown: &mut [Card]) -> (Vec<Cards>, Vec<Card>) {
        unknown.shuffle(&mut self.random);
        let mut left = unknown.iter().copied();
        let mut hands = known.to_vec();
        for (hand, &count) in hands.iter_mut().zip(&view.public.hand_counts) {
            let missing = usize::from(count).saturating_sub(hand.len());
            for card in left.by_ref().take(missing) {
                hand.insert(card);
            }
        }
        (hands, left.collect())
    }

    /// Whether to keep a deal. A hand that is known to hold a face, with the second copy of it dealt
    /// to it too, can have come about in one way, for each two in which the copies are apart: the
    /// one that is known may be either. So such a deal is kept half as often.
    fn keeps(&mut self, known: &[Cards], hands: &[Cards]) -> bool {
        let second_copies: usize = known
            .iter()
            .zip(hands)
            .map(|(known, hand)| {
                known.faces_in_order().filter(|&card| known.count(card) < hand.count(card)).count()
            })
            .sum();
        (0..second_copies).all(|_| self.random.random_bool(0.5))
    }
}

fn is_viewer(view: &View, seat: usize) -> bool {
    matches!(view.viewer, Viewer::Seat(viewer) if viewer.index() == seat)
}

/// For each seat the cards that the viewer knows to be in its hand, all of them for its own.
fn known_hands(view: &View) -> Vec<Cards> {
    let known = |seat: Seat| {
        let exposed = view.public.exposed[seat.index()].map_or(Cards::EMPTY, Cards::from);
        view.public.known_held[seat.index()].union(exposed)
    };
    view.rules
        .seats()
        .map(|seat| if is_viewer(view, seat.index()) { view.hand } else { known(seat) })
        .collect()
}
