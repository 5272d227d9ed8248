//! A game beside the server's, which knows everything: what is legal, and whose turn it is.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use zetema_rules::{
    Action, Card, Cards, Deck, Event, Game, PACK, Phase, PlayError, Rules, Seat, SeatEvent, Suit, Viewer,
    autoplay,
};

/// What a player does, or the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// A seat acts.
    Act(Action),
    /// A seat offers a card out of turn (R28).
    Expose(Card),
    /// A seat resigns.
    Resign,
    /// A seat's time is out, and this is played for it.
    TimeOut(Action),
    /// This is played for a seat that has forfeited (R25).
    Autoplay(Action),
}

/// One change of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Whose.
    pub(super) seat: Seat,
    /// What.
    pub(super) made: Move,
}

/// A game and the decks that it is dealt from.
#[derive(Clone)]
pub(super) struct Model {
    /// The game.
    pub(super) game: Game,
    decks: Vec<Deck>,
}

impl Model {
    /// A game with its first deal dealt, from the first of these decks.
    pub(super) fn new(rules: Rules, dealer: Seat, decks: Vec<Deck>, events: &mut Vec<Event>) -> Self {
        let game = Game::new(rules, dealer, &decks[0], events).unwrap();
        Self { game, decks }
    }

    /// Makes a step, and deals again when a deal is over.
    ///
    /// # Errors
    /// [`PlayError`] if the rules don't allow it; what is played for a seat must be what [`autoplay`] plays.
    pub(super) fn make(&mut self, step: &Step, events: &mut Vec<Event>) -> Result<(), PlayError> {
        let Step { seat, made } = *step;
        match made {
            Move::Act(action) => self.game.play(seat, &action, events)?,
            Move::TimeOut(action) | Move::Autoplay(action) => {
                if autoplay(&self.game.legal_actions()) != Some(action) {
                    return Err(PlayError::NoDealDue);
                }
                self.game.play(seat, &action, events)?;
            }
            Move::Expose(card) => self.game.fault(seat, card, events)?,
            Move::Resign => self.game.forfeit(seat, events)?,
        }
        if self.game.public().phase == Phase::DealOver {
            let next = usize::try_from(self.game.public().deal).unwrap() + 1;
            self.game.deal(&self.decks[next], events)?;
        }
        Ok(())
    }

    /// The cards of the stock, next one first.
    pub(super) fn stock(&self) -> &[Card] {
        let deal = usize::try_from(self.game.public().deal).unwrap();
        &self.decks[deal].reveal()[PACK - usize::from(self.game.public().stock_count)..]
    }
}

/// What everyone sees of these.
pub(super) fn seen(events: &[Event]) -> impl Iterator<Item = SeatEvent> {
    events.iter().map(|event| event.seen_by(Viewer::Spectator))
}

/// A shuffled pack.
pub(super) fn shuffled(imperial: Suit, random: &mut StdRng) -> Deck {
    let mut cards: Vec<Card> = Cards::pack(imperial).iter().collect();
    cards.shuffle(random);
    Deck::new(&cards, imperial).unwrap()
}

/// One of these cards.
pub(super) fn any_of(cards: Cards, random: &mut StdRng) -> Option<Card> {
    let cards: Vec<Card> = cards.iter().collect();
    cards.choose(random).copied()
}
