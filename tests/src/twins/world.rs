//! A server in this process in which nothing is left to chance.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::time::sleep;
use zetema_rules::fair::MatchSeed;
use zetema_rules::{Deck, Players, Seat, Suit};
use zetema_service::journal::UnixMillis;
use zetema_service::matches::{Clock, Config, Entropy, EntropyError, Limits, SystemClock};
use zetema_service::metrics;
use zetema_service::server::InProcess;
use zetema_service::table::{FairShuffler, Moment, Shuffler};

use super::journal::MemoryJournal;

/// How often a Play stream is pinged.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// The wall clock at the start of every world: 2023-11-14T22:13:20Z.
const START_MS: u64 = 1_700_000_000_000;

/// Tokio's own time, which stands still unless someone waits.
struct PausedClock(SystemClock);

impl Clock for PausedClock {
    fn now(&self) -> Moment {
        self.0.now()
    }

    fn shown_at(&self, instant: tokio::time::Instant) -> Moment {
        self.0.shown_at(instant)
    }

    fn wall(&self) -> UnixMillis {
        let passed = self.0.now().since(Moment::since_start(Duration::ZERO)).as_millis();
        UnixMillis::new(START_MS + u64::try_from(passed).unwrap())
    }
}

/// Bytes that count up: the same ids and seeds in every world.
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        for (byte, counted) in bytes.iter_mut().zip(count.to_be_bytes().iter().rev().cycle()) {
            *byte = *counted;
        }
        Ok(())
    }
}

/// Decks that are given, whatever the seed is.
struct GivenDecks {
    dealer: Seat,
    decks: Vec<Deck>,
}

impl Shuffler for GivenDecks {
    fn dealer(&self, _seed: &MatchSeed, _players: Players) -> Seat {
        self.dealer
    }

    fn deck(&self, _seed: &MatchSeed, deal: u32, _imperial: Suit) -> Deck {
        self.decks[usize::try_from(deal).unwrap()]
    }
}

/// Where worlds are made: they have the same keys and tokens.
pub struct Lab {
    folder: TempDir,
    keys: MemoryJournal,
}

/// A server in this process.
pub(super) struct World {
    /// What answers.
    pub(super) server: InProcess,
    /// What is stored.
    pub(super) journal: MemoryJournal,
}

impl Lab {
    /// A lab with keys of its own.
    pub fn new() -> Self {
        let lab = Self { folder: TempDir::new().unwrap(), keys: MemoryJournal::new() };
        let page = metrics::recorder().unwrap().handle();
        paused().block_on(async {
            let first = lab.open(lab.keys.clone(), Arc::new(FairShuffler), page).await;
            first.server.stop().await;
        });
        lab
    }

    /// Lets something happen in a world of its own with these decks, and gives what came of it. Time stands still in
    /// it, but for who waits, and its metrics are its own.
    pub(super) fn with<F: Future>(
        &self,
        dealer: Seat,
        decks: Vec<Deck>,
        happens: impl FnOnce(World) -> F,
    ) -> F::Output {
        let recorder = metrics::recorder().unwrap();
        let page = recorder.handle();
        ::metrics::with_local_recorder(&recorder, || {
            paused().block_on(async {
                let shuffler = Arc::new(GivenDecks { dealer, decks });
                happens(self.open(self.keys.with_the_keys(), shuffler, page).await).await
            })
        })
    }

    async fn open(
        &self,
        journal: MemoryJournal,
        shuffler: Arc<dyn Shuffler>,
        page: PrometheusHandle,
    ) -> World {
        let config = Config {
            journal: Arc::new(journal.clone()),
            clock: Arc::new(PausedClock(SystemClock::new())),
            entropy: Arc::new(Counting(AtomicU64::new(1))),
            shuffler,
            limits: Limits::default(),
            faults: None,
        };
        let server =
            InProcess::open(config, Arc::new(journal.clone()), self.folder.path(), PING_INTERVAL, page);
        let server = server.await.unwrap();
        World { server, journal }
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

fn paused() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// Waits until nothing in the world has anything left to do: only then does time that stands still go on.
pub(super) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}
