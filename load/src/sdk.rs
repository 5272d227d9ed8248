//! Matches that are played by sessions of the SDK, as bots play them: with views, checks of the deals and of the records, and a thread for
//! each bot that thinks.

use std::num::NonZeroUsize;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use tonic::Code;
use zetema_proto::v1;
use zetema_sdk::{
    Action, Bot, Decision, Disconnect, Fault as SdkFault, MatchInfo, Seat, SeatEvent, Session, Settings,
};

use crate::client_name::CLIENT_NAME;
use crate::fault::{Fault, Wrong};
use crate::finished::{Finished, Why};
use crate::lean::Created;
use crate::order::Order;
use crate::outcome::{Count, Failure, Measure, Recorder};
use crate::target::Target;
use crate::think::Think;
use board::Board;

mod board;

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
                    board.tell_missing(Instant::now(), &ended, &recorder);
                    drop(noted);
                }
                // They answer as long as they are there.
                Some(Order::Rest { noted, answered }) => {
                    board.rest(Instant::now(), answered, &recorder);
                    drop(noted);
                }
                // They are told that it is over when it is cancelled.
                Some(Order::EndLoad(noted)) => {
                    board.end_load(Instant::now(), &recorder);
                    drop(noted);
                }
                // Sessions are neither cut nor left, have no schedule and wait on no ladder: a plan that wants it is refused.
                Some(
                    Order::Follow(_)
                    | Order::Share(_)
                    | Order::Rejoin(_)
                    | Order::LeaveQueues(_)
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
            let _ = finished.send(Finished { match_id, why: Why::GivenUp, bot: None });
        }
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
}

impl Player {
    fn new(info: &MatchInfo, board: &Board, recorder: &Recorder) -> Self {
        let (think, seed) = board.players_of(&info.match_id);
        let number = u64::try_from(info.seat.index()).unwrap_or_default();
        Self {
            board: board.clone(),
            recorder: recorder.clone(),
            match_id: info.match_id.clone(),
            seat: info.seat,
            think,
            random: SmallRng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(number)),
        }
    }
}

impl Bot for Player {
    fn choose(&mut self, decision: &Decision) -> Action {
        let now = Instant::now();
        self.board.asked(now, &self.match_id, &self.recorder);
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
        self.board.chose(due, &self.match_id, (self.seat, decision.number()), &self.recorder);
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
        if let Some(chosen) = self.board.saw(&self.match_id, self.seat) {
            self.recorder.took(Measure::ActionToReceipt, chosen.elapsed());
            self.recorder.count(Count::ActionAcknowledged);
        }
    }
}
