//! The task of one webhook: it reads the results after the last that is settled, and delivers one after the other.
//!
//! There is no queue that a crash could lose. What is settled moves on in the journal when a result was taken, or with the
//! transaction that makes it a dead letter; a result that was taken and not settled yet is sent again after a crash, with the
//! same id.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::counter;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::backoff::{Patience, Then, Tries};
use super::body::body;
use super::post::{Attempt, Message, Receiver};
use crate::access::WebhookSecret;
use crate::journal::{
    DeadLetter, DeadLetterFilter, DeadLetterState, Outcome, PageSize, RequestReused, ResultFilter,
    ResultNumber, StoredWebhook, UnixMillis, WebhookChange, WebhookId, WebhookStore,
};
use crate::limits;
use crate::matches::{Clock, EndedMatch, Incarnation, Matches, ResultCursor, ResultNews, ResultsFrom};
use crate::metrics::{WEBHOOK_DEAD_LETTERS, WebhookAttempt, webhook_attempt};
use crate::table::Rejection;

/// What is known of a webhook that runs.
#[derive(Debug)]
pub(super) struct Progress {
    known: Mutex<Known>,
    /// Whether dead letters may be due.
    due: AtomicBool,
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
    pub(super) trouble: Option<Trouble>,
}

/// What is in the way of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The result that is not taken.
    pub result: ResultNumber,
    /// How often it was tried since the server has started.
    pub attempts: u32,
    /// How the last attempt failed.
    pub error: String,
    /// When the next one comes.
    pub next_attempt_at: UnixMillis,
}

impl Progress {
    /// That of a webhook as it is stored.
    pub(super) fn new(settled: ResultNumber, dead_letters: u32) -> Self {
        let known = Known { done: settled, settled, dead_letters, trouble: None };
        // Some may have been due when the server stopped.
        Self { known: Mutex::new(known), due: AtomicBool::new(dead_letters > 0), wake: Notify::new() }
    }

    /// How far it is now.
    pub(super) fn now(&self) -> Known {
        self.known().clone()
    }

    /// Tells it that dead letters are due, and that whoever asks for that thinks that the receiver is there.
    pub(super) fn wake(&self) {
        self.due.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One webhook at work.
pub(super) struct Worker {
    pub(super) webhook: StoredWebhook,
    pub(super) store: Arc<dyn WebhookStore>,
    pub(super) matches: Matches,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) secret: WebhookSecret,
    pub(super) receiver: Receiver,
    pub(super) patience: Patience,
    pub(super) progress: Arc<Progress>,
}

impl Worker {
    /// Delivers results until the server stops, or until it is dropped, which loses nothing.
    pub(super) async fn run(&mut self) {
        let mut tries = Tries::new(self.patience);
        loop {
            let Err(rejection) = self.deliver_all().await;
            if rejection == Rejection::Stopping {
                return;
            }
            tracing::warn!(webhook = %self.webhook.id, %rejection, "a webhook can't go on, and tries again");
            let unavailable = Attempt::Unavailable { why: String::new(), retry_after: None };
            match tries.then(&unavailable, chance()) {
                Then::Again(wait) => sleep(wait).await,
                Then::GiveUp => tries = Tries::new(self.patience),
            }
        }
    }

    /// Stores how far it is, before it ends.
    pub(super) async fn close(mut self) {
        if let Err(error) = self.settle().await {
            tracing::debug!(webhook = %self.webhook.id, %error, "what a webhook has delivered last will come again");
        }
    }

    async fn deliver_all(&mut self) -> Result<Infallible, Rejection> {
        let filter = ResultFilter { owner: self.webhook.owner.clone(), client_reference: None };
        let from = ResultsFrom::After(self.matches.result_cursor(self.progress.now().done));
        let mut results = self.matches.results(filter, from).map_err(|error| {
            tracing::error!(webhook = %self.webhook.id, %error, "a webhook is ahead of the results");
            Rejection::Damaged
        })?;
        let progress = Arc::clone(&self.progress);
        let mut quiet = false;
        loop {
            self.send_due().await?;
            let news = tokio::select! {
                biased;
                () = progress.wake.notified() => continue,
                news = results.next() => news?,
            };
            match news {
                ResultNews::Ended(ended) => {
                    quiet = false;
                    self.deliver(&ended).await?;
                }
                ResultNews::CaughtUp => {
                    self.progress.known().done = results.cursor().number;
                    self.settle().await?;
                    // Nothing has come for a while.
                    if quiet {
                        self.receiver.hang_up();
                    }
                    quiet = true;
                }
            }
        }
    }

    /// Delivers a result, or makes it a dead letter.
    async fn deliver(&mut self, ended: &EndedMatch) -> Result<(), Rejection> {
        let result = ended.number;
        let mut tries = Tries::new(self.patience);
        loop {
            let attempt = self.attempt(ended).await?;
            let then = tries.then(&attempt, chance());
            let error = match attempt {
                Attempt::Taken => return self.taken(result).await,
                Attempt::Refused(why) | Attempt::Unavailable { why, .. } => why,
            };
            let is_full = self.progress.known().dead_letters >= u32::from(limits::MAX_DEAD_LETTERS);
            let wait = match then {
                Then::Again(wait) => wait,
                Then::GiveUp if is_full => self.patience.longest,
                Then::GiveUp => return self.bury(result, tries.count, error).await,
            };
            let (webhook, attempts) = (self.webhook.id, tries.count);
            tracing::debug!(%webhook, %result, attempts, %error, ?wait, "a webhook tries again later");
            let next_attempt_at = after(self.clock.wall(), wait);
            self.progress.known().trouble = Some(Trouble { result, attempts, error, next_attempt_at });
            let woken = tokio::select! {
                () = sleep(wait) => false,
                () = self.progress.wake.notified() => true,
            };
            if woken {
                self.send_due().await?;
            }
        }
    }

    async fn attempt(&mut self, ended: &EndedMatch) -> Result<Attempt, Rejection> {
        let cursor = self.matches.result_cursor(ended.number);
        let body = body(ended, cursor).map_err(|error| {
            tracing::error!(webhook = %self.webhook.id, result = %ended.number, %error, "a result can't be written as JSON");
            Rejection::Damaged
        })?;
        let (id, timestamp) = (message_id(self.webhook.id, cursor), self.clock.wall().get() / 1_000);
        let signature = self.secret.sign(&id, timestamp, &body);
        let attempt = self.receiver.post(&Message { id, timestamp, signature, body: body.into() }).await;
        webhook_attempt(match attempt {
            Attempt::Taken => WebhookAttempt::Taken,
            Attempt::Refused(_) => WebhookAttempt::Refused,
            Attempt::Unavailable { .. } => WebhookAttempt::Unavailable,
        });
        Ok(attempt)
    }

    /// A result was taken. It is stored with those that follow at once.
    async fn taken(&mut self, result: ResultNumber) -> Result<(), Rejection> {
        let unsettled = {
            let mut known = self.progress.known();
            (known.done, known.trouble) = (result, None);
            result.get() - known.settled.get()
        };
        if unsettled >= limits::WEBHOOK_UNSETTLED_RESULTS { self.settle().await } else { Ok(()) }
    }

    /// A result becomes a dead letter.
    async fn bury(&mut self, result: ResultNumber, attempts: u32, error: String) -> Result<(), Rejection> {
        let webhook = self.webhook.id;
        tracing::warn!(%webhook, %result, attempts, %error, "a webhook gives a result up: it is a dead letter");
        let (died_at, state) = (self.clock.wall(), DeadLetterState::Kept);
        let dead = Some(DeadLetter { result, attempts, error, died_at, state });
        self.change(WebhookChange::Settled { webhook, to: result, dead }).await?;
        counter!(WEBHOOK_DEAD_LETTERS).increment(1);
        let mut known = self.progress.known();
        (known.done, known.settled, known.trouble) = (result, result, None);
        known.dead_letters += 1;
        Ok(())
    }

    /// Stores how far it is.
    async fn settle(&mut self) -> Result<(), Rejection> {
        let Known { done, settled, .. } = self.progress.now();
        if done > settled {
            self.change(WebhookChange::Settled { webhook: self.webhook.id, to: done, dead: None }).await?;
            self.progress.known().settled = done;
        }
        Ok(())
    }

    /// Sends the dead letters that are due, each a few times at most.
    async fn send_due(&mut self) -> Result<(), Rejection> {
        if !self.progress.due.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let sent = self.send_all_due().await;
        if sent.is_err() {
            self.progress.due.store(true, Ordering::Release);
        }
        sent
    }

    async fn send_all_due(&mut self) -> Result<(), Rejection> {
        let page = PageSize::new(limits::RESULTS_PAGE).map_err(|_| Rejection::Damaged)?;
        let state = Some(DeadLetterState::Due);
        let filter = DeadLetterFilter { webhook: self.webhook.id, state, after: ResultNumber::ZERO };
        loop {
            let due = self.store.dead_letters(filter.clone(), page).await.map_err(|error| {
                tracing::warn!(webhook = %self.webhook.id, %error, "dead letters can't be read");
                Rejection::OutcomeUnknown
            })?;
            if due.is_empty() {
                return Ok(());
            }
            for dead in due {
                self.send_again(dead).await?;
            }
        }
    }

    async fn send_again(&mut self, dead: DeadLetter) -> Result<(), Rejection> {
        let (webhook, result) = (self.webhook.id, dead.result);
        let mut error = "the result is lost".to_owned();
        let mut tries = Tries::new(self.patience);
        if let Some(ended) = self.matches.result(result).await? {
            loop {
                let attempt = self.attempt(&ended).await?;
                let then = tries.then(&attempt, chance());
                error = match attempt {
                    Attempt::Taken => {
                        let revived = self.change(WebhookChange::Revived { webhook, result }).await?;
                        let mut known = self.progress.known();
                        known.dead_letters = known.dead_letters.saturating_sub(u32::from(revived > 0));
                        return Ok(());
                    }
                    Attempt::Refused(why) | Attempt::Unavailable { why, .. } => why,
                };
                match then {
                    Then::Again(wait) if tries.count < limits::WEBHOOK_REFUSED_ATTEMPTS => sleep(wait).await,
                    Then::Again(_) | Then::GiveUp => break,
                }
            }
        }
        let attempts = dead.attempts.saturating_add(tries.count);
        tracing::warn!(%webhook, %result, attempts, %error, "a dead letter was sent again in vain");
        let (died_at, state) = (self.clock.wall(), DeadLetterState::Kept);
        let dead = DeadLetter { result, attempts, error, died_at, state };
        self.change(WebhookChange::DiedAgain { webhook, dead }).await?;
        Ok(())
    }

    async fn change(&self, change: WebhookChange) -> Result<u64, Rejection> {
        match self.store.change_webhooks(change).await {
            Outcome::Done(changed) => Ok(changed),
            Outcome::Damaged(cause) => {
                tracing::error!(webhook = %self.webhook.id, %cause, "a webhook is damaged in the journal");
                Err(Rejection::Damaged)
            }
            Outcome::Failed(cause) | Outcome::Unknown(cause) => {
                tracing::warn!(webhook = %self.webhook.id, %cause, "how far a webhook is could not be stored");
                Err(Rejection::OutcomeUnknown)
            }
            // Only a request is refused.
            Outcome::Refused(RequestReused) => Err(Rejection::Damaged),
        }
    }
}

/// What names the message of a result: the same each time that it is sent, and another in each life of the journal, which gives
/// the numbers of lost results again.
fn message_id(webhook: WebhookId, at: ResultCursor) -> String {
    let ResultCursor { number, incarnation } = at;
    if incarnation == Incarnation::FIRST {
        format!("{webhook}-{number}")
    } else {
        format!("{webhook}-{number}-{incarnation}")
    }
}

fn after(now: UnixMillis, wait: Duration) -> UnixMillis {
    UnixMillis::new(now.get().saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
}

/// A number of all that there are. If the system has none, the middle: it matters little.
fn chance() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}
