//! Players that are simple, and unlike the reference.

use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use zetema_rules::{Action, Card, LegalActions, View};

use crate::planner;

/// How a simulated bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Player {
    /// Declares what pays most, and discards anything.
    Eager,
    /// Declares what pays most, takes zetemas, and keeps its longest suit.
    Suits,
    /// Declares what pays most, and keeps what its plans need.
    Planner,
    /// As [`Player::Suits`] while it is not ahead; else it declares nothing, and so drags the match out.
    Dawdler,
}

impl Player {
    pub(crate) fn choose(self, view: &View, legal: &LegalActions, random: &mut StdRng) -> Action {
        let any = |random: &mut StdRng, of: usize| legal.get(random.random_range(0..of)).expect("an action");
        if self == Self::Dawdler && is_ahead(view) {
            return any(random, legal.discards.len());
        }
        let paying = legal.declarations.iter().map(|&declaration| Action::Declare(declaration));
        if let Some(action) = paying.max_by_key(|action| view.points(action)) {
            return action;
        }
        if self == Self::Eager {
            return any(random, legal.len());
        }
        let ties = random.next_u64();
        let worth = |card: Card| {
            // Ties go by chance.
            let tie = if (ties >> card.index()) & 1 == 1 { 0.5 } else { 0.0 };
            tie + if self == Self::Planner { planner::worth(view, card) } else { kept_suit(view, card) }
        };
        let discards = legal.discards.faces_in_order().map(|card| (worth(card), card));
        let best = discards.max_by(|one, other| one.0.total_cmp(&other.0));
        Action::Discard(best.expect("a discard").1)
    }
}

fn is_ahead(view: &View) -> bool {
    let own = view.public.to_act().map(|seat| view.rules.side(seat).index());
    let best = (0..view.rules.sides()).max_by_key(|&side| view.public.totals[side]);
    own == best
}

/// The points of a discard, less ten for each card of its suit.
fn kept_suit(view: &View, card: Card) -> f64 {
    f64::from(view.points(&Action::Discard(card))) - 10.0 * view.hand.of_suit(card.suit()).len() as f64
}
