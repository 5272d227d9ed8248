//! How far a webhook that runs is, for whoever asks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::journal::{ResultNumber, UnixMillis};

/// What is known of a webhook that runs.
#[derive(Debug)]
pub(super) struct Progress {
    known: Mutex<Known>,
    /// How often dead letters were asked for. Held while that is stored, and while one is stored as sent in vain, so that
    /// nobody who asks again is passed over.
    pub(super) asked: tokio::sync::Mutex<u64>,
    wake: Notify,
}

/// How far a webhook is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The last result that was taken, given up or passed over.
    pub(super) done: ResultNumber,
    /// As the journal has it.
    pub(super) settled: ResultNumber,
    pub(super) dead_letters: u32,
    /// What is in the way of the next result.
    pub(super) trouble: Option<Trouble>,
    /// What is in the way of a dead letter that is sent again.
    pub(super) resending: Option<Trouble>,
}

/// What is in the way of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The result that is not taken.
    pub result: ResultNumber,
    /// How often it was tried since the server has started, or since it was asked for again.
    pub attempts: u32,
    /// How the last attempt failed.
    pub error: String,
    /// When the next one comes.
    pub next_attempt_at: UnixMillis,
}

impl Progress {
    /// That of a webhook as it is stored.
    pub(super) fn new(settled: ResultNumber, dead_letters: u32) -> Self {
        let known = Known { done: settled, settled, dead_letters, trouble: None, resending: None };
        Self { known: Mutex::new(known), asked: tokio::sync::Mutex::default(), wake: Notify::new() }
    }

    /// How far it is now.
    pub(super) fn now(&self) -> Known {
        self.known().clone()
    }

    /// Tells it that dead letters are due, and that whoever asks for that thinks that the receiver is there.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits until it is told so.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
