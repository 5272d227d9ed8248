//! What a seat observes.

use zetema_proto::{FieldError, Wire, seat_event_from_wire, v1};
use zetema_rules::{LegalActions, SeatEvent};

use super::action::legal_actions;
use super::event::event;
use super::fields::{Fields, NotPlain, Plain, Value, narrow};
use super::view::{PlainView, ViewAsSent, view};

/// What a seat observes, in the types of the rules.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) seq: u64,
    /// The decision that is open, whoever is to take it.
    pub(crate) decision: Option<u32>,
    pub(crate) happened: Vec<Happened>,
    /// The decision, if this seat is to take it.
    pub(crate) asked: Option<Box<Asked>>,
    /// The decision that this seat has answered by what happened.
    pub(crate) answered: Option<u32>,
}

/// One of the things that happened.
#[derive(Debug)]
pub(crate) enum Happened {
    InGame(SeatEvent),
    /// About the match.
    About(v1::event::Kind),
    /// What a later version may send.
    Unknown,
}

/// A decision that this seat is to take.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) view: ViewAsSent,
    pub(crate) legal: LegalActions,
    pub(crate) clock: Option<v1::Clock>,
}

/// Reads a response with an observation of plain play, and what stands for the seat on the stream.
pub(super) fn read_response(bytes: &[u8]) -> Plain<(u32, Observed)> {
    let (mut fields, mut handle, mut observed) = (Fields::of(bytes), 0, None);
    while let Some(field) = fields.next()? {
        match field {
            // Its tag is that of the action that it shows. The receipt is in the observation.
            (1, Value::Number(_)) => {}
            (2, Value::Number(number)) => handle = narrow(number)?,
            (5, Value::Bytes(bytes)) => observed = Some(Observed::read(bytes)?),
            _ => return Err(NotPlain),
        }
    }
    Ok((handle, observed.ok_or(NotPlain)?))
}

impl Observed {
    fn read(bytes: &[u8]) -> Plain<Self> {
        let mut observed = Self { seq: 0, decision: None, happened: Vec::new(), asked: None, answered: None };
        let (mut seen, mut decision) = (None, None);
        let mut fields = Fields::with_repeated(bytes, &[3]);
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Number(number)) => observed.seq = number,
                (2, Value::Number(number)) => observed.decision = Some(narrow(number)?),
                (3, Value::Bytes(bytes)) => observed.happened.push(Happened::InGame(event(bytes)?)),
                (4, Value::Bytes(bytes)) => seen = Some(bytes),
                (5, Value::Bytes(bytes)) => decision = Some(bytes),
                (7, Value::Number(number)) => observed.answered = Some(narrow(number)?),
                _ => return Err(NotPlain),
            }
        }
        observed.asked = match (seen, decision) {
            (Some(seen), Some(decision)) => Some(Asked::read(seen, decision)?),
            // What the seat sees while it is not asked is not looked into, whatever is in it: nothing is made of it, and
            // the view of its next decision is complete.
            (_, None) => None,
            (None, Some(_)) => return Err(NotPlain),
        };
        Ok(observed)
    }

    /// What an observation says.
    ///
    /// # Errors
    /// [`FieldError`] for what is missing, unknown or out of range.
    pub(crate) fn from_message(message: v1::Observation) -> Result<Self, FieldError> {
        let v1::Observation { seq, decision_number, events, view, decision, answered_decision_number } =
            message;
        let happened = events
            .into_iter()
            .enumerate()
            .map(|(i, event)| Happened::from_message(event).map_err(|error| error.at(i).within("events")));
        let happened = happened.collect::<Result<_, _>>()?;
        let asked = decision.zip(view).map(|(decision, view)| Asked::from_message(view, &decision));
        let asked = asked.transpose()?.map(Box::new);
        Ok(Self { seq, decision: decision_number, happened, asked, answered: answered_decision_number })
    }
}

impl Happened {
    pub(crate) const fn in_game(&self) -> Option<SeatEvent> {
        match self {
            Self::InGame(event) => Some(*event),
            Self::About(_) | Self::Unknown => None,
        }
    }

    fn from_message(message: v1::Event) -> Result<Self, FieldError> {
        Ok(match seat_event_from_wire(&message)? {
            Some(event) => Self::InGame(event),
            None => message.kind.map_or(Self::Unknown, Self::About),
        })
    }
}

impl Asked {
    fn read(seen: &[u8], decision: &[u8]) -> Plain<Box<Self>> {
        let empty =
            Self { view: ViewAsSent::Read(PlainView::EMPTY), legal: LegalActions::default(), clock: None };
        let mut asked = Box::new(empty);
        let (mut fields, mut legal) = (Fields::of(decision), None);
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(bytes)) => legal = Some(legal_actions(bytes)?),
                (2, Value::Bytes(bytes)) => asked.clock = Some(clock(bytes)?),
                _ => return Err(NotPlain),
            }
        }
        asked.legal = legal.ok_or(NotPlain)?;
        if let ViewAsSent::Read(empty) = &mut asked.view {
            view(seen, empty)?;
        }
        Ok(asked)
    }

    /// A decision, and what the seat sees.
    ///
    /// # Errors
    /// [`FieldError`] for what is missing, unknown or out of range.
    pub(crate) fn from_message(view: Box<v1::View>, message: &v1::Decision) -> Result<Self, FieldError> {
        let v1::Decision { legal_actions, clock } = message;
        let legal = legal_actions.as_ref().ok_or_else(|| FieldError::missing("decision.legal_actions"))?;
        let legal = LegalActions::from_wire(legal).map_err(|error| error.within("decision.legal_actions"))?;
        Ok(Self { view: ViewAsSent::Message(view), legal, clock: *clock })
    }
}

fn clock(bytes: &[u8]) -> Plain<v1::Clock> {
    let (mut fields, mut clock) = (Fields::of(bytes), v1::Clock::default());
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => clock.budget_ms = narrow(number)?,
            (2, Value::Number(number)) => clock.bank_ms = number,
            (3, Value::Number(number)) => clock.elapsed_ms = number,
            (4, Value::Number(number)) => clock.strikes_left = narrow(number)?,
            _ => return Err(NotPlain),
        }
    }
    Ok(clock)
}
