//! What an attack has come to so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::Ending;

/// What an attack has come to so far. All clones are of the same attack.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    counts: Mutex<Counts>,
    cut: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    opened: u64,
    open: BTreeMap<u64, Instant>,
    /// How long each lived that was cut.
    cut: Vec<Duration>,
    answers: BTreeMap<String, u64>,
    bytes: u64,
}

/// What an attack came to.
#[derive(Clone, Debug)]
pub struct Toll {
    /// Connections that were opened.
    pub opened: u64,
    /// How long each lived that the server cut, ascending.
    pub cut: Vec<Duration>,
    /// The number of the first that is open, counted from 1.
    pub first_open: Option<u64>,
    /// How long the oldest has lived that was never cut.
    pub oldest_open: Option<Duration>,
    /// What the attacker was answered, and how often.
    pub answers: BTreeMap<String, u64>,
    /// Bytes that it sent below TLS.
    pub bytes: u64,
}

impl Tally {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.counts.lock().unwrap()
    }

    /// A connection is opened: its number.
    pub fn open(&self) -> u64 {
        let mut counts = self.counts();
        counts.opened += 1;
        let number = counts.opened;
        counts.open.insert(number, Instant::now());
        number
    }

    /// The server has cut the connection of this number.
    pub fn cut(&self, number: u64, ending: &Ending) {
        let mut counts = self.counts();
        if let Some(since) = counts.open.remove(&number) {
            counts.cut.push(since.elapsed());
        }
        *counts.answers.entry(ending.to_string()).or_default() += 1;
        drop(counts);
        self.0.cut.notify_one();
    }

    /// Waits until the server has cut this many connections, those that were opened first.
    pub(super) async fn has_cut(&self, first: u64) {
        loop {
            {
                let counts = self.counts();
                if counts.opened >= first && counts.open.keys().all(|number| *number > first) {
                    return;
                }
            }
            self.0.cut.notified().await;
        }
    }

    /// A call was answered.
    pub fn answered(&self, answer: &str) {
        let mut counts = self.counts();
        match counts.answers.get_mut(answer) {
            Some(times) => *times += 1,
            None => {
                counts.answers.insert(answer.to_owned(), 1);
            }
        }
    }

    /// So many bytes were sent.
    pub fn sent(&self, bytes: usize) {
        self.counts().bytes += u64::try_from(bytes).unwrap();
    }

    /// What it came to.
    pub fn toll(&self) -> Toll {
        let counts = self.counts();
        let mut cut = counts.cut.clone();
        cut.sort_unstable();
        Toll {
            opened: counts.opened,
            cut,
            first_open: counts.open.keys().min().copied(),
            oldest_open: counts.open.values().min().map(Instant::elapsed),
            answers: counts.answers.clone(),
            bytes: counts.bytes,
        }
    }
}
