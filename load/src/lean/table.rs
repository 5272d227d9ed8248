//! A match that lean clients play, all of its seats.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::time::Instant;
use zetema_proto::v1;

use crate::arrivals::Origin;
use crate::check::{Ending, SeatCheck};
use crate::think::Think;

/// A match that was created and is to be played.
#[derive(Clone, Debug)]
pub(crate) struct Created {
    /// Its id.
    pub(crate) match_id: String,
    /// The tokens of its seats, seat 0 first.
    pub(crate) tokens: Vec<String>,
    /// When it was asked for, or was to be.
    pub(crate) asked: Instant,
    /// How long its players think.
    pub(crate) think: Think,
    /// From what their choices follow.
    pub(crate) seed: u64,
}

/// What a lane knows of a match.
pub(super) struct Table {
    pub(super) match_id: String,
    pub(super) seats: Vec<Seat>,
    /// When it was asked for, until its first decision comes. `None` from the start if a ladder has made it.
    pub(super) asked: Option<Instant>,
    /// Whose decisions are seen here.
    pub(super) part: Part,
    /// The decision that is open.
    pub(super) open: Option<Open>,
    /// The last decision that was answered, and when the answer was due, until the next decision comes.
    pub(super) last: Option<(u32, Instant)>,
    /// What its seats were told of its end.
    pub(super) ending: Ending,
    /// When something was last heard in it. Before, since when it is played.
    pub(super) heard: Instant,
    /// When a seat of it was last refused for now, until one is taken.
    pub(super) refused: Option<Instant>,
    pub(super) think: Think,
    pub(super) random: SmallRng,
}

/// What of a match is played here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of its seats.
    Whole,
    /// A seat of a bot.
    OneSeat,
}

/// By what a seat is taken.
pub(super) enum Pass {
    /// By its token.
    Token(String),
    /// By that of the bot whom it was given.
    OfBot,
}

/// A seat of it.
pub(super) struct Seat {
    /// Its number in the match, from 0.
    pub(super) number: u8,
    pub(super) pass: Pass,
    pub(super) check: SeatCheck,
    /// What it has answered, until the receipt comes: one answer, and after a cut that before it.
    pub(super) acted: Vec<Acted>,
    /// When its stream was cut, until a snapshot comes on the next.
    pub(super) cut: Option<Instant>,
    /// Whether it was told of the end.
    pub(super) over: bool,
}

/// A decision that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) seat: u8,
    pub(super) decision: u32,
    pub(super) choices: u32,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acted {
    pub(super) decision: u32,
    pub(super) index: u32,
    /// When it was due.
    pub(super) due: Instant,
    /// By what.
    pub(super) origin: Origin,
    /// When it was last sent, unless that was refused or its stream was cut since.
    pub(super) sent: Option<Instant>,
    /// When it was first sent, unless that was refused since: a cut is no answer.
    pub(super) waits_since: Option<Instant>,
}

impl Seat {
    fn new(number: u8, pass: Pass) -> Self {
        Self { number, pass, check: SeatCheck::default(), acted: Vec::new(), cut: None, over: false }
    }

    /// Its token, if it has one.
    pub(super) fn token(&self) -> Option<&str> {
        match &self.pass {
            Pass::Token(token) => Some(token),
            Pass::OfBot => None,
        }
    }

    /// What it has answered to this decision, unless the receipt has come.
    pub(super) fn acted(&self, decision: u32) -> Option<Acted> {
        self.acted.iter().copied().find(|acted| acted.decision == decision)
    }

    /// The same, which is sent now.
    pub(super) fn sends(&mut self, now: Instant, decision: u32) {
        self.check.sent(decision);
        for acted in self.of_decision(decision) {
            acted.sent = Some(now);
            acted.waits_since.get_or_insert(now);
        }
    }

    /// The answer to this decision did not come there, as far as it is known.
    pub(super) fn not_sent(&mut self, decision: u32) {
        for acted in self.of_decision(decision) {
            acted.sent = None;
        }
    }

    /// The answer to this decision was refused for now.
    pub(super) fn refused(&mut self, decision: u32) {
        for acted in self.of_decision(decision) {
            (acted.sent, acted.waits_since) = (None, None);
        }
    }

    fn of_decision(&mut self, decision: u32) -> impl Iterator<Item = &mut Acted> {
        self.acted.iter_mut().filter(move |acted| acted.decision == decision)
    }

    /// The same, which is settled by this.
    pub(super) fn settle(&mut self, decision: u32) -> Option<Acted> {
        let place = self.acted.iter().position(|acted| acted.decision == decision)?;
        Some(self.acted.swap_remove(place))
    }
}

impl Table {
    pub(super) fn new(created: Created) -> Self {
        let Created { match_id, tokens, asked, think, seed } = created;
        let seats = (0..).zip(tokens).map(|(number, token)| Seat::new(number, Pass::Token(token))).collect();
        Self { asked: Some(asked), ..Self::of_seats(match_id, seats, Part::Whole, think, seed) }
    }

    /// A match in which a bot was given a seat.
    pub(super) fn of_bot(match_id: String, seat: u8, think: Think, seed: u64) -> Self {
        Self::of_seats(match_id, vec![Seat::new(seat, Pass::OfBot)], Part::OneSeat, think, seed)
    }

    fn of_seats(match_id: String, seats: Vec<Seat>, part: Part, think: Think, seed: u64) -> Self {
        Self {
            match_id,
            seats,
            asked: None,
            part,
            open: None,
            last: None,
            ending: Ending::default(),
            heard: Instant::now(),
            refused: None,
            think,
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// Its stream is gone: all seats that go on are to be taken again.
    pub(super) fn cut(&mut self, now: Instant) {
        for seat in self.seats.iter_mut().filter(|seat| !seat.over) {
            seat.check.cut();
            for acted in &mut seat.acted {
                acted.sent = None;
            }
            seat.cut.get_or_insert(now);
        }
    }

    /// Any legal action of the open decision.
    pub(super) fn choose(&mut self, open: Open, due: Instant, origin: Origin) -> Acted {
        let index = self.random.random_range(0..open.choices);
        Acted { decision: open.decision, index, due, origin, sent: None, waits_since: None }
    }

    /// Whether all seats that go on are taken: none waits for a snapshot.
    pub(super) fn is_taken(&self) -> bool {
        let mut open = self.seats.iter().filter(|seat| !seat.over).peekable();
        open.peek().is_some() && open.all(|seat| seat.cut.is_none() && seat.check.has_started())
    }

    /// Whether all that was sent has its receipt and nobody has a decision: what comes next is the server's to say.
    pub(super) fn stands_still(&self) -> bool {
        self.part == Part::Whole
            && self.open.is_none()
            && self.is_taken()
            && self.seats.iter().all(|seat| seat.acted.is_empty())
    }

    /// Whether something is still to come in it though nothing is answered any more: a receipt, a seat, or the next decision. A seat that
    /// was refused for now is not waited for.
    pub(super) fn is_awaited(&self) -> bool {
        let waits = |seat: &Seat| !seat.acted.is_empty();
        self.seats.iter().any(waits)
            || self.part == Part::Whole && self.refused.is_none() && (self.open.is_none() || !self.is_taken())
    }

    /// Whether every seat was told of the end.
    pub(super) fn is_over(&self) -> bool {
        self.seats.iter().all(|seat| seat.over)
    }
}

impl Acted {
    /// As it is sent.
    pub(super) const fn to_wire(self) -> v1::Act {
        v1::Act { decision_number: self.decision, choice: Some(v1::act::Choice::LegalIndex(self.index)) }
    }
}
