//! What the fake journal stores of ladders.

use std::collections::HashMap;

use async_trait::async_trait;

use super::FakeJournal;
use crate::journal::{
    Cause, LadderChange, LadderName, LadderStore, LaterRatings, OtherBots, Outcome, ReadError, StoredLadder,
    StoredLater, StoredRating,
};

impl FakeJournal {
    /// What is stored of ladders, to look at and to change.
    pub(crate) fn ladders<T>(&self, look: impl FnOnce(&mut HashMap<LadderName, StoredLadder>) -> T) -> T {
        look(&mut self.inner.lock().unwrap().ladders)
    }

    /// So many times what is stored of ladders can't be read.
    pub(crate) fn blind_to_ladders(&self, times: usize) {
        self.inner.lock().unwrap().ladders_blind = times;
    }

    /// From now on what is stored of ladders is damaged.
    pub(crate) fn damage_ladders(&self) {
        self.inner.lock().unwrap().ladders_damaged = Some(0);
    }

    /// How often it was tried to change them since.
    pub(crate) fn damaged_ladders_tried(&self) -> usize {
        self.inner.lock().unwrap().ladders_damaged.unwrap_or(0)
    }

    /// So many changes of ladders fail.
    pub(crate) fn fail_ladders(&self, changes: usize) {
        self.inner.lock().unwrap().ladders_fail = changes;
    }
}

#[async_trait]
impl LadderStore for FakeJournal {
    async fn stored_ladder(&self, ladder: LadderName) -> Result<Option<StoredLadder>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.ladders_blind > 0 {
            inner.ladders_blind -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        Ok(inner.ladders.get(&ladder).cloned())
    }

    async fn change_ladder(&self, change: LadderChange) -> Outcome<(), StoredLater> {
        let mut inner = self.inner.lock().unwrap();
        if let Some(tried) = &mut inner.ladders_damaged {
            *tried += 1;
            return Outcome::Damaged(Cause::new("as told"));
        }
        if inner.ladders_fail > 0 {
            inner.ladders_fail -= 1;
            return Outcome::Failed(Cause::new("as told"));
        }
        change_in(&mut inner.ladders, change)
    }
}

/// What a journal makes of such a change.
fn change_in(
    ladders: &mut HashMap<LadderName, StoredLadder>,
    change: LadderChange,
) -> Outcome<(), StoredLater> {
    let LadderChange { ladder, mut stored, others, later } = change;
    if let Some(before) = ladders.remove(&ladder) {
        if later == LaterRatings::Stay && before.after > stored.after {
            let after = before.after;
            ladders.insert(ladder, before);
            return Outcome::Refused(StoredLater { stored: after });
        }
        if others == OtherBots::Stay {
            let is_other = |bot: &StoredRating| stored.bots.iter().all(|changed| changed.bot != bot.bot);
            let others: Vec<StoredRating> = before.bots.into_iter().filter(is_other).collect();
            stored.bots.extend(others);
        }
        stored.bots.sort_by(|one, other| one.bot.cmp(&other.bot));
    }
    ladders.insert(ladder, stored);
    Outcome::Done(())
}
