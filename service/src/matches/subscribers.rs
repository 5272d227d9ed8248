//! The subscribers of one table.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use zetema_rules::{Outcome, Seat, Viewer};

use super::{Audience, Limits};
use crate::table::{Effect, Observation, Rejection, Table};

/// Why a subscription is over: nothing comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The match ended, and every observation was delivered.
    Over(Outcome),
    /// The seat was joined elsewhere. Only a player's subscription ends so.
    Superseded,
    /// The seat has a newer token.
    TokenReplaced,
    /// The reader fell behind. It may resume after what it has got.
    Lagging,
    /// The server is stopping, or can't read the match.
    Stopped,
}

/// The subscriber's side of a queue. What is in the queue comes before the end.
pub(super) struct Live {
    queue: mpsc::Receiver<Arc<Observation>>,
    queued_bytes: Arc<AtomicUsize>,
    pub(super) end: Arc<OnceLock<End>>,
}

impl Live {
    /// The next observation. `None`: there will be no more.
    pub(super) async fn next(&mut self) -> Option<Arc<Observation>> {
        let observation = self.queue.recv().await?;
        self.queued_bytes.fetch_sub(observation.bytes(), Ordering::Relaxed);
        Some(observation)
    }
}

struct Subscriber {
    audience: Audience,
    queue: mpsc::Sender<Arc<Observation>>,
    queued_bytes: Arc<AtomicUsize>,
    end: Arc<OnceLock<End>>,
}

impl Subscriber {
    /// Ends it: the queue is closed behind what is in it.
    fn send(&self, observation: Arc<Observation>, most_bytes: usize) -> Result<(), Unsent> {
        let bytes = observation.bytes();
        let queued = self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        // One alone is always let through.
        if queued > 0 && queued.saturating_add(bytes) > most_bytes {
            return Err(Unsent::Full);
        }
        self.queue.try_send(observation).map_err(|error| match error {
            TrySendError::Full(_) => Unsent::Full,
            TrySendError::Closed(_) => Unsent::Gone,
        })
    }

    fn finish(self, end: End) {
        // It is set once, here, where the subscriber is given up.
        let _ = self.end.set(end);
    }
}

/// Why an observation can't be queued. Nothing more is sent to whom it was for.
enum Unsent {
    Full,
    Gone,
}

/// The subscribers of one table, each with a queue of its own.
pub(super) struct Subscribers {
    list: Vec<Subscriber>,
    most: usize,
    queue_length: usize,
    queued_bytes: usize,
}

impl Subscribers {
    pub(super) const fn new(limits: &Limits) -> Self {
        let &Limits { subscribers, queued_observations, queued_bytes, .. } = limits;
        Self { list: Vec::new(), most: subscribers, queue_length: queued_observations, queued_bytes }
    }

    /// Adds one, from the next observation on.
    ///
    /// The limit is for those who look on with the same eyes, so that spectators can't keep a seat from its own view,
    /// nor one seat another. The player of a seat is one, and always let in.
    pub(super) fn add(&mut self, audience: Audience) -> Result<Live, Rejection> {
        self.list.retain(|subscriber| !subscriber.queue.is_closed());
        let rival =
            |other: &&Subscriber| !other.audience.is_player() && other.audience.viewer() == audience.viewer();
        if !audience.is_player() && self.list.iter().filter(rival).count() >= self.most {
            return Err(Rejection::TooManySubscribers { limit: self.most });
        }
        let (sender, queue) = mpsc::channel(self.queue_length);
        let end = Arc::new(OnceLock::new());
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        self.list.push(Subscriber {
            audience,
            queue: sender,
            queued_bytes: queued_bytes.clone(),
            end: end.clone(),
        });
        Ok(Live { queue, queued_bytes, end })
    }

    /// Shows everyone what an entry came to. A reader without room is cut, never skipped.
    pub(super) fn publish(&mut self, table: &Table, effect: &Effect) {
        let mut made: Vec<(Viewer, Option<Arc<Observation>>)> = Vec::new();
        let mut observation = |viewer| {
            if let Some((_, observation)) = made.iter().find(|(of, _)| *of == viewer) {
                return observation.clone();
            }
            let observation = table.observe(effect, viewer).map(Arc::new);
            made.push((viewer, observation.clone()));
            observation
        };
        let mut keep = Vec::with_capacity(self.list.len());
        for subscriber in self.list.drain(..) {
            let Some(observation) = observation(subscriber.audience.viewer()) else {
                keep.push(subscriber);
                continue;
            };
            match subscriber.send(observation, self.queued_bytes) {
                Ok(()) => keep.push(subscriber),
                Err(Unsent::Full) => {
                    tracing::info!(match_id = %table.match_id(), "cut a reader that fell behind");
                    subscriber.finish(End::Lagging);
                }
                Err(Unsent::Gone) => {}
            }
        }
        self.list = keep;
    }

    /// Whether the player of a seat is here.
    pub(super) fn has_player(&self, seat: Seat) -> bool {
        self.list.iter().any(|subscriber| subscriber.audience.plays(seat) && !subscriber.queue.is_closed())
    }

    /// Ends the player of a seat, whom another join replaces.
    pub(super) fn supersede(&mut self, seat: Seat) {
        self.finish_where(&End::Superseded, |audience| audience.plays(seat));
    }

    /// Ends all of a seat, whose token was replaced.
    pub(super) fn replace_token(&mut self, seat: Seat) {
        self.finish_where(&End::TokenReplaced, |audience| audience.viewer() == Viewer::Seat(seat));
    }

    /// Ends all.
    pub(super) fn finish_all(&mut self, end: &End) {
        self.finish_where(end, |_| true);
    }

    fn finish_where(&mut self, end: &End, which: impl Fn(&Audience) -> bool) {
        for subscriber in self.list.extract_if(.., |subscriber| which(&subscriber.audience)) {
            subscriber.finish(end.clone());
        }
    }
}
