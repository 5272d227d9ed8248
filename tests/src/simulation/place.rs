//! A seat of a match as its players and watchers have it: what they ask, and the way to the server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};
use zetema_proto::Views;
use zetema_rules::{Action, Seat, Viewer};
use zetema_service::journal::MatchId;
use zetema_service::matches::{Audience, Start};
use zetema_service::table::{Choice, Receipt, Rejection, SeatAccess};

use super::fault::Lost;
use super::network::{Link, Passage};
use super::server::{Running, Server};
use super::stream::{self, Stream};
use super::truth::Truth;

/// How long a client waits for an answer before it asks again.
const ANSWER_WITHIN: Duration = Duration::from_secs(4);

/// A seat of a match.
pub(super) struct Place {
    pub(super) match_id: MatchId,
    pub(super) seat: Seat,
    pub(super) server: Arc<Server>,
    pub(super) truth: Arc<Truth>,
    pub(super) link: Arc<Link>,
    /// The seed of what it answers, so that all its players answer the same.
    pub(super) seed: u64,
    generation: AtomicU32,
    silent_until: Mutex<Instant>,
    pub(super) answered: Mutex<Vec<(u32, Action)>>,
}

/// No answer came: the request, the answer or the server is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoAnswer;

impl Place {
    pub(super) fn new(
        (match_id, seat): (MatchId, Seat),
        server: Arc<Server>,
        truth: Arc<Truth>,
        link: Link,
        seed: u64,
    ) -> Self {
        Self {
            match_id,
            seat,
            server,
            truth,
            link: Arc::new(link),
            seed,
            generation: AtomicU32::new(1),
            silent_until: Mutex::new(Instant::now()),
            answered: Mutex::default(),
        }
    }

    pub(super) fn access(&self) -> SeatAccess {
        SeatAccess { seat: self.seat, generation: self.generation.load(Ordering::Relaxed) }
    }

    pub(super) fn set_generation(&self, generation: u32) {
        self.generation.fetch_max(generation, Ordering::Relaxed);
    }

    pub(super) fn silence(&self, for_ms: u64) {
        *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner) =
            Instant::now() + Duration::from_millis(for_ms);
    }

    pub(super) fn silent_until(&self) -> Instant {
        *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server, over the network. What is asked may arrive twice, and overtake what was asked before.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        ask: impl Fn(Running) -> BoxFuture<'static, T> + Clone + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let passage = self.link.passage();
        if let Some(later) = passage.again {
            let (server, ask) = (Arc::clone(&self.server), ask.clone());
            tokio::spawn(async move {
                sleep(passage.there + later).await;
                if let Some(running) = server.running() {
                    running.gone.clone().run_until_cancelled(ask(running)).await;
                }
            });
        }
        self.carry(passage, ask).await
    }

    /// Asks what must not arrive twice, as it would be done twice.
    pub(super) async fn ask_once<T: Send + 'static>(
        &self,
        ask: impl FnOnce(Running) -> BoxFuture<'static, T> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.carry(self.link.passage(), ask).await
    }

    async fn carry<T>(
        &self,
        passage: Passage,
        ask: impl FnOnce(Running) -> BoxFuture<'static, T>,
    ) -> Result<T, NoAnswer> {
        let answered = async {
            sleep(passage.there).await;
            if passage.lost == Some(Lost::Requests) {
                return std::future::pending().await;
            }
            let Some(running) = self.server.running() else { return Err(NoAnswer) };
            self.truth.tally(|tally| tally.requests += 1);
            let answer = running.gone.clone().run_until_cancelled(ask(running)).await.ok_or(NoAnswer)?;
            sleep(passage.back).await;
            match passage.lost {
                Some(Lost::Answers) => std::future::pending().await,
                _ => Ok(answer),
            }
        };
        timeout(ANSWER_WITHIN, answered).await.unwrap_or(Err(NoAnswer))
    }

    /// Answers a decision that the seat is to take.
    pub(super) async fn act(
        &self,
        decision: u32,
        choice: Choice,
        action: Action,
    ) -> Result<Result<Receipt, Rejection>, NoAnswer> {
        let (truth, match_id, access) = (Arc::clone(&self.truth), self.match_id, self.access());
        self.ask(move |Running { matches, .. }| {
            let truth = Arc::clone(&truth);
            async move {
                let before = truth.is_stored(match_id, access.seat, decision, action);
                let answer = matches.act(match_id, access, decision, choice).await;
                truth.acted((match_id, access.seat, decision), action, before, &answer);
                answer
            }
            .boxed()
        })
        .await
    }

    /// Subscribes: what comes of it is checked where the server hands it out, and again where it arrives.
    pub(super) async fn subscribe(
        &self,
        audience: Audience,
        after_seq: Option<u64>,
    ) -> Result<Result<(Start, Stream), Rejection>, NoAnswer> {
        let (truth, link, match_id) = (Arc::clone(&self.truth), Arc::clone(&self.link), self.match_id);
        let viewer = audience.viewer();
        self.ask(move |Running { matches, gone, .. }| {
            let (truth, link) = (Arc::clone(&truth), Arc::clone(&link));
            async move {
                let subscription =
                    matches.subscribe(match_id, audience, after_seq, Views::EveryDecision).await?;
                let start = subscription.start().clone();
                if let Start::Snapshot(snapshot) = &start {
                    truth.snapshot(match_id, viewer, snapshot);
                }
                Ok((start, stream::open(subscription, match_id, truth, link, gone)))
            }
            .boxed()
        })
        .await
    }

    /// Whether the match is over, by what is stored.
    pub(super) fn is_over(&self) -> bool {
        self.truth.with(self.match_id, |expected| expected.table().outcome().is_some()).unwrap_or(false)
    }

    pub(super) fn viewer(&self) -> Viewer {
        Viewer::Seat(self.seat)
    }
}
