//! Matches of a backup that could not be aborted when it was restored. Their players have seen cards that would come again, so they
//! never go on.

use std::collections::HashSet;

use crate::journal::{Cause, Journal, JournalValueError, MatchId, MetaKey, MetaValue, Outcome, ReadError};

/// Where the journal keeps them.
const META_KEY: &str = "not-aborted";
const BYTES: usize = 16;

pub(super) async fn read(journal: &dyn Journal) -> Result<HashSet<MatchId>, ReadError> {
    let key = key().map_err(|error| ReadError::Unavailable(Cause::new(error)))?;
    let Some(value) = journal.meta(key).await? else { return Ok(HashSet::new()) };
    let (ids, rest) = value.as_bytes().as_chunks::<BYTES>();
    if !rest.is_empty() {
        return Err(ReadError::Damaged(Cause::new(format!("the value {META_KEY}"))));
    }
    Ok(ids.iter().map(|id| MatchId::from_bytes(*id)).collect())
}

/// Adds some to those that are there.
pub(super) async fn add(journal: &dyn Journal, more: &[MatchId]) -> Result<(), Cause> {
    let mut all = read(journal).await.map_err(Cause::new)?;
    all.extend(more);
    let bytes: Vec<u8> = all.iter().flat_map(|id| *id.as_bytes()).collect();
    let value = MetaValue::new(bytes).map_err(Cause::new)?;
    match journal.replace_meta(key().map_err(Cause::new)?, value).await {
        Outcome::Done(()) => Ok(()),
        Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => Err(cause),
        Outcome::Refused(never) => match never {},
    }
}

fn key() -> Result<MetaKey, JournalValueError> {
    MetaKey::new(META_KEY)
}
