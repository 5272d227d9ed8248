//! The task of one webhook: it reads the results after the last that is settled, and delivers one after the other.
//!
//! There is no queue that a crash could lose. What is settled moves on in the journal when a result was taken, or with the
//! transaction that makes it a dead letter; a result that was taken and not settled yet is sent again after a crash, with the
//! same id.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use metrics::counter;
use tokio::time::{Instant, sleep, sleep_until};

use super::backoff::{Patience, Then, Tries};
use super::body::body;
use super::post::{Attempt, Message, Receiver};
use super::progress::{Known, Progress, Trouble};
use super::resend::Resending;
use crate::access::WebhookSecret;
use crate::journal::{
    DeadLetter, DeadLetterState, Outcome, RequestReused, ResultFilter, ResultNumber, StoredWebhook,
    UnixMillis, WebhookChange, WebhookId, WebhookStore,
};
use crate::limits;
use crate::matches::{Clock, EndedMatch, Incarnation, Matches, ResultCursor, ResultNews, ResultsFrom};
use crate::metrics::{WEBHOOK_DEAD_LETTERS, WebhookAttempt, webhook_attempt};
use crate::table::Rejection;

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
    pub(super) resending: Resending,
    pub(super) memory: Memory,
}

/// Whether what is known of a webhook is what the journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Fresh,
    /// The outcome of a change is not known, or it was not taken.
    Stale,
}

impl Worker {
    /// Delivers results until the server stops, or until it is dropped, which loses nothing.
    pub(super) async fn run(&mut self) {
        let progress = Arc::clone(&self.progress);
        let mut tries = Tries::new(self.patience);
        loop {
            let before = progress.now().done;
            let Err(rejection) = self.deliver_all().await;
            if rejection == Rejection::Stopping {
                return;
            }
            tracing::warn!(webhook = %self.webhook.id, %rejection, "a webhook can't go on, and tries again");
            if progress.now().done > before {
                tries = Tries::new(self.patience);
            }
            let error = match rejection {
                Rejection::Damaged => "the next result can't be read: the journal is damaged",
                _ => "the journal can't be read or written now",
            };
            let wait = tries.pause(&Attempt::Refused(error.to_owned()), chance());
            self.wait_for(self.next_result(), tries.count, error.to_owned(), wait);
            tokio::select! {
                () = sleep(wait) => {}
                () = progress.woken() => {}
            }
            self.resending.wake();
        }
    }

    /// Stores how far it is, before it ends.
    pub(super) async fn close(mut self) {
        if let Err(error) = self.settle().await {
            tracing::debug!(webhook = %self.webhook.id, %error, "what a webhook has delivered last will come again");
        }
    }

    async fn deliver_all(&mut self) -> Result<Infallible, Rejection> {
        self.read_back().await?;
        let filter = ResultFilter { owner: self.webhook.owner.clone(), client_reference: None };
        let from = ResultsFrom::After(self.matches.result_cursor(self.progress.now().done));
        let results = self.matches.results(filter, from).map_err(|error| {
            tracing::error!(webhook = %self.webhook.id, %error, "a webhook is ahead of the results");
            Rejection::Damaged
        })?;
        // What is being read goes on while a dead letter is sent.
        let mut results = pin!(stream::unfold(results, async |mut results| {
            let news = results.step().await;
            Some(((news, results.cursor().number), results))
        }));
        let progress = Arc::clone(&self.progress);
        let mut settle_at = None;
        let mut quiet = false;
        loop {
            self.resend().await?;
            let (news, told_to) = tokio::select! {
                biased;
                () = progress.woken() => {
                    self.resending.wake();
                    continue;
                }
                () = until(settle_at) => {
                    settle_at = None;
                    self.settle().await?;
                    continue;
                }
                Some(next) = results.next() => next,
                () = self.resending.due() => continue,
            };
            match news? {
                Some(ResultNews::Ended(ended)) => {
                    quiet = false;
                    self.deliver(&ended).await?;
                }
                // It has done with what it does not want. That is stored when it has caught up: results of others come without end.
                None => {
                    let mut known = progress.known();
                    (known.done, known.trouble) = (told_to, None);
                }
                Some(ResultNews::CaughtUp) => {
                    let mut known = progress.known();
                    (known.done, known.trouble) = (told_to, None);
                    if known.done > known.settled {
                        settle_at.get_or_insert(Instant::now() + limits::WEBHOOK_SETTLED_WITHIN);
                    }
                    drop(known);
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
        let (result, progress) = (ended.number, Arc::clone(&self.progress));
        let mut tries = Tries::new(self.patience);
        loop {
            let attempt = self.attempt(ended).await?;
            let then = tries.then(&attempt, chance());
            let error = match attempt {
                Attempt::Taken => return self.taken(result).await,
                Attempt::Refused(why) | Attempt::Unavailable { why, .. } => why,
            };
            let is_full = progress.known().dead_letters >= u32::from(limits::MAX_DEAD_LETTERS);
            let wait = match then {
                Then::Again(wait) => wait,
                Then::GiveUp if is_full => self.patience.longest,
                Then::GiveUp => return self.bury(result, tries.count, error).await,
            };
            let next = Instant::now() + wait;
            let (webhook, attempts) = (self.webhook.id, tries.count);
            tracing::debug!(%webhook, %result, attempts, %error, ?wait, "a webhook tries again later");
            self.wait_for(result, attempts, error, wait);
            self.settle().await?;
            loop {
                self.resend().await?;
                tokio::select! {
                    biased;
                    () = progress.woken() => {
                        self.resending.wake();
                        // It was asked for, so that it begins anew: none that was waited for is given up sooner for that.
                        tries = Tries::new(self.patience);
                        break;
                    }
                    () = sleep_until(next) => break,
                    () = self.resending.due() => {}
                }
            }
        }
    }

    /// Says what is waited for.
    fn wait_for(&self, result: ResultNumber, attempts: u32, error: String, wait: Duration) {
        let next_attempt_at = after(self.clock.wall(), wait);
        self.progress.known().trouble = Some(Trouble { result, attempts, error, next_attempt_at });
    }

    fn next_result(&self) -> ResultNumber {
        ResultNumber::new(self.progress.known().done.get().saturating_add(1))
    }

    /// Sends a result once.
    pub(super) async fn attempt(&mut self, ended: &EndedMatch) -> Result<Attempt, Rejection> {
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

    /// Takes over how far the journal says that it is, after a change whose outcome is not known.
    async fn read_back(&mut self) -> Result<(), Rejection> {
        if self.memory == Memory::Fresh {
            return Ok(());
        }
        let all = self.store.webhooks().await.map_err(|error| {
            tracing::warn!(webhook = %self.webhook.id, %error, "how far a webhook is can't be read");
            Rejection::OutcomeUnknown
        })?;
        let found = all.into_iter().find(|(webhook, _)| webhook.id == self.webhook.id);
        // It was deleted meanwhile, and nobody has told it yet.
        let (StoredWebhook { settled, .. }, dead_letters) = found.ok_or(Rejection::Stopping)?;
        let mut known = self.progress.known();
        (known.done, known.settled, known.dead_letters) = (known.done.max(settled), settled, dead_letters);
        self.memory = Memory::Fresh;
        Ok(())
    }

    pub(super) async fn change(&mut self, change: WebhookChange) -> Result<u64, Rejection> {
        match self.store.change_webhooks(change).await {
            Outcome::Done(changed) => Ok(changed),
            Outcome::Damaged(cause) => {
                tracing::error!(webhook = %self.webhook.id, %cause, "a webhook is damaged in the journal");
                Err(Rejection::Damaged)
            }
            Outcome::Failed(cause) | Outcome::Unknown(cause) => {
                tracing::warn!(webhook = %self.webhook.id, %cause, "how far a webhook is could not be stored");
                self.memory = Memory::Stale;
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

pub(super) fn after(now: UnixMillis, wait: Duration) -> UnixMillis {
    UnixMillis::new(now.get().saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
}

/// A number of all that there are. If the system has none, the middle: it matters little.
pub(super) fn chance() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
