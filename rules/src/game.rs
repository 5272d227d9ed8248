//! A match in play: the public state and the hidden cards.

use std::fmt;

use crate::action::Action;
use crate::card::Card;
use crate::cards::{Cards, Ranks};
use crate::deck::{Deck, PACK};
use crate::error::PlayError;
use crate::event::{Event, SeatEvent, Viewer};
use crate::legal::{self, LegalActions};
use crate::public::{Phase, PublicState, Stage};
use crate::rules::Rules;
use crate::seat::{Seat, Seats};
use crate::view::View;

/// A match: several deals, each seat's hand and the stock. Pure and deterministic: the decks come
/// from outside, and the same actions give the same match.
///
/// What it hides leaves only by [`Game::view`] and [`Event::seen_by`].
#[derive(Clone, PartialEq, Eq)]
pub struct Game {
    pub(crate) rules: Rules,
    pub(crate) public: PublicState,
    pub(crate) hands: [Cards; Seat::MAX],
    pub(crate) stock: Stock,
}

/// The face-down cards, next card first (R5).
#[derive(Clone, Copy)]
pub(crate) struct Stock {
    pub(crate) order: [Card; PACK],
    pub(crate) next: u8,
}

impl Stock {
    pub(crate) fn left(&self) -> &[Card] {
        &self.order[usize::from(self.next)..]
    }

    pub(crate) fn draw(&mut self) -> Option<Card> {
        let card = self.order.get(usize::from(self.next)).copied()?;
        self.next += 1;
        Some(card)
    }
}

impl PartialEq for Stock {
    fn eq(&self, other: &Self) -> bool {
        self.left() == other.left()
    }
}

impl Eq for Stock {}

impl Game {
    /// A match with its first deal dealt.
    ///
    /// # Errors
    /// [`PlayError::NoSuchSeat`] if the dealer is no seat of this match.
    pub fn new(rules: Rules, dealer: Seat, deck: &Deck, events: &mut Vec<Event>) -> Result<Self, PlayError> {
        check_seat(&rules, dealer)?;
        let mut game = Self {
            rules,
            public: PublicState {
                deal: 0,
                dealer,
                decision: 1,
                phase: Phase::DealOver,
                hand_counts: [0; Seat::MAX],
                stock_count: 0,
                known_held: [Cards::EMPTY; Seat::MAX],
                exposed: [None; Seat::MAX],
                draw_penalties: [0; Seat::MAX],
                last_melds: [None; Seat::MAX],
                tableau: Cards::EMPTY,
                zetemas: Ranks::EMPTY,
                marriages: Cards::EMPTY,
                removed: Ranks::EMPTY,
                assemblies: Ranks::EMPTY,
                deal_scores: [0; Seat::MAX],
                totals: [0; Seat::MAX],
                forfeited: Seats::EMPTY,
                result: None,
            },
            hands: [Cards::EMPTY; Seat::MAX],
            stock: Stock { order: *deck.reveal(), next: 0 },
        };
        game.start_deal(deck, events);
        Ok(game)
    }

    /// Deals the next deal; the dealer is the seat clockwise of the last one (R7).
    ///
    /// # Errors
    /// [`PlayError::NoDealDue`] unless the phase is [`Phase::DealOver`].
    pub fn deal(&mut self, deck: &Deck, events: &mut Vec<Event>) -> Result<(), PlayError> {
        if self.public.phase != Phase::DealOver {
            return Err(PlayError::NoDealDue);
        }
        self.public.deal = self.public.deal.saturating_add(1);
        self.public.dealer = self.public.dealer.clockwise(1, self.rules.player_count());
        self.start_deal(deck, events);
        Ok(())
    }

    fn start_deal(&mut self, deck: &Deck, events: &mut Vec<Event>) {
        let public = &mut self.public;
        public.known_held = [Cards::EMPTY; Seat::MAX];
        public.exposed = [None; Seat::MAX];
        public.draw_penalties = [0; Seat::MAX];
        public.last_melds = [None; Seat::MAX];
        public.tableau = Cards::EMPTY;
        public.zetemas = Ranks::EMPTY;
        public.marriages = Cards::EMPTY;
        public.removed = Ranks::EMPTY;
        public.assemblies = Ranks::EMPTY;
        public.deal_scores = [0; Seat::MAX];
        public.hand_counts = [0; Seat::MAX];
        self.hands = [Cards::EMPTY; Seat::MAX];
        self.stock = Stock { order: *deck.reveal(), next: 0 };
        events.push(Event::public(SeatEvent::DealStarted { deal: public.deal, dealer: public.dealer }));

        let players = self.rules.player_count();
        let clockwise = (1..=players.count()).map(|places| public.dealer.clockwise(places, players));
        for _ in 0..self.rules.hand_size {
            for seat in clockwise.clone() {
                if let Some(card) = self.stock.draw() {
                    self.hands[seat.index()].insert(card);
                }
            }
        }
        for seat in clockwise {
            public.hand_counts[seat.index()] = self.rules.hand_size;
            events.push(Event::drew(seat, self.hands[seat.index()]));
        }
        #[allow(clippy::cast_possible_truncation)]
        {
            public.stock_count = self.stock.left().len() as u8;
        }
        self.start_turn_after(self.public.dealer, events);
    }

    /// The rules that it is played by.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What every seat sees.
    pub const fn public(&self) -> &PublicState {
        &self.public
    }

    /// The seat that is to act, if one is.
    pub const fn to_act(&self) -> Option<Seat> {
        self.public.to_act()
    }

    /// What this viewer sees: the only way out for hidden cards (R8). A seat that the match does not
    /// have sees what a spectator sees.
    pub fn view(&self, viewer: Viewer) -> View {
        let hand = match viewer {
            Viewer::Seat(seat) => self.hands[seat.index()],
            Viewer::Spectator => Cards::EMPTY,
        };
        View { rules: self.rules, public: self.public, viewer, hand }
    }

    /// The legal actions of the seat to act; none if nobody is.
    pub fn legal_actions(&self) -> LegalActions {
        let mut actions = LegalActions::default();
        self.legal_actions_into(&mut actions);
        actions
    }

    /// [`Game::legal_actions`] into a list that was used before, without an allocation.
    pub fn legal_actions_into(&self, actions: &mut LegalActions) {
        match self.public.phase {
            Phase::Turn { seat, stage } => {
                list(&self.rules, &self.public, seat, stage, self.hands[seat.index()], actions);
            }
            Phase::DealOver | Phase::MatchOver => actions.clear(),
        }
    }

    /// The faces that this seat could expose by a fault now (R28): its hand if the option is on and
    /// another seat is to act, else none. They are no legal actions.
    pub fn faults(&self, seat: Seat) -> Cards {
        match self.public.to_act() {
            Some(to_act)
                if to_act != seat
                    && self.rules.exposed_card_penalty
                    && self.public.exposed[seat.index()].is_none() =>
            {
                self.hands[seat.index()].distinct()
            }
            _ => Cards::EMPTY,
        }
    }

    /// Plays the current decision of this seat.
    ///
    /// # Errors
    /// [`PlayError`] says why the rules don't allow it; nothing changed (R27).
    pub fn play(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<(), PlayError> {
        check_seat(&self.rules, seat)?;
        let stage = match self.public.phase {
            Phase::Turn { seat: to_act, stage } if to_act == seat => stage,
            Phase::Turn { seat: to_act, .. } => return Err(PlayError::NotYourTurn { to_act }),
            Phase::DealOver => return Err(PlayError::DealOver),
            Phase::MatchOver => return Err(PlayError::MatchOver),
        };
        match *action {
            Action::Discard(card) => {
                self.check_discard(seat, stage, card)?;
                self.discard(seat, stage, card, events);
            }
            Action::Declare(declaration) => {
                self.check_declaration(seat, stage, &declaration)?;
                self.declare(seat, declaration, events);
            }
        }
        self.public.decision = self.public.decision.saturating_add(1);
        Ok(())
    }

    /// Exposes a card that this seat offered as a discard while another seat is to act (R28). The
    /// current decision and its number stay as they are.
    ///
    /// # Errors
    /// [`PlayError`] if the option is off ([`PlayError::NotYourTurn`]) or the card can't be exposed.
    pub fn fault(&mut self, seat: Seat, card: Card, events: &mut Vec<Event>) -> Result<(), PlayError> {
        check_seat(&self.rules, seat)?;
        match self.public.phase {
            Phase::Turn { seat: to_act, .. } if to_act == seat => return Err(PlayError::OwnTurn { seat }),
            Phase::Turn { seat: to_act, .. } if !self.rules.exposed_card_penalty => {
                return Err(PlayError::NotYourTurn { to_act });
            }
            Phase::Turn { .. } => {}
            Phase::DealOver => return Err(PlayError::DealOver),
            Phase::MatchOver => return Err(PlayError::MatchOver),
        }
        if let Some(card) = self.public.exposed[seat.index()] {
            return Err(PlayError::AlreadyExposed { card });
        }
        if !self.hands[seat.index()].contains(card) {
            return Err(PlayError::CardNotHeld { card });
        }
        self.public.exposed[seat.index()] = Some(card);
        self.show(seat, card.into());
        events.push(Event::public(SeatEvent::Exposed { seat, card }));
        Ok(())
    }

    /// Forfeits this seat: its side ranks below all others, and the match ends if only one side is
    /// left without a forfeit (R25). The seat's hand is played on by whoever keeps the match.
    ///
    /// # Errors
    /// [`PlayError::AlreadyForfeited`], [`PlayError::MatchOver`] or [`PlayError::NoSuchSeat`].
    pub fn forfeit(&mut self, seat: Seat, events: &mut Vec<Event>) -> Result<(), PlayError> {
        check_seat(&self.rules, seat)?;
        if self.public.phase == Phase::MatchOver {
            return Err(PlayError::MatchOver);
        }
        if self.public.forfeited.contains(seat) {
            return Err(PlayError::AlreadyForfeited { seat });
        }
        self.public.forfeited = self.public.forfeited.with(seat);
        events.push(Event::public(SeatEvent::Forfeited { seat }));
        self.end_match_if_one_side_is_left(events);
        Ok(())
    }

    /// Raises what is known to be held to what was shown (R8).
    pub(crate) fn show(&mut self, seat: Seat, cards: Cards) {
        let known = &mut self.public.known_held[seat.index()];
        *known = known.union(cards);
    }

    /// A card that is held leaves a hand, and what is known to be held with it (R8).
    pub(crate) fn take_from_hand(&mut self, seat: Seat, card: Card) {
        let i = seat.index();
        self.hands[i].remove(card);
        self.public.known_held[i].remove(card);
        self.public.hand_counts[i] -= 1;
    }

    /// Cards leave a hand, and what is known to be held with them (R8).
    pub(crate) fn leave_hand(&mut self, seat: Seat, cards: Cards) {
        let i = seat.index();
        self.hands[i] = self.hands[i].minus(cards);
        self.public.known_held[i] = self.public.known_held[i].minus(cards);
        #[allow(clippy::cast_possible_truncation)]
        {
            self.public.hand_counts[i] = self.hands[i].len() as u8;
        }
    }
}

/// The legal actions of a seat with this hand at this stage.
pub(crate) fn list(
    rules: &Rules,
    public: &PublicState,
    seat: Seat,
    stage: Stage,
    hand: Cards,
    actions: &mut LegalActions,
) {
    actions.clear();
    actions.discards = legal::discards(stage, hand);
    if stage == Stage::DeclareOrDiscard {
        legal::declarations(rules, public, seat, hand, &mut actions.declarations);
    }
}

fn check_seat(rules: &Rules, seat: Seat) -> Result<(), PlayError> {
    match rules.seats().next_back() {
        Some(last) if seat > last => Err(PlayError::NoSuchSeat { seat, last }),
        _ => Ok(()),
    }
}

/// Shows the public state only.
impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Game")
            .field("rules", &self.rules)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}
