//! A player that makes plans.

use zetema_rules::{Ace, Card, Cards, Rank, Rules, Suit, View};

/// What a discard leaves, in points: the best plan of the hand and part of the second best, the kings and queens that may
/// marry, and what the pile brings.
pub(crate) fn worth(view: &View, card: Card) -> f64 {
    let mut hand = view.hand;
    hand.remove(card);
    let mut plans = Plans { view, unseen: view.unseen(), worth: Vec::new() };
    plans.all(hand);
    plans.worth.sort_by(|one, other| other.total_cmp(one));
    plans.worth[0] + 0.4 * plans.worth[1] + plans.marriages(hand) + pile(view, card)
}

struct Plans<'a> {
    view: &'a View,
    unseen: Cards,
    worth: Vec<f64>,
}

impl Plans<'_> {
    /// How many of these cards are to be expected in the rest of the deal.
    fn expected(&self, cards: Cards) -> f64 {
        let draws = f64::from(self.view.public.stock_count) / f64::from(self.view.rules.players);
        draws * count(cards) / count(self.unseen).max(1.0)
    }

    fn odds(&self, cards: Cards) -> f64 {
        let expected = self.expected(cards);
        1.0 - 1.0 / (1.0 + expected + expected * expected / 2.0)
    }

    fn all(&mut self, hand: Cards) {
        let rules = &self.view.rules;
        let size = rules.meld_cards();
        for suit in Suit::ALL {
            let lacking = size.saturating_sub(hand.of_suit(suit).len()).max(1);
            let after_the_first = (self.expected(self.unseen.of_suit(suit)) + 1.0) - lacking as f64;
            self.worth.push(f64::from(rules.flush_score) * after_the_first.max(0.0));
        }
        let last = if rules.ace == Ace::Low { 13 } else { 14 };
        for start in 0..=last - size {
            let ranks = (start..start + size).map(|rank| Rank::ALL[rank % 13]);
            let lacking = ranks.filter(|&rank| hand.of_rank(rank).is_empty());
            let odds: f64 = lacking.map(|rank| self.odds(self.unseen.of_rank(rank))).product();
            self.worth.push(2.0 * f64::from(rules.sequence_score) * odds);
        }
    }

    fn marriages(&self, hand: Cards) -> f64 {
        let open = hand.union(self.view.public.tableau);
        let promise = |(royal, spouse): (Rank, Rank)| {
            hand.of_rank(royal).faces_in_order().map(move |card| Card::new(spouse, card.suit()))
        };
        let spouses = [(Rank::King, Rank::Queen), (Rank::Queen, Rank::King)].into_iter().flat_map(promise);
        spouses.map(|spouse| if open.contains(spouse) { 10.0 } else { 10.0 * self.odds(spouse.into()) }).sum()
    }
}

fn pile(view: &View, card: Card) -> f64 {
    let points = f64::from(Rules::zetema_points(card.rank()));
    match view.public.tableau.of_rank(card.rank()).len() {
        4 => points,
        3 if view.hand.of_rank(card.rank()).len() == 2 => 0.75 * points,
        3 => -0.5 * points,
        _ => 0.0,
    }
}

fn count(cards: Cards) -> f64 {
    cards.len() as f64
}
