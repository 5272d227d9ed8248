//! Results: the matches that are over, in the order in which they ended, from a cursor on and without an end.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::past::unreadable;
use super::{Matches, ResultCursor};
use crate::encoding::decode_summary;
use crate::journal::{Journal, PageSize, ResultFilter, ResultNumber, ResultPage, ResultRow};
use crate::limits;
use crate::own_task::in_own_task;
use crate::table::{MatchInfo, Rejection};

/// A match that is over, and its place among all that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedMatch {
    /// Its place among all results, from 1.
    pub number: ResultNumber,
    /// The match, as it ended.
    pub info: MatchInfo,
}

impl EndedMatch {
    pub(crate) fn read(row: &ResultRow) -> Result<Arc<Self>, Rejection> {
        let info = decode_summary(row.summary.as_bytes()).map_err(|error| {
            tracing::error!(match_id = %row.match_id, %error, "a summary can't be read");
            Rejection::Damaged
        })?;
        Ok(Arc::new(Self { number: row.number, info }))
    }

    fn is_wanted(&self, filter: &ResultFilter) -> bool {
        let ResultFilter { owner, client_reference } = filter;
        (owner.is_none() || *owner == self.info.owner)
            && (client_reference.is_none() || *client_reference == self.info.client_reference)
    }
}

/// Where a reader of results begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultsFrom {
    /// With the first.
    First,
    /// After this place.
    After(ResultCursor),
    /// With the next.
    Now,
}

/// A cursor beyond what its reader and this server have in common. Results that a client has seen are not here: the journal
/// was cut or restored from a backup, or the cursor is of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cursor is after result {after}, and of those that led there the last one here is {last}: this server has lost \
     results that it sent, or the cursor is of another server; begin anew, with the first result or from now"
)]
pub struct ResultCursorAhead {
    /// What was given.
    pub after: ResultNumber,
    /// The last one that is here of those that led there.
    pub last: ResultNumber,
}

/// What a reader of results is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultNews {
    /// A match is over.
    Ended(Arc<EndedMatch>),
    /// Everything up to here was told.
    CaughtUp,
}

/// Results as one reader has them: in order, each once, without a gap.
///
/// They are read page by page as [`Results::next`] asks for them, so a reader that is slow costs nothing but its page.
pub struct Results {
    matches: Matches,
    filter: ResultFilter,
    latest: watch::Receiver<ResultNumber>,
    page: std::vec::IntoIter<Arc<EndedMatch>>,
    /// How far was read: `page` ends here.
    read_to: ResultNumber,
    /// How far was told, or passed over as not wanted.
    told_to: ResultNumber,
    /// When the reader was told that nothing more is there, if nothing was told since.
    caught_up_at: Option<Instant>,
}

impl Matches {
    /// The results that a filter wants, from a place on.
    ///
    /// # Errors
    /// [`ResultCursorAhead`] for a cursor beyond the last result.
    pub fn results(&self, filter: ResultFilter, from: ResultsFrom) -> Result<Results, ResultCursorAhead> {
        let latest = self.journal().latest_result();
        let last = *latest.borrow();
        let from = match from {
            ResultsFrom::First => ResultNumber::ZERO,
            ResultsFrom::After(cursor) => self.result_before(cursor, last)?,
            ResultsFrom::Now => last,
        };
        Ok(Results {
            matches: self.clone(),
            filter,
            latest,
            page: Vec::new().into_iter(),
            read_to: from,
            told_to: from,
            caught_up_at: None,
        })
    }
}

impl Matches {
    /// The result after which a reader with this cursor goes on.
    ///
    /// # Errors
    /// [`ResultCursorAhead`] for a cursor beyond the last result.
    pub fn result_at(&self, cursor: ResultCursor) -> Result<ResultNumber, ResultCursorAhead> {
        self.result_before(cursor, self.latest_result())
    }

    fn result_before(
        &self,
        cursor: ResultCursor,
        latest: ResultNumber,
    ) -> Result<ResultNumber, ResultCursorAhead> {
        let (after, last) = (cursor.number, self.shared.incarnations.shared_with(cursor, latest));
        if after > last { Err(ResultCursorAhead { after, last }) } else { Ok(after) }
    }

    /// The place after a result, by the life of the journal in which it was made: it never changes.
    pub fn result_cursor(&self, number: ResultNumber) -> ResultCursor {
        ResultCursor::new(number, self.shared.incarnations.of(number))
    }

    /// The latest result that everyone may know of.
    pub fn latest_result(&self) -> ResultNumber {
        *self.journal().latest_result().borrow()
    }

    /// One result; `None` if there is none with this number, or if it was lost.
    ///
    /// # Errors
    /// [`Rejection::OutcomeUnknown`] if the journal can't be read now, [`Rejection::Damaged`].
    pub async fn result(&self, number: ResultNumber) -> Result<Option<Arc<EndedMatch>>, Rejection> {
        let before = ResultNumber::new(number.get().saturating_sub(1));
        let page = PageSize::new(1).map_err(|_| Rejection::Damaged)?;
        let (read, _) = read_page(self.journal(), ResultFilter::default(), before, page).await?;
        Ok(read.into_iter().find(|ended| ended.number == number))
    }
}

impl Results {
    /// Where another reader would go on after what this one was told.
    pub fn cursor(&self) -> ResultCursor {
        ResultCursor::new(self.told_to, self.matches.shared.incarnations.current())
    }

    /// What comes next: results as long as there are any, then that this was all, and the same again when
    /// [`limits::RESULTS_SILENCE`] has passed without a result. A call that is dropped before it is done loses nothing.
    ///
    /// # Errors
    /// [`Rejection::OutcomeUnknown`] if the journal can't be read now, [`Rejection::Damaged`], [`Rejection::Stopping`].
    pub async fn next(&mut self) -> Result<ResultNews, Rejection> {
        loop {
            if let Some(news) = self.step().await? {
                return Ok(news);
            }
        }
    }

    /// The same, but `None` when results were passed over that are not wanted: [`Self::cursor`] is behind them.
    pub(crate) async fn step(&mut self) -> Result<Option<ResultNews>, Rejection> {
        loop {
            if let Some(ended) = self.page.next() {
                self.told_to = ended.number;
                self.caught_up_at = None;
                return Ok(Some(ResultNews::Ended(ended)));
            }
            self.told_to = self.read_to;
            // Numbers up to here are durable and told to everyone. The journal may hold more already, which wait for
            // their turn: a cursor is never ahead of what another reader is told to be the last.
            let latest = *self.latest.borrow_and_update();
            if self.read_to < latest {
                self.read(latest).await?;
                if self.page.as_slice().is_empty() {
                    self.told_to = self.read_to;
                    return Ok(None);
                }
                continue;
            }
            let Some(at) = self.caught_up_at.filter(|at| at.elapsed() < limits::RESULTS_SILENCE) else {
                self.caught_up_at = Some(Instant::now());
                return Ok(Some(ResultNews::CaughtUp));
            };
            match timeout_at(at + limits::RESULTS_SILENCE, self.latest.changed()).await {
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(_closed)) => return Err(Rejection::Stopping),
            }
        }
    }

    /// Reads a page of what comes after what was read.
    async fn read(&mut self, latest: ResultNumber) -> Result<(), Rejection> {
        let page = PageSize::new(limits::RESULTS_PAGE).map_err(|_| Rejection::Damaged)?;
        let (matches, read_to) = (self.matches.clone(), self.read_to);
        let recent = in_own_task(async move {
            matches.shared.recent_results.after(matches.journal(), read_to, latest, page).await
        });
        let (mut read, more_after) = match recent.await? {
            Some(recent) => {
                let is_full = recent.len() >= usize::from(page.get());
                let more_after = recent.last().filter(|_| is_full).map(|last| last.number);
                (recent, more_after)
            }
            None => read_page(self.matches.journal(), self.filter.clone(), self.read_to, page).await?,
        };
        self.read_to = more_after.map_or(latest, |number| number.min(latest));
        read.retain(|ended| ended.number <= latest && ended.is_wanted(&self.filter));
        self.page = read.into_iter();
        Ok(())
    }
}

/// Reads a page of results from the journal, and after which number it goes on, if it does. A page ends before a result that can't be
/// read; one that begins with it is the error.
pub(super) async fn read_page(
    journal: &dyn Journal,
    filter: ResultFilter,
    after: ResultNumber,
    page: PageSize,
) -> Result<(Vec<Arc<EndedMatch>>, Option<ResultNumber>), Rejection> {
    let ResultPage { rows, mut more_after } =
        journal.results_after(filter, after, page).await.map_err(|error| {
            tracing::warn!(%error, "results can't be read");
            unreadable(&error)
        })?;
    let mut read = Vec::with_capacity(rows.len());
    for row in &rows {
        match EndedMatch::read(row) {
            Ok(ended) => read.push(ended),
            Err(rejection) => {
                // What precedes it is told first.
                more_after = Some(read.last().map(|ended: &Arc<EndedMatch>| ended.number).ok_or(rejection)?);
                break;
            }
        }
    }
    Ok((read, more_after))
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results")
            .field("filter", &self.filter)
            .field("told_to", &self.told_to)
            .finish_non_exhaustive()
    }
}
