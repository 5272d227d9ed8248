//! Matches that are not over and can't go on here: they do not replay, or the journal does not take what comes next.

use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::Matches;
use super::past::unreadable;
use super::places::Place;
use super::recover::Common;
use super::storage::{Storage, Stored};
use crate::journal::{MatchId, ReadError, StoredMatch};
use crate::own_task::to_its_end;
use crate::table::{self, Command, DealSetId, Decided, Done, Rejection};

/// Such matches. They may go on after another start, so they hold the cards of their deal sets as if they ran.
#[derive(Debug, Default)]
pub(super) struct LostMatches(Mutex<Lost>);

#[derive(Debug, Default)]
struct Lost {
    matches: HashMap<MatchId, LostMatch>,
    /// How many of each deal set there are, those under quarantine counted in, which are none of these matches.
    of_sets: HashMap<DealSetId, usize>,
}

#[derive(Debug)]
struct LostMatch {
    /// Its place among those that are not over: the journal keeps it and reads it at every start, so whoever loses matches has no
    /// room for others.
    _place: Place,
    set: Option<DealSetId>,
}

impl LostMatches {
    fn all(&self) -> MutexGuard<'_, Lost> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a match is one.
    pub(super) fn has(&self, match_id: MatchId) -> bool {
        self.all().matches.contains_key(&match_id)
    }

    /// Whether one of them is of this deal set.
    pub(super) fn has_one_of(&self, set: DealSetId) -> bool {
        self.all().of_sets.contains_key(&set)
    }

    /// There is one more.
    fn add(&self, match_id: MatchId, place: Place, set: Option<DealSetId>) {
        let mut all = self.all();
        if let Some(set) = set {
            *all.of_sets.entry(set).or_default() += 1;
        }
        all.matches.insert(match_id, LostMatch { _place: place, set });
    }

    /// A match of this deal set is under quarantine: nothing ends it, so its set is held as long as this journal is in use. An older
    /// backup, restored, may have the match whole.
    pub(super) fn hold(&self, set: DealSetId) {
        *self.all().of_sets.entry(set).or_default() += 1;
    }

    /// A match is over after all.
    fn end(&self, match_id: MatchId) {
        let mut all = self.all();
        let Some(LostMatch { set: Some(set), .. }) = all.matches.remove(&match_id) else { return };
        if let Entry::Occupied(mut count) = all.of_sets.entry(set) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// What came of a cancellation.
type Cancelled = Result<Done, Rejection>;

impl Matches {
    /// Notes that a match can't go on here; `set` is its deal set, if it has one that is known.
    pub(super) fn lose(
        &self,
        match_id: MatchId,
        place: Place,
        set: Option<DealSetId>,
        why: &dyn std::fmt::Display,
    ) {
        self.shared.incidents.of(match_id, &format_args!("it can't go on: {why}"));
        self.shared.lost.add(match_id, place, set);
    }

    /// How many matches are not over and can't go on here.
    pub(crate) fn lost(&self) -> usize {
        self.shared.lost.all().matches.len()
    }

    /// Whether a match is not over and can't go on here.
    pub(crate) fn is_lost(&self, match_id: MatchId) -> bool {
        self.shared.lost.has(match_id)
    }

    /// Cancels a match that can't go on; `None` if it is none. What is stored of it has to replay.
    ///
    /// Boxed, or every command would have room for it.
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

    async fn end_lost(&self, match_id: MatchId) -> Result<Option<Done>, Rejection> {
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
        let mut table = self.replay(entries).await.map_err(|error| damaged(&error))?;
        let Decided::Write(changes) = table.decide(&Command::Cancel, self.arrival(None))? else {
            return Err(damaged(&"it is over, and the journal has no end of it"));
        };
        let at = self.wall();
        let entries = changes.into_iter().map(|change| table::Entry { at, change }).collect();
        let limits = &self.shared.config.limits;
        let journal = self.shared.config.journal.clone();
        let mut storage = Storage::new(journal, limits.first_retry, limits.last_retry);
        match storage.write(&table, entries, self.now()).await {
            Stored::Durable(entries) => {
                for entry in entries {
                    table.apply(entry, self.now()).map_err(|error| damaged(&error))?;
                }
            }
            Stored::NotKnown => return Err(Rejection::OutcomeUnknown),
            Stored::Lost => return Err(damaged(&"its end can't be stored")),
        }
        tracing::warn!(%match_id, "a match that could not go on was cancelled");
        self.shared.lost.end(match_id);
        Ok(Some(Done::Cancelled))
    }
}
