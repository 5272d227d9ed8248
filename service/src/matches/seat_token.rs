//! The tokens of seats: whether one holds and until when, and its replacement.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard, watch};
use zetema_rules::Seat;

use super::Matches;
use super::past::unreadable;
use crate::journal::{MatchId, Outcome, Owner, Request, RequestKey, RequestReused, RequestState, Response};
use crate::limits;
use crate::table::{MatchInfo, Rejection, SeatAccess};

/// Why a request that names itself does not replace a seat's token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RotationError {
    /// The request id was used for another request.
    #[error("the request id was used for another request: use a new one")]
    RequestReused,
    /// The match refuses.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

/// A seat's token that holds now.
pub struct SeatTokenWatch {
    access: SeatAccess,
    owner: Option<Owner>,
    /// `None`: the match is over, so the token is not replaced any more.
    info: Option<watch::Receiver<Arc<MatchInfo>>>,
}

impl SeatTokenWatch {
    /// Whose match the seat is in. `None`: the admin's.
    pub const fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// Waits until the token is replaced: for ever, if it never is.
    pub async fn replaced(self) {
        let Self { access, info, owner: _ } = self;
        let Some(mut info) = info else { return std::future::pending().await };
        let replaced = |info: &Arc<MatchInfo>| generation(info, access.seat) != Some(access.generation);
        if info.wait_for(replaced).await.is_err() {
            // The match is over, or the server stops.
            std::future::pending::<()>().await;
        }
    }
}

impl Matches {
    /// Checks a seat's token, and tells when it is replaced.
    ///
    /// # Errors
    /// [`Rejection::TokenReplaced`], [`Rejection::NoSuchSeat`], [`Rejection::NotFound`], or why the match can't be read.
    pub async fn watch_seat_token(
        &self,
        match_id: MatchId,
        access: SeatAccess,
    ) -> Result<SeatTokenWatch, Rejection> {
        if let Some(handle) = self.handle(match_id) {
            let owner = {
                let info = handle.info.borrow();
                info.check_access(access)?;
                info.owner.clone()
            };
            return Ok(SeatTokenWatch { access, owner, info: Some(handle.info.clone()) });
        }
        let info = self.ended(match_id).await?;
        info.check_access(access)?;
        Ok(SeatTokenWatch { access, owner: info.owner, info: None })
    }
}

/// Who is next to replace a token of a match by a request that names itself: one at a time, so that of two retries the second finds
/// what the first has made. Matches that fall into one slot wait for each other.
#[derive(Debug)]
pub(super) struct Rotations {
    hasher: RandomState,
    slots: Box<[Mutex<()>]>,
}

impl Rotations {
    pub(super) fn new() -> Self {
        let slots = (0..limits::ROTATION_SLOTS).map(|_| Mutex::default()).collect();
        Self { hasher: RandomState::new(), slots }
    }

    async fn next(&self, match_id: MatchId) -> MutexGuard<'_, ()> {
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(match_id) % slots).unwrap_or_default();
        self.slots[slot].lock().await
    }
}

impl Matches {
    /// As [`Matches::rotate_token`], but the same request gets the same answer for 24 hours, also after a restart.
    ///
    /// # Errors
    /// [`RotationError`] says why not.
    pub async fn rotate_token_once(
        &self,
        match_id: MatchId,
        seat: Seat,
        request: RequestKey,
    ) -> Result<u32, RotationError> {
        let _one_at_a_time = self.shared.rotations.next(match_id).await;
        let now = self.shared.config.clock.wall();
        match self.journal().request(request.clone(), now).await {
            Ok(RequestState::Answered(response)) => return Ok(answered(&response)?),
            Ok(RequestState::Reused) => return Err(RotationError::RequestReused),
            Ok(RequestState::New) => {}
            Err(error) => {
                tracing::warn!(%match_id, %error, "a request can't be looked up");
                return Err(unreadable(&error).into());
            }
        }
        // If it is not remembered, nobody has heard of this token, and a retry makes another.
        let generation = self.rotate_token(match_id, seat).await?;
        let response = Response::new(generation.to_be_bytes().to_vec()).map_err(|_| Rejection::Damaged)?;
        match self.journal().remember(Request { key: request, response }, now).await {
            Outcome::Done(response) => Ok(answered(&response)?),
            Outcome::Refused(RequestReused) => Err(RotationError::RequestReused),
            Outcome::Damaged(cause) => {
                tracing::error!(%match_id, %cause, "a rotation can't be remembered: the journal is damaged");
                Err(Rejection::Damaged.into())
            }
            Outcome::Failed(cause) | Outcome::Unknown(cause) => {
                tracing::warn!(%match_id, %cause, "a rotation can't be remembered");
                Err(Rejection::OutcomeUnknown.into())
            }
        }
    }
}

fn answered(response: &Response) -> Result<u32, Rejection> {
    response.as_bytes().as_ref().try_into().map(u32::from_be_bytes).map_err(|_| {
        tracing::error!("the answer to a rotation can't be read");
        Rejection::Damaged
    })
}

fn generation(info: &MatchInfo, seat: Seat) -> Option<u32> {
    info.seats.get(seat.index()).map(|info| info.generation)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn who_replaces_tokens_of_one_match_waits_for_no_other_match() {
        let rotations = Rotations::new();
        let of = |number: u8| rotations.next(MatchId::from_bytes([number; 16])).now_or_never();
        let held = of(0);
        assert!(held.is_some() && of(0).is_none());
        // Nearly every other match has a slot of its own.
        assert!((1..=3).any(|other| of(other).is_some()));
        drop(held);
        assert!(of(0).is_some());
    }
}
