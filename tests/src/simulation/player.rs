//! Who plays a seat: it does what the wire asks of a client, whatever happens on the way.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use zetema_rules::LegalActions;
use zetema_rules::fair::Nonce;
use zetema_service::matches::{Audience, End, Joined, Start};
use zetema_service::table::{Choice, Rejection, SetupStage};

use super::place::{NoAnswer, Place};
use super::random::Random;
use super::server::Running;
use super::stream::{Arrived, Stream};
use super::truth::wants_nonces;

/// Who plays a seat.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// The one whose seat it is: it comes back when it has lost it.
    Owner,
    /// Another program with the same token, until then.
    Other(Instant),
}

/// A player at work.
pub(super) struct Player {
    place: Arc<Place>,
    random: Random,
    until: Option<Instant>,
    nonce: Option<Nonce>,
    /// Milliseconds that it thinks, at most.
    thinks_ms: u64,
    seen: Option<u64>,
}

/// What is to be done next.
#[derive(Default)]
struct Due {
    nonce: bool,
    decision: Option<(u32, Box<LegalActions>)>,
}

/// Why a player gives up a stream.
enum Left {
    /// The match is over, or it plays no longer.
    ForGood,
    /// To come back after a time in milliseconds.
    For(u64),
}

/// The nonce of a place, if it gives one.
pub(super) fn nonce_of(place: &Place) -> Option<Nonce> {
    let mut random = Random::new(place.seed, &[7]);
    random.percent(60).then(|| Nonce::new(&random.next().to_be_bytes()).unwrap())
}

impl Player {
    pub(super) fn new(place: Arc<Place>, role: Role, mut random: Random) -> Self {
        let until = match role {
            Role::Owner => None,
            Role::Other(until) => Some(until),
        };
        let (nonce, thinks_ms) = (nonce_of(&place), random.pick(&[2, 20, 20, 300]));
        Self { place, random, until, nonce, thinks_ms, seen: None }
    }

    /// Plays until the match is over, or it has to leave.
    pub(super) async fn play(mut self) {
        loop {
            self.random.wait_ms(30).await;
            if self.until.is_some_and(|until| until <= Instant::now()) {
                return;
            }
            let Some((due, stream)) = self.connect().await else { continue };
            match self.follow(due, stream).await {
                Left::ForGood => return,
                Left::For(ms) => self.random.wait_ms(ms).await,
            }
        }
    }

    /// Joins and subscribes. `None`: to be tried again.
    async fn connect(&mut self) -> Option<(Due, Stream)> {
        let Joined { hold, info: _, arriving: _arriving } = self.join().await?;
        let after = self.seen.filter(|_| self.random.percent(60));
        let audience = Audience::Player(self.place.access(), hold);
        match self.place.subscribe(audience, after).await {
            Err(NoAnswer) => None,
            Ok(Ok((start, stream))) => Some((self.begin(&start), stream)),
            Ok(Err(Rejection::Superseded)) if self.until.is_some() => None,
            Ok(Err(Rejection::Superseded)) => {
                self.random.wait_ms(2_000).await;
                None
            }
            Ok(Err(rejection)) => {
                self.judge("subscribe", &rejection);
                None
            }
        }
    }

    async fn join(&mut self) -> Option<Joined> {
        let (match_id, access) = (self.place.match_id, self.place.access());
        let hash = self.nonce.as_ref().map(Nonce::hash);
        let joined = self.place.ask(move |Running { matches, .. }| {
            async move { matches.join(match_id, access, hash).await }.boxed()
        });
        match joined.await {
            Err(NoAnswer) => None,
            Ok(Ok(joined)) => Some(joined),
            Ok(Err(rejection)) => {
                self.judge("join", &rejection);
                None
            }
        }
    }

    /// What may be refused to someone who does nothing wrong.
    fn judge(&self, asked: &str, rejection: &Rejection) {
        match rejection {
            Rejection::OutcomeUnknown | Rejection::Stopping | Rejection::TokenReplaced => {}
            _ => self.place.truth.problem(format_args!(
                "seat {} of {} asked to {asked}: {rejection:?}",
                self.place.seat, self.place.match_id
            )),
        }
    }

    fn begin(&mut self, start: &Start) -> Due {
        match start {
            Start::Snapshot(snapshot) => {
                if self.seen.is_some_and(|seen| seen > snapshot.seq) {
                    let (seq, seen) = (snapshot.seq, self.seen);
                    self.place
                        .truth
                        .problem(format_args!("a snapshot at {seq} after {seen:?} was shown (I1)"));
                }
                self.seen = Some(snapshot.seq);
                let decision = snapshot.decision.zip(snapshot.to_decide.clone());
                Due { nonce: snapshot.setup.stage == SetupStage::WaitingForNonces, decision }
            }
            // What it owes it learns from what follows; what it owed before it may have been told already.
            Start::Resumed { .. } => Due { nonce: true, decision: self.owed() },
        }
    }

    /// The decision that the last observation which arrived asked for. A real client remembers it; this one looks it up.
    fn owed(&self) -> Option<(u32, Box<LegalActions>)> {
        let (viewer, seen) = (self.place.viewer(), self.seen?);
        let shown = self.place.truth.with(self.place.match_id, |expected| expected.shown(viewer, seen));
        let observation = shown.flatten()?;
        observation.decision.zip(observation.to_decide)
    }

    async fn follow(&mut self, mut due: Due, mut stream: Stream) -> Left {
        loop {
            if due.nonce
                && let Some(nonce) = self.nonce.clone()
            {
                self.send_nonce(nonce).await;
            }
            if let Some((decision, legal)) = due.decision.take() {
                self.decide(decision, &legal).await;
            }
            let arrived = match self.until {
                None => stream.next().await,
                Some(until) => match timeout_at(until, stream.next()).await {
                    Ok(arrived) => arrived,
                    Err(_) => return Left::ForGood,
                },
            };
            match arrived {
                Arrived::Observation(observation) => {
                    if self.seen.is_some_and(|seen| seen + 1 != observation.seq) {
                        let (seq, seen) = (observation.seq, self.seen);
                        self.place.truth.problem(format_args!("{seq} arrives after {seen:?} (I4)"));
                    }
                    self.seen = Some(observation.seq);
                    due.nonce = wants_nonces(&observation);
                    due.decision = observation.decision.zip(observation.to_decide.clone());
                }
                Arrived::End(End::Over(_)) => return Left::ForGood,
                Arrived::End(End::Superseded) if self.until.is_some() => return Left::ForGood,
                Arrived::End(End::Superseded) => return Left::For(4_000),
                Arrived::End(End::TokenReplaced | End::Lagging | End::Crowded { .. } | End::Stopped)
                | Arrived::Cut => {
                    return Left::For(50);
                }
            }
        }
    }

    async fn send_nonce(&mut self, nonce: Nonce) {
        loop {
            let (match_id, access, nonce) = (self.place.match_id, self.place.access(), nonce.clone());
            let sent = self.place.ask(move |Running { matches, .. }| {
                let nonce = nonce.clone();
                async move { matches.send_nonce(match_id, access, nonce).await }.boxed()
            });
            match sent.await {
                Err(NoAnswer) | Ok(Err(Rejection::OutcomeUnknown | Rejection::Stopping)) => {
                    self.random.wait_ms(200).await;
                }
                // Once more is as good as once.
                Ok(Ok(())) if self.random.percent(20) => {}
                Ok(Ok(()) | Err(Rejection::NonceNotWanted | Rejection::MatchOver)) => return,
                Ok(Err(rejection)) => return self.judge("send a nonce", &rejection),
            }
            if self.until.is_some_and(|until| until <= Instant::now()) {
                return;
            }
        }
    }

    /// Takes a decision: it sends the same answer until it is told what became of it.
    async fn decide(&mut self, decision: u32, legal: &LegalActions) {
        sleep_until(self.place.silent_until()).await;
        self.random.wait_ms(self.thinks_ms).await;
        // By the place and the decision alone, so that all players of the seat answer the same.
        let mut chooses = Random::new(self.place.seed, &[decision.into()]);
        let index = chooses.index(legal.len());
        let Some(action) = legal.get(index) else { return };
        loop {
            let choice = match self.random.below(2) {
                0 => Choice::LegalIndex(u32::try_from(index).unwrap()),
                _ => Choice::Action(action),
            };
            match self.place.act(decision, choice, action).await {
                Ok(Ok(_)) => {
                    self.place.answered.lock().unwrap().push((decision, action));
                    return;
                }
                Err(NoAnswer) | Ok(Err(Rejection::OutcomeUnknown | Rejection::Stopping)) => {
                    sleep(Duration::from_millis(self.random.within(20, 200))).await;
                }
                // What may be refused was judged where it was.
                Ok(Err(_)) => return,
            }
            if self.until.is_some_and(|until| until <= Instant::now()) {
                return;
            }
        }
    }
}
