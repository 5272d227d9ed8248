//! The bot that takes what it can get.

mod hand;
mod marriages;
mod piles;

use zetema_sdk::rules::{Assembly, Card, Cards, MatchEnd};
use zetema_sdk::{Action, Bot, Decision, Declaration, LegalActions, Seat, View};

use hand::Prospects;
use piles::Piles;

/// Whether the bot pays heed to zetemas: takes those that it can, and hands none to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zetemas {
    /// It does.
    Minded,
    /// It does not, so that the difference can be measured.
    Ignored,
}

/// Declares what pays best and discards what hurts least.
///
/// It looks one action ahead. An action is worth the points that it scores, what the cards that stay
/// in hand promise (melds, assemblies and marriages, by the odds of drawing what they lack), and
/// what the pile under its discard is worth to this seat's side and the others. A score that wins the
/// match at once is worth more than anything, and so is one that the others would win by.
#[derive(Clone, Copy, Debug)]
pub struct Greedy {
    zetemas: Zetemas,
}

/// In points: more than anything but a won match is worth.
const MATCH: f64 = 400.0;

impl Greedy {
    /// A greedy bot.
    pub const fn new(zetemas: Zetemas) -> Self {
        Self { zetemas }
    }
}

impl Bot for Greedy {
    fn choose(&mut self, decision: &Decision) -> Action {
        let thought = Thought {
            view: &decision.view,
            seat: decision.info.seat,
            prospects: Prospects::new(&decision.view),
            zetemas: self.zetemas,
        };
        decision.best(|action| thought.worth(action))
    }
}

/// What `greedy` holds of each legal action of a view, in their order, in points.
pub(crate) fn worths(view: &View, seat: Seat, legal: &LegalActions) -> Vec<f64> {
    let thought = Thought { view, seat, prospects: Prospects::new(view), zetemas: Zetemas::Minded };
    legal.iter().map(|action| thought.worth(&action)).collect()
}

/// One decision, thought over.
struct Thought<'a> {
    view: &'a View,
    seat: Seat,
    prospects: Prospects<'a>,
    zetemas: Zetemas,
}

impl Thought<'_> {
    /// In points.
    fn worth(&self, action: &Action) -> f64 {
        match action {
            Action::Discard(card) => self.discard(self.view.hand, self.view.public.tableau, *card),
            Action::Declare(declaration) => self.declare(declaration),
        }
    }

    fn declare(&self, declaration: &Declaration) -> f64 {
        let rules = &self.view.rules;
        let (hand, tableau) = (self.view.hand, self.view.public.tableau);
        let points = f64::from(self.view.points(&Action::Declare(*declaration)));
        let cards = declaration.from_hand(rules.imperial_suit);
        let after = match *declaration {
            Declaration::Marriages { tableau: taken, .. } => {
                let (hand, tableau) = (hand.minus(cards), tableau.minus(taken));
                if rules.marriage_then_discard && !hand.is_empty() {
                    self.best_discard(hand, hand, tableau)
                } else {
                    self.prospects.of(hand, tableau)
                }
            }
            Declaration::Assembly(_) if rules.assembly == Assembly::Remove => {
                self.prospects.of(hand.minus(cards), tableau)
            }
            _ => self.best_discard(hand, cards, tableau),
        };
        self.score(points) + after
    }

    fn best_discard(&self, hand: Cards, allowed: Cards, tableau: Cards) -> f64 {
        allowed
            .faces_in_order()
            .map(|card| self.discard(hand, tableau, card))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn discard(&self, hand: Cards, tableau: Cards, card: Card) -> f64 {
        let (mut hand, mut tableau) = (hand, tableau);
        hand.remove(card);
        tableau.insert(card);
        let pile = match self.zetemas {
            Zetemas::Minded => {
                let piles = Piles { view: self.view, seat: self.seat };
                let change = piles.after_discard(hand, tableau, card.rank());
                self.score(change.scored) + change.expected
            }
            Zetemas::Ignored => 0.0,
        };
        if tableau.of_rank(card.rank()).len() == 5 {
            tableau = tableau.minus(tableau.of_rank(card.rank()));
        }
        pile + self.prospects.of(hand, tableau)
    }

    /// What points are worth to this seat's side.
    fn score(&self, points: f64) -> f64 {
        if points > 0.0 && self.reaches_target(points) { points + MATCH } else { points }
    }

    fn reaches_target(&self, points: f64) -> bool {
        let rules = &self.view.rules;
        let total = self.view.public.totals[rules.side(self.seat).index()];
        rules.match_end == MatchEnd::AtOnce
            && rules.target.is_some_and(|target| f64::from(total) + points >= f64::from(target))
    }
}
