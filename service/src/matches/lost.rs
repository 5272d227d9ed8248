//! Matches that are not over and can't go on here: they do not replay, or the journal does not take what comes next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::past::unreadable;
use super::places::Place;
use super::recover::Common;
use super::storage::{Storage, Stored};
use super::{Matches, deal_set};
use crate::journal::{MatchId, ReadError, StoredMatch};
use crate::own_task::to_its_end;
use crate::table::{Command, Deals, Decided, Done, Entry, MatchInfo, Rejection};

/// Such matches, each with its place among those that are not over: the journal keeps it and reads it at every start, so whoever
/// loses matches has no room for others.
#[derive(Debug, Default)]
pub(super) struct LostMatches(Mutex<HashMap<MatchId, Place>>);

impl LostMatches {
    fn all(&self) -> MutexGuard<'_, HashMap<MatchId, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a match is one.
    pub(super) fn has(&self, match_id: MatchId) -> bool {
        self.all().contains_key(&match_id)
    }

    /// A match is over after all.
    fn end(&self, match_id: MatchId) {
        self.all().remove(&match_id);
    }
}

/// What came of a cancellation.
type Cancelled = Result<(Done, Arc<MatchInfo>), Rejection>;

impl Matches {
    /// Notes that a match can't go on here.
    pub(super) fn lose(&self, match_id: MatchId, place: Place, why: &dyn std::fmt::Display) {
        self.shared.incidents.of(match_id, &format_args!("it can't go on: {why}"));
        self.shared.lost.all().insert(match_id, place);
    }

    /// How many matches are not over and can't go on here.
    pub(crate) fn lost(&self) -> usize {
        self.shared.lost.all().len()
    }

    /// Cancels a match that can't go on; `None` if it is none. What is stored of it has to replay.
    ///
    /// Boxed, for the matches of its deal set are told by a command, and a command may come here.
    pub(super) fn cancel_lost(&self, match_id: MatchId) -> BoxFuture<'_, Option<Cancelled>> {
        async move {
            if !self.shared.lost.has(match_id) {
                return None;
            }
            // Whoever asks may be gone before the journal answers, and the match is over all the same.
            let matches = self.clone();
            to_its_end(async move { matches.end_lost(match_id).await }).await.transpose()
        }
        .boxed()
    }

    async fn end_lost(&self, match_id: MatchId) -> Result<Option<(Done, Arc<MatchInfo>)>, Rejection> {
        let damaged = |why: &dyn std::fmt::Display| self.damaged(match_id, why);
        let history = match self.journal().read(match_id).await {
            Ok(Some(StoredMatch::Running(history))) => history,
            // An end was written of which it was not known.
            Ok(Some(StoredMatch::Finished(_)) | None) => {
                self.shared.lost.end(match_id);
                return Ok(None);
            }
            Ok(Some(StoredMatch::Quarantined { damage, .. })) => return Err(damaged(&damage)),
            Err(error @ ReadError::Damaged(_)) => return Err(damaged(&error)),
            Err(error) => return Err(unreadable(&error)),
        };
        let entries = Common::default().decode(&history).map_err(|error| damaged(&error))?;
        let mut table = self.replay(&entries).await.map_err(|error| damaged(&error))?;
        let Decided::Write(changes) = table.decide(&Command::Cancel, self.arrival(None))? else {
            return Err(damaged(&"it is over, and the journal has no end of it"));
        };
        let at = self.wall();
        let entries = changes.into_iter().map(|change| Arc::new(Entry { at, change })).collect();
        let limits = &self.shared.config.limits;
        let journal = self.shared.config.journal.clone();
        let mut storage = Storage::new(journal, limits.first_retry, limits.last_retry);
        let dealt = table.is_dealt();
        match storage.write(&table, entries, self.now()).await {
            Stored::Durable(entries) => {
                for entry in &entries {
                    table.apply(entry, self.now()).map_err(|error| damaged(&error))?;
                }
            }
            Stored::NotKnown => return Err(Rejection::OutcomeUnknown),
            Stored::Lost => return Err(damaged(&"its end can't be stored")),
        }
        tracing::warn!(%match_id, "a match that could not go on was cancelled");
        self.shared.lost.end(match_id);
        if let Deals::Shared(set) = &table.created().deals
            && !dealt
        {
            self.spawn(deal_set::cancel(self.clone(), set.clone()));
        }
        Ok(Some((Done::Cancelled, Arc::new(table.info()))))
    }
}
