//! A session of a house bot from its first seat to its last.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::timeout;
use zetema_sdk::{
    Challenges, DealCheck, End, Error, ErrorReason, LadderQueue, Outcome, QueueState, Session, SessionEvent,
};

use crate::failure::{Superseded, TokenVoid};

/// How long a server may take to let a bot leave its ladders. It is asked on either way.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// A session, and what came of its seats so far.
pub(crate) struct Playing {
    session: Session,
    seats: usize,
    failed: usize,
    superseded: usize,
    /// Why a token is not valid.
    void: Option<Error>,
    /// Why the bot does not wait on its ladders.
    refused: Option<Error>,
}

impl Playing {
    /// A session that was just opened.
    pub(crate) const fn new(session: Session) -> Self {
        Self { session, seats: 0, failed: 0, superseded: 0, void: None, refused: None }
    }

    /// Waits on these ladders: how the bot stands on each. If the server refuses, what the bot has is played to the end all the
    /// same, and [`Playing::verdict`] is the refusal too.
    pub(crate) async fn queue(&mut self, queues: Vec<LadderQueue>) -> Result<Vec<QueueState>, Error> {
        let asked = self.session.queue(queues).await;
        self.unless_refused(asked)
    }

    /// Accepts these challenges. As above if the server refuses.
    pub(crate) async fn challenges(&mut self, challenges: Challenges) -> Result<(), Error> {
        let asked = self.session.challenges(challenges).await;
        self.unless_refused(asked)
    }

    fn unless_refused<T: Default>(&mut self, asked: Result<T, Error>) -> Result<T, Error> {
        match asked {
            // It was told to finish meanwhile.
            Err(Error::Finished) => Ok(T::default()),
            Err(error) => {
                self.refused = Some(error.clone());
                self.session.stopper().finish();
                Err(error)
            }
            Ok(told) => Ok(told),
        }
    }

    /// Leaves the ladders, accepts no challenge, and takes no more seats.
    pub(crate) async fn leave(&mut self) {
        let left = async {
            self.session.challenges(Challenges::FromNobody).await?;
            self.session.queue(Vec::new()).await
        };
        // What it has is played on, whatever comes of this: the session goes on to leave by itself.
        let _ = timeout(LEAVE_WITHIN, left).await;
        self.session.stopper().finish();
    }

    /// What came of the next seat that is over; `None` when there are no more.
    pub(crate) async fn next(&mut self) -> Option<Box<Outcome>> {
        while let Some(event) = self.session.next_event().await {
            match event {
                SessionEvent::Outcome(outcome) => {
                    self.count(&outcome);
                    return Some(outcome);
                }
                SessionEvent::QueuesRefused(refusal) => {
                    self.refused = Some(Error::Refused { asked: "wait on the ladders", refusal });
                    self.session.stopper().finish();
                }
                // The log has it.
                _ => {}
            }
        }
        None
    }

    fn count(&mut self, outcome: &Outcome) {
        self.seats += 1;
        match &outcome.end {
            End::Superseded => {
                self.superseded += 1;
                // Who has the bot's token takes its new seats too.
                self.session.stopper().finish();
            }
            End::Failed(error) if is_void(error) => self.void = Some(error.clone()),
            _ => self.failed += usize::from(!is_right(outcome)),
        }
    }

    /// Whether all was as it should be, when there are no more seats.
    ///
    /// # Errors
    /// [`Superseded`], [`TokenVoid`], why the session could not go on or wait on its ladders, or how many seats failed.
    pub(crate) fn verdict(self) -> Result<()> {
        let Self { session, seats, failed, superseded, void, refused } = self;
        // Who has the new token may have taken seats: there is nothing to start again with either way.
        if let Some(error) = session.closed().err().filter(is_rotated) {
            return Err(TokenVoid(error).into());
        }
        if superseded > 0 {
            return Err(Superseded { superseded, seats }.into());
        }
        if let Some(error) = void.or_else(|| session.closed().err().filter(is_void)) {
            return Err(TokenVoid(error).into());
        }
        session.closed()?;
        if let Some(error) = refused {
            return Err(error.into());
        }
        if failed > 0 {
            bail!("{failed} of {seats} seats were not played to the end, or their deals don't verify");
        }
        Ok(())
    }
}

/// Whether a token is at fault.
fn is_void(error: &Error) -> bool {
    matches!(error, Error::Refused { refusal, .. } if refusal.reason == ErrorReason::Unauthenticated)
}

/// Whether the bot has a newer token.
fn is_rotated(error: &Error) -> bool {
    matches!(error, Error::Refused { refusal, .. } if refusal.reason == ErrorReason::TokenRotated)
}

/// A seat that was stopped is as its user wanted it.
const fn is_right(outcome: &Outcome) -> bool {
    match outcome.end {
        End::Result(_) | End::Aborted { .. } => !matches!(outcome.deal, DealCheck::Failed(_)),
        End::Stopped => true,
        _ => false,
    }
}
