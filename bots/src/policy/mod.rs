//! What playouts are played by: an appraisal of each card by itself, which takes a microsecond or two.

mod odds;
pub(crate) mod weights;

use zetema_sdk::rules::{Card, Cards, MatchEnd};
use zetema_sdk::{Action, Declaration, LegalActions, Seat, View};

use odds::Odds;
use weights::Weights;

/// Values each action by what the hand alone makes of it: a card by the flushes, sequences, assemblies
/// and marriages that it may still be part of, a discard by its pile as well, a declaration by its points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    weights: &'static Weights,
}

/// More than any points.
const WINS: f64 = 1000.0;

impl Policy {
    /// The one that the house bots use.
    pub(crate) const HOUSE: Self = Self::by(&Weights::HOUSE);

    /// No policy to play by: what is added to `Greedy` where seats draw a card more than a hand at the start of the turn.
    pub(crate) const DRAW_AT_START: Self = Self::by(&Weights::DRAW_AT_START);

    /// One by these numbers.
    pub(crate) const fn by(weights: &'static Weights) -> Self {
        Self { weights }
    }

    /// The action that is worth most to this seat, which is to act.
    pub(crate) fn choose(self, view: &View, seat: Seat, legal: &LegalActions) -> Option<Action> {
        let thought = Thought { odds: Odds::new(view, seat, self.weights), view, seat };
        let mut best: Option<(f64, Action)> = None;
        for &declaration in &legal.declarations {
            let worth = thought.declare(&declaration);
            // What is worth less than nothing waits.
            if worth > best.map_or(0.0, |(worth, _)| worth) {
                best = Some((worth, Action::Declare(declaration)));
            }
        }
        match (best, thought.best_discard(legal.discards)) {
            // A zetema that wins goes before a declaration that does not.
            (Some((declared, _)), Some((worth, card))) if declared < WINS && worth > WINS / 2.0 => {
                Some(Action::Discard(card))
            }
            (Some((_, declaration)), _) => Some(declaration),
            (None, discard) => discard.map(|(_, card)| Action::Discard(card)),
        }
    }

    /// What each action is worth, into `worths` in the order of the legal actions.
    pub(crate) fn worths(self, view: &View, seat: Seat, legal: &LegalActions, worths: &mut Vec<f64>) {
        let thought = Thought { odds: Odds::new(view, seat, self.weights), view, seat };
        worths.clear();
        worths.extend(legal.iter().map(|action| match action {
            Action::Discard(card) => thought.discard(card),
            Action::Declare(declaration) => thought.declare(&declaration),
        }));
    }
}

struct Thought<'a> {
    odds: Odds<'a>,
    view: &'a View,
    seat: Seat,
}

impl Thought<'_> {
    fn best_discard(&self, cards: Cards) -> Option<(f64, Card)> {
        let mut best: Option<(f64, Card)> = None;
        for card in cards.faces_in_order() {
            let worth = self.discard(card);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, card));
            }
        }
        best
    }

    fn discard(&self, card: Card) -> f64 {
        let worth = self.odds.discard(card);
        if self.view.public.tableau.of_rank(card.rank()).len() < 4 {
            return worth;
        }
        worth + self.win(self.view.points(&Action::Discard(card)))
    }

    fn declare(&self, declaration: &Declaration) -> f64 {
        let points = self.view.points(&Action::Declare(*declaration));
        let worth = match declaration {
            Declaration::Marriages { hand, tableau } => {
                self.odds.declare_marriages(points, hand.sum(*tableau).len() / 2)
            }
            _ => f64::from(points),
        };
        worth + self.win(points)
    }

    /// What it is worth beside the points that they win the match.
    fn win(&self, points: u16) -> f64 {
        let rules = &self.view.rules;
        let total = self.view.public.totals[rules.side(self.seat).index()];
        let wins = points > 0
            && rules.match_end == MatchEnd::AtOnce
            && rules.target.is_some_and(|target| total.saturating_add(points) >= target);
        if wins { WINS } else { 0.0 }
    }
}
