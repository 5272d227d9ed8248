//! The latest results, in memory, so that many who follow the results cost the journal one reading.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::EndedMatch;
use super::results::read_page;
use crate::journal::{Journal, PageSize, ResultFilter, ResultNumber};
use crate::limits;
use crate::table::Rejection;

/// The latest results that were read, without a gap. They are read when someone asks for them, and while one reads, the
/// others who follow wait for what it finds: so this is asked in a task of its own, never by what is polled as its reader
/// has room.
#[derive(Debug, Default)]
pub(super) struct RecentResults(Mutex<VecDeque<Arc<EndedMatch>>>);

impl RecentResults {
    /// The results after a number, up to `latest`, at most a page; `None` when they lie further back than what is kept, or one of
    /// the latest can't be read: those who want it meet the error when they read by themselves.
    pub(super) async fn after(
        &self,
        journal: &dyn Journal,
        after: ResultNumber,
        latest: ResultNumber,
        page: PageSize,
    ) -> Result<Option<Vec<Arc<EndedMatch>>>, Rejection> {
        let oldest = ResultNumber::new(latest.get().saturating_sub(limits::RECENT_RESULTS.into()));
        if after < oldest {
            return Ok(None);
        }
        let mut recent = self.0.lock().await;
        let known = recent.back().map_or(ResultNumber::ZERO, |ended| ended.number);
        if known < latest {
            let all = PageSize::new(limits::RECENT_RESULTS).map_err(|_| Rejection::Damaged)?;
            let news = match read_page(journal, ResultFilter::default(), known.max(oldest), all).await {
                Err(Rejection::Damaged) => return Ok(None),
                news => news?.0,
            };
            if known < oldest {
                recent.clear();
            }
            recent.extend(news);
            let excess = recent.len().saturating_sub(limits::RECENT_RESULTS.into());
            recent.drain(..excess);
        }
        if recent.back().is_none_or(|last| last.number < latest) {
            return Ok(None);
        }
        // Whoever is ahead may have let go of what is asked for here.
        if recent.front().is_none_or(|first| after.get() + 1 < first.number.get()) {
            return Ok(None);
        }
        let wanted = recent.iter().filter(|ended| after < ended.number && ended.number <= latest);
        Ok(Some(wanted.take(page.get().into()).cloned().collect()))
    }
}
