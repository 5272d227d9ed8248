//! Webhooks: results of matches, sent to receivers as they come.
//!
//! Each webhook has a task (`worker.rs`) that reads the results after the last one that is settled, as `WatchResults` does, and
//! sends them in order, one at a time, over a connection that is kept. A receiver that does not answer holds up its own webhook and
//! nothing else.
//!
//! ```text
//! results ─► worker ─► body, signed ─► receiver ─► 2xx: settled
//!                                          └─► tried again, and in the end a dead letter: settled, in the same transaction
//! ```

mod allow;
mod backoff;
mod body;
mod connect;
mod creation;
mod error;
mod lookups;
mod measure;
mod post;
mod progress;
mod resend;
#[cfg(test)]
mod tests;
mod url;
mod worker;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use allow::{AllowError, Allowed};
pub use connect::{Network, TrustError};
pub use error::WebhookError;
pub use progress::Trouble;
pub use url::{Host, Scheme, Target, UrlError};

use crate::access::Access;
use crate::journal::{
    DeadLetter, DeadLetterFilter, Journal, Outcome, Owner, PageSize, ReadError, RequestReused, Resend,
    ResultNumber, StoredWebhook, WebhookChange, WebhookId, WebhookNumber, WebhookStore, WebhookUrl,
};
use crate::matches::{Clock, Matches, ResultsFrom};
use crate::own_task::to_its_end;
use backoff::Patience;
use lookups::AllLookups;
use post::Receiver;
use progress::{Known, Progress};
use resend::Resending;
use worker::{Memory, Worker};

/// How webhooks are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long an attempt may take.
    pub timeout: Duration,
    /// The most that is waited after the first attempt.
    pub first_retry: Duration,
    /// The most that is ever waited between two.
    pub last_retry: Duration,
    /// How long a receiver is tried that is not there.
    pub give_up: Duration,
}

/// What webhooks run on.
pub struct Config {
    /// Where they are stored.
    pub store: Arc<dyn WebhookStore>,
    /// Where requests are remembered: the same journal.
    pub journal: Arc<dyn Journal>,
    /// Whose results are sent.
    pub matches: Matches,
    /// What the secrets are made of.
    pub access: Arc<Access>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The way to their receivers.
    pub network: Arc<Network>,
    /// How they are delivered.
    pub settings: Settings,
}

/// A webhook that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSpec {
    /// Where it is to send.
    pub url: WebhookUrl,
    /// Of whose matches; `None`: the caller's own, which for the admin are all.
    pub owner: Option<Owner>,
    /// With which result it begins.
    pub from: ResultsFrom,
}

/// A webhook as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookInfo {
    /// As it is stored.
    pub webhook: StoredWebhook,
    /// Results of all matches after the last one that it has done with.
    pub behind: u64,
    /// How many dead letters it has.
    pub dead_letters: u32,
    /// What is in its way, if anything is.
    pub trouble: Option<Trouble>,
}

/// All webhooks. A clone is another handle to the same.
///
/// Whoever calls is an owner, who has its own, or with `None` the admin, who has all.
#[derive(Clone)]
pub struct Webhooks {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    running: RwLock<BTreeMap<WebhookNumber, Running>>,
    /// Held by whoever makes and ends webhooks, so that memory has the changes in the journal's order.
    changing: Arc<Mutex<Memory>>,
    /// The names that are looked up for webhooks that are to be made.
    lookups: AllLookups,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Clone)]
struct Running {
    webhook: StoredWebhook,
    progress: Arc<Progress>,
    stop: CancellationToken,
}

impl Webhooks {
    /// Takes up all webhooks of the journal. They run on these tasks, until `stop`.
    ///
    /// # Errors
    /// The journal can't be read.
    pub async fn open(
        config: Config,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Result<Self, ReadError> {
        let (running, changing) = (RwLock::default(), Arc::new(Mutex::new(Memory::Fresh)));
        let shared = Shared { config, running, changing, lookups: AllLookups::new(), tasks, stop };
        let webhooks = Self { shared: Arc::new(shared) };
        webhooks.read().await?;
        let count = webhooks.running().len();
        if count > 0 {
            tracing::info!(webhooks = count, "the webhooks go on");
        }
        let measured = webhooks.clone();
        webhooks.shared.tasks.spawn(async move {
            let stop = measured.shared.stop.clone();
            stop.run_until_cancelled(measured.measure()).await;
        });
        Ok(webhooks)
    }

    /// Webhooks that were made before the one with this number, the latest first, one more than `most` if there are.
    pub fn list(
        &self,
        caller: Option<&Owner>,
        before: Option<WebhookNumber>,
        most: usize,
    ) -> Vec<WebhookInfo> {
        let running = self.running();
        let wanted = running.iter().rev().filter(|(number, running)| {
            before.is_none_or(|before| **number < before) && belongs(&running.webhook, caller)
        });
        wanted.take(most.saturating_add(1)).map(|(_, running)| self.info(running)).collect()
    }

    /// Ends a webhook, with its dead letters.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`], [`WebhookError::OutcomeUnknown`].
    pub async fn delete(&self, caller: Option<&Owner>, id: WebhookId) -> Result<(), WebhookError> {
        let mut memory = self.changing().await?;
        let running = self.find(caller, id).ok_or(WebhookError::NotFound)?;
        let webhooks = self.clone();
        to_its_end(async move {
            webhooks.change(&mut memory, WebhookChange::Deleted(id)).await?;
            webhooks.end(&running);
            tracing::info!(webhook = %id, "a webhook was deleted");
            Ok(())
        })
        .await
    }

    /// The dead letters of a webhook after a result, the lowest number first, one more than `most` if there are.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`], or the journal can't be read.
    pub async fn dead_letters(
        &self,
        caller: Option<&Owner>,
        id: WebhookId,
        after: ResultNumber,
        most: usize,
    ) -> Result<Vec<DeadLetter>, WebhookError> {
        self.find(caller, id).ok_or(WebhookError::NotFound)?;
        // There are no more than the largest page has.
        let page = u16::try_from(most.saturating_add(1)).unwrap_or(u16::MAX).min(PageSize::MAX);
        let page = PageSize::new(page).map_err(|_| WebhookError::NotFound)?;
        let filter = DeadLetterFilter { webhook: id, state: None, after };
        Ok(self.shared.config.store.dead_letters(filter, page).await?)
    }

    /// Has dead letters sent again, and what waits for its next attempt sent at once. The answer is how many are due.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`], [`WebhookError::OutcomeUnknown`].
    pub async fn resend(
        &self,
        caller: Option<&Owner>,
        id: WebhookId,
        which: Resend,
    ) -> Result<u64, WebhookError> {
        // It makes and ends none: others wait for that no longer than until memory is fresh. Those who ask for the same webhook wait
        // for each other.
        drop(self.changing().await?);
        let running = self.find(caller, id).ok_or(WebhookError::NotFound)?;
        let webhooks = self.clone();
        to_its_end(async move {
            let mut asked = running.progress.asked.lock().await;
            *asked += 1;
            let change = WebhookChange::Due { webhook: id, which };
            let due = changed(webhooks.shared.config.store.change_webhooks(change).await)?;
            drop(asked);
            running.progress.wake();
            tracing::info!(webhook = %id, due, "dead letters are sent again");
            Ok(due)
        })
        .await
    }

    /// The turn of one change, when memory has what the journal has.
    async fn changing(&self) -> Result<OwnedMutexGuard<Memory>, WebhookError> {
        let mut memory = Arc::clone(&self.shared.changing).lock_owned().await;
        self.refresh(&mut memory).await?;
        Ok(memory)
    }

    /// Makes a webhook durable, or its end.
    async fn change(&self, memory: &mut Memory, change: WebhookChange) -> Result<u64, WebhookError> {
        let outcome = self.shared.config.store.change_webhooks(change).await;
        let is_unknown = matches!(outcome, Outcome::Unknown(_));
        if is_unknown || matches!(outcome, Outcome::Failed(_)) {
            *memory = Memory::Stale;
        }
        let changed = changed(outcome);
        if is_unknown {
            // If it can't be read back now, whoever sends the same again will.
            self.refresh(memory).await?;
        }
        changed
    }

    async fn refresh(&self, memory: &mut Memory) -> Result<(), WebhookError> {
        if *memory == Memory::Stale {
            self.read().await?;
            *memory = Memory::Fresh;
        }
        Ok(())
    }

    /// Takes over what the journal has.
    async fn read(&self) -> Result<(), ReadError> {
        let stored = self.shared.config.store.webhooks().await?;
        let before: Vec<Running> = self.running().values().cloned().collect();
        for gone in before
            .iter()
            .filter(|running| !stored.iter().any(|(webhook, _)| webhook.id == running.webhook.id))
        {
            self.end(gone);
        }
        for (webhook, dead_letters) in stored {
            if !before.iter().any(|running| running.webhook.id == webhook.id) {
                self.start(webhook, dead_letters);
            }
        }
        Ok(())
    }

    /// Runs a webhook from where it is.
    fn start(&self, webhook: StoredWebhook, dead_letters: u32) -> Running {
        let Shared { config, tasks, stop, .. } = &*self.shared;
        let Config { store, matches, access, clock, network, settings, .. } = config;
        let progress = Arc::new(Progress::new(webhook.settled, dead_letters));
        let stop = stop.child_token();
        let running = Running { webhook, progress, stop };
        let Running { webhook, progress, stop } = running.clone();
        match Target::parse(webhook.url.as_str()) {
            Ok(target) => {
                let Settings { timeout, first_retry: first, last_retry: longest, give_up, .. } = *settings;
                let mut worker = Worker {
                    store: Arc::clone(store),
                    matches: matches.clone(),
                    clock: Arc::clone(clock),
                    secret: access.webhook_secret(webhook.id),
                    receiver: Receiver::new(Arc::clone(network), target, timeout),
                    resending: Resending::new(Patience { first, longest, give_up }),
                    patience: Patience { first, longest, give_up },
                    memory: Memory::Fresh,
                    webhook,
                    progress,
                };
                tasks.spawn(async move {
                    stop.run_until_cancelled(worker.run()).await;
                    worker.close().await;
                });
            }
            Err(error) => {
                tracing::error!(webhook = %webhook.id, %error, "a webhook has an address that is none");
            }
        }
        let mut all = self.shared.running.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(running.webhook.number, running.clone());
        running
    }

    fn end(&self, running: &Running) {
        running.stop.cancel();
        let mut all = self.shared.running.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(&running.webhook.number);
    }

    fn find(&self, caller: Option<&Owner>, id: WebhookId) -> Option<Running> {
        let running = self.running();
        let found = running.values().find(|running| running.webhook.id == id);
        found.filter(|running| belongs(&running.webhook, caller)).cloned()
    }

    fn info(&self, running: &Running) -> WebhookInfo {
        let Known { done, settled, dead_letters, trouble, resending } = running.progress.now();
        let latest = self.shared.config.matches.latest_result();
        WebhookInfo {
            webhook: StoredWebhook { settled, ..running.webhook.clone() },
            behind: latest.get().saturating_sub(done.get()),
            dead_letters,
            trouble: trouble.or(resending),
        }
    }

    fn running(&self) -> RwLockReadGuard<'_, BTreeMap<WebhookNumber, Running>> {
        self.shared.running.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of a change.
fn changed(outcome: Outcome<u64, RequestReused>) -> Result<u64, WebhookError> {
    match outcome {
        Outcome::Done(changed) => Ok(changed),
        Outcome::Refused(RequestReused) => Err(WebhookError::RequestReused),
        Outcome::Damaged(cause) => Err(WebhookError::Damaged(cause)),
        Outcome::Failed(cause) => {
            tracing::warn!(%cause, "a change of the webhooks could not be stored");
            Err(WebhookError::OutcomeUnknown)
        }
        Outcome::Unknown(cause) => {
            tracing::warn!(%cause, "a change of the webhooks may not have been stored");
            Err(WebhookError::OutcomeUnknown)
        }
    }
}

/// Whether a webhook is the caller's: every one is the admin's.
fn belongs(webhook: &StoredWebhook, caller: Option<&Owner>) -> bool {
    caller.is_none() || webhook.owner.as_ref() == caller
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Webhooks({})", self.running().len())
    }
}
