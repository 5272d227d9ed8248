//! Lists of matches, those that run first, then those that are over, the latest first.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use tokio::task::yield_now;

use super::live_matches::Place;
use super::past::unreadable;
use super::{EndedMatch, Matches};
use crate::journal::{ClientReference, FinishedFilter, MatchId, PagePosition, PageSize, Reader, UnixMillis};
use crate::limits;
use crate::table::{MatchInfo, MatchStage, Rejection};

/// Which matches to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFilter {
    /// Who asks: only what the reader may see is listed.
    pub reader: Reader,
    /// In one of these stages. Empty: in any.
    pub stages: Vec<MatchStage>,
    /// With exactly this reference, if one is given.
    pub client_reference: Option<ClientReference>,
}

impl ListFilter {
    fn wants(&self, info: &MatchInfo) -> bool {
        info.is_seen_by(&self.reader)
            && (self.stages.is_empty() || self.stages.contains(&info.stage))
            && (self.client_reference.is_none() || self.client_reference == info.client_reference)
    }

    fn wants_running(&self) -> bool {
        let over = |stage: &MatchStage| matches!(stage, MatchStage::Finished | MatchStage::Aborted);
        self.stages.is_empty() || !self.stages.iter().all(over)
    }

    fn wants_over(&self) -> bool {
        let over = |stage: &MatchStage| matches!(stage, MatchStage::Finished | MatchStage::Aborted);
        self.stages.is_empty() || self.stages.iter().any(over)
    }
}

/// A page of matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPage {
    /// The matches. Possibly fewer than asked for, even if more follow.
    pub matches: Vec<MatchInfo>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<ListCursor>,
}

/// A page of matches that are over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPage {
    /// The matches. Possibly fewer than asked for, even if more follow. [`Matches::is_held`] tells whose record
    /// waits for other matches.
    pub matches: Vec<Arc<EndedMatch>>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<PagePosition>,
}

/// Where the next page of a list begins. It holds for the filter that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListCursor {
    /// After this match among those that run.
    Running(UnixMillis, MatchId),
    /// Here among those that are over.
    Over(Option<PagePosition>),
}

/// As page tokens carry it: at most 64 ASCII characters.
impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running(created_at, match_id) => write!(f, "r{}-{match_id}", created_at.get()),
            Self::Over(Some(position)) => write!(f, "o{}", position.get()),
            Self::Over(None) => f.write_str("o"),
        }
    }
}

/// A text that is no cursor of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no cursor of a list: give the next_page_token of the page before, or none for the first page")]
pub struct NoListCursor;

impl FromStr for ListCursor {
    type Err = NoListCursor;

    fn from_str(text: &str) -> Result<Self, NoListCursor> {
        let number = |digits: &str| {
            let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| only_digits).ok_or(NoListCursor)
        };
        if let Some(running) = text.strip_prefix('r') {
            let (created_at, match_id) = running.split_once('-').ok_or(NoListCursor)?;
            let match_id = match_id.parse().map_err(|_| NoListCursor)?;
            return Ok(Self::Running(UnixMillis::new(number(created_at)?), match_id));
        }
        match text.strip_prefix('o') {
            None => Err(NoListCursor),
            Some("") => Ok(Self::Over(None)),
            Some(position) => Ok(Self::Over(Some(PagePosition::new(number(position)?)))),
        }
    }
}

impl Matches {
    /// A page of matches: those that run, the latest created first, then those that are over, the latest ended first.
    /// A match that ends between two pages may stand on both; none is left out.
    ///
    /// # Errors
    /// [`Rejection::OutcomeUnknown`] if the journal can't be read now, [`Rejection::Damaged`].
    pub async fn list(
        &self,
        filter: &ListFilter,
        from: Option<ListCursor>,
        page: PageSize,
    ) -> Result<MatchPage, Rejection> {
        let after = match from {
            None => None,
            Some(ListCursor::Running(created_at, match_id)) => Some((created_at, match_id)),
            Some(ListCursor::Over(position)) => return self.list_over(filter, position, page).await,
        };
        if !filter.wants_running() {
            return self.list_over(filter, None, page).await;
        }
        let running = self.running(filter, after, usize::from(page.get()) + 1).await;
        let more = running.len() > usize::from(page.get());
        let mut matches: Vec<MatchInfo> =
            running.iter().take(page.get().into()).map(|info| (**info).clone()).collect();
        let next = match matches.last() {
            Some(last) if more => Some(ListCursor::Running(last.created_at, last.match_id)),
            _ if filter.wants_over() => Some(ListCursor::Over(None)),
            _ => None,
        };
        // A first page that is not full goes on with those that are over.
        match (next, page.get().checked_sub(u16::try_from(matches.len()).unwrap_or(u16::MAX))) {
            (Some(ListCursor::Over(None)), Some(room @ 1..)) => {
                let room = PageSize::new(room).map_err(|_| Rejection::Damaged)?;
                let over = self.list_over(filter, None, room).await?;
                matches.extend(over.matches);
                Ok(MatchPage { matches, next: over.next })
            }
            (next, _) => Ok(MatchPage { matches, next }),
        }
    }

    /// A page of matches that are over, the latest first. Stages of running matches in the filter list nothing.
    ///
    /// # Errors
    /// [`Rejection::OutcomeUnknown`] if the journal can't be read now, [`Rejection::Damaged`].
    pub async fn list_records(
        &self,
        filter: &ListFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<RecordPage, Rejection> {
        let finished = FinishedFilter {
            reader: filter.reader.clone(),
            client_reference: filter.client_reference.clone(),
        };
        let read = self.journal().list_finished(finished, from, page).await.map_err(|error| {
            tracing::warn!(%error, "matches can't be listed");
            unreadable(&error)
        })?;
        // What is none of a match is left out, as what is not as it was written: it is in the log.
        let ended = read.matches.iter().filter_map(|row| EndedMatch::read(row).ok());
        let matches = ended.filter(|ended| filter.wants(&ended.info)).collect();
        Ok(RecordPage { matches, next: read.next })
    }

    /// The matches that run and that a ladder rates.
    pub(crate) async fn rated_and_live(&self) -> Vec<Arc<MatchInfo>> {
        let filter = ListFilter { reader: Reader::Admin, stages: Vec::new(), client_reference: None };
        let running = self.running(&filter, None, usize::MAX).await;
        running.into_iter().filter(|info| info.ladder.is_some()).collect()
    }

    async fn list_over(
        &self,
        filter: &ListFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<MatchPage, Rejection> {
        let RecordPage { matches, next } = self.list_records(filter, from, page).await?;
        let matches = matches.iter().map(|ended| ended.info.clone()).collect();
        Ok(MatchPage { matches, next: next.map(|position| ListCursor::Over(Some(position))) })
    }

    /// So many running matches after a place in the list, if there are as many, the latest first. Whoever else wants to know
    /// of matches waits for a part of them at most.
    async fn running(
        &self,
        filter: &ListFilter,
        mut after: Option<Place>,
        most: usize,
    ) -> Vec<Arc<MatchInfo>> {
        let mut matches = Vec::new();
        loop {
            let mut visited = 0;
            {
                let live = self.live_matches();
                for (place, handle) in live.latest_first(after).take(limits::LIVE_MATCHES_VISITED) {
                    visited += 1;
                    after = Some(place);
                    let info = handle.info.borrow();
                    if handle.runs() && filter.wants(&info) {
                        matches.push(Arc::clone(&info));
                        if matches.len() == most {
                            return matches;
                        }
                    }
                }
            }
            if visited < limits::LIVE_MATCHES_VISITED {
                return matches;
            }
            yield_now().await;
        }
    }
}
