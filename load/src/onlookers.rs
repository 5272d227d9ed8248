//! Who looks on at matches that are played: spectators, who read all and check it, and readers who are too slow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;
use zetema_proto::v1;
use zetema_proto::v1::watch_match_response::Kind;

use crate::backoff::Backoff;
use crate::check::SeatCheck;
use crate::fault::{Fault, Wrong};
use crate::finished::Why;
use crate::outcome::{Count, Failure, Recorder};
use crate::target::{Matches, Target};

/// Of those who look on so many share a connection: a server allows 256 streams on one.
const PER_CONNECTION: usize = 200;
/// How long a slow reader waits before it reads the next message.
const SLOW: Duration = Duration::from_secs(1);
/// How long after a match is over a spectator may still not be told.
const TOLD_WITHIN: Duration = Duration::from_secs(10);
/// How often it is looked whether it is over.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long one waits who finds no match.
const NO_MATCH: Duration = Duration::from_millis(200);

/// How one of them reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// As fast as it can.
    Quick,
    /// A message a second.
    Slow,
}

/// Those who look on. They go when this does.
pub(crate) struct Onlookers {
    target: Target,
    recorder: Recorder,
    live: Live,
    seed: u64,
    spectators: Vec<AbortOnDropHandle<()>>,
    slow: Vec<AbortOnDropHandle<()>>,
    /// Connections, the last of which carries those who came last.
    connections: Vec<Matches>,
    looking: usize,
    /// How matches ended, as spectators were told.
    ended: UnboundedReceiver<Ended>,
    tells: UnboundedSender<Ended>,
}

/// A match, and how it ended.
type Ended = (String, v1::Outcome);

impl Onlookers {
    pub(crate) fn new(target: Target, recorder: Recorder, seed: u64) -> Self {
        let (spectators, slow) = (Vec::new(), Vec::new());
        let (live, connections) = (Live::default(), Vec::new());
        let (tells, ended) = unbounded_channel();
        Self { target, recorder, live, seed, spectators, slow, connections, looking: 0, ended, tells }
    }

    /// From here on there are so many.
    pub(crate) fn set(&mut self, spectators: u32, slow: u32) {
        for (pace, wanted) in [(Pace::Quick, spectators), (Pace::Slow, slow)] {
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            while self.of(pace).len() < wanted {
                let matches = self.connection();
                let random = SmallRng::seed_from_u64(self.seed.wrapping_add(self.looking as u64));
                let onlooker =
                    Onlooker { matches, recorder: self.recorder.clone(), pace, ended: self.tells.clone() };
                let task = onlooker.look_on(self.live.clone(), random);
                self.of(pace).push(AbortOnDropHandle::new(tokio::spawn(task)));
            }
            self.of(pace).truncate(wanted);
        }
    }

    /// A match has begun.
    pub(crate) fn begun(&self, match_id: &str) {
        let mut live = self.live.lock();
        let place = live.played.len();
        live.played.push(match_id.to_owned());
        live.places.insert(match_id.to_owned(), place);
    }

    /// A match is played no more.
    pub(crate) fn over(&self, match_id: &str, why: &Why) {
        let mut live = self.live.lock();
        let Some(place) = live.places.remove(match_id) else { return };
        live.played.swap_remove(place);
        if let Some(moved) = live.played.get(place).cloned() {
            live.places.insert(moved, place);
        }
        if let (Why::Told(_), Some(watched)) = (why, live.watched.get_mut(match_id)) {
            watched.over.get_or_insert_with(Instant::now);
        }
    }

    /// Waits until a spectator is told how a match ended.
    pub(crate) async fn ended(&mut self) -> (String, v1::Outcome) {
        match self.ended.recv().await {
            Some(ended) => ended,
            None => std::future::pending().await,
        }
    }

    const fn of(&mut self, pace: Pace) -> &mut Vec<AbortOnDropHandle<()>> {
        match pace {
            Pace::Quick => &mut self.spectators,
            Pace::Slow => &mut self.slow,
        }
    }

    fn connection(&mut self) -> Matches {
        if self.looking.is_multiple_of(PER_CONNECTION) {
            self.connections.push(self.target.matches_lazy());
        }
        self.looking += 1;
        self.connections.last().cloned().unwrap_or_else(|| self.target.matches_lazy())
    }
}

/// The matches that are played.
#[derive(Clone, Debug, Default)]
struct Live(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    played: Vec<String>,
    /// Where each is.
    places: HashMap<String, usize>,
    /// Those that are looked on at, and those that were when they were over.
    watched: HashMap<String, Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    /// By so many.
    by: usize,
    /// Since when it is over.
    over: Option<Instant>,
}

impl Live {
    /// Any of them, which is looked on at by one more.
    fn any(&self, random: &mut SmallRng) -> Option<Seen> {
        let mut live = self.lock();
        let place = random.random_range(0..live.played.len().max(1));
        let match_id = live.played.get(place).cloned()?;
        live.watched.entry(match_id.clone()).or_default().by += 1;
        Some(Seen { match_id, live: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A match that one looks on at, as long as this is there.
struct Seen {
    match_id: String,
    live: Live,
}

impl Seen {
    /// How long it has been over, when that is longer than one may not be told.
    async fn is_long_over(&self) -> Duration {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let over = self.live.lock().watched.get(&self.match_id).and_then(|watched| watched.over);
            let since = over.map(|over| over.elapsed());
            if let Some(since) = since.filter(|since| *since > TOLD_WITHIN) {
                return since;
            }
        }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        let mut live = self.live.lock();
        let Some(watched) = live.watched.get_mut(&self.match_id) else { return };
        watched.by -= 1;
        if watched.by == 0 {
            live.watched.remove(&self.match_id);
        }
    }
}

/// One who looks on.
struct Onlooker {
    matches: Matches,
    recorder: Recorder,
    pace: Pace,
    ended: UnboundedSender<Ended>,
}

impl Onlooker {
    /// Looks on at one match after the other.
    async fn look_on(mut self, live: Live, mut random: SmallRng) {
        let mut backoff = Backoff::default();
        loop {
            let Some(seen) = live.any(&mut random) else {
                sleep(NO_MATCH).await;
                continue;
            };
            match self.watch_to_the_end(&seen).await {
                Ok(()) => backoff = Backoff::default(),
                Err(status) => {
                    // A slow reader is cut for it: that is no error of the server.
                    if self.pace == Pace::Quick {
                        self.recorder.failed(Failure::of(&status), status.message());
                    }
                    sleep(backoff.next()).await;
                }
            }
        }
    }

    /// Looks on at one match, and no longer than it takes: a slow reader is told late by itself.
    async fn watch_to_the_end(&mut self, seen: &Seen) -> Result<(), Status> {
        let (recorder, pace) = (self.recorder.clone(), self.pace);
        tokio::select! {
            biased;
            watched = self.watch(&seen.match_id) => watched,
            since = seen.is_long_over(), if pace == Pace::Quick => {
                let wrong = Wrong::SpectatorNotTold { waited_s: since.as_secs() };
                Fault { match_id: seen.match_id.clone(), seat: None, wrong }.report(&recorder);
                Ok(())
            }
        }
    }

    async fn watch(&mut self, match_id: &str) -> Result<(), Status> {
        let request = v1::WatchMatchRequest { match_id: match_id.to_owned(), after_seq: None, views: None };
        let mut stream = self.matches.watch_match(request).await?.into_inner();
        let mut check = SeatCheck::default();
        while let Some(v1::WatchMatchResponse { kind }) = stream.message().await? {
            let checked = match kind {
                Some(Kind::Start(start)) => match start.kind {
                    Some(v1::subscription_start::Kind::Snapshot(snapshot)) => check.started(snapshot.seq),
                    _ => {
                        Err(Wrong::Malformed { what: "a spectator's subscription began without a snapshot" })
                    }
                },
                Some(Kind::Observation(observation)) => {
                    self.recorder.count(Count::SpectatorObservation);
                    check.observed(&observation)
                }
                Some(Kind::End(v1::SubscriptionEnd { outcome: Some(outcome) })) => {
                    // Without anybody who hears it the run is over.
                    let _ = self.ended.send((match_id.to_owned(), outcome));
                    return Ok(());
                }
                Some(Kind::End(v1::SubscriptionEnd { outcome: None })) => {
                    Err(Wrong::Malformed { what: "a spectator was told the end without an outcome" })
                }
                Some(Kind::Draining(_)) | None => Ok(()),
            };
            if let Err(wrong) = checked {
                Fault { match_id: match_id.to_owned(), seat: None, wrong }.report(&self.recorder);
                return Ok(());
            }
            if self.pace == Pace::Slow {
                sleep(SLOW).await;
            }
        }
        Err(Status::unavailable("the server ended a spectator's stream before the match"))
    }
}
