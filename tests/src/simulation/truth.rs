//! What is stored, and so what everyone must be told: the servers and their clients are held against it at every step.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use zetema_rules::{Action, Card, Seat, Suit, Viewer};
use zetema_service::encoding::decode_entry;
use zetema_service::journal::{MatchId, Payload};
use zetema_service::table::{
    Change, Choice, ClosedBy, Observation, Receipt, Rejection, SeatState, Snapshot, TableEvent,
};

use super::expected::Expected;
use super::tally::Tally;
use super::time_line::TimeLine;
use super::trace::Trace;

/// What is stored, and what is wrong with what was told.
pub(super) struct Truth {
    inner: Mutex<Inner>,
    failed: CancellationToken,
}

pub(super) struct Inner {
    pub(super) matches: BTreeMap<MatchId, Expected>,
    pub(super) time_line: TimeLine,
    pub(super) tally: Tally,
    trace: Trace,
    problem: Option<String>,
}

impl Truth {
    pub(super) fn new(trace: Trace) -> Self {
        let inner = Inner {
            matches: BTreeMap::new(),
            time_line: TimeLine::default(),
            tally: Tally::default(),
            trace,
            problem: None,
        };
        Self { inner: Mutex::new(inner), failed: CancellationToken::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what happens, for the trace.
    pub(super) fn note(&self, what: fmt::Arguments<'_>) {
        self.lock().trace.note(what);
    }

    /// Notes what must not be. The first ends the run.
    pub(super) fn problem(&self, what: impl fmt::Display) {
        let mut inner = self.lock();
        inner.trace.note(format_args!("PROBLEM: {what}"));
        inner.problem.get_or_insert_with(|| what.to_string());
        self.failed.cancel();
    }

    pub(super) fn failed(&self) -> CancellationToken {
        self.failed.clone()
    }

    /// What it came to: the problem, the hash of the trace, its lines, and the numbers.
    pub(super) fn end(&self) -> (Option<String>, u64, Vec<String>, Tally) {
        let inner = self.lock();
        (inner.problem.clone(), inner.trace.hash(), inner.trace.lines(), inner.tally.clone())
    }

    fn check(&self, what: &dyn fmt::Display, checked: Result<(), String>) {
        if let Err(problem) = checked {
            self.problem(format_args!("{what}: {problem}"));
        }
    }

    /// Records that are stored from now on.
    pub(super) fn stored(&self, match_id: MatchId, payloads: &[Payload]) {
        let mut inner = self.lock();
        let Inner { matches, time_line, tally, trace, .. } = &mut *inner;
        let mut checked = Ok(());
        for payload in payloads {
            let suit = matches.get(&match_id).map_or(Suit::Spades, Expected::imperial_suit);
            checked = match decode_entry(payload.as_bytes(), suit) {
                Err(error) => Err(error.to_string()),
                Ok(entry) => {
                    trace.note(format_args!("stored in {match_id}: {:?}", Brief(&entry.change)));
                    match matches.get_mut(&match_id) {
                        Some(expected) => expected.apply(&entry, time_line, tally),
                        None => Expected::new(entry).map(|expected| {
                            matches.insert(match_id, expected);
                        }),
                    }
                }
            };
            if checked.is_err() {
                break;
            }
        }
        drop(inner);
        self.check(&format_args!("what is stored of match {match_id}"), checked);
    }

    /// The owner of a match does not know what is stored.
    pub(super) fn away(&self, match_id: MatchId) {
        self.with(match_id, |expected| expected.away.begin());
    }

    /// The owner of a match reads what is stored.
    pub(super) fn back(&self, match_id: MatchId) {
        self.with(match_id, |expected| expected.away.end());
    }

    /// Looks at a match; `None` if nothing is stored of it.
    pub(super) fn with<T>(&self, match_id: MatchId, look: impl FnOnce(&mut Expected) -> T) -> Option<T> {
        self.lock().matches.get_mut(&match_id).map(look)
    }

    /// A server shows this to a viewer (I1, I3, I4).
    pub(super) fn observed(&self, match_id: MatchId, viewer: Viewer, observation: &Observation) {
        let checked = self.with(match_id, |expected| expected.check_observation(viewer, observation));
        let what = format_args!("observation {} of {viewer:?} in {match_id}", observation.seq).to_string();
        self.note(format_args!("{what} is shown"));
        self.lock().tally.observations += 1;
        self.check(&what, checked.unwrap_or_else(|| Err("there is no such match".to_owned())));
    }

    /// A server makes this snapshot for a viewer (I1, I3, I4).
    pub(super) fn snapshot(&self, match_id: MatchId, viewer: Viewer, snapshot: &Snapshot) {
        let checked = self.with(match_id, |expected| expected.check_snapshot(viewer, snapshot));
        let what = format_args!("a snapshot at {} of {viewer:?} in {match_id}", snapshot.seq).to_string();
        self.note(format_args!("{what} is made"));
        self.lock().tally.snapshots += 1;
        self.check(&what, checked.unwrap_or_else(|| Err("there is no such match".to_owned())));
    }

    /// Whether a seat's answer is stored, faults included.
    pub(super) fn is_stored(&self, match_id: MatchId, seat: Seat, decision: u32, action: Action) -> bool {
        let answer = self.with(match_id, |expected| expected.answer(seat, decision)).flatten();
        answer.is_some_and(|(stored, _)| stored == action)
    }

    /// A server has answered an action of a seat that was to act, or thought so. `before`: it was stored when it was
    /// asked (I1, I2).
    pub(super) fn acted(
        &self,
        (match_id, seat, decision): (MatchId, Seat, u32),
        action: Action,
        before: bool,
        answer: &Result<Receipt, Rejection>,
    ) {
        let checked = self.with(match_id, |expected| {
            let stored = expected.answer(seat, decision);
            let over = expected.table().decision() != Some(decision);
            match answer {
                Ok(receipt) => match stored {
                    Some((stored, seq)) if stored == action => {
                        let right = Receipt { match_id, decision, seq };
                        if *receipt == right { Ok(()) } else { Err(format!("the receipt is not {right:?}")) }
                    }
                    Some(_) => Err("another answer is stored".to_owned()),
                    None => Err("it is acknowledged, and is not stored (I1)".to_owned()),
                },
                Err(Rejection::OutcomeUnknown | Rejection::Stopping | Rejection::TokenReplaced) => Ok(()),
                Err(_) if before => Err("the same answer was stored, and is refused (I2)".to_owned()),
                Err(Rejection::DecisionOver { closed_by, .. }) if over => match closed_by {
                    Some(ClosedBy::Answer) if stored.is_none() => {
                        Err("the seat has not answered it".to_owned())
                    }
                    _ => Ok(()),
                },
                Err(Rejection::SeatForfeited) if expected.seat_state(seat) == SeatState::Forfeited => Ok(()),
                Err(Rejection::MatchOver) if expected.table().outcome().is_some() => Ok(()),
                Err(_) => Err("this may not be refused".to_owned()),
            }
        });
        let what = format!("decision {decision} of seat {seat} in {match_id} is answered with {answer:?}");
        self.note(format_args!("{what}"));
        self.check(&what, checked.unwrap_or_else(|| Err("there is no such match".to_owned())));
    }

    /// A server has answered a discard out of turn (R28).
    pub(super) fn offered(
        &self,
        (match_id, seat, decision): (MatchId, Seat, u32),
        card: Card,
        answer: &Result<Receipt, Rejection>,
    ) {
        let stored = self.with(match_id, |expected| expected.answer(seat, decision)).flatten();
        let what = format!("an offer out of turn in {decision} of {match_id}: {answer:?}");
        self.note(format_args!("{what}"));
        let checked = match (answer, stored) {
            (Ok(receipt), Some((Action::Discard(stored), seq))) if stored == card && receipt.seq == seq => {
                Ok(())
            }
            (Ok(_), _) => Err("it is acknowledged, and is not stored so (I1)".to_owned()),
            (Err(Rejection::Damaged | Rejection::MatchDamaged(_) | Rejection::NotFound), _) => {
                Err("this may not be refused".to_owned())
            }
            (Err(_), _) => Ok(()),
        };
        self.check(&what, checked);
    }

    /// A server has answered an answer that can't count, to a decision that is over or has not come.
    pub(super) fn refused(
        &self,
        (match_id, decision): (MatchId, u32),
        choice: Choice,
        answer: &Result<Receipt, Rejection>,
    ) {
        let what = format!("{choice:?} to {decision} of {match_id}, which can't count: {answer:?}");
        self.note(format_args!("{what}"));
        let checked = match answer {
            Ok(_) => Err("it is acknowledged (I2)".to_owned()),
            Err(Rejection::Damaged | Rejection::MatchDamaged(_) | Rejection::NotFound) => {
                Err("for the wrong reason".to_owned())
            }
            Err(_) => Ok(()),
        };
        self.check(&what, checked);
    }

    pub(super) fn tally(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut self.lock().tally);
    }
}

/// A change in a word or two, without its cards.
struct Brief<'a>(&'a Change);

impl fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Change::Created(_) => f.write_str("created"),
            Change::Acted { seat, decision, action, by, ledger } => {
                write!(f, "seat {seat} has acted in {decision}, {by:?}: {action:?}, {ledger:?}")
            }
            other => write!(f, "{other:?}"),
        }
    }
}

/// Whether an observation says that the nonces are to be sent.
pub(super) fn wants_nonces(observation: &Observation) -> bool {
    observation.events.iter().any(|event| matches!(event, TableEvent::NoncesWanted { .. }))
}
