//! What a discard says of whoever chose it, in few words: which of two cards it gave up, and which it kept.

use zetema_rules::{Action, Card, Cards, Rank, View};

/// Which of two cards in a hand was discarded and which was kept, told by little of what the seat saw: so little that the same question
/// comes again and again in matches that were dealt each for itself.
///
/// A card is told by how many of its rank lie open, how many of its rank and of its suit the hand holds, and what a zetema of its
/// rank pays. The two stand in the order of the pack (by suit, then by rank), so that who goes through its hand in some order, and
/// takes the first of what it holds for equal, shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Preference(u32);

/// Which of the two was discarded, in the order of the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discarded {
    First,
    Second,
}

impl Preference {
    /// What an action preferred in the view of the seat that chose it: of a discard, itself to each other card that could have been
    /// discarded. Declarations tell nothing.
    pub fn of(view: &View, action: &Action) -> impl Iterator<Item = Self> {
        let discarded = match *action {
            Action::Discard(card) => Some(card),
            Action::Declare(_) => None,
        };
        let (hand, legal) = (view.hand, view.legal_actions().discards);
        let stock = if view.public.stock_count > 0 { Stock::Left } else { Stock::Gone };
        let tableau = view.public.tableau;
        discarded.into_iter().flat_map(move |discarded| {
            let others = legal.faces_in_order().filter(move |&kept| kept != discarded);
            others.map(move |kept| {
                let [given_up, left] = [discarded, kept].map(|card| Traits::of(card, hand, tableau).number());
                if discarded.index() < kept.index() {
                    Self::new(stock, given_up, left, Discarded::First)
                } else {
                    Self::new(stock, left, given_up, Discarded::Second)
                }
            })
        })
    }

    fn new(stock: Stock, first: u32, second: u32, discarded: Discarded) -> Self {
        let question = (stock as u32 * Traits::NUMBERS + first) * Traits::NUMBERS + second;
        Self(2 * question + discarded as u32)
    }

    /// Which two cards it was between, by all that is told of them.
    pub(super) const fn question(self) -> u32 {
        self.0 / 2
    }

    pub(super) const fn discarded(self) -> Discarded {
        if self.0.is_multiple_of(2) { Discarded::First } else { Discarded::Second }
    }
}

/// Whether cards are still to be drawn.
#[derive(Clone, Copy)]
enum Stock {
    Left = 0,
    Gone = 1,
}

/// What is told of a card.
struct Traits {
    /// How many of its rank lie open, up to 4.
    open: u32,
    /// How many of its rank the hand holds, it included, 1 to 3.
    of_rank: u32,
    /// How many of its suit: up to 2, 3, or more.
    of_suit: u32,
    /// What a zetema of its rank pays, from 0, the least.
    worth: u32,
}

impl Traits {
    const NUMBERS: u32 = 5 * 3 * 3 * 4;

    fn of(card: Card, hand: Cards, tableau: Cards) -> Self {
        let count = |cards: Cards, most: usize| u32::try_from(cards.len().min(most)).unwrap_or(0);
        Self {
            open: count(tableau.of_rank(card.rank()), 4),
            of_rank: count(hand.of_rank(card.rank()), 3).max(1),
            of_suit: count(hand.of_suit(card.suit()), 4).max(2),
            worth: match card.rank() {
                Rank::King | Rank::Queen => 3,
                Rank::Jack => 2,
                Rank::Ace | Rank::Five => 1,
                _ => 0,
            },
        }
    }

    const fn number(&self) -> u32 {
        let Self { open, of_rank, of_suit, worth } = *self;
        ((open * 3 + (of_rank - 1)) * 3 + (of_suit - 2)) * 4 + worth
    }
}
