//! The view of a seat that is to act.

use zetema_proto::{FieldError, v1, view_from_wire};
use zetema_rules::{Cards, Phase, PublicState, Ranks, Rules, Seat, Seats, Stage, View, Viewer};

use super::action::{card, card_list, cards, ranks, seat};
use super::fields::{Fields, NotPlain, Plain, Value, narrow, only};

/// A view as it came: what it means, the rules of its match say.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is boxed with its decision"
)]
pub(crate) enum ViewAsSent {
    Read(PlainView),
    Message(Box<v1::View>),
}

/// The view of a match that is being played.
pub(crate) struct PlainView {
    public: PublicState,
    viewer: Viewer,
    hand: Cards,
    seats: usize,
    sides: usize,
}

/// Shows no card.
impl std::fmt::Debug for PlainView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlainView").field("viewer", &self.viewer).finish_non_exhaustive()
    }
}

impl ViewAsSent {
    /// The view, once it is known to be one of a match with these rules.
    ///
    /// # Errors
    /// [`FieldError`] if it is none.
    pub(crate) fn of_match(&mut self, rules: &Rules) -> Result<&PlainView, FieldError> {
        if let Self::Message(message) = self {
            let View { rules, public, viewer, hand } = view_from_wire(message, rules)?;
            let (seats, sides) = (rules.player_count().count(), rules.sides());
            *self = Self::Read(PlainView { public, viewer, hand, seats, sides });
        }
        match self {
            Self::Read(view) if view.fits(rules) => Ok(view),
            _ => Err(FieldError::invalid("", "does not fit the rules of its match")),
        }
    }
}

impl PlainView {
    pub(super) const EMPTY: Self = Self {
        public: PublicState {
            deal: 0,
            dealer: NOBODY,
            decision: 0,
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
            totals: [0; Seat::MAX],
            deal_scores: [0; Seat::MAX],
            forfeited: Seats::EMPTY,
            result: None,
        },
        viewer: Viewer::Seat(NOBODY),
        hand: Cards::EMPTY,
        seats: 0,
        sides: 0,
    };

    /// The decision that is open.
    pub(crate) const fn decision(&self) -> u32 {
        self.public.decision
    }

    /// The view, in a match with these rules.
    #[inline]
    pub(crate) const fn under(&self, rules: &Rules) -> View {
        View { rules: *rules, public: self.public, viewer: self.viewer, hand: self.hand }
    }

    fn fits(&self, rules: &Rules) -> bool {
        let Self { public, viewer, hand: _, seats, sides } = self;
        let players = rules.player_count().count();
        let turn = match public.phase {
            Phase::Turn { seat, .. } => seat,
            Phase::DealOver | Phase::MatchOver => public.dealer,
        };
        let viewer = match *viewer {
            Viewer::Seat(seat) => seat,
            Viewer::Spectator => public.dealer,
        };
        let are_seats = [viewer, public.dealer, turn].iter().all(|seat| seat.index() < players);
        *seats == players && *sides == rules.sides() && are_seats
    }
}

const NOBODY: Seat = Seat::new(0).unwrap();

/// Reads a view into one that is empty: it is large, and was to be copied from place to place.
pub(super) fn view(bytes: &[u8], view: &mut PlainView) -> Plain<()> {
    let PlainView { public, viewer, hand, seats, sides } = view;
    let (mut who, mut turn) = (None, None);
    let mut fields = Fields::with_repeated(bytes, &[13, 14]);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = Some(seat(number)?),
            (3, Value::Number(number)) => public.deal = narrow(number)?,
            (4, Value::Number(number)) => public.dealer = seat(number)?,
            (5, Value::Number(number)) => public.decision = narrow(number)?,
            (6, Value::Bytes(bytes)) => turn = Some(phase(bytes)?),
            (7, Value::Number(number)) => public.stock_count = narrow(number)?,
            (8, Value::Bytes(bytes)) => public.tableau = cards(bytes)?,
            (9, Value::Bytes(bytes)) => public.zetemas = ranks(bytes)?,
            (10, Value::Bytes(bytes)) => public.marriages = cards(bytes)?,
            (11, Value::Bytes(bytes)) => public.removed = ranks(bytes)?,
            (12, Value::Bytes(bytes)) => public.assemblies = ranks(bytes)?,
            (13, Value::Bytes(bytes)) => {
                seat_view(public, Seat::new(*seats).ok_or(NotPlain)?, bytes)?;
                *seats += 1;
            }
            (14, Value::Bytes(bytes)) if *sides < Seat::MAX => {
                (public.totals[*sides], public.deal_scores[*sides]) = side_view(bytes)?;
                *sides += 1;
            }
            (15, Value::Bytes(bytes)) => *hand = cards(bytes)?,
            _ => return Err(NotPlain),
        }
    }
    public.phase = turn.ok_or(NotPlain)?;
    *viewer = Viewer::Seat(who.ok_or(NotPlain)?);
    Ok(())
}

fn seat_view(public: &mut PublicState, seat: Seat, bytes: &[u8]) -> Plain<()> {
    let (mut fields, i) = (Fields::of(bytes), seat.index());
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => public.hand_counts[i] = narrow(number)?,
            (2, Value::Bytes(bytes)) => public.known_held[i] = cards(bytes)?,
            (3, Value::Number(number)) => public.exposed[i] = Some(card(number)?),
            (4, Value::Number(number)) => public.draw_penalties[i] = narrow(number)?,
            (5, Value::Bytes(bytes)) => public.last_melds[i] = Some(card_list(bytes)?),
            (6, Value::Number(1)) => public.forfeited = public.forfeited.with(seat),
            _ => return Err(NotPlain),
        }
    }
    Ok(())
}

/// The total of a side, and what it has of this deal.
fn side_view(bytes: &[u8]) -> Plain<(u16, u16)> {
    let (mut fields, mut total, mut deal_score) = (Fields::of(bytes), 0, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => total = narrow(number)?,
            (2, Value::Number(number)) => deal_score = narrow(number)?,
            _ => return Err(NotPlain),
        }
    }
    Ok((total, deal_score))
}

/// A turn: there are no decisions in other phases.
fn phase(bytes: &[u8]) -> Plain<Phase> {
    let (1, Value::Bytes(turn)) = only(bytes)? else { return Err(NotPlain) };
    let (mut fields, mut who, mut stage) = (Fields::of(turn), 0, None);
    while let Some(field) = fields.next()? {
        // It can be in one stage only.
        if stage.is_some() {
            return Err(NotPlain);
        }
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Bytes([])) => stage = Some(Stage::DeclareOrDiscard),
            (3, Value::Bytes([])) => stage = Some(Stage::Discard),
            (4, Value::Bytes(bytes)) => stage = Some(Stage::DiscardDeclared(card_list(bytes)?)),
            (5, Value::Number(number)) => stage = Some(Stage::DiscardExposed(card(number)?)),
            _ => return Err(NotPlain),
        }
    }
    Ok(Phase::Turn { seat: seat(who)?, stage: stage.ok_or(NotPlain)? })
}
