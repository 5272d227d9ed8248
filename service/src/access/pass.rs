//! A token that was checked, and until when it holds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Bearer;
use crate::journal::UnixMillis;
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

/// When a stored token is void.
#[derive(Clone)]
pub(super) struct Until {
    /// Cancelled when it is revoked.
    pub(super) revoked: CancellationToken,
    pub(super) expires_at: Option<UnixMillis>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Until {
    async fn voided(self) {
        let Self { revoked, expires_at, clock } = self;
        tokio::select! {
            () = revoked.cancelled() => {}
            () = passed(&*clock, expires_at) => {}
        }
    }
}

async fn passed(clock: &dyn Clock, expires_at: Option<UnixMillis>) {
    let Some(expires_at) = expires_at else { return std::future::pending().await };
    loop {
        match expires_at.get().saturating_sub(clock.wall().get()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(LOOK_AGAIN)).await,
        }
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
