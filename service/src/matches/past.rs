//! Matches that are over, as their records tell them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::yield_now;
use zetema_rules::Viewer;

use super::message::Subscribed;
use super::subscription::Past;
use super::{Audience, End, Hold, Joined, Matches};
use crate::encoding::{decode_record, decode_summary, record_entries};
use crate::journal::{FinishedMatch, MatchId, ReadError, ResultRow, Standing, StoredMatch};
use crate::limits;
use crate::table::{Entry, MatchInfo, Moment, Rejection, ReplayError, SeatAccess, Table};

/// The record of a match that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFile {
    /// The match.
    pub info: MatchInfo,
    /// The bytes of its `zetema.v1.Record`.
    pub record: Bytes,
}

/// A match that is over, with its table as it was at the end.
pub(super) struct PastMatch {
    info: MatchInfo,
    table: Table,
}

impl PastMatch {
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    pub(super) const fn info(&self) -> &MatchInfo {
        &self.info
    }

    /// How many entries it has.
    pub(super) fn length(&self) -> usize {
        self.table.entry_count()
    }

    fn end(&self) -> End {
        self.table.outcome().map_or(End::Stopped, |outcome| End::Over(outcome.clone()))
    }

    /// All of it, from the first observation on.
    pub(super) fn replay(&self) -> Result<Past, Rejection> {
        let start = self.table.restart().map_err(|_| Rejection::Damaged)?;
        Ok(Past::new(Box::new(start), self.table.shared_entries_from(1), Some(self.end())))
    }

    pub(super) fn subscribe(
        &self,
        audience: Audience,
        after_seq: Option<u64>,
    ) -> Result<Subscribed, Rejection> {
        self.check(audience.access())?;
        let viewer = audience.viewer();
        let info = Arc::new(self.info.clone());
        match after_seq {
            None => {
                let snapshot = Box::new(self.table.snapshot(viewer, START));
                Ok(Subscribed::Over { snapshot, info, end: self.end() })
            }
            Some(after) => match self.table.seq(viewer) {
                last if after > last => Err(Rejection::CursorAhead { last }),
                _ => Ok(Subscribed::Past { info, past: self.replay()?, running: None }),
            },
        }
    }

    /// Whether it may be seen by this token.
    pub(super) fn check(&self, access: Option<SeatAccess>) -> Result<(), Rejection> {
        access.map_or(Ok(()), |access| self.table.check_access(access))
    }
}

/// The time does not matter to what is over.
const START: Moment = Moment::since_start(Duration::ZERO);

impl Matches {
    /// A match that is over, replayed; [`Rejection::NotFound`] if there is none with this id. That is much work: whoever asks for
    /// a client has waited for the client's turn.
    pub(super) async fn past(&self, match_id: MatchId) -> Result<PastMatch, Rejection> {
        let finished = self.finished(match_id).await?;
        let damaged = |error: &dyn std::fmt::Display| self.damaged(match_id, error);
        let info = self.summary(&finished.result)?;
        let (record, header) = decode_record(finished.record.as_bytes()).map_err(|error| damaged(&error))?;
        let entries = record_entries(&record, &header, &info).map_err(|error| damaged(&error))?;
        let table = self.replay(entries).await.map_err(|error| damaged(&error))?;
        Ok(PastMatch { info, table })
    }

    /// The table of these entries. Others have their turn meanwhile.
    pub(super) async fn replay(&self, entries: Vec<Entry>) -> Result<Table, ReplayError> {
        let mut entries = entries.into_iter();
        let first = entries.next().ok_or(ReplayError::FirstEntry)?;
        let mut table = Table::new(first, self.shuffler())?;
        for (applied, entry) in entries.enumerate() {
            if applied % limits::ENTRIES_REPLAYED == 0 {
                yield_now().await;
            }
            table.apply(entry, START)?;
        }
        Ok(table)
    }

    /// Joins a seat of a match that is over: there is nothing to take, and nobody to take it from.
    pub(super) async fn join_past(&self, match_id: MatchId, access: SeatAccess) -> Result<Joined, Rejection> {
        let info = self.ended(match_id).await?;
        info.check_access(access)?;
        Ok(Joined { hold: Hold(0), info, arriving: Arc::default() })
    }

    /// All of a match that is over. It takes as long as its record is: whoever asks for a client has waited for the client's turn.
    async fn finished(&self, match_id: MatchId) -> Result<Box<FinishedMatch>, Rejection> {
        match self.journal().read(match_id).await.map_err(|error| self.not_read(match_id, &error))? {
            None => Err(Rejection::NotFound),
            Some(StoredMatch::Finished(finished)) => Ok(finished),
            Some(StoredMatch::Running(_)) => Err(self.why_not_running(match_id)),
            Some(StoredMatch::Quarantined { damage, .. }) => Err(self.damaged(match_id, &damage)),
        }
    }

    /// A match that is over, as it was told at the end: its record is not read.
    pub(super) async fn ended(&self, match_id: MatchId) -> Result<MatchInfo, Rejection> {
        match self.journal().standing(match_id).await.map_err(|error| self.not_read(match_id, &error))? {
            None => Err(Rejection::NotFound),
            Some(Standing::Finished { result, version: _ }) => self.summary(&result),
            Some(Standing::Running) => Err(self.why_not_running(match_id)),
            Some(Standing::Quarantined { damage }) => Err(self.damaged(match_id, &damage)),
        }
    }

    /// How many entries a match has, running or over.
    pub(crate) async fn length(&self, match_id: MatchId) -> Result<usize, Rejection> {
        if let Some(handle) = self.handle(match_id) {
            return Ok(handle.length());
        }
        match self.journal().standing(match_id).await.map_err(|error| self.not_read(match_id, &error))? {
            None => Err(Rejection::NotFound),
            Some(Standing::Finished { result: _, version }) => {
                Ok(usize::try_from(version.get()).unwrap_or(usize::MAX))
            }
            Some(Standing::Running) => Err(self.why_not_running(match_id)),
            Some(Standing::Quarantined { damage }) => Err(self.damaged(match_id, &damage)),
        }
    }

    /// Why a match is not read.
    fn not_read(&self, match_id: MatchId, error: &ReadError) -> Rejection {
        if let ReadError::Damaged(_) = error {
            return self.damaged(match_id, error);
        }
        tracing::warn!(%match_id, %error, "a match can't be read");
        unreadable(error)
    }

    /// What a match that is over was at its end.
    fn summary(&self, result: &ResultRow) -> Result<MatchInfo, Rejection> {
        let ResultRow { match_id, summary, .. } = result;
        decode_summary(summary.as_bytes()).map_err(|error| self.damaged(*match_id, &error))
    }

    /// The record of a match that is over.
    ///
    /// # Errors
    /// [`Rejection::NotRevealed`] while it runs, [`Rejection::HeldUntilReveal`] while another match of its deal set
    /// does, [`Rejection::NotFound`], [`Rejection::OutcomeUnknown`] if it can't be read now, and
    /// [`Rejection::MatchDamaged`].
    pub async fn record(&self, match_id: MatchId) -> Result<RecordFile, Rejection> {
        if self.handle(match_id).is_some() {
            return Err(Rejection::NotRevealed);
        }
        let finished = self.finished(match_id).await?;
        let info = self.summary(&finished.result)?;
        if self.is_held(&info) {
            return Err(Rejection::HeldUntilReveal);
        }
        Ok(RecordFile { info, record: finished.record.into_bytes() })
    }

    /// Whether cards of the match must not be shown yet, since others of its deal set still play with them, or may again when what
    /// keeps them from it is mended.
    pub fn is_held(&self, info: &MatchInfo) -> bool {
        let runs_one_of = |set| {
            let live = self.live_matches();
            live.runs_one_of(set)
        };
        // In this order: a match that runs is lost before it is gone. Where all stop they are gone, and go on at the next start.
        let may_go_on =
            |set| runs_one_of(set) || self.shared.lost.has_one_of(set) || self.shared.stop.is_cancelled();
        info.deals.set().is_some_and(may_go_on)
    }

    pub(super) fn check_watch(&self, audience: Audience, info: &MatchInfo) -> Result<(), Rejection> {
        match audience.viewer() {
            Viewer::Spectator if self.is_held(info) => Err(Rejection::HeldUntilReveal),
            _ => Ok(()),
        }
    }
}

/// Damage stays; all else may pass.
pub(super) const fn unreadable(error: &ReadError) -> Rejection {
    match error {
        ReadError::Damaged(_) => Rejection::Damaged,
        ReadError::Unavailable(_) => Rejection::OutcomeUnknown,
    }
}
