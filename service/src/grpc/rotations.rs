//! Rotations of seat tokens that named themselves, so that a retry gets the same token.
//!
//! They are remembered here alone, not in the journal: after a restart a retry makes another token, which is as
//! good to the caller as the one whose answer was lost.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use tokio::time::Instant;
use zetema_proto::v1::ErrorReason;

use super::fault::Fault;
use crate::{
    journal::{BodyHash, RequestKey},
    limits,
};

/// The rotations of the last 24 hours.
#[derive(Debug, Default)]
pub(super) struct Rotations {
    by_request: Mutex<HashMap<String, Rotation>>,
}

#[derive(Debug)]
struct Rotation {
    body: BodyHash,
    generation: u32,
    at: Instant,
}

impl Rotations {
    /// The generation that the same request made before.
    pub(super) fn made(&self, key: &RequestKey) -> Result<Option<u32>, Fault> {
        let rotations = self.by_request.lock().unwrap_or_else(PoisonError::into_inner);
        match rotations.get(key.request_id.as_str()) {
            Some(rotation) if rotation.at.elapsed() > limits::ROTATIONS_KEPT => Ok(None),
            Some(rotation) if rotation.body == key.body_hash => Ok(Some(rotation.generation)),
            Some(_) => Err(Fault::new(
                ErrorReason::RequestIdReused,
                "the request id was used for another request: use a new one",
            )),
            None => Ok(None),
        }
    }

    /// Remembers the generation that a request made. When there is no room, the oldest is forgotten.
    pub(super) fn remember(&self, key: &RequestKey, generation: u32) {
        let mut rotations = self.by_request.lock().unwrap_or_else(PoisonError::into_inner);
        if rotations.len() >= limits::MAX_REMEMBERED_ROTATIONS {
            rotations.retain(|_, rotation| rotation.at.elapsed() <= limits::ROTATIONS_KEPT);
        }
        if rotations.len() >= limits::MAX_REMEMBERED_ROTATIONS
            && let Some(oldest) =
                rotations.iter().min_by_key(|(_, rotation)| rotation.at).map(|(id, _)| id.clone())
        {
            rotations.remove(&oldest);
        }
        let rotation = Rotation { body: key.body_hash, generation, at: Instant::now() };
        rotations.insert(key.request_id.as_str().to_owned(), rotation);
    }
}
