//! Has bots wait on a ladder and play, and looks at what came of it.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;
use zetema_proto::v1;

use super::accounts::{Accounts, NotRegistered, Registered};
use super::plan::LadderPlan;
use super::seen::{Seat, Seen, Whose};
use crate::check::Ending;
use crate::fault::{Fault, Wrong};
use crate::finished::Finished;
use crate::lean;
use crate::order::Order;
use crate::outcome::{Count, Outcome, Phase, Reading, Recorder, Second};
use crate::records::Sample;
use crate::results::{MatchResult, Watch};
use crate::run::{RunError, read, reference};
use crate::scrape::Page;
use crate::target::{Ladders, Matches, Target};

/// How long matches that run when the load is over may take to their end.
const FINISHED_WITHIN: Duration = Duration::from_mins(10);
/// The same when the run was stopped.
const STOPPED_WITHIN: Duration = Duration::from_secs(15);
/// How long results, and then standings, are waited for.
const SETTLED_WITHIN: Duration = Duration::from_secs(15);
/// How long the bots have to tell how long their places have been free when the load is over.
const TOLD_WITHIN: Duration = Duration::from_secs(1);
/// How often standings are asked for that are not there yet.
const STANDINGS_AGAIN: Duration = Duration::from_millis(200);
/// Standings of one page.
const STANDINGS_PAGE: u32 = 1_000;
/// Bits of a seed below those that tell bots apart: more than one has matches.
const SEED_BITS: u32 = 32;

/// Registers bots, has them wait on a ladder and play what it gives them until the time is over, and then leave, finish what runs and
/// retire. Each second that is over is told with how long the run goes on and what the server's page of metrics says where it can be
/// read. `stop` ends it before its time.
///
/// # Errors
/// If it can't begin. What goes wrong later is in the outcome.
pub async fn run_ladder(
    target: Target,
    plan: &LadderPlan,
    server: &str,
    stop: CancellationToken,
    told: impl FnMut(Duration, &Second, Option<&Reading>),
) -> Result<Outcome, RunError> {
    let connected = target.matches().await;
    let matches = connected.map_err(|source| RunError::Connect { url: target.url.clone(), source })?;
    let ladders = target.ladders_lazy();
    let ladder = find(ladders.clone(), &plan.ladder).await?;
    plan.check(&ladder)?;
    let watch = Watch::open(matches.clone(), None).await;
    let watch = watch.map_err(|status| RunError::Refused(Box::new(status)))?;
    let run = reference()?;
    let accounts = Accounts::new(target.bots_lazy(), &run, plan);
    let recorder = Recorder::start(plan.description(server, &ladder), Phase::warm_up());
    let registered = tokio::select! {
        registered = accounts.register(&run, plan) => registered
            .map_err(|NotRegistered { name, status }| RunError::Bot { name, status: Box::new(status) }),
        () = stop.cancelled() => Err(RunError::Stopped),
    };
    let checked = registered.and_then(|Registered { tokens, matches_at_once }| {
        plan.check_quota(matches_at_once)?;
        Ok(tokens)
    });
    let tokens = match checked {
        Ok(tokens) => tokens,
        Err(error) => {
            accounts.retire(&recorder).await;
            return Err(error);
        }
    };
    // They took their time, of which nothing is measured.
    let recorder = Recorder::start(plan.description(server, &ladder), Phase::warm_up());
    let page = Page::new(target.endpoint.connect_lazy());
    let (reading_sender, reading) = watch::channel(None);
    let reads = AbortOnDropHandle::new(tokio::spawn(read(page, recorder.clone(), reading_sender)));
    let (results_sender, results) = unbounded_channel();
    let watches = AbortOnDropHandle::new(tokio::spawn(watch.run(recorder.clone(), results_sender)));
    let bots = Bots::start(&target, plan, tokens, &recorder);
    let mut course = Course {
        recorder: recorder.clone(),
        seen: Seen::new(&plan.ladder, accounts.names()),
        rating: Rating::of(&ladder),
        bots,
        results,
        sample: Sample::default(),
        random: StdRng::seed_from_u64(plan.seed),
    };
    course.play(plan, &stop, &reading, told).await;
    course.leave().await;
    recorder.enter(Phase::drain());
    course.settle(matches, ladders, &plan.ladder, &stop).await;
    accounts.retire(&recorder).await;
    drop((reads, watches));
    Ok(recorder.finish())
}

/// The ladder of this name.
async fn find(mut ladders: Ladders, name: &str) -> Result<v1::Ladder, RunError> {
    let listed = ladders.list_ladders(v1::ListLaddersRequest {}).await;
    let listed = listed.map_err(|status| RunError::Ladders(Box::new(status)))?.into_inner().ladders;
    let names: Vec<&str> = listed.iter().map(|ladder| ladder.name.as_str()).collect();
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let found = listed.into_iter().find(|ladder| ladder.name == name);
    found.ok_or_else(|| RunError::NoLadder { name: name.to_owned(), there })
}

/// The bots, each with a connection and a task of its own, which ends with this.
struct Bots {
    orders: Vec<UnboundedSender<Order>>,
    tasks: JoinSet<()>,
    finished: UnboundedReceiver<Finished>,
}

impl Bots {
    fn start(target: &Target, plan: &LadderPlan, tokens: Vec<String>, recorder: &Recorder) -> Self {
        let (told, finished) = unbounded_channel();
        let mut bots = Self { orders: Vec::new(), tasks: JoinSet::new(), finished };
        for (number, token) in tokens.into_iter().enumerate() {
            let bot = lean::Bot {
                number,
                token,
                ladder: plan.ladder.clone(),
                places: plan.places(),
                think: plan.think,
                seed: plan.seed.wrapping_add((number as u64) << SEED_BITS),
            };
            let lane = lean::Lane::new(recorder.clone(), told.clone()).of_bot(bot);
            let (orders, given) = unbounded_channel();
            bots.orders.push(orders);
            bots.tasks.spawn(lean::play(target.endpoint.clone(), lane, given));
        }
        bots
    }
}

/// Whether a ladder rates its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rating {
    /// It does, and its standings count them.
    Rated,
    /// Bots of one owner may be on one side, and nothing is counted.
    Unrated,
}

impl Rating {
    fn of(ladder: &v1::Ladder) -> Self {
        if ladder.same_owner() == v1::SameOwner::Anywhere { Self::Unrated } else { Self::Rated }
    }
}

/// A run as it goes on.
struct Course {
    recorder: Recorder,
    seen: Seen,
    rating: Rating,
    bots: Bots,
    results: UnboundedReceiver<MatchResult>,
    sample: Sample,
    random: StdRng,
}

impl Course {
    /// Lets the bots play until the time is over.
    async fn play(
        &mut self,
        plan: &LadderPlan,
        stop: &CancellationToken,
        reading: &watch::Receiver<Option<Reading>>,
        mut told: impl FnMut(Duration, &Second, Option<&Reading>),
    ) {
        let began = Instant::now();
        let phases = [(None, plan.warm_up), (Some(Phase::measured(&plan.ladder)), plan.duration())];
        let second = Duration::from_secs(1);
        let mut seconds = interval_at(began + second, second);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut until = began;
        for (phase, lasts) in phases {
            if let Some(phase) = phase {
                self.recorder.enter(phase);
            }
            until += lasts;
            let over = tokio::time::sleep_until(until);
            tokio::pin!(over);
            loop {
                tokio::select! {
                    () = &mut over => break,
                    () = stop.cancelled() => return self.recorder.stopped(),
                    Some(finished) = self.bots.finished.recv() => self.over(finished),
                    Some(result) = self.results.recv() => self.result(result),
                    _ = seconds.tick() => {
                        if let Some(second) = self.recorder.tick() {
                            told(self.recorder.elapsed(), &second, reading.borrow().as_ref());
                        }
                    }
                }
            }
        }
    }

    /// The load is over: bots leave the ladder. What their places wait for then is measured as far as it has gone.
    async fn leave(&self) {
        let (noted, mut all) = channel(1);
        for orders in &self.bots.orders {
            // One whose task has ended has left.
            let _ = orders.send(Order::LeaveQueues(noted.clone()));
        }
        drop(noted);
        // It ends when each has dropped its own. Who is late for it counts in the drain.
        let _ = timeout(TOLD_WITHIN, all.recv()).await;
    }

    /// Bots finish what runs, and all that came is held against results and standings.
    async fn settle(mut self, matches: Matches, ladders: Ladders, ladder: &str, stop: &CancellationToken) {
        let has_finished = self.finish(stop).await;
        let until = Instant::now() + SETTLED_WITHIN;
        while self.seen.awaited() > 0 {
            match timeout_at(until, self.results.recv()).await {
                Ok(Some(result)) => self.result(result),
                Ok(None) | Err(_) => break,
            }
        }
        for fault in self.seen.give_up(Instant::now()) {
            fault.report(&self.recorder);
        }
        if has_finished && self.rating == Rating::Rated {
            self.compare(ladders, ladder).await;
        }
        let Self { recorder, sample, .. } = self;
        sample.check(matches, &recorder, SETTLED_WITHIN).await;
    }

    /// Waits until the bots have finished what they play. `false` if not all have.
    async fn finish(&mut self, stop: &CancellationToken) -> bool {
        let mut until = Instant::now() + FINISHED_WITHIN;
        let mut is_stopped = false;
        loop {
            tokio::select! {
                // What they had to say before they ended is heard.
                biased;
                Some(finished) = self.bots.finished.recv() => self.over(finished),
                Some(result) = self.results.recv() => self.result(result),
                ended = self.bots.tasks.join_next() => if ended.is_none() { return true },
                () = stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    until = until.min(Instant::now() + STOPPED_WITHIN);
                }
                () = tokio::time::sleep_until(until) => break,
            }
        }
        let left = self.bots.tasks.len();
        self.wrong(Wrong::Unfinished { bots: left });
        false
    }

    fn over(&mut self, finished: Finished) {
        let (match_id, bot) = (finished.match_id.clone(), finished.bot.unwrap_or_default());
        let (seat, checked) = self.seen.over(Instant::now(), bot, finished);
        if let Seat::First(ending) = seat {
            let is_result = ending.as_ref().is_some_and(Ending::is_result);
            self.recorder.count(if is_result { Count::MatchFinished } else { Count::MatchBrokenOff });
            if let Some(ending) = ending.filter(|_| is_result) {
                self.sample.offer(&match_id, &ending, &mut self.random);
            }
        }
        self.report(checked);
    }

    fn result(&mut self, result: MatchResult) {
        let (whose, checked) = self.seen.came(result);
        if whose == Whose::OwnResult && self.rating == Rating::Rated {
            self.recorder.count(Count::RatedResult);
        }
        self.report(checked);
    }

    fn report(&self, checked: Result<(), Fault>) {
        if let Err(fault) = checked {
            fault.report(&self.recorder);
        }
    }

    fn wrong(&self, wrong: Wrong) {
        Fault { match_id: String::new(), seat: None, wrong }.report(&self.recorder);
    }

    /// Holds the standings against what the bots have seen, once they are after the last result that came. That they can't be had is a
    /// fault, as then nothing says that each match is counted.
    async fn compare(&self, mut ladders: Ladders, ladder: &str) {
        let (began, last) = (Instant::now(), self.seen.last());
        let standings = loop {
            let asked = standings(&mut ladders, ladder).await;
            let waited = began.elapsed();
            let wrong = match asked {
                Ok(Standings::After(number, standings)) if number >= last => break standings,
                Ok(reached) => {
                    let reached = match reached {
                        Standings::After(number, _) => format!("they are after result {number}"),
                        Standings::Changing => "they change from page to page".to_owned(),
                    };
                    Wrong::StandingsBehind { last, reached, waited_s: waited.as_secs() }
                }
                Err(status) => Wrong::NoStandings { problem: status.message().to_owned() },
            };
            if waited >= SETTLED_WITHIN {
                return self.wrong(wrong);
            }
            sleep(STANDINGS_AGAIN).await;
        };
        for fault in self.seen.compare(&standings) {
            fault.report(&self.recorder);
        }
    }
}

/// The standings of a ladder, as they were found.
enum Standings {
    /// All of them, after the result of this number. What else may come is of others.
    After(u64, Vec<v1::Standing>),
    /// A result came between their pages, so that bots may be on two of them or on none.
    Changing,
}

/// All standings, if all of their pages are after the same result.
async fn standings(ladders: &mut Ladders, ladder: &str) -> Result<Standings, Status> {
    let (mut all, mut first, mut page_token) = (Vec::new(), None, String::new());
    loop {
        let request =
            v1::GetStandingsRequest { ladder: ladder.to_owned(), page_size: STANDINGS_PAGE, page_token };
        let page = ladders.get_standings(request).await?.into_inner();
        let number = *first.get_or_insert(page.result_number);
        if page.result_number != number {
            return Ok(Standings::Changing);
        }
        all.extend(page.standings);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return Ok(Standings::After(number, all));
        }
    }
}
