//! A token that was checked, and until when it holds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::Bearer;
use crate::journal::{BotToken, Rotation, StoredToken, TokenNumber, UnixMillis};
use crate::matches::Clock;

/// The wall clock may be set: a wait for it looks again at least this often.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// Who calls, and until when the token holds. A stream that it opened lives no longer than that.
#[derive(Clone, Debug)]
pub struct Pass {
    bearer: Bearer,
    validity: Validity,
}

impl Pass {
    /// A bearer whose token this registry does not void: the built-in admin's, a seat's, or none.
    pub(super) const fn without_end(bearer: Bearer) -> Self {
        Self { bearer, validity: Validity::WithoutEnd }
    }

    /// A bearer by a stored token.
    pub(super) const fn stored(bearer: Bearer, until: Until) -> Self {
        Self { bearer, validity: Validity::Until(until) }
    }

    /// Whom the token stands for.
    pub const fn bearer(&self) -> &Bearer {
        &self.bearer
    }

    /// Which of a bot's tokens it is. `None`: it is no bot's.
    pub fn bot_token(&self) -> Option<BotToken> {
        match (&self.bearer, &self.validity) {
            (Bearer::Bot(_), Validity::Until(until)) => {
                Some(BotToken { number: until.number, rotation: until.standing.borrow().rotation() })
            }
            _ => None,
        }
    }

    /// Waits until the bot gets another token: for ever, if it never does.
    pub async fn rotated(self) -> Rotation {
        match self.validity {
            Validity::WithoutEnd => std::future::pending().await,
            Validity::Until(until) => until.rotated().await,
        }
    }

    /// Waits until the token is revoked, replaced or expired: for ever, if it never is. Whether a seat's token was
    /// replaced, its match knows.
    pub async fn voided(self) {
        match self.validity {
            Validity::WithoutEnd => std::future::pending().await,
            Validity::Until(until) => until.voided().await,
        }
    }
}

#[derive(Clone, Debug)]
enum Validity {
    WithoutEnd,
    Until(Until),
}

/// How a stored token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It holds until then, or without end.
    Holds(Option<UnixMillis>),
    /// It plays on.
    Rotated(Rotation),
    /// It was revoked or replaced.
    Void,
}

impl Standing {
    pub(super) fn of(token: &StoredToken) -> Self {
        match (token.revoked_at, token.rotation()) {
            (Some(_), _) => Self::Void,
            (None, Some(rotation)) => Self::Rotated(rotation),
            (None, None) => Self::Holds(token.expires_at),
        }
    }

    pub(super) const fn rotation(self) -> Option<Rotation> {
        match self {
            Self::Rotated(rotation) => Some(rotation),
            Self::Holds(_) | Self::Void => None,
        }
    }
}

/// When a stored token is void.
#[derive(Clone)]
pub(super) struct Until {
    pub(super) number: TokenNumber,
    pub(super) standing: watch::Receiver<Standing>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Until {
    async fn voided(self) {
        let Self { number: _, mut standing, clock } = self;
        loop {
            let now = *standing.borrow_and_update();
            let void_from = match now {
                Standing::Holds(expires_at) => expires_at,
                Standing::Rotated(rotation) => Some(rotation.until),
                Standing::Void => return,
            };
            let void_from_steady = now.rotation().and_then(|rotation| rotation.void_from());
            tokio::select! {
                // What is forgotten was void.
                changed = standing.changed() => if changed.is_err() { return },
                () = passed(&*clock, void_from) => return,
                () = passed_steady(&*clock, void_from_steady) => return,
            }
        }
    }

    async fn rotated(self) -> Rotation {
        let mut standing = self.standing;
        let rotated = standing.wait_for(|standing| standing.rotation().is_some()).await;
        match rotated.ok().and_then(|standing| standing.rotation()) {
            Some(rotation) => rotation,
            // It is forgotten, and was void.
            None => std::future::pending().await,
        }
    }
}

async fn passed(clock: &dyn Clock, void_from: Option<UnixMillis>) {
    let Some(void_from) = void_from else { return std::future::pending().await };
    loop {
        match void_from.get().saturating_sub(clock.wall().get()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(LOOK_AGAIN)).await,
        }
    }
}

/// The same by the monotonic clock, which is not set.
async fn passed_steady(clock: &dyn Clock, void_from: Option<Duration>) {
    let Some(void_from) = void_from else { return std::future::pending().await };
    loop {
        match void_from.saturating_sub(clock.since_start()) {
            Duration::ZERO => return,
            left => tokio::time::sleep(left).await,
        }
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until").field("standing", &*self.standing.borrow()).finish_non_exhaustive()
    }
}
