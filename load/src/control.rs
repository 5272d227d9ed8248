//! Has matches created as they are due, gives them to those who play them, and hears how they end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};
use tokio::time::{
    Instant, Interval, MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout,
};
use tonic::Status;
use zetema_proto::v1;

use crate::arrivals::{Origin, Schedule, live_after};
use crate::check::Results;
use crate::divide::Share;
use crate::fault::{Fault, Wrong};
use crate::finished::{Finished, Why};
use crate::lanes::{Lanes, Pace};
use crate::lean::Created;
use crate::onlookers::Onlookers;
use crate::outcome::{Count, Failure, Measure, Recorder};
use crate::plan::{Kind, Load, Plan, Stage};
use crate::records::Sample;
use crate::results::MatchResult;
use crate::target::Matches;

mod leave;
mod reach;
mod settle;

/// Matches that are being created at once in a closed loop: more than a server works on for one connection.
const CREATED_AT_ONCE: usize = 128;
/// Calls for matches that are open at once, at most, whatever is due: what is beyond is counted and waits here.
const CALLS_AT_ONCE: usize = 10_000;
/// How often it is looked whether more matches are due in a ramp, what a schedule has offered, and to whom it falls.
const RAMP_STEP: Duration = Duration::from_millis(20);
/// How long to wait until a match is asked for again, where the server does not say.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long those who play have to tell what has waited when a load is over.
const TOLD_WITHIN: Duration = Duration::from_secs(1);

/// Has matches created and played.
pub(crate) struct Control {
    pub(crate) matches: Matches,
    pub(crate) recorder: Recorder,
    pub(crate) lanes: Lanes,
    pub(crate) onlookers: Onlookers,
    /// The name of all matches of this run.
    pub(crate) reference: String,
    pub(crate) finished: UnboundedReceiver<Finished>,
    pub(crate) results: UnboundedReceiver<MatchResult>,
    pub(crate) connections: usize,
    pub(crate) seed: u64,
    pub(crate) share: Share,
    state: State,
}

struct State {
    random: StdRng,
    /// Matches that were asked for.
    asked: u64,
    creating: Creating,
    /// The same, of loads that are over.
    past: Creating,
    /// Those that were not created, by their numbers.
    asking: Asking,
    /// The matches that are played, with their lanes and how many play. All are of the present load.
    live: HashMap<String, (usize, usize)>,
    /// Matches of loads that are over, which are to be cancelled.
    left: Vec<String>,
    cancelling: FuturesUnordered<BoxFuture<'static, ()>>,
    check: Results,
    sample: Sample,
    /// Begins anew with each load.
    load: Option<(Load, Duration)>,
    arrivals: Option<Arrivals>,
    began: Instant,
    /// Ends when all that was sent has its answer. `None` before the load is over.
    answered: Option<Receiver<()>>,
}

/// Matches that are being created.
type Creating = FuturesUnordered<BoxFuture<'static, Option<(Kind, Created)>>>;

/// When matches were asked for that have no answer, or were to be, and why, by their numbers.
type Asking = Arc<Mutex<HashMap<u64, (Instant, Origin)>>>;

/// When matches are due.
struct Arrivals {
    /// Those that were not asked for.
    due: Schedule,
    /// The same, as far as it was counted.
    counted: Schedule,
}

impl Arrivals {
    /// How many have become due since this was last asked.
    fn take_offered(&mut self, now: Instant) -> u64 {
        std::iter::from_fn(|| self.counted.due(now)).fold(0, |count, _| count + 1)
    }
}

impl Control {
    #[expect(clippy::too_many_arguments, reason = "it is made in one place")]
    pub(crate) fn new(
        matches: Matches,
        recorder: Recorder,
        lanes: Lanes,
        onlookers: Onlookers,
        reference: String,
        finished: UnboundedReceiver<Finished>,
        results: UnboundedReceiver<MatchResult>,
        plan: &Plan,
    ) -> Self {
        let Plan { connections, seed, share, .. } = *plan;
        let connections = usize::try_from(connections.get()).unwrap_or(usize::MAX);
        let state = State {
            random: StdRng::seed_from_u64(seed),
            asked: 0,
            creating: FuturesUnordered::new(),
            past: FuturesUnordered::new(),
            asking: Asking::default(),
            live: HashMap::new(),
            left: Vec::new(),
            cancelling: FuturesUnordered::new(),
            check: Results::default(),
            sample: Sample::default(),
            load: None,
            arrivals: None,
            began: Instant::now(),
            answered: None,
        };
        Self {
            matches,
            recorder,
            lanes,
            onlookers,
            reference,
            finished,
            results,
            connections,
            seed,
            share,
            state,
        }
    }

    /// Runs a stage, which has [begun](Self::begin), until this moment.
    pub(crate) async fn run(&mut self, stage: &Stage, until: Instant) {
        let mut steps = interval(RAMP_STEP);
        steps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let over = sleep_until(until);
        tokio::pin!(over);
        let in_turn = |every| {
            let (first, period) = self.share.turns(every);
            interval_at(Instant::now() + first, period)
        };
        let mut drops = stage.drop_every.map(in_turn);
        let mut rejoins = stage.rejoin_every.map(in_turn);
        loop {
            let now = Instant::now();
            if now >= until {
                return;
            }
            self.ask_for_due(stage, now);
            self.cancel_left();
            let may_ask = self.state.creating.len() < CALLS_AT_ONCE;
            let next =
                self.state.arrivals.as_ref().filter(|_| may_ask).and_then(|arrivals| arrivals.due.next());
            let next = next.map_or(until, |next| next.min(until));
            tokio::select! {
                () = &mut over => return,
                finished = self.finished.recv() => self.over(finished),
                result = self.results.recv() => self.result(result),
                Some(created) = self.state.creating.next() => self.created(created),
                Some(created) = self.state.past.next() => self.created_late(created),
                Some(()) = self.state.cancelling.next() => {}
                () = sleep_until(next), if self.state.arrivals.is_some() => {}
                () = tick(&mut drops) => self.lanes.drop_one(&mut self.state.random),
                () = tick(&mut rejoins) => self.lanes.rejoin_one(&mut self.state.random),
                ended = self.onlookers.ended() => self.watched(ended),
                _ = steps.tick() => self.lanes.divide(),
            }
        }
    }

    /// Begins a stage. If its load is another, the matches of the one before are left, and what it has left is measured before this returns.
    pub(crate) async fn begin(&mut self, stage: &Stage) {
        let live = stage.load.live().map(|live| usize::try_from(live).unwrap_or(usize::MAX));
        for kind in &stage.kinds {
            self.lanes.prepare(kind, self.connections, live);
        }
        self.onlookers.set(stage.spectators, stage.slow_readers);
        // The same load goes on, with all that it owes.
        if self.state.load.is_some_and(|(load, _)| load == stage.load) {
            return;
        }
        self.end_load().await;
        // What the load before has left does not make this one late.
        let now = Instant::now();
        self.state.load = Some((stage.load, stage.ramp));
        self.state.began = now;
        let seed = self.state.random.random();
        self.state.arrivals = match stage.load {
            Load::Matches(rate) => {
                let [due, counted] = [(), ()].map(|()| Schedule::new(now, rate, stage.ramp, seed));
                Some(Arrivals { due, counted })
            }
            Load::Closed(_) | Load::Actions(..) => None,
        };
        if let Load::Actions(rate, _) = stage.load {
            self.lanes.follow(Pace { began: now, rate, ramp: stage.ramp, seed });
        }
    }

    /// The load is over: nothing is asked for and nothing answered any more, and what has no answer is measured as far as it has gone.
    pub(crate) async fn rest(&mut self) {
        self.onlookers.set(0, 0);
        let now = Instant::now();
        self.end_arrivals(now);
        for (asked, origin) in lock(&self.state.asking).values() {
            self.recorder.took(Measure::CreateToDecision, now.saturating_duration_since(*asked));
            if *origin == Origin::Schedule {
                self.recorder.count(Count::Unanswered);
            }
        }
        let (mut all_noted, answered) = self.lanes.rest();
        self.state.answered = Some(answered);
        // Who is late for it counts in the drain.
        let _ = timeout(TOLD_WITHIN, all_noted.recv()).await;
    }

    /// The schedule of matches is over. What was not asked for has waited so long at least.
    fn end_arrivals(&mut self, now: Instant) {
        self.count_offered(now);
        let Some(Arrivals { mut due, .. }) = self.state.arrivals.take() else { return };
        while let Some(due) = due.due(now) {
            self.recorder.took(Measure::CreateToDecision, now.saturating_duration_since(due));
            self.recorder.count(Count::Unanswered);
        }
    }

    /// Counts what has been due by the schedule, whether it was asked for or not.
    fn count_offered(&mut self, now: Instant) {
        if let Some(arrivals) = &mut self.state.arrivals {
            self.recorder.count_many(Count::Offered, arrivals.take_offered(now));
        }
    }

    /// Asks for the matches that are due.
    fn ask_for_due(&mut self, stage: &Stage, now: Instant) {
        self.count_offered(now);
        while self.state.creating.len() < CALLS_AT_ONCE
            && let Some(due) = self.state.arrivals.as_mut().and_then(|arrivals| arrivals.due.due(now))
        {
            self.ask(stage, due, Origin::Schedule);
        }
        let Some(live) = stage.load.live().map(|live| usize::try_from(live).unwrap_or(usize::MAX)) else {
            return;
        };
        let ramp = self.state.load.map_or(Duration::ZERO, |(_, ramp)| ramp);
        let wanted = live_after(live, ramp, now.saturating_duration_since(self.state.began));
        while self.state.creating.len() < CREATED_AT_ONCE
            && self.state.live.len() + self.state.creating.len() < wanted
        {
            self.ask(stage, now, Origin::Thought);
        }
    }

    /// Asks for one match. Who is refused goes away; in a closed loop, after a while.
    fn ask(&mut self, stage: &Stage, asked: Instant, origin: Origin) {
        let Some(kind) = pick(&stage.kinds, &mut self.state.random) else { return };
        let kind = kind.clone();
        let number = self.state.asked;
        let seed = self.seed.wrapping_add(number);
        self.state.asked += 1;
        lock(&self.state.asking).insert(number, (asked, origin));
        let asking = Arc::clone(&self.state.asking);
        let request =
            v1::CreateMatchRequest { request_id: String::new(), r#match: Some(kind.spec(&self.reference)) };
        let (mut matches, recorder) = (self.matches.clone(), self.recorder.clone());
        let creating = async move {
            recorder.count(Count::MatchAsked);
            let answer = matches.create_match(request).await;
            lock(&asking).remove(&number);
            let status = match answer {
                Ok(answer) => match created(answer.into_inner(), asked, &kind, seed) {
                    Ok(created) => {
                        recorder.count(Count::MatchCreated);
                        return Some((kind, created));
                    }
                    Err(wrong) => {
                        Fault { match_id: String::new(), seat: None, wrong }.report(&recorder);
                        return None;
                    }
                },
                Err(status) => status,
            };
            recorder.failed(Failure::of(&status), status.message());
            match origin {
                // A refusal is no answer to who wanted a match.
                Origin::Schedule => recorder.count(Count::Unanswered),
                Origin::Thought => sleep(retry_after(&status).unwrap_or(AGAIN_AFTER)).await,
            }
            None
        };
        self.state.creating.push(creating.boxed());
    }

    fn created(&mut self, created: Option<(Kind, Created)>) {
        let Some((kind, created)) = created else { return };
        let (match_id, players) = (created.match_id.clone(), created.tokens.len());
        self.onlookers.begun(&match_id);
        let lane = self.lanes.begin(&kind, created);
        self.state.live.insert(match_id, (lane, players));
    }

    fn over(&mut self, finished: Option<Finished>) {
        let Some(Finished { match_id, why, bot: _ }) = finished else { return };
        if let Some((lane, players)) = self.state.live.remove(&match_id) {
            self.lanes.over(lane, players);
            self.onlookers.over(&match_id, &why);
        }
        let is_result = matches!(&why, Why::Told(ending) if ending.is_result());
        self.recorder.count(if is_result { Count::MatchFinished } else { Count::MatchBrokenOff });
        let ending = match why {
            Why::Told(ending) => ending,
            Why::GivenUp => return self.state.check.given_up(&match_id),
            Why::Unknown { said } => return self.state.check.unknown(&match_id, said),
        };
        if is_result {
            self.state.sample.offer(&match_id, &ending, &mut self.state.random);
        }
        if let Err(fault) = self.state.check.over(Instant::now(), &match_id, ending) {
            fault.report(&self.recorder);
        }
    }

    fn result(&mut self, result: Option<MatchResult>) {
        let Some(MatchResult { number, match_id, outcome, .. }) = result else { return };
        if let Err(fault) = self.state.check.came(Instant::now(), number, &match_id, outcome) {
            fault.report(&self.recorder);
        }
    }

    /// A spectator was told how a match ended.
    fn watched(&mut self, (match_id, outcome): (String, v1::Outcome)) {
        if let Err(fault) = self.state.check.watched(match_id, outcome) {
            fault.report(&self.recorder);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // It is whole, whatever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next moment of an interval, if there is one.
async fn tick(interval: &mut Option<Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}

fn created(
    answer: v1::CreateMatchResponse,
    asked: Instant,
    kind: &Kind,
    seed: u64,
) -> Result<Created, Wrong> {
    let v1::CreateMatchResponse { r#match, seat_tokens } = answer;
    let match_id = r#match.unwrap_or_default().match_id;
    if match_id.is_empty() || seat_tokens.len() != kind.players() {
        return Err(Wrong::Malformed {
            what: "a match was created without an id or without a token for each seat",
        });
    }
    let tokens = seat_tokens.into_iter().map(|token| token.token).collect();
    Ok(Created { match_id, tokens, asked, think: kind.think, seed })
}

fn pick<'a>(kinds: &'a [Kind], random: &mut StdRng) -> Option<&'a Kind> {
    let all: u64 = kinds.iter().map(|kind| u64::from(kind.weight.get())).sum();
    let mut drawn = random.random_range(0..all.max(1));
    kinds.iter().find(|kind| {
        let weight = u64::from(kind.weight.get());
        let found = drawn < weight;
        drawn = drawn.saturating_sub(weight);
        found
    })
}

fn retry_after(status: &Status) -> Option<Duration> {
    let ms = v1::Error::from_status(status)?.retry_after_ms?;
    Some(Duration::from_millis(ms.into()))
}
