//! Dead letters that are sent again: one after the other, in turn with the results that come, so that neither holds up the
//! other.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

use super::backoff::{Patience, Tries};
use super::post::Attempt;
use super::progress::Trouble;
use super::worker::{Worker, after, chance};
use crate::journal::{DeadLetter, DeadLetterFilter, DeadLetterState, PageSize, ResultNumber, WebhookChange};
use crate::limits;
use crate::table::Rejection;

/// The dead letters of a webhook that are due.
#[derive(Debug)]
pub(super) struct Resending {
    patience: Patience,
    /// When the next attempt comes. `None`: none is due, as far as is known.
    at: Option<Instant>,
    /// The attempts since one was taken or refused for good.
    tries: Tries,
    letter: Letter,
}

/// One that is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Letter {
    result: Option<ResultNumber>,
    /// How often dead letters had been asked for when it was first tried.
    asked: u64,
    /// How often it was tried since.
    attempts: u32,
}

impl Resending {
    /// Some may be due: those that were when the server stopped.
    pub(super) fn new(patience: Patience) -> Self {
        Self { patience, at: Some(Instant::now()), tries: Tries::new(patience), letter: Letter::default() }
    }

    /// Some are due, and whoever asks for them thinks that the receiver is there.
    pub(super) fn wake(&mut self) {
        (self.at, self.tries) = (Some(Instant::now()), Tries::new(self.patience));
    }

    /// Waits until the next attempt.
    pub(super) async fn due(&self) {
        match self.at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }
}

impl Worker {
    /// Sends a dead letter once, if one is due.
    pub(super) async fn resend(&mut self) -> Result<(), Rejection> {
        if self.resending.at.is_none_or(|at| at > Instant::now()) {
            return Ok(());
        }
        let asked = *self.progress.asked.lock().await;
        let Some(dead) = self.first_due().await? else {
            self.resending.at = None;
            self.progress.known().resending = None;
            return Ok(());
        };
        let known = self.resending.letter;
        if known.result != Some(dead.result) || known.asked != asked {
            self.resending.letter = Letter { result: Some(dead.result), asked, attempts: 0 };
        }
        let ended = match self.matches.result(dead.result).await {
            Ok(Some(ended)) => ended,
            Ok(None) => return self.die_again(dead, "the result is lost".to_owned()).await,
            Err(Rejection::Damaged) => {
                return self.die_again(dead, "the result is damaged in the journal".to_owned()).await;
            }
            Err(rejection) => return Err(rejection),
        };
        let attempt = self.attempt(&ended).await?;
        let is_refused = matches!(attempt, Attempt::Refused(_));
        let wait = self.resending.tries.pause(&attempt, chance());
        let error = match attempt {
            Attempt::Taken => return self.revive(dead.result).await,
            Attempt::Refused(why) | Attempt::Unavailable { why, .. } => why,
        };
        self.resending.letter.attempts += 1;
        self.resending.at = Some(Instant::now() + wait);
        let attempts = self.resending.letter.attempts;
        if attempts < limits::WEBHOOK_REFUSED_ATTEMPTS {
            let next_attempt_at = after(self.clock.wall(), wait);
            self.progress.known().resending =
                Some(Trouble { result: dead.result, attempts, error, next_attempt_at });
            return Ok(());
        }
        if is_refused {
            // The receiver is there, and may take the next one.
            self.resending.wake();
        }
        self.die_again(dead, error).await
    }

    async fn first_due(&self) -> Result<Option<DeadLetter>, Rejection> {
        let page = PageSize::new(1).map_err(|_| Rejection::Damaged)?;
        let state = Some(DeadLetterState::Due);
        let filter = DeadLetterFilter { webhook: self.webhook.id, state, after: ResultNumber::ZERO };
        let due = self.store.dead_letters(filter, page).await.map_err(|error| {
            tracing::warn!(webhook = %self.webhook.id, %error, "dead letters can't be read");
            Rejection::OutcomeUnknown
        })?;
        Ok(due.into_iter().next())
    }

    /// A dead letter was taken.
    async fn revive(&mut self, result: ResultNumber) -> Result<(), Rejection> {
        let revived = self.change(WebhookChange::Revived { webhook: self.webhook.id, result }).await?;
        self.resending.wake();
        let mut known = self.progress.known();
        known.resending = None;
        known.dead_letters = known.dead_letters.saturating_sub(u32::from(revived > 0));
        Ok(())
    }

    /// A dead letter was sent again in vain.
    async fn die_again(&mut self, dead: DeadLetter, error: String) -> Result<(), Rejection> {
        let (progress, webhook) = (self.progress.clone(), self.webhook.id);
        let asked = progress.asked.lock().await;
        self.progress.known().resending = None;
        if *asked != self.resending.letter.asked {
            // Someone has asked for it meanwhile: it is tried anew.
            return Ok(());
        }
        let (result, attempts) = (dead.result, dead.attempts.saturating_add(self.resending.letter.attempts));
        tracing::warn!(%webhook, %result, attempts, %error, "a dead letter was sent again in vain");
        let (died_at, state) = (self.clock.wall(), DeadLetterState::Kept);
        let dead = DeadLetter { result, attempts, error, died_at, state };
        self.change(WebhookChange::DiedAgain { webhook, dead }).await?;
        Ok(())
    }
}
