//! What the pile under a discard promises (R16).

use zetema_rules::{Cards, Rank, RoyalZetema, Rules, Seat, View};

use super::to_f64;

/// The piles of one decision, as its seat sees them.
pub(super) struct Piles<'a> {
    pub(super) view: &'a View,
    pub(super) seat: Seat,
}

impl Piles<'_> {
    /// What a rank's pile is worth to this seat's side when a discard has left this hand and this tableau.
    pub(super) fn after_discard(&self, hand: Cards, tableau: Cards, rank: Rank) -> f64 {
        let points = self.points(hand, tableau, rank);
        if points <= 0.0 {
            return 0.0;
        }
        let own = hand.of_rank(rank).len();
        match tableau.of_rank(rank).len() {
            5 => points,
            // The last card is in this hand: nobody else can take the zetema.
            lying if lying + own == 5 => 0.9 * points,
            4 => self.last_card(rank, points),
            // Whoever plays the fourth card opens the pile to whoever holds the fifth.
            3 if own == 1 => 0.3 * points,
            3 => -0.1 * points,
            _ => 0.0,
        }
    }

    /// The points of the rank's zetema, 0 if it can't be made any more or scores nothing.
    fn points(&self, hand: Cards, tableau: Cards, rank: Rank) -> f64 {
        let elsewhere = self.view.unseen().of_rank(rank).len();
        if tableau.of_rank(rank).len() + hand.of_rank(rank).len() + elsewhere < 5 {
            return 0.0;
        }
        let needed = match (self.view.rules.royal_zetema, rank) {
            (RoyalZetema::AfterAssembly, Rank::King) => Some(Rank::Queen),
            (RoyalZetema::AfterAssembly, Rank::Queen) => Some(Rank::King),
            _ => None,
        };
        if needed.is_some_and(|needed| !self.view.public.assemblies.contains(needed)) {
            return 0.0;
        }
        f64::from(Rules::zetema_points(rank))
    }

    /// What a pile of four is worth whose last card this seat does not hold: who plays it first?
    fn last_card(&self, rank: Rank, points: f64) -> f64 {
        let (rules, public) = (&self.view.rules, &self.view.public);
        let players = rules.player_count();
        let all = self.view.unseen();
        let (last, unseen) = (to_f64(all.of_rank(rank).len()), to_f64(all.len().max(1)));
        let (mut not_played, mut worth) = (1.0, 0.0);
        for seat in (1..players.count()).map(|places| self.seat.clockwise(places, players)) {
            let known = public.known_held[seat.index()];
            let odds = if known.of_rank(rank).is_empty() {
                // A card in the hand, or the next one drawn.
                let cards = usize::from(public.hand_counts[seat.index()]).saturating_sub(known.len());
                ((to_f64(cards) + 0.5) * last / unseen).min(1.0)
            } else {
                1.0
            };
            let ours = rules.side(seat) == rules.side(self.seat);
            worth += not_played * odds * if ours { points } else { -points };
            not_played *= 1.0 - odds;
        }
        worth
    }
}
