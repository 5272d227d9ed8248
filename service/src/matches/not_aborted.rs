//! Matches of a backup that could not be aborted when it was restored. Their players have seen cards that would come again, so they
//! never go on.

use std::collections::HashSet;

use crate::journal::{Cause, Journal, JournalValueError, MatchId, MetaKey, MetaValue, Outcome, ReadError};

/// Where the journal keeps the first of them. Those that one value has no room for are in `not-aborted-2`, and so on.
const META_KEY: &str = "not-aborted";
const BYTES: usize = 16;
/// As many as one value has room for.
const IDS: usize = MetaValue::MAX_BYTES / BYTES;

pub(super) async fn read(journal: &dyn Journal) -> Result<HashSet<MatchId>, ReadError> {
    let mut all = HashSet::new();
    for number in 1.. {
        let key = key(number).map_err(|error| ReadError::Unavailable(Cause::new(error)))?;
        let Some(value) = journal.meta(key.clone()).await? else { break };
        let (ids, rest) = value.as_bytes().as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(ReadError::Damaged(Cause::new(format!("the value {key}"))));
        }
        all.extend(ids.iter().map(|id| MatchId::from_bytes(*id)));
    }
    Ok(all)
}

/// Adds some to those that are there.
pub(super) async fn add(journal: &dyn Journal, more: &[MatchId]) -> Result<(), Cause> {
    let mut all = read(journal).await.map_err(Cause::new)?;
    all.extend(more);
    let all: Vec<MatchId> = all.into_iter().collect();
    for (number, ids) in (1..).zip(all.chunks(IDS)) {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| *id.as_bytes()).collect();
        let value = MetaValue::new(bytes).map_err(Cause::new)?;
        match journal.replace_meta(key(number).map_err(Cause::new)?, value).await {
            Outcome::Done(()) => {}
            Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => return Err(cause),
            Outcome::Refused(never) => match never {},
        }
    }
    Ok(())
}

fn key(number: usize) -> Result<MetaKey, JournalValueError> {
    match number {
        1 => MetaKey::new(META_KEY),
        more => MetaKey::new(format!("{META_KEY}-{more}")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::matches::tests::fake::FakeJournal;

    #[tokio::test]
    async fn however_many_there_are_all_are_kept() {
        let journal = FakeJournal::new();
        let id = |number: usize| MatchId::from_bytes(u128::try_from(number).unwrap().to_be_bytes());
        let mut there = 0;
        for all in [0, 1, IDS, IDS + 1, 2 * IDS + 7] {
            let more: Vec<MatchId> = (there..all).map(id).collect();
            add(&journal, &more).await.unwrap();
            assert_eq!(read(&journal).await.unwrap(), (0..all).map(id).collect());
            there = all;
        }
    }
}
