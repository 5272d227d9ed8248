//! The clock of a server that may be stopped and go on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metrics::counter;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Clock, SystemClock};
use crate::journal::UnixMillis;
use crate::limits;
use crate::metrics::STALLS;
use crate::table::Moment;

/// How far the clock runs past a heartbeat by itself.
const BOUND: Duration = limits::HEARTBEAT_INTERVAL.saturating_add(limits::STALL_GAP);

/// A monotonic clock that stands still while its server does, and after a long stall until the clients are back.
///
/// It runs so little past its last heartbeat that whoever looks first after a stall, be it a timer, sees next to
/// nothing of the stall. Without heartbeats it stands.
#[derive(Debug)]
pub struct ServerClock {
    wall: SystemClock,
    beat: Mutex<Beat>,
}

/// The last heartbeat.
#[derive(Clone, Copy, Debug)]
struct Beat {
    /// When it was.
    at: Instant,
    /// What the clock showed.
    shown: Moment,
    /// From when on it runs, if it stands after a long stall.
    held_until: Option<Instant>,
}

impl Beat {
    /// What the clock shows.
    fn now(&self, now: Instant) -> Moment {
        let since = self.held_until.map_or(self.at, |held| held.max(self.at));
        self.shown.after(now.saturating_duration_since(since).min(BOUND))
    }
}

impl ServerClock {
    /// A clock that starts now, with a heartbeat.
    pub fn new() -> Self {
        let shown = Moment::since_start(Duration::ZERO);
        let beat = Beat { at: Instant::now(), shown, held_until: None };
        Self { wall: SystemClock::new(), beat: Mutex::new(beat) }
    }

    /// Keeps it running until it is told to stop, and counts the stalls.
    pub async fn keep(self: Arc<Self>, stopped: CancellationToken) {
        let mut beats = interval(limits::HEARTBEAT_INTERVAL);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stopped.run_until_cancelled(beats.tick()).await.is_some() {
            if let Some(gap) = self.beat() {
                counter!(STALLS).increment(1);
                let lost_ms = u64::try_from(gap.as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(lost_ms, "the server stalled: so much time is charged to nobody");
            }
        }
    }

    /// A heartbeat. The answer is how much time the clock did not count, if there was a stall.
    fn beat(&self) -> Option<Duration> {
        let mut beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let gap = now.saturating_duration_since(beat.at).saturating_sub(BOUND);
        let held_until =
            if gap >= limits::LONG_STALL { Some(now + limits::RESTART_GRACE) } else { beat.held_until };
        *beat = Beat { at: now, shown: beat.now(now), held_until };
        Some(gap).filter(|gap| !gap.is_zero())
    }
}

impl Default for ServerClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Moment {
        self.shown_at(Instant::now())
    }

    fn shown_at(&self, instant: Instant) -> Moment {
        self.beat.lock().unwrap_or_else(PoisonError::into_inner).now(instant)
    }

    fn wall(&self) -> UnixMillis {
        self.wall.wall()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stall_is_not_counted_whoever_looks_first() {
        let clock = ServerClock::new();
        let ms = |ms| Moment::since_start(Duration::from_millis(ms));
        let pass = |ms| tokio::time::advance(Duration::from_millis(ms));
        assert_eq!(clock.now(), ms(0));
        pass(25).await;
        assert_eq!((clock.now(), clock.beat()), (ms(25), None));
        pass(125).await;
        assert_eq!((clock.now(), clock.beat(), clock.now()), (ms(150), None, ms(150)), "late, and no stall");
        pass(5_000).await;
        assert_eq!(clock.now(), ms(275), "before the heartbeat");
        assert_eq!(clock.beat(), Some(Duration::from_millis(4_875)));
        assert_eq!(clock.now(), ms(275), "after it");
        pass(25).await;
        assert_eq!((clock.now(), clock.beat()), (ms(300), None), "it runs on");
    }

    #[tokio::test(start_paused = true)]
    async fn an_instant_that_was_read_before_a_heartbeat_shows_no_less_than_that() {
        let clock = ServerClock::new();
        let ms = |ms| Moment::since_start(Duration::from_millis(ms));
        tokio::time::advance(Duration::from_millis(20)).await;
        let read = Instant::now();
        assert_eq!(clock.shown_at(read), ms(20));
        tokio::time::advance(Duration::from_millis(5)).await;
        assert_eq!((clock.beat(), clock.shown_at(read), clock.now()), (None, ms(25), ms(25)));
        tokio::time::advance(Duration::from_secs(5)).await;
        let stalled = Instant::now();
        assert_eq!(clock.shown_at(stalled), ms(150), "before the heartbeat after a stall");
        assert_eq!(clock.beat(), Some(Duration::from_millis(4_875)));
        assert_eq!((clock.shown_at(read), clock.shown_at(stalled)), (ms(150), ms(150)), "and after it");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_long_stall_it_stands_until_the_clients_are_back() {
        let clock = ServerClock::new();
        let ms = |ms| Moment::since_start(Duration::from_millis(ms));
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!((clock.beat(), clock.now()), (Some(Duration::from_millis(5_875)), ms(125)));
        for _ in 0..limits::RESTART_GRACE.as_millis() / 25 {
            tokio::time::advance(Duration::from_millis(25)).await;
            assert_eq!((clock.now(), clock.beat()), (ms(125), None), "in the grace");
        }
        tokio::time::advance(Duration::from_millis(20)).await;
        assert_eq!((clock.now(), clock.beat(), clock.now()), (ms(145), None, ms(145)), "it runs on");
    }

    #[tokio::test(start_paused = true)]
    async fn kept_it_runs_as_time_does_and_left_alone_it_stands() {
        let clock = Arc::new(ServerClock::new());
        let stopped = CancellationToken::new();
        let kept = tokio::spawn(Arc::clone(&clock).keep(stopped.clone()));
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(clock.now(), Moment::since_start(Duration::from_mins(1)));
        stopped.cancel();
        kept.await.unwrap();
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(clock.now(), Moment::since_start(Duration::from_mins(1) + BOUND));
    }
}
