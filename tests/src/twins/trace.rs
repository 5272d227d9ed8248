//! Where each card of a deck went, and when it was shown.

use zetema_rules::{Action, Assembly, Card, Cards, Deck, Declaration, PACK, Players, Rules, Seat, SeatEvent};

use super::model::{Move, Step};

/// What happened to the card at one place of a deck.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Who drew it, and in which step.
    pub(super) drawn: Option<(Seat, usize)>,
    /// The step in which that seat first showed it.
    pub(super) shown: Option<usize>,
    left: bool,
}

/// One deal's deck, place by place.
#[derive(Clone)]
pub(super) struct DealTrace {
    /// The deck.
    pub(super) deck: Deck,
    /// What happened to each card.
    pub(super) places: [Place; PACK],
    next: usize,
}

/// All deals of a game so far.
pub(super) struct Trace {
    rules: Rules,
    decks: Vec<Deck>,
    /// The deals that were made, first one first.
    pub(super) deals: Vec<DealTrace>,
    /// Draws that are hands being dealt, which were taken from the deck already.
    dealt: usize,
}

impl Trace {
    /// Nothing yet, of a game with these decks.
    pub(super) fn new(rules: Rules, decks: Vec<Deck>) -> Self {
        Self { rules, decks, deals: Vec::new(), dealt: 0 }
    }

    /// What a step shows of its seat's hand, before it is made.
    pub(super) fn shows(&mut self, number: usize, step: &Step) {
        let Step { seat, made } = *step;
        let deal = self.deals.last_mut().unwrap();
        match made {
            Move::Act(action) | Move::TimeOut(action) | Move::Autoplay(action) => {
                let (shown, leaves) = match action {
                    Action::Discard(card) => (card.into(), true),
                    Action::Declare(declaration) => {
                        let leaves = match declaration {
                            Declaration::Marriages { .. } => true,
                            Declaration::Assembly(_) => self.rules.assembly == Assembly::Remove,
                            _ => false,
                        };
                        (declaration.from_hand(self.rules.imperial_suit), leaves)
                    }
                };
                deal.show(seat, shown, number, leaves);
            }
            Move::Expose(card) => deal.show(seat, card.into(), number, false),
            Move::Resign => {}
        }
    }

    /// What came of a step.
    pub(super) fn saw(&mut self, number: usize, events: impl Iterator<Item = SeatEvent>) {
        for event in events {
            match event {
                SeatEvent::DealStarted { dealer, .. } => self.deal(number, dealer),
                SeatEvent::Drew { .. } if self.dealt > 0 => self.dealt -= 1,
                SeatEvent::Drew { seat, count, .. } => {
                    let deal = self.deals.last_mut().unwrap();
                    for _ in 0..count {
                        deal.draw(seat, number);
                    }
                }
                _ => {}
            }
        }
    }

    fn deal(&mut self, number: usize, dealer: Seat) {
        let deck = self.decks[self.deals.len()];
        let mut deal = DealTrace { deck, places: [Place::default(); PACK], next: 0 };
        let players: Players = self.rules.player_count();
        for _ in 0..self.rules.hand_size {
            for places in 1..=players.count() {
                deal.draw(dealer.clockwise(places, players), number);
            }
        }
        self.dealt = players.count();
        self.deals.push(deal);
    }
}

impl DealTrace {
    fn draw(&mut self, seat: Seat, number: usize) {
        self.places[self.next].drawn = Some((seat, number));
        self.next += 1;
    }

    /// The copies that were shown before are shown, and leave, first.
    fn show(&mut self, seat: Seat, cards: Cards, number: usize, leaves: bool) {
        for face in cards.faces_in_order() {
            let mut held: Vec<usize> = (0..self.next).filter(|&at| self.holds(seat, face, at)).collect();
            held.sort_by_key(|&at| self.places[at].shown.is_none());
            for &at in held.iter().take(cards.count(face)) {
                let place = &mut self.places[at];
                place.shown.get_or_insert(number);
                place.left = leaves;
            }
        }
    }

    fn holds(&self, seat: Seat, face: Card, at: usize) -> bool {
        let place = &self.places[at];
        let held = place.drawn.is_some_and(|(by, _)| by == seat);
        held && !place.left && self.deck.reveal()[at] == face
    }
}
