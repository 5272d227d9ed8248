//! The way between a place and the server.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::fault::Lost;
use super::random::Random;

/// Milliseconds that a message takes when nothing is wrong, at most.
const USUAL_MS: u64 = 12;

/// The way between a place and the server, with what is wrong with it now.
#[derive(Debug)]
pub(super) struct Link {
    state: Mutex<State>,
    cuts: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    random: Random,
    loss: Option<(Instant, Lost)>,
    delay: Option<(Instant, u64)>,
    twice: Option<Instant>,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) there: Duration,
    pub(super) lost: Option<Lost>,
    pub(super) back: Duration,
    /// It arrives once more, so much later.
    pub(super) again: Option<Duration>,
}

impl Link {
    pub(super) fn new(random: Random) -> Self {
        let state = State { random, loss: None, delay: None, twice: None };
        Self { state: Mutex::new(state), cuts: watch::Sender::new(0) }
    }

    /// Cuts every stream.
    pub(super) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Tells of the next cut.
    pub(super) fn cuts(&self) -> watch::Receiver<u64> {
        self.cuts.subscribe()
    }

    pub(super) fn lose(&self, for_ms: u64, lost: Lost) {
        self.with(|state| state.loss = Some((in_ms(for_ms), lost)));
    }

    pub(super) fn delay(&self, for_ms: u64, up_to_ms: u64) {
        self.with(|state| state.delay = Some((in_ms(for_ms), up_to_ms)));
    }

    pub(super) fn double(&self, for_ms: u64) {
        self.with(|state| state.twice = Some(in_ms(for_ms)));
    }

    /// How the next request fares.
    pub(super) fn passage(&self) -> Passage {
        self.with(|state| {
            let now = Instant::now();
            let lost = state.loss.filter(|(until, _)| *until > now).map(|(_, lost)| lost);
            let twice = state.twice.is_some_and(|until| until > now);
            Passage {
                there: state.one_way(now),
                lost: lost.filter(|_| state.random.percent(50)),
                back: state.one_way(now),
                again: twice.then(|| Duration::from_millis(state.random.below(3_000))),
            }
        })
    }

    /// How long one message takes.
    pub(super) fn one_way(&self) -> Duration {
        self.with(|state| state.one_way(Instant::now()))
    }

    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn one_way(&mut self, now: Instant) -> Duration {
        let most_ms = self.delay.filter(|(until, _)| *until > now).map_or(USUAL_MS, |(_, up_to_ms)| up_to_ms);
        Duration::from_millis(self.random.below(most_ms))
    }
}

fn in_ms(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}
