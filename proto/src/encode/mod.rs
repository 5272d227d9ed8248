//! The bytes of messages that go out very often, written straight from the rules' types.
//!
//! They are those that the message would have (`to_wire`, then prost's `encode`), byte by byte: only the message is never made.
//! To make one, to ask it for the length of each part, and to free it costs several times what writing the bytes does. What comes
//! once in a deal or less is made all the same.
//!
//! ```
//! use prost::Message;
//! use zetema_proto::{Fields, encode_legal_actions, v1};
//! use zetema_rules::{Cards, LegalActions};
//!
//! let legal = LegalActions { discards: Cards::EMPTY, declarations: Vec::new() };
//! let mut bytes = Vec::new();
//! let mut decision = Fields::of(&mut bytes);
//! decision.message(1, |fields| encode_legal_actions(fields, &legal));
//! let legal_actions = Some(v1::LegalActions::default());
//! assert_eq!(bytes, v1::Decision { legal_actions, clock: None }.encode_to_vec());
//! ```

mod fields;

use zetema_rules::{
    Card, Cards, Declaration, LegalActions, OwnCards, PublicState, Rank, Ranks, Rules, Seat, SeatEvent, View,
    Viewer,
};

use crate::convert::{Wire, seat_event_to_wire};
pub use fields::Fields;

/// The fields of an `Event`: one of the game.
pub fn encode_seat_event(fields: &mut Fields<'_>, event: &SeatEvent, rules: &Rules) {
    match *event {
        SeatEvent::Drew { seat, count, cards } => fields.message(17, |drew| {
            drew.unless_zero(1, seat.to_wire());
            drew.unless_zero(2, count);
            drew.list(3, cards.iter().flat_map(|OwnCards(cards)| cards.iter().map(card)));
        }),
        SeatEvent::Declared { seat, ref declaration, points } => fields.message(18, |declared| {
            declared.unless_zero(1, seat.to_wire());
            declared.message(2, |fields| encode_declaration(fields, declaration));
            declared.unless_zero(3, points);
        }),
        SeatEvent::Discarded { seat, card } => fields.message(19, |discarded| {
            discarded.unless_zero(1, seat.to_wire());
            discarded.unless_zero(2, self::card(card));
        }),
        SeatEvent::Zetema { seat, rank, points } => fields.message(20, |zetema| {
            zetema.unless_zero(1, seat.to_wire());
            zetema.unless_zero(2, self::rank(rank));
            zetema.unless_zero(3, points);
        }),
        SeatEvent::DealStarted { .. }
        | SeatEvent::Exposed { .. }
        | SeatEvent::ExtraTurn { .. }
        | SeatEvent::DealOver { .. }
        | SeatEvent::Forfeited { .. }
        | SeatEvent::MatchOver { .. } => fields.made(&seat_event_to_wire(event, rules)),
    }
}

/// The fields of a `LegalActions`.
pub fn encode_legal_actions(fields: &mut Fields<'_>, legal: &LegalActions) {
    let LegalActions { discards, declarations } = legal;
    fields.cards(1, *discards);
    for declaration in declarations {
        fields.message(2, |fields| encode_declaration(fields, declaration));
    }
}

fn encode_declaration(fields: &mut Fields<'_>, declaration: &Declaration) {
    match *declaration {
        Declaration::Sequence(cards) => fields.message(1, |list| list.cards(1, cards)),
        Declaration::Flush(cards) => fields.message(2, |list| list.cards(1, cards)),
        Declaration::FlushSequence(cards) => fields.message(3, |list| list.cards(1, cards)),
        Declaration::Assembly(rank) => fields.number(4, self::rank(rank)),
        Declaration::Marriages { hand, tableau } => fields.message(5, |marriages| {
            marriages.cards(1, hand);
            marriages.cards(2, tableau);
        }),
    }
}

/// The fields of a `View`.
pub fn encode_view(fields: &mut Fields<'_>, view: &View) {
    let View { rules, public, viewer, hand } = view;
    let PublicState {
        deal,
        dealer,
        decision,
        phase,
        hand_counts,
        stock_count,
        known_held,
        exposed,
        draw_penalties,
        last_melds,
        tableau,
        zetemas,
        marriages,
        removed,
        assemblies,
        totals,
        deal_scores,
        forfeited,
        result,
    } = public;
    match viewer {
        Viewer::Seat(seat) => fields.number(1, seat.to_wire()),
        Viewer::Spectator => fields.message(2, |_| ()),
    }
    fields.unless_zero(3, *deal);
    fields.unless_zero(4, dealer.to_wire());
    fields.unless_zero(5, *decision);
    fields.message(6, |fields| fields.made(&phase.to_wire()));
    fields.unless_zero(7, *stock_count);
    fields.cards(8, *tableau);
    fields.ranks(9, *zetemas);
    fields.cards(10, *marriages);
    fields.ranks(11, *removed);
    fields.ranks(12, *assemblies);
    let seat_view = |fields: &mut Fields<'_>, seat: Seat| {
        fields.unless_zero(1, hand_counts[seat.index()]);
        fields.cards(2, known_held[seat.index()]);
        if let Some(exposed) = exposed[seat.index()] {
            fields.number(3, card(exposed));
        }
        fields.unless_zero(4, draw_penalties[seat.index()]);
        if let Some(last_meld) = last_melds[seat.index()] {
            fields.message(5, |list| list.cards(1, last_meld));
        }
        fields.unless_zero(6, forfeited.contains(seat));
    };
    for seat in rules.seats() {
        fields.message(13, |fields| seat_view(fields, seat));
    }
    for (&total, &deal_score) in totals.iter().zip(deal_scores).take(rules.sides()) {
        fields.message(14, |side| {
            side.unless_zero(1, total);
            side.unless_zero(2, deal_score);
        });
    }
    fields.cards(15, *hand);
    if let Some(result) = result {
        fields.message(16, |fields| fields.made(&result.to_wire()));
    }
}

impl Fields<'_> {
    fn cards(&mut self, field: u32, cards: Cards) {
        self.list(field, cards.iter().map(card));
    }

    fn ranks(&mut self, field: u32, ranks: Ranks) {
        self.list(field, ranks.iter().map(rank));
    }
}

fn card(card: Card) -> u32 {
    card.to_wire().unsigned_abs()
}

fn rank(rank: Rank) -> u32 {
    rank.to_wire().unsigned_abs()
}
