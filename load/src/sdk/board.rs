//! The matches that a session plays, and what is open in them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::Instant;
use tonic::Code;
use zetema_proto::Wire;
use zetema_proto::v1::ErrorReason;
use zetema_sdk::rules::Outcome as RulesOutcome;
use zetema_sdk::{Claim, DealCheck, End, Error, Outcome, Seat};

use crate::check::Ending;
use crate::fault::{Fault, Source, Wrong};
use crate::finished::{Finished, Why};
use crate::lean::Created;
use crate::outcome::{Count, Measure, Recorder};
use crate::think::Think;

/// How long nothing may come to an action. A session does not say whether its connection is up: it has been long enough to make another.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// The matches that a session plays. A clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Board(Arc<Mutex<Matches>>);

#[derive(Debug, Default)]
struct Matches {
    /// By their ids.
    played: HashMap<String, Played>,
    /// The match of each token.
    of_token: HashMap<String, String>,
    /// When the load was over, and what is dropped when all that was sent before has its answer.
    rests: Option<(Instant, Sender<()>)>,
}

#[derive(Debug)]
struct Played {
    /// When it was asked for, until its first decision comes.
    asked: Option<Instant>,
    /// When the last decision was answered, until the next comes.
    answered: Option<Instant>,
    /// What its players have chosen and not seen done.
    chosen: Vec<Chosen>,
    think: Think,
    seed: u64,
    seats_left: usize,
    ending: Ending,
    /// Why it was not played to the end, if a seat was not.
    broken: Option<Why>,
    /// Whether its load goes on.
    load: OfLoad,
}

/// Whose load a match is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfLoad {
    /// The one that is made.
    Present,
    /// One that is over: it is about to be cancelled, and what comes until then is neither counted nor measured.
    Past,
}

/// An action that its player has not seen done.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    seat: Seat,
    decision: u32,
    since: Instant,
}

impl Board {
    /// Takes a match, and gives the tokens of its seats.
    pub(super) fn begin(&self, created: Created) -> Vec<String> {
        let Created { match_id, tokens, asked, think, seed } = created;
        let mut matches = self.lock();
        matches.of_token.extend(tokens.iter().map(|token| (token.clone(), match_id.clone())));
        let played = Played {
            asked: Some(asked),
            answered: None,
            chosen: Vec::new(),
            think,
            seed,
            seats_left: tokens.len(),
            ending: Ending::default(),
            broken: None,
            load: OfLoad::Present,
        };
        matches.played.insert(match_id, played);
        tokens
    }

    /// How the players of a match think, and from what their choices follow.
    pub(super) fn players_of(&self, match_id: &str) -> (Think, u64) {
        let of = |played: &Played| (played.think, played.seed);
        self.lock().played.get(match_id).map(of).unwrap_or_default()
    }

    /// A player is to decide: what was waited for has come.
    pub(super) fn asked(&self, now: Instant, match_id: &str, recorder: &Recorder) {
        let mut matches = self.lock();
        let Some(played) = matches.present(match_id) else { return };
        let since = |begin: Instant| now.saturating_duration_since(begin);
        if let Some(asked) = played.asked.take() {
            recorder.took(Measure::CreateToDecision, since(asked));
        }
        if let Some(answered) = played.answered.take() {
            recorder.took(Measure::ActionToObservation, since(answered));
        }
    }

    /// A player has chosen.
    pub(super) fn chose(
        &self,
        since: Instant,
        match_id: &str,
        (seat, decision): (Seat, u32),
        recorder: &Recorder,
    ) {
        if let Some(played) = self.lock().present(match_id) {
            recorder.count(Count::ActionSent);
            played.answered = Some(since);
            // Of a decision that the clock has closed nothing comes any more.
            played.chosen.retain(|chosen| chosen.seat != seat);
            played.chosen.push(Chosen { seat, decision, since });
        }
    }

    /// A player sees its action done. When it was chosen.
    pub(super) fn saw(&self, match_id: &str, seat: Seat) -> Option<Instant> {
        let mut matches = self.lock();
        let played = matches.present(match_id)?;
        let place = played.chosen.iter().position(|chosen| chosen.seat == seat)?;
        let chosen = played.chosen.swap_remove(place);
        matches.rest_if_answered();
        Some(chosen.since)
    }

    /// A seat is over. The match, if it was the last one.
    pub(super) fn over(&self, outcome: &Outcome, recorder: &Recorder) -> Option<Finished> {
        let mut matches = self.lock();
        let match_id = match &outcome.claim {
            Claim::Token(token) => matches.of_token.remove(token.reveal())?,
            Claim::Assigned { .. } => return None,
        };
        let seat = outcome.info.as_ref().map(|info| info.seat);
        let number = seat.and_then(|seat| u8::try_from(seat.index()).ok());
        let fault = |wrong| Fault { match_id: match_id.clone(), seat: number, wrong }.report(recorder);
        let sdk = |problem: String| Wrong::Sdk { problem };
        if let DealCheck::Failed(error) = &outcome.deal {
            fault(sdk(error.to_string()));
        }
        let played = matches.played.get_mut(&match_id)?;
        for found in &outcome.faults {
            match super::failure(found) {
                Some(failure) if played.load == OfLoad::Present => recorder.failed(failure, found),
                // It was cancelled while its players went on.
                Some(_) => {}
                None => fault(sdk(found.to_string())),
            }
        }
        played.seats_left -= 1;
        played.chosen.retain(|chosen| Some(chosen.seat) != seat);
        let ended = match &outcome.end {
            End::Result(result) => Some(RulesOutcome::Result(*result)),
            End::Aborted { reason, seats } => {
                Some(RulesOutcome::Aborted { reason: *reason, seats: seats.clone() })
            }
            End::Failed(error) if played.load == OfLoad::Present => {
                recorder.failed(Code::Unavailable, error);
                if let Some(said) = unknown(error) {
                    played.broken = Some(Why::Unknown { said });
                }
                None
            }
            _ => None,
        };
        match (ended, number) {
            (Some(ended), Some(number)) => {
                if let Err(wrong) = played.ending.told(Source::Seat(number), ended.to_wire()) {
                    fault(wrong);
                }
            }
            _ => {
                played.broken.get_or_insert(Why::GivenUp);
            }
        }
        let is_last = played.seats_left == 0;
        matches.rest_if_answered();
        if !is_last {
            return None;
        }
        let (match_id, played) = matches.played.remove_entry(&match_id)?;
        if played.load == OfLoad::Past {
            return None;
        }
        let why = played.broken.unwrap_or(Why::Told(played.ending));
        Some(Finished { match_id, why, bot: None })
    }

    /// The load is over. What has no answer has waited so long at least. `answered` is dropped when nothing is left that was sent before.
    pub(super) fn rest(&self, now: Instant, answered: Sender<()>, recorder: &Recorder) {
        let mut matches = self.lock();
        matches.measure_waiting(now, recorder);
        matches.rests = Some((now, answered));
        matches.rest_if_answered();
    }

    /// Another load begins. What this one has left has waited so long at least; its matches are about to be cancelled.
    pub(super) fn end_load(&self, now: Instant, recorder: &Recorder) {
        let mut matches = self.lock();
        matches.measure_waiting(now, recorder);
        matches.tell_unanswered(now, recorder);
        for played in matches.played.values_mut() {
            played.load = OfLoad::Past;
            played.chosen.clear();
        }
    }

    /// Says what has not come: answers to what was sent, and the ends of these matches, which are over by their results.
    pub(super) fn tell_missing(&self, now: Instant, ended: &HashSet<String>, recorder: &Recorder) {
        let matches = self.lock();
        matches.tell_unanswered(now, recorder);
        for match_id in matches.played.keys().filter(|match_id| ended.contains(*match_id)) {
            Fault { match_id: match_id.clone(), seat: None, wrong: Wrong::NoEnd }.report(recorder);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Matches> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Matches {
    /// A match of the present load.
    fn present(&mut self, match_id: &str) -> Option<&mut Played> {
        self.played.get_mut(match_id).filter(|played| played.load == OfLoad::Present)
    }

    /// What has no answer has waited so long at least.
    fn measure_waiting(&self, now: Instant, recorder: &Recorder) {
        let since = |begin: Instant| now.saturating_duration_since(begin);
        let present = self.played.values().filter(|played| played.load == OfLoad::Present);
        for Played { asked, answered, chosen, .. } in present {
            for (measure, begin) in
                [(Measure::CreateToDecision, asked), (Measure::ActionToObservation, answered)]
            {
                if let Some(begin) = begin {
                    recorder.took(measure, since(*begin));
                }
            }
            for Chosen { since: chosen, .. } in chosen {
                recorder.took(Measure::ActionToReceipt, since(*chosen));
            }
        }
    }

    /// Says to what has come no answer.
    fn tell_unanswered(&self, now: Instant, recorder: &Recorder) {
        for (match_id, Played { chosen, .. }) in &self.played {
            for Chosen { seat, decision, since } in chosen {
                let waited = now.saturating_duration_since(*since);
                if waited >= ANSWERED_WITHIN {
                    let wrong = Wrong::NoAnswer { decision: *decision, waited_s: waited.as_secs() };
                    let seat = u8::try_from(seat.index()).ok();
                    Fault { match_id: match_id.clone(), seat, wrong }.report(recorder);
                }
            }
        }
    }

    /// Says that all that was sent before the end has its answer, when it has.
    fn rest_if_answered(&mut self) {
        let Some((rests, _)) = &self.rests else { return };
        let is_open = |chosen: &Chosen| chosen.since <= *rests;
        if !self.played.values().flat_map(|played| &played.chosen).any(is_open) {
            self.rests = None;
        }
    }
}

/// What the server said, if it knows a seat no more that it has given.
fn unknown(error: &Error) -> Option<String> {
    let Error::Refused { refusal, .. } = error else { return None };
    let is_unknown = matches!(refusal.reason, ErrorReason::NotFound | ErrorReason::Unauthenticated);
    is_unknown.then(|| refusal.message.clone())
}
