//! What the pile under a discard is worth (R16).

use zetema_sdk::rules::{Cards, MatchEnd, Rank, RoyalZetema, Rules};
use zetema_sdk::{Seat, View};

use super::MATCH;
use super::hand::to_f64;

/// The piles of one decision, as its seat sees them.
pub(crate) struct Piles<'a> {
    pub(crate) view: &'a View,
    pub(crate) seat: Seat,
}

/// What a discard does to its pile, in points for this seat's side.
pub(crate) struct Change {
    /// Scored at once.
    pub(crate) scored: f64,
    /// To be expected after that.
    pub(crate) expected: f64,
}

impl Piles<'_> {
    /// What becomes of a rank's pile when a discard has left this hand and this tableau.
    pub(crate) fn after_discard(&self, hand: Cards, tableau: Cards, rank: Rank) -> Change {
        let points = self.points(hand, tableau, rank);
        let nothing = Change { scored: 0.0, expected: 0.0 };
        if points <= 0.0 {
            return nothing;
        }
        let own = hand.of_rank(rank).len();
        match tableau.of_rank(rank).len() {
            5 => Change { scored: points, expected: 0.0 },
            // The last card is in this hand: nobody else can take the zetema.
            lying if lying + own == 5 => Change { scored: 0.0, expected: 0.9 * points },
            4 => Change { scored: 0.0, expected: self.last_card(rank, points) },
            // Whoever plays the fourth card opens the pile to whoever holds the fifth.
            3 if own == 1 => Change { scored: 0.0, expected: 0.3 * points },
            3 => Change { scored: 0.0, expected: -0.1 * points },
            _ => nothing,
        }
    }

    /// The points of the rank's zetema, 0 if it can't be made any more or scores nothing.
    fn points(&self, hand: Cards, tableau: Cards, rank: Rank) -> f64 {
        let public = &self.view.public;
        let elsewhere = self.view.unseen().of_rank(rank).len();
        if tableau.of_rank(rank).len() + hand.of_rank(rank).len() + elsewhere < 5 {
            return 0.0;
        }
        let needed = match (self.view.rules.royal_zetema, rank) {
            (RoyalZetema::AfterAssembly, Rank::King) => Some(Rank::Queen),
            (RoyalZetema::AfterAssembly, Rank::Queen) => Some(Rank::King),
            _ => None,
        };
        if needed.is_some_and(|needed| !public.assemblies.contains(needed)) {
            return 0.0;
        }
        f64::from(Rules::zetema_points(rank))
    }

    /// What a pile of four is worth whose last card this seat does not hold: who plays it first?
    fn last_card(&self, rank: Rank, points: f64) -> f64 {
        let view = self.view;
        let players = view.rules.player_count();
        let last = view.unseen().of_rank(rank);
        let unseen = to_f64(view.unseen().len().max(1));
        let mut not_played = 1.0;
        let mut worth = 0.0;
        for seat in (1..players.count()).map(|places| self.seat.clockwise(places, players)) {
            let known = view.public.known_held[seat.index()];
            let odds = if known.of_rank(rank).is_empty() {
                // A card in the hand, or the next one drawn.
                let cards = usize::from(view.public.hand_counts[seat.index()]).saturating_sub(known.len());
                ((to_f64(cards) + 0.5) * to_f64(last.len()) / unseen).min(1.0)
            } else {
                1.0
            };
            worth += not_played * odds * self.worth_to(seat, points);
            not_played *= 1.0 - odds;
        }
        worth
    }

    /// What points of another seat are worth to this seat's side.
    fn worth_to(&self, seat: Seat, points: f64) -> f64 {
        let rules = &self.view.rules;
        let side = rules.side(seat);
        let total = f64::from(self.view.public.totals[side.index()]);
        let wins = rules.match_end == MatchEnd::AtOnce
            && rules.target.is_some_and(|target| total + points >= f64::from(target));
        let worth = if wins { points + MATCH } else { points };
        if side == rules.side(self.seat) { worth } else { -worth }
    }
}
