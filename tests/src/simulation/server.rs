//! The server, which may be away.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Turn, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use zetema_service::journal::UnixMillis;
use zetema_service::matches::{Clock, Config, Entropy, EntropyError, Limits, Matches, ServerClock};
use zetema_service::table::{FairShuffler, Moment};

use super::disk::{Disk, DiskJournal};
use super::fault::Writes;
use super::random::Random;
use super::truth::Truth;

/// How long a stop in order may take before the server is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// A server that runs.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) matches: Matches,
    /// When it is killed, or told to stop: whoever is connected is cut.
    pub(super) gone: CancellationToken,
    journal: DiskJournal,
}

/// The server, which may be away.
pub(super) struct Server {
    running: watch::Sender<Option<Running>>,
    /// Held by whoever stops and starts it.
    turn: Turn<()>,
    disk: Disk,
    truth: Arc<Truth>,
    limits: Limits,
    wall: Arc<WallClock>,
    entropy: Arc<SeededEntropy>,
}

impl Server {
    pub(super) fn new(disk: Disk, truth: Arc<Truth>, limits: Limits, random: Random) -> Self {
        Self {
            running: watch::Sender::new(None),
            turn: Turn::new(()),
            disk,
            truth,
            limits,
            wall: Arc::new(WallClock { start: Instant::now(), set_ms: AtomicI64::new(1_700_000_000_000) }),
            entropy: Arc::new(SeededEntropy(Mutex::new(random))),
        }
    }

    /// The server as it runs now; `None` while it is away.
    pub(super) fn running(&self) -> Option<Running> {
        self.running.borrow().clone()
    }

    /// The server, once it runs.
    pub(super) async fn up(&self) -> Running {
        let mut running = self.running.subscribe();
        let running = running.wait_for(Option::is_some).await.expect("the sender lives");
        running.clone().expect("it was waited for")
    }

    /// Sets the wall clock.
    pub(super) fn set_wall(&self, by_ms: i64) {
        self.wall.set_ms.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// Starts it. It tries until the journal can be read.
    pub(super) async fn start(&self) {
        let journal = self.disk.open();
        let clock = Arc::new(ServerClock::new());
        let gone = CancellationToken::new();
        tokio::spawn(Arc::clone(&clock).keep(gone.clone()));
        loop {
            let config = Config {
                journal: Arc::new(journal.clone()),
                clock: Arc::new(SimulatedClock { server: Arc::clone(&clock), wall: Arc::clone(&self.wall) }),
                entropy: Arc::<SeededEntropy>::clone(&self.entropy),
                shuffler: Arc::new(FairShuffler),
                limits: self.limits,
                faults: None,
            };
            match Matches::open(config).await {
                Ok((matches, recovered)) => {
                    if !recovered.damaged.is_empty() {
                        self.truth.problem(format_args!("{:?} can't go on", recovered.damaged));
                    }
                    self.truth.note(format_args!("a server runs, {} matches go on", recovered.running));
                    self.truth.lock().time_line.outages.end();
                    self.running.send_replace(Some(Running { matches, gone, journal }));
                    return;
                }
                Err(error) => {
                    self.truth.note(format_args!("no server: {error}"));
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Kills it, and starts it after a time.
    pub(super) async fn kill(&self, writes: Writes, away_ms: u64) {
        let _turn = self.turn.lock().await;
        if let Some(running) = self.running.send_replace(None) {
            self.truth.lock().time_line.outages.begin();
            running.journal.kill(writes);
            self.disk.answer_next();
            running.gone.cancel();
            // What still runs of it does nothing more that anyone sees.
            tokio::spawn(async move { running.matches.stop().await });
        }
        self.start_after(away_ms).await;
    }

    /// Stops it in order, and starts it after a time.
    pub(super) async fn stop(&self, away_ms: u64) {
        let _turn = self.turn.lock().await;
        if let Some(running) = self.running.send_replace(None) {
            self.truth.lock().time_line.outages.begin();
            running.gone.cancel();
            if timeout(STOP_WITHIN, running.matches.stop()).await.is_err() {
                running.journal.kill(Writes::Lost);
            }
        }
        self.start_after(away_ms).await;
    }

    async fn start_after(&self, away_ms: u64) {
        sleep(Duration::from_millis(away_ms)).await;
        self.truth.tally(|tally| tally.restarts += 1);
        self.start().await;
    }
}

/// The wall clock of the machine, which may be set.
struct WallClock {
    start: Instant,
    set_ms: AtomicI64,
}

/// The server's own clock, and the machine's.
struct SimulatedClock {
    server: Arc<ServerClock>,
    wall: Arc<WallClock>,
}

impl Clock for SimulatedClock {
    fn now(&self) -> Moment {
        self.server.now()
    }

    fn shown_at(&self, instant: Instant) -> Moment {
        self.server.shown_at(instant)
    }

    fn wall(&self) -> UnixMillis {
        let set_ms = u64::try_from(self.wall.set_ms.load(Ordering::Relaxed)).unwrap_or_default();
        let passed_ms = u64::try_from(self.wall.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        UnixMillis::new(set_ms.saturating_add(passed_ms))
    }
}

/// Bytes that follow from the seed.
struct SeededEntropy(Mutex<Random>);

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        let mut random = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            let word = random.next().to_be_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}
