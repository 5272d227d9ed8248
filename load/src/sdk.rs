//! Matches that are played by sessions of the SDK, as bots play them: with views, checks of the deals and of the records, and a thread for
//! each bot that thinks.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use tonic::Code;
use zetema_proto::{Wire, v1};
use zetema_sdk::rules::Outcome as RulesOutcome;
use zetema_sdk::{
    Action, Bot, Claim, DealCheck, Decision, Disconnect, End, Fault as SdkFault, MatchInfo, Outcome, Seat,
    SeatEvent, Session, Settings,
};

use crate::check::Ending;
use crate::client_name::CLIENT_NAME;
use crate::fault::{Fault, Source, Wrong};
use crate::finished::Finished;
use crate::lean::Created;
use crate::order::Order;
use crate::outcome::{Count, Failure, Measure, Recorder};
use crate::target::Target;
use crate::think::Think;

/// Players that think at once on one connection, a thread each.
const THINKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// Plays by one session, until nobody gives it orders any more.
pub(crate) async fn drive(
    target: Target,
    recorder: Recorder,
    finished: UnboundedSender<Finished>,
    mut orders: UnboundedReceiver<Order>,
) {
    let board = Board::default();
    let settings = Settings {
        client_name: CLIENT_NAME.to_owned(),
        thinkers: THINKERS,
        tls: target.tls.clone(),
        ..Settings::default()
    };
    let (known, seen) = (board.clone(), recorder.clone());
    let opened = Session::open(&target.url, settings, move |info| Player::new(info, &known, &seen));
    let mut session = match opened {
        Ok(session) => session,
        Err(error) => return play_none(&error, &recorder, &finished, orders).await,
    };
    let mut open = 0_usize;
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                Some(Order::Begin(created)) => {
                    let tokens = board.begin(created);
                    for token in tokens {
                        match session.play(token.into()) {
                            Ok(()) => open += 1,
                            Err(error) => recorder.failed(Code::Internal, &error),
                        }
                    }
                }
                Some(Order::GiveUp { ended, noted }) => {
                    board.tell_missing(&ended, &recorder);
                    drop(noted);
                }
                // Sessions are neither cut nor left, have no schedule and wait on no ladder: a plan that wants it is refused. They answer
                // as long as they are there.
                Some(
                    Order::Follow { .. }
                    | Order::Share(_)
                    | Order::Rejoin(_)
                    | Order::LeaveQueues(_)
                    | Order::Rest { .. }
                    | Order::Drop,
                ) => {}
                None => return,
            },
            Some(outcome) = session.next(), if open > 0 => {
                open -= 1;
                if let Some(over) = board.over(&outcome, &recorder) {
                    // Without anybody who hears it the run is over.
                    let _ = finished.send(over);
                }
            }
        }
    }
}

/// There is no session: the matches are not played, and the run has failed.
async fn play_none(
    error: &zetema_sdk::Error,
    recorder: &Recorder,
    finished: &UnboundedSender<Finished>,
    mut orders: UnboundedReceiver<Order>,
) {
    let wrong = Wrong::Sdk { problem: format!("no session can be opened: {error}") };
    Fault { match_id: String::new(), seat: None, wrong }.report(recorder);
    while let Some(order) = orders.recv().await {
        if let Order::Begin(Created { match_id, .. }) = order {
            // As when a session plays.
            let _ = finished.send(Finished { match_id, ending: None, bot: None });
        }
    }
}

/// The matches that a session plays.
#[derive(Clone, Debug, Default)]
struct Board(Arc<Mutex<Matches>>);

#[derive(Debug, Default)]
struct Matches {
    /// By their ids.
    played: HashMap<String, Played>,
    /// The match of each token.
    of_token: HashMap<String, String>,
}

#[derive(Debug)]
struct Played {
    /// When it was asked for, until its first decision comes.
    asked: Option<Instant>,
    /// When the last decision was answered, until the next comes.
    answered: Option<Instant>,
    think: Think,
    seed: u64,
    seats_left: usize,
    ending: Ending,
    /// Whether a seat was not played to the end.
    is_broken: bool,
}

impl Board {
    /// Takes a match, and gives the tokens of its seats.
    fn begin(&self, created: Created) -> Vec<String> {
        let Created { match_id, tokens, asked, think, seed } = created;
        let mut matches = self.lock();
        matches.of_token.extend(tokens.iter().map(|token| (token.clone(), match_id.clone())));
        let played = Played {
            asked: Some(asked),
            answered: None,
            think,
            seed,
            seats_left: tokens.len(),
            ending: Ending::default(),
            is_broken: false,
        };
        matches.played.insert(match_id, played);
        tokens
    }

    /// A seat is over. The match, if it was the last one.
    fn over(&self, outcome: &Outcome, recorder: &Recorder) -> Option<Finished> {
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
        for found in &outcome.faults {
            match failure(found) {
                Some(failure) => recorder.failed(failure, found),
                None => fault(sdk(found.to_string())),
            }
        }
        let played = matches.played.get_mut(&match_id)?;
        played.seats_left -= 1;
        let ended = match &outcome.end {
            End::Result(result) => Some(RulesOutcome::Result(*result)),
            End::Aborted { reason, seats } => {
                Some(RulesOutcome::Aborted { reason: *reason, seats: seats.clone() })
            }
            End::Failed(error) => {
                recorder.failed(Code::Unavailable, error);
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
            _ => played.is_broken = true,
        }
        if played.seats_left > 0 {
            return None;
        }
        let (match_id, played) = matches.played.remove_entry(&match_id)?;
        Some(Finished { match_id, ending: Some(played.ending).filter(|_| !played.is_broken), bot: None })
    }

    /// Says which of these matches, which are over by their results, were not ended for a seat.
    fn tell_missing(&self, ended: &HashSet<String>, recorder: &Recorder) {
        for match_id in self.lock().played.keys().filter(|match_id| ended.contains(*match_id)) {
            Fault { match_id: match_id.clone(), seat: None, wrong: Wrong::NoEnd }.report(recorder);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Matches> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is counted of a fault that the SDK tells. `None`: the server must not do that.
fn failure(found: &SdkFault) -> Option<Failure> {
    match found {
        SdkFault::TooLate { .. } | SdkFault::TimedOut { .. } | SdkFault::ForfeitedOnTime { .. } => {
            Some(v1::ErrorReason::DecisionOver.into())
        }
        SdkFault::CutBefore { reason, .. } => Some((*reason).into()),
        SdkFault::Refused { refusal, .. } | SdkFault::Disconnected(Disconnect::Refused(refusal)) => {
            Some(refusal.reason.into())
        }
        SdkFault::Disconnected(_) => Some(Code::Unavailable.into()),
        // The player chooses what is legal and does not panic; observations are neither lost nor missing.
        _ => None,
    }
}

/// A player that chooses any legal action.
struct Player {
    board: Board,
    recorder: Recorder,
    match_id: String,
    seat: Seat,
    think: Think,
    random: SmallRng,
    /// When it has chosen, until it sees its own action.
    chosen: Option<Instant>,
}

impl Player {
    fn new(info: &MatchInfo, board: &Board, recorder: &Recorder) -> Self {
        let of = |played: &Played| (played.think, played.seed);
        let (think, seed) = board.lock().played.get(&info.match_id).map(of).unwrap_or_default();
        let number = u64::try_from(info.seat.index()).unwrap_or_default();
        Self {
            board: board.clone(),
            recorder: recorder.clone(),
            match_id: info.match_id.clone(),
            seat: info.seat,
            think,
            random: SmallRng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(number)),
            chosen: None,
        }
    }
}

impl Bot for Player {
    fn choose(&mut self, decision: &Decision) -> Action {
        let now = Instant::now();
        if let Some(played) = self.board.lock().played.get_mut(&self.match_id) {
            let since = |begin: Instant| now.saturating_duration_since(begin);
            if let Some(asked) = played.asked.take() {
                self.recorder.took(Measure::CreateToDecision, since(asked));
            }
            if let Some(answered) = played.answered.take() {
                self.recorder.took(Measure::ActionToObservation, since(answered));
            }
        }
        let think = self.think.sample(&mut self.random);
        let due = now + think;
        // A bot of the SDK thinks on a thread of its own.
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::park_timeout(left);
        }
        let index = self.random.random_range(0..decision.legal.len().max(1));
        self.chosen = Some(due);
        if let Some(played) = self.board.lock().played.get_mut(&self.match_id) {
            played.answered = Some(due);
        }
        self.recorder.count(Count::ActionSent);
        decision.legal.get(index).unwrap_or(decision.first())
    }

    fn observe(&mut self, event: &SeatEvent) {
        let by = match event {
            SeatEvent::Declared { seat, .. } | SeatEvent::Discarded { seat, .. } => *seat,
            _ => return,
        };
        self.recorder.count(Count::Observation);
        if by != self.seat {
            return;
        }
        if let Some(chosen) = self.chosen.take() {
            self.recorder.took(Measure::ActionToReceipt, chosen.elapsed());
            self.recorder.count(Count::ActionAcknowledged);
        }
    }
}
