//! Views: what one seat, or a spectator, knows of a match.

use zetema_rules::{Cards, Phase, PublicState, Rules, Seat, Seats, Stage, View, Viewer};

use super::card::{cards_from_list, cards_to_list};
use super::{FieldError, Wire, narrow, optional, required, value};
use crate::v1;
use crate::v1::{phase, turn, view};

/// The message of a view. The rules are not in it: the match has them.
pub fn view_to_wire(view: &View) -> v1::View {
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
    let seat_view = |seat: Seat| v1::SeatView {
        hand_count: hand_counts[seat.index()].into(),
        known_held: known_held[seat.index()].to_wire(),
        exposed: exposed[seat.index()].map(|card| card.to_wire()),
        draw_penalty: draw_penalties[seat.index()].into(),
        last_meld: last_melds[seat.index()].map(cards_to_list),
        forfeited: forfeited.contains(seat),
    };
    let side_view = |(&total, &deal_score): (&u16, &u16)| v1::SideView {
        total: total.into(),
        deal_score: deal_score.into(),
    };
    v1::View {
        viewer: Some(match viewer {
            Viewer::Seat(seat) => view::Viewer::Seat(seat.to_wire()),
            Viewer::Spectator => view::Viewer::Spectator(v1::Spectator {}),
        }),
        deal: *deal,
        dealer: dealer.to_wire(),
        decision_number: *decision,
        phase: Some(phase.to_wire()),
        stock_count: (*stock_count).into(),
        tableau: tableau.to_wire(),
        zetemas: zetemas.to_wire(),
        marriages: marriages.to_wire(),
        removed: removed.to_wire(),
        assemblies: assemblies.to_wire(),
        seats: rules.seats().map(seat_view).collect(),
        sides: totals.iter().zip(deal_scores).take(rules.sides()).map(side_view).collect(),
        hand: hand.to_wire(),
        result: result.map(|result| result.to_wire()),
    }
}

/// The view that a message is, of a match with these rules.
///
/// # Errors
/// [`FieldError`] for what is missing, unknown, out of range, or does not fit the rules' number of
/// seats and sides.
pub fn view_from_wire(message: &v1::View, rules: &Rules) -> Result<View, FieldError> {
    let v1::View {
        viewer,
        deal,
        dealer,
        decision_number,
        phase,
        stock_count,
        tableau,
        zetemas,
        marriages,
        removed,
        assemblies,
        seats,
        sides,
        hand,
        result,
    } = message;
    let viewer = match viewer {
        None => return Err(FieldError::missing("viewer")),
        Some(view::Viewer::Seat(seat)) => Viewer::Seat(seat_among("seat", *seat, rules)?),
        Some(view::Viewer::Spectator(v1::Spectator {})) => Viewer::Spectator,
    };
    let phase: Phase = required("phase", phase.as_ref())?;
    if let Phase::Turn { seat, .. } = phase {
        seat_among("phase.turn.seat", seat.to_wire(), rules)?;
    }
    let mut public = PublicState {
        deal: *deal,
        dealer: seat_among("dealer", *dealer, rules)?,
        decision: *decision_number,
        phase,
        hand_counts: [0; Seat::MAX],
        stock_count: narrow("stock_count", *stock_count)?,
        known_held: [Cards::EMPTY; Seat::MAX],
        exposed: [None; Seat::MAX],
        draw_penalties: [0; Seat::MAX],
        last_melds: [None; Seat::MAX],
        tableau: value("tableau", tableau)?,
        zetemas: value("zetemas", zetemas)?,
        marriages: value("marriages", marriages)?,
        removed: value("removed", removed)?,
        assemblies: value("assemblies", assemblies)?,
        totals: [0; Seat::MAX],
        deal_scores: [0; Seat::MAX],
        forfeited: Seats::EMPTY,
        result: optional("result", result.as_ref())?,
    };
    one_each("seats", seats.len(), rules.player_count().count())?;
    for (seat, message) in rules.seats().zip(seats) {
        read_seat(&mut public, seat, message).map_err(|error| error.at(seat.index()).within("seats"))?;
    }
    one_each("sides", sides.len(), rules.sides())?;
    for (i, message) in sides.iter().enumerate() {
        let v1::SideView { total, deal_score } = *message;
        let within = |error: FieldError| error.at(i).within("sides");
        public.totals[i] = narrow("total", total).map_err(within)?;
        public.deal_scores[i] = narrow("deal_score", deal_score).map_err(within)?;
    }
    Ok(View { rules: *rules, public, viewer, hand: value("hand", hand)? })
}

fn read_seat(public: &mut PublicState, seat: Seat, message: &v1::SeatView) -> Result<(), FieldError> {
    let v1::SeatView { hand_count, known_held, exposed, draw_penalty, last_meld, forfeited } = message;
    let i = seat.index();
    public.hand_counts[i] = narrow("hand_count", *hand_count)?;
    public.known_held[i] = value("known_held", known_held)?;
    public.exposed[i] = optional("exposed", exposed.as_ref())?;
    public.draw_penalties[i] = narrow("draw_penalty", *draw_penalty)?;
    let last_meld = last_meld.as_ref().map(cards_from_list).transpose();
    public.last_melds[i] = last_meld.map_err(|error| error.within("last_meld"))?;
    if *forfeited {
        public.forfeited = public.forfeited.with(seat);
    }
    Ok(())
}

fn seat_among(field: &'static str, number: u32, rules: &Rules) -> Result<Seat, FieldError> {
    let players = rules.player_count();
    let seat: Seat = value(field, &number)?;
    if seat.index() >= players.count() {
        let problem = format!("{number} is no seat of {players}: seats are counted from 0");
        return Err(FieldError::invalid(field, problem));
    }
    Ok(seat)
}

fn one_each(field: &'static str, given: usize, wanted: usize) -> Result<(), FieldError> {
    if given == wanted {
        return Ok(());
    }
    Err(FieldError::invalid(field, format!("there are {given}: the rules make it {wanted}")))
}

impl Wire for Phase {
    type Message = v1::Phase;

    fn to_wire(&self) -> v1::Phase {
        let kind = match *self {
            Self::Turn { seat, stage } => phase::Kind::Turn(v1::Turn {
                seat: seat.to_wire(),
                stage: Some(match stage {
                    Stage::DeclareOrDiscard => turn::Stage::DeclareOrDiscard(v1::DeclareOrDiscardStage {}),
                    Stage::Discard => turn::Stage::Discard(v1::DiscardStage {}),
                    Stage::DiscardDeclared(cards) => turn::Stage::DiscardDeclared(cards_to_list(cards)),
                    Stage::DiscardExposed(card) => turn::Stage::DiscardExposed(card.to_wire()),
                }),
            }),
            Self::DealOver => phase::Kind::DealOver(v1::DealOverPhase {}),
            Self::MatchOver => phase::Kind::MatchOver(v1::MatchOverPhase {}),
        };
        v1::Phase { kind: Some(kind) }
    }

    fn from_wire(message: &v1::Phase) -> Result<Self, FieldError> {
        let v1::Phase { kind } = message;
        match kind {
            None => Err(FieldError::missing("kind")),
            Some(phase::Kind::Turn(turn)) => read_turn(turn).map_err(|error| error.within("turn")),
            Some(phase::Kind::DealOver(v1::DealOverPhase {})) => Ok(Self::DealOver),
            Some(phase::Kind::MatchOver(v1::MatchOverPhase {})) => Ok(Self::MatchOver),
        }
    }
}

fn read_turn(message: &v1::Turn) -> Result<Phase, FieldError> {
    let v1::Turn { seat, stage } = message;
    let stage = match stage {
        None => return Err(FieldError::missing("stage")),
        Some(turn::Stage::DeclareOrDiscard(v1::DeclareOrDiscardStage {})) => Stage::DeclareOrDiscard,
        Some(turn::Stage::Discard(v1::DiscardStage {})) => Stage::Discard,
        Some(turn::Stage::DiscardDeclared(cards)) => {
            Stage::DiscardDeclared(cards_from_list(cards).map_err(|error| error.within("discard_declared"))?)
        }
        Some(turn::Stage::DiscardExposed(card)) => Stage::DiscardExposed(value("discard_exposed", card)?),
    };
    Ok(Phase::Turn { seat: value("seat", seat)?, stage })
}
