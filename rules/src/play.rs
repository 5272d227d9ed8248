//! What an action does (R9–R26, R28).

use crate::action::Declaration;
use crate::card::Card;
use crate::cards::Cards;
use crate::error::PlayError;
use crate::event::{Event, SeatEvent};
use crate::game::Game;
use crate::legal;
use crate::options::{Assembly, Draw, ExtraTurn, MarriageHandMin, MatchEnd};
use crate::public::{EndReason, MatchResult, Phase, Stage};
use crate::rules::Rules;
use crate::seat::{Seat, Side};

/// Whether the match goes on after a score.
#[derive(PartialEq, Eq)]
enum After {
    Playing,
    MatchOver,
}

impl Game {
    pub(crate) fn check_discard(&self, seat: Seat, stage: Stage, card: Card) -> Result<(), PlayError> {
        if !self.hands[seat.index()].contains(card) {
            return Err(PlayError::CardNotHeld { card });
        }
        match stage {
            Stage::DiscardDeclared(declared) if !declared.contains(card) => {
                Err(PlayError::NotDeclared { card, declared })
            }
            Stage::DiscardExposed(exposed) if exposed != card => Err(PlayError::NotExposed { card, exposed }),
            _ => Ok(()),
        }
    }

    pub(crate) fn check_declaration(
        &self,
        seat: Seat,
        stage: Stage,
        declaration: &Declaration,
    ) -> Result<(), PlayError> {
        let clause = match stage {
            Stage::DeclareOrDiscard => None,
            Stage::DiscardExposed(_) => Some("R28"),
            Stage::Discard => Some("R10, R15, R20 or R22"),
            Stage::DiscardDeclared(_) => Some("R10"),
        };
        if let Some(clause) = clause {
            return Err(PlayError::NoDeclarationNow { clause });
        }
        let hand = self.hands[seat.index()];
        match *declaration {
            Declaration::Sequence(cards) | Declaration::Flush(cards) | Declaration::FlushSequence(cards) => {
                self.check_meld(seat, declaration, cards)
            }
            Declaration::Assembly(rank) if legal::all_five(hand).contains(rank) => Ok(()),
            Declaration::Assembly(rank) => Err(PlayError::AssemblyNotHeld { rank }),
            Declaration::Marriages { hand: from_hand, tableau: from_tableau } => {
                self.check_marriages(hand, from_hand, from_tableau)
            }
        }
    }

    fn check_meld(&self, seat: Seat, declaration: &Declaration, cards: Cards) -> Result<(), PlayError> {
        if !self.hands[seat.index()].contains_all(cards) {
            return Err(PlayError::CardsNotHeld { cards });
        }
        if legal::meld(&self.rules, cards).as_ref() != Some(declaration) {
            let called = match declaration {
                Declaration::Sequence(_) => "sequence",
                Declaration::Flush(_) => "flush",
                _ => "flush sequence",
            };
            return Err(PlayError::NotTheMeld { cards, called, size: self.rules.meld_cards() });
        }
        legal::reuse(&self.rules, &self.public, seat, cards).map_or(Ok(()), Err)
    }

    fn check_marriages(&self, hand: Cards, from_hand: Cards, from_tableau: Cards) -> Result<(), PlayError> {
        let Some(counts) = legal::marriage_counts(from_hand, from_tableau) else {
            return Err(PlayError::NotMarriages { hand: from_hand, tableau: from_tableau });
        };
        if !hand.contains_all(from_hand) {
            return Err(PlayError::CardsNotHeld { cards: from_hand });
        }
        if !self.public.tableau.contains_all(from_tableau) {
            return Err(PlayError::CardsNotInTableau { cards: from_tableau });
        }
        if !legal::marriages_have_enough_from_hand(&self.rules, counts, from_hand) {
            let needed = match self.rules.marriage_hand_min {
                MarriageHandMin::Each => "in every suit at least one card for each marriage",
                MarriageHandMin::Any => "at least one card",
            };
            return Err(PlayError::TooFewFromHand { needed });
        }
        Ok(())
    }

    pub(crate) fn discard(&mut self, seat: Seat, stage: Stage, card: Card, events: &mut Vec<Event>) {
        let exposed = stage == Stage::DiscardExposed(card);
        if exposed {
            self.public.exposed[seat.index()] = None;
        }
        self.take_from_hand(seat, card);
        self.public.tableau.insert(card);
        events.push(Event::public(SeatEvent::Discarded { seat, card }));
        let rank = card.rank();
        if self.public.is_zetema(&self.rules, self.public.tableau, rank) {
            let points = if exposed { 0 } else { Rules::zetema_points(rank) };
            self.public.tableau = self.public.tableau.minus(self.public.tableau.of_rank(rank));
            self.public.zetemas = self.public.zetemas.with(rank);
            events.push(Event::public(SeatEvent::Zetema { seat, rank, points }));
            if self.score(seat, points, events) == After::MatchOver {
                return;
            }
            if self.goes_on(seat) {
                events.push(Event::public(SeatEvent::ExtraTurn { seat }));
                // What was declared or exposed before no longer binds (R22).
                let stage = match self.rules.extra_turn {
                    ExtraTurn::Full if self.rules.melds_after_stock => Stage::DeclareOrDiscard,
                    _ => Stage::Discard,
                };
                self.public.phase = Phase::Turn { seat, stage };
                return;
            }
        }
        self.end_turn(seat, events);
    }

    /// Whether a zetema lets the same seat go on (R22).
    fn goes_on(&self, seat: Seat) -> bool {
        self.rules.extra_turn != ExtraTurn::None
            && self.rules.player_count().count() == 2
            && self.public.stock_count == 0
            && self.public.hand_counts[seat.index()] > 0
    }

    pub(crate) fn declare(&mut self, seat: Seat, declaration: Declaration, events: &mut Vec<Event>) {
        let points = self.public.declaration_points(&self.rules, &declaration);
        events.push(Event::public(SeatEvent::Declared { seat, declaration, points }));
        let cards = declaration.from_hand(self.rules.imperial_suit);
        self.show(seat, cards);
        match declaration {
            Declaration::Sequence(_) | Declaration::Flush(_) | Declaration::FlushSequence(_) => {
                self.public.last_melds[seat.index()] = Some(cards);
            }
            Declaration::Assembly(rank) => {
                self.public.assemblies = self.public.assemblies.with(rank);
                if self.rules.assembly == Assembly::Remove {
                    self.leave_hand(seat, cards);
                    self.public.removed = self.public.removed.with(rank);
                }
            }
            Declaration::Marriages { tableau, .. } => {
                self.leave_hand(seat, cards);
                self.public.tableau = self.public.tableau.minus(tableau);
                self.public.marriages = self.public.marriages.sum(cards).sum(tableau);
            }
        }
        if self.score(seat, points, events) == After::MatchOver {
            return;
        }
        let stage = match declaration {
            Declaration::Marriages { .. }
                if self.rules.marriage_then_discard && self.public.hand_counts[seat.index()] > 0 =>
            {
                Some(Stage::Discard)
            }
            Declaration::Marriages { .. } => None,
            Declaration::Assembly(_) if self.rules.assembly == Assembly::Remove => None,
            _ => Some(Stage::DiscardDeclared(cards)),
        };
        match stage {
            Some(stage) => self.public.phase = Phase::Turn { seat, stage },
            None => self.end_turn(seat, events),
        }
    }

    fn score(&mut self, seat: Seat, points: u16, events: &mut Vec<Event>) -> After {
        let side = self.rules.side(seat);
        for scores in [&mut self.public.deal_scores, &mut self.public.totals] {
            let score = &mut scores[side.index()];
            *score = score.saturating_add(points);
        }
        if self.rules.match_end == MatchEnd::AtOnce && points > 0 && self.has_reached_target(side) {
            self.end_match(EndReason::Target, events);
            return After::MatchOver;
        }
        After::Playing
    }

    /// Whether this side's total ends the match; that of a side with a forfeit never does (R24, R25).
    fn has_reached_target(&self, side: Side) -> bool {
        self.rules.target.is_some_and(|target| self.public.totals[side.index()] >= target)
            && !self.has_forfeited(side)
    }

    fn has_forfeited(&self, side: Side) -> bool {
        self.public.forfeited.iter().any(|seat| self.rules.side(seat) == side)
    }

    fn end_turn(&mut self, seat: Seat, events: &mut Vec<Event>) {
        self.draw(seat, self.rules.draw_at_end, events);
        self.start_turn_after(seat, events);
    }

    /// Fills the hand from the stock (R9), a card less for each fault (R28).
    fn draw(&mut self, seat: Seat, draw: Draw, events: &mut Vec<Event>) {
        let i = seat.index();
        let full = match draw {
            Draw::None => return,
            Draw::ToHandSize => self.rules.hand_size,
            Draw::ToHandSizePlusOne => self.rules.hand_size + 1,
        };
        let until = full.saturating_sub(self.public.draw_penalties[i]).max(1);
        let mut drawn = Cards::EMPTY;
        while self.public.hand_counts[i] < until {
            let Some(card) = self.stock.draw() else { break };
            drawn.insert(card);
            self.hands[i].insert(card);
            self.public.hand_counts[i] += 1;
            self.public.stock_count -= 1;
        }
        if !drawn.is_empty() {
            events.push(Event::drew(seat, drawn));
        }
    }

    /// Gives the turn to the next seat that has cards or draws some; without one the deal is over
    /// (R21, R23).
    pub(crate) fn start_turn_after(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let players = self.rules.player_count();
        let would_draw = self.rules.draw_at_start != Draw::None && self.public.stock_count > 0;
        let next = (1..=players.count())
            .map(|places| seat.clockwise(places, players))
            .find(|next| self.public.hand_counts[next.index()] > 0 || would_draw);
        match next {
            Some(next) => self.start_turn(next, events),
            None => self.end_deal(events),
        }
    }

    fn start_turn(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let began_with_stock = self.public.stock_count > 0;
        let exposed = self.public.exposed[seat.index()];
        if exposed.is_some() {
            let penalty = &mut self.public.draw_penalties[seat.index()];
            *penalty = penalty.saturating_add(1);
        }
        self.draw(seat, self.rules.draw_at_start, events);
        let stage = match exposed {
            Some(card) => Stage::DiscardExposed(card),
            None if began_with_stock || self.rules.melds_after_stock => Stage::DeclareOrDiscard,
            None => Stage::Discard,
        };
        self.public.phase = Phase::Turn { seat, stage };
    }

    fn end_deal(&mut self, events: &mut Vec<Event>) {
        events.push(Event::public(SeatEvent::DealOver {
            deal: self.public.deal,
            deal_scores: self.public.deal_scores,
        }));
        if self.rules.target.is_none() {
            self.end_match(EndReason::DealOver, events);
        } else if self.sides().any(|side| self.has_reached_target(side)) {
            self.end_match(EndReason::Target, events);
        } else {
            self.public.phase = Phase::DealOver;
        }
    }

    fn sides(&self) -> impl Iterator<Item = Side> + use<> {
        (0..self.rules.sides()).filter_map(Side::new)
    }

    pub(crate) fn end_match_if_one_side_is_left(&mut self, events: &mut Vec<Event>) {
        if self.sides().filter(|&side| !self.has_forfeited(side)).count() <= 1 {
            self.end_match(EndReason::Forfeit, events);
        }
    }

    /// Ranks the sides by total, those with a forfeit below all others (R25). The side that reached
    /// the target at once has the highest total of those without.
    fn end_match(&mut self, reason: EndReason, events: &mut Vec<Event>) {
        let standing = |side: Side| (!self.has_forfeited(side), self.public.totals[side.index()]);
        let mut ranks = [0; Seat::MAX];
        for side in self.sides() {
            let above = self.sides().filter(|&other| standing(other) > standing(side)).count();
            #[allow(clippy::cast_possible_truncation)]
            {
                ranks[side.index()] = above as u8 + 1;
            }
        }
        let result = MatchResult { reason, ranks, totals: self.public.totals };
        self.public.result = Some(result);
        self.public.phase = Phase::MatchOver;
        events.push(Event::public(SeatEvent::MatchOver { result }));
    }
}
