//! How matches come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::Seen;
use super::lean::{Unplayed, play};
use crate::harness::Clients;

/// How matches come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// So many at once: each that ends makes room for another. Who is refused waits a second.
    Closed(usize),
    /// So many a second, at random moments, whatever the server does. Who is refused goes away.
    Open(f64),
}

/// Clients that play whatever comes.
pub(super) struct Players {
    connections: Vec<Clients>,
    next: AtomicUsize,
    seen: Arc<Seen>,
}

impl Players {
    pub(super) fn new(connections: Vec<Clients>, seen: Arc<Seen>) -> Arc<Self> {
        Arc::new(Self { connections, next: AtomicUsize::new(0), seen })
    }

    /// Plays until it is dropped.
    pub(super) async fn play(self: Arc<Self>, arrivals: Arrivals) {
        let mut playing = JoinSet::new();
        match arrivals {
            Arrivals::Closed(tables) => {
                for _ in 0..tables {
                    let players = Arc::clone(&self);
                    playing.spawn(async move {
                        loop {
                            if !players.play_one().await {
                                sleep(Duration::from_secs(1)).await;
                            }
                        }
                    });
                }
                std::future::pending::<()>().await;
            }
            Arrivals::Open(per_second) => {
                let mut random = StdRng::seed_from_u64(1);
                let mut due = Instant::now();
                loop {
                    let uniform: f64 = random.random_range(f64::EPSILON..1.0);
                    due += Duration::from_secs_f64(-uniform.ln() / per_second);
                    sleep_until(due).await;
                    let players = Arc::clone(&self);
                    playing.spawn(async move {
                        players.play_one().await;
                    });
                    while playing.try_join_next().is_some() {}
                }
            }
        }
    }

    /// Whether it was played.
    async fn play_one(&self) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let clients = &self.connections[number % self.connections.len()];
        let random = StdRng::seed_from_u64(u64::try_from(number).unwrap());
        match play(clients, &self.seen, random).await {
            Ok(()) => true,
            Err(Unplayed::Shed) => {
                self.seen.shed();
                false
            }
            Err(Unplayed::Broken(status)) => {
                self.seen.broken(&status);
                false
            }
        }
    }
}
