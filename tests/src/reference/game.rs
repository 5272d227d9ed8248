//! A match: turns, actions, the end of deals and of the match, ranks (R7, R9 to R28).

use std::collections::BTreeSet;

use super::card::{Card, KING, QUEEN};
use super::deal::Deal;
use super::declaration::{Declaration, Kind, declarations};
use super::rules::{Assembly, Draw, ExtraTurn, Field, MatchEnd, RoyalZetema, Rules};
use super::score::{assembly_score, marriage_score, zetema_score};

/// What a seat can do in its turn.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// Declare a combination (R10).
    Declare(Declaration),
    /// Play a card to its rank pile (R9).
    Discard(Card),
}

/// What the seat to act may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Declare or discard any card.
    DeclareOrDiscard,
    /// Discard any card.
    Discard,
    /// Discard one of these faces (R13, R28).
    DiscardOneOf(Vec<Card>),
}

/// The turn of a seat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Whose it is.
    pub seat: usize,
    /// What may be done.
    pub phase: Phase,
}

/// How far the match is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The next deck is wanted.
    ToDeal,
    /// A seat is to act.
    ToAct(Turn),
    /// The match is over.
    Over,
}

/// What follows a declaration in the same turn.
enum Next {
    /// A discard.
    Discard(Phase),
    /// Nothing (R14, R15).
    TurnEnds,
}

/// Why an input changed nothing (R27).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No deck is wanted now, or it has not 65 cards.
    Deck,
    /// It is not this seat's turn.
    Turn,
    /// The action is not legal.
    Action,
    /// The card can't be exposed (R28).
    Fault,
    /// The match is over, or there is no such seat.
    Forfeit,
}

/// A match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// What is played.
    pub rules: Rules,
    /// How far the match is.
    pub stage: Stage,
    /// The dealer of the current deal, or of the next one (R7).
    pub dealer: usize,
    /// The current deal, or the last one; `None` before the first.
    pub deal: Option<Deal>,
    /// The number of the current decision: from 1, one for each action of the match.
    pub decision: u64,
    /// The total of each side (R4).
    pub totals: Vec<u32>,
    /// Whether each seat is forfeited (R25).
    pub forfeited: Vec<bool>,
}

impl Game {
    /// A match before its first deal.
    ///
    /// # Errors
    /// The fields for which the rules are refused.
    pub fn new(rules: Rules, first_dealer: usize) -> Result<Self, Vec<Field>> {
        let refused = rules.refused();
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(Self {
            stage: Stage::ToDeal,
            dealer: first_dealer,
            deal: None,
            decision: 1,
            totals: vec![0; rules.sides()],
            forfeited: vec![false; rules.players],
            rules,
        })
    }

    /// Deals, and begins the turn of the seat after the dealer (R5, R7).
    ///
    /// # Errors
    /// [`Refusal::Deck`] if no deck is wanted or it has not 65 cards.
    pub fn deal(&mut self, deck: &[Card]) -> Result<(), Refusal> {
        if self.stage != Stage::ToDeal || deck.len() != 65 {
            return Err(Refusal::Deck);
        }
        let mut deal = Deal::new(&self.rules, self.dealer, deck);
        let first = (self.dealer + 1) % self.rules.players;
        self.begin_turn(&mut deal, first);
        self.deal = Some(deal);
        Ok(())
    }

    /// Every action of the seat to act; none if no seat is to act.
    pub fn legal_actions(&self) -> BTreeSet<Action> {
        let (Stage::ToAct(turn), Some(deal)) = (&self.stage, &self.deal) else {
            return BTreeSet::new();
        };
        let hand = &deal.hands[turn.seat];
        let discards = |allowed: &dyn Fn(&Card) -> bool| -> BTreeSet<Action> {
            let cards = hand.iter().copied().filter(|card| allowed(card));
            cards.map(Action::Discard).collect()
        };
        match &turn.phase {
            Phase::Discard => discards(&|_| true),
            Phase::DiscardOneOf(cards) => discards(&|card| cards.contains(card)),
            Phase::DeclareOrDiscard => {
                let last = deal.last_meld[turn.seat].as_deref();
                let declared = declarations(&self.rules, hand, &deal.tableau, last);
                let declare = declared.into_iter().map(Action::Declare);
                discards(&|_| true).into_iter().chain(declare).collect()
            }
        }
    }

    /// The cards that a seat could expose now (R28).
    pub fn faults(&self, seat: usize) -> BTreeSet<Card> {
        let (Stage::ToAct(turn), Some(deal)) = (&self.stage, &self.deal) else {
            return BTreeSet::new();
        };
        let can_expose = self.rules.exposed_card_penalty
            && seat < self.rules.players
            && seat != turn.seat
            && deal.exposed[seat].is_none();
        if can_expose { deal.hands[seat].iter().copied().collect() } else { BTreeSet::new() }
    }

    /// A seat acts. One action, one decision.
    ///
    /// # Errors
    /// [`Refusal::Turn`] out of turn, [`Refusal::Action`] if the action is not legal; nothing
    /// changes (R27).
    pub fn play(&mut self, seat: usize, action: &Action) -> Result<(), Refusal> {
        let Stage::ToAct(turn) = &self.stage else {
            return Err(Refusal::Turn);
        };
        if turn.seat != seat {
            return Err(Refusal::Turn);
        }
        if !self.legal_actions().contains(action) {
            return Err(Refusal::Action);
        }
        let Some(mut deal) = self.deal.take() else {
            return Err(Refusal::Turn);
        };
        self.decision += 1;
        match action {
            Action::Declare(declaration) => self.declare(&mut deal, seat, declaration),
            Action::Discard(card) => self.discard(&mut deal, seat, *card),
        }
        self.deal = Some(deal);
        Ok(())
    }

    /// A seat exposes a card out of turn: it is known to be held from now on, still counts in the
    /// hand, and the current decision stays (R28).
    ///
    /// # Errors
    /// [`Refusal::Fault`] if the card is not among [`Game::faults`]; nothing changes.
    pub fn fault(&mut self, seat: usize, card: Card) -> Result<(), Refusal> {
        if !self.faults(seat).contains(&card) {
            return Err(Refusal::Fault);
        }
        let Some(deal) = &mut self.deal else {
            return Err(Refusal::Fault);
        };
        deal.show(seat, &[card]);
        deal.exposed[seat] = Some(card);
        Ok(())
    }

    /// A turn begins: its penalty, its draw, and what may be done in it (R9, R20, R28).
    fn begin_turn(&mut self, deal: &mut Deal, seat: usize) {
        deal.turns += 1;
        let stock_was_empty = deal.stock.is_empty();
        if deal.exposed[seat].is_some() {
            deal.penalty[seat] += 1;
        }
        self.draw(deal, seat, self.rules.draw_at_start);
        let phase = match deal.exposed[seat] {
            Some(card) => Phase::DiscardOneOf(vec![card]),
            None if stock_was_empty && !self.rules.melds_after_stock => Phase::Discard,
            None => Phase::DeclareOrDiscard,
        };
        self.stage = Stage::ToAct(Turn { seat, phase });
    }

    /// Draws until the hand holds enough, a card less for each fault but at least one, or the
    /// stock is gone (R9, R28).
    fn draw(&self, deal: &mut Deal, seat: usize, draw: Draw) {
        let full = match draw {
            Draw::Never => return,
            Draw::ToHand => self.rules.hand,
            Draw::ToHandAndOne => self.rules.hand + 1,
        };
        let enough = full.saturating_sub(deal.penalty[seat]).max(1);
        while deal.hands[seat].len() < enough && !deal.stock.is_empty() {
            let card = deal.stock.remove(0);
            deal.hands[seat].push(card);
        }
    }

    /// A side scores; under `at_once` the match may end with it (R24). Says whether it did.
    fn score(&mut self, seat: usize, points: u32) -> bool {
        self.totals[self.rules.side(seat)] += points;
        let ends = self.rules.match_end == MatchEnd::AtOnce && self.target_reached();
        if ends {
            self.stage = Stage::Over;
        }
        ends
    }

    /// A declaration: it is shown, its cards go where they belong, it scores, and it says how the
    /// turn goes on (R8, R10 to R15).
    fn declare(&mut self, deal: &mut Deal, seat: usize, declaration: &Declaration) {
        let cards = &declaration.hand;
        deal.show(seat, cards);
        let (points, next) = match declaration.kind {
            Kind::Sequence => (self.rules.sequence, meld(deal, seat, cards)),
            Kind::Flush => (self.rules.flush, meld(deal, seat, cards)),
            Kind::FlushSequence => (self.rules.flush_sequence, meld(deal, seat, cards)),
            Kind::Assembly => self.assemble(deal, seat, cards),
            Kind::Marriages => self.marry(deal, seat, declaration),
        };
        if self.score(seat, points) {
            return;
        }
        match next {
            Next::Discard(phase) => self.stage = Stage::ToAct(Turn { seat, phase }),
            Next::TurnEnds => self.end_turn(deal, seat),
        }
    }

    /// An assembly: it stays and binds the discard, or leaves and ends the turn (R13, R14, R18).
    /// Gives the points and how the turn goes on.
    fn assemble(&self, deal: &mut Deal, seat: usize, cards: &[Card]) -> (u32, Next) {
        let rank = cards[0].rank;
        deal.assemblies.push(rank);
        let points = assembly_score(self.rules.assembly_scores, rank);
        match self.rules.assembly {
            Assembly::Keep => (points, Next::Discard(Phase::DiscardOneOf(cards.to_vec()))),
            Assembly::Remove => {
                for card in cards {
                    deal.leave_hand(seat, *card);
                    deal.removed_pile.push(*card);
                }
                (points, Next::TurnEnds)
            }
        }
    }

    /// Marriages: all cards go to the marriage pile; the turn ends, or a discard of any card
    /// follows if the hand is not empty (R15, R19). Gives the points and how the turn goes on.
    fn marry(&self, deal: &mut Deal, seat: usize, declaration: &Declaration) -> (u32, Next) {
        for card in &declaration.hand {
            deal.leave_hand(seat, *card);
            deal.marriage_pile.push(*card);
        }
        for card in &declaration.tableau {
            deal.leave_tableau(*card);
            deal.marriage_pile.push(*card);
        }
        let all = || declaration.hand.iter().chain(&declaration.tableau);
        let kings = all().filter(|card| card.rank == KING).count();
        let mut imperial = 0;
        for card in all() {
            if card.rank == KING && card.suit == self.rules.imperial {
                imperial += 1;
            }
        }
        let points = marriage_score(self.rules.imperial_bonus, kings, imperial, deal.imperial_marriages);
        deal.imperial_marriages += imperial;
        if self.rules.marriage_then_discard && !deal.hands[seat].is_empty() {
            (points, Next::Discard(Phase::Discard))
        } else {
            (points, Next::TurnEnds)
        }
    }

    /// A discard: the card goes to its pile, and a fifth card of the rank completes a zetema (R16),
    /// which may bring an extra turn (R22).
    fn discard(&mut self, deal: &mut Deal, seat: usize, card: Card) {
        let was_exposed = deal.exposed[seat].take().is_some();
        deal.leave_hand(seat, card);
        deal.tableau.push(card);
        let pile = deal.pile(card.rank);
        let zetema = pile.len() == 5 && self.may_leave(deal, card.rank);
        if zetema {
            for card in pile {
                deal.leave_tableau(card);
                deal.zetema_pile.push(card);
            }
            deal.zetemas += 1;
            // R28: no points for a zetema that an exposed card completes.
            let points = if was_exposed { 0 } else { zetema_score(card.rank) };
            if self.score(seat, points) {
                return;
            }
        }
        // R22: the stock is empty as the discard is made, and the hand has cards to go on with.
        let goes_on =
            zetema && deal.stock.is_empty() && self.rules.players == 2 && !deal.hands[seat].is_empty();
        match self.rules.extra_turn {
            ExtraTurn::Discard if goes_on => {
                deal.turns += 1;
                let phase = Phase::Discard;
                self.stage = Stage::ToAct(Turn { seat, phase });
            }
            ExtraTurn::Full if goes_on => self.begin_turn(deal, seat),
            _ => self.end_turn(deal, seat),
        }
    }

    /// Whether five cards of a rank score and leave; under `after_assembly` kings need an assembly
    /// of queens and queens one of kings, in this deal (R16).
    fn may_leave(&self, deal: &Deal, rank: u8) -> bool {
        match (self.rules.royal_zetema, rank) {
            (RoyalZetema::AfterAssembly, KING) => deal.assemblies.contains(&QUEEN),
            (RoyalZetema::AfterAssembly, QUEEN) => deal.assemblies.contains(&KING),
            _ => true,
        }
    }

    /// A turn ends: its draw, then the next seat that is not skipped; when every seat is, the deal
    /// ends (R9, R21, R23).
    fn end_turn(&mut self, deal: &mut Deal, seat: usize) {
        self.draw(deal, seat, self.rules.draw_at_end);
        let players = self.rules.players;
        let mut clockwise = (1..=players).map(|step| (seat + step) % players);
        match clockwise.find(|next| !self.is_skipped(deal, *next)) {
            Some(next) => self.begin_turn(deal, next),
            None => self.end_deal(),
        }
    }

    /// No cards, and none by a draw at the start of the turn (R21).
    fn is_skipped(&self, deal: &Deal, seat: usize) -> bool {
        let would_draw = self.rules.draw_at_start != Draw::Never && !deal.stock.is_empty();
        deal.hands[seat].is_empty() && !would_draw
    }

    /// The deal is over: the match too, if it is of one deal or a side has reached the target;
    /// otherwise the deal passes clockwise and the totals stay (R7, R24, R26).
    fn end_deal(&mut self) {
        if self.rules.target.is_none() || self.target_reached() {
            self.stage = Stage::Over;
        } else {
            self.dealer = (self.dealer + 1) % self.rules.players;
            self.stage = Stage::ToDeal;
        }
    }
}

/// A sequence, flush or flush sequence: it is remembered, and the discard must be one of its cards
/// (R13).
fn meld(deal: &mut Deal, seat: usize, cards: &[Card]) -> Next {
    deal.last_meld[seat] = Some(cards.to_vec());
    Next::Discard(Phase::DiscardOneOf(cards.to_vec()))
}
