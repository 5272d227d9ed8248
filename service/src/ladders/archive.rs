//! What everyone may look up of a ladder: its results, and how bots did against one another.
//!
//! Whoever looks something up does so itself, beside the task of the ladders, and looks at a bounded number of results. The latest are in
//! memory, older ones in files, a block of them each. Nothing depends on the files: each start counts the results of the journal anew, and
//! writes what is not there as it should be.

mod block;
mod files_read;
mod room;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::Mutex;
use tokio::task::yield_now;
use zetema_ladder::{HeadToHeads, Played};

use super::LadderFault;
use super::query::{Met, Page, PageFrom, ResultsFilter, ResultsOnward, SeasonSpan};
use super::results::{LoggedResult, RatingAt};
use crate::journal::{BotName, ResultNumber, UnixMillis};
use crate::limits;
use block::Block;
pub(super) use files_read::FilesRead;
pub(super) use room::Room;

/// One ladder's.
#[derive(Debug)]
pub(super) struct Archive {
    kept: RwLock<Kept>,
    room: Room,
    /// Of the files.
    folder: PathBuf,
    /// Those of them that are in memory.
    files_read: Arc<FilesRead>,
    /// One file is written at a time.
    writing: Mutex<()>,
}

/// Results that can't be looked up: they are in no file, and nor is what was before them.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    /// The last of them.
    last: ResultNumber,
    /// When the one ended that ended last: by a clock that may have been set back, so not always the last.
    ended_by: UnixMillis,
}

#[derive(Debug, Default)]
struct Kept {
    /// The latest ones, the oldest first.
    results: VecDeque<Arc<LoggedResult>>,
    /// The files of those before them, the oldest first, without a gap. The last one may be on its way to the disk.
    blocks: Vec<Block>,
    /// What is in that one meanwhile.
    on_its_way: Option<Arc<[Arc<LoggedResult>]>>,
    /// Those before all of these.
    dropped: Option<Dropped>,
    /// After a file could not be written: how many results come before it is tried again.
    pause: usize,
    met: HeadToHeads<BotName>,
    /// How often they were counted anew.
    count: u64,
}

/// How many results are kept in memory of one of so many ladders: an equal part of this many of all, and as many as a file has, as those
/// that are not enough for one are in memory.
pub(super) fn results_of_one_of(ladders: NonZeroUsize, of_all: usize) -> usize {
    (of_all / ladders).clamp(limits::LADDER_BLOCK_RESULTS, limits::MAX_LADDER_RESULTS)
}

/// Some of the results, the oldest first, and whether there may be any before them.
struct Part {
    results: Vec<Arc<LoggedResult>>,
    more: bool,
}

/// Where results are to be found.
enum Place {
    InMemory(Part),
    InFile { block: Block, more: bool },
}

/// The rated results of a span, the latest first.
#[derive(Debug)]
pub(super) struct RatedResults {
    pub(super) results: Vec<Arc<LoggedResult>>,
    /// Older ones of that span, up to this one, are not among them: they were too many, or can't be looked up any more.
    pub(super) left_out_to: Option<ResultNumber>,
}

impl Kept {
    /// How many results are in memory, but for those of files that were read.
    fn held(&self) -> usize {
        self.results.len() + self.on_its_way.as_ref().map_or(0, |results| results.len())
    }

    /// Whether there are as many results as there is room for and a file has, and a file is to be tried.
    fn is_full(&self, room: Room) -> bool {
        self.pause == 0 && self.results.len() >= room.memory.saturating_add(room.block)
    }

    /// There is no room for so many of the oldest results in memory: they can't be looked up any more, nor can what is before them. As many
    /// as a file has, so that what is written later is in the files in which the next start has it too.
    fn drop_oldest(&mut self, count: usize) {
        let oldest: Vec<_> = self.results.drain(..count.min(self.results.len())).collect();
        if let Some(last) = Block::of(&oldest) {
            // Those in files are before a gap now.
            self.drop_blocks(self.blocks.len(), last);
        }
    }

    /// So many of the oldest files can't be looked up any more, up to the end of this one.
    fn drop_blocks(&mut self, count: usize, last: Block) {
        let ended_by = self.blocks.drain(..count).chain([last]).map(|block| block.ended_by);
        let ended_by = ended_by.chain(self.dropped.map(|dropped| dropped.ended_by)).max();
        self.dropped = ended_by.map(|ended_by| Dropped { last: last.last, ended_by });
    }
}

impl Archive {
    /// An empty one with this room, and this folder for its files, of which those in memory are among these of all ladders.
    pub(super) fn new(room: Room, folder: PathBuf, files_read: Arc<FilesRead>) -> Self {
        Self { kept: RwLock::default(), room, folder, files_read, writing: Mutex::default() }
    }

    /// All results are counted anew.
    pub(super) fn clear(&self) {
        let mut kept = self.kept_mut();
        *kept = Kept { count: kept.count + 1, ..Kept::default() };
    }

    /// Which count of the results it is of: another one after each [`Self::clear`].
    pub(super) fn count(&self) -> u64 {
        self.kept().count
    }

    /// A match was rated.
    pub(super) fn rated(&self, played: &Played<BotName>) {
        self.kept_mut().met.count(played);
    }

    /// A result came, which is after all that came before. Whoever counts results has room made for them.
    pub(super) fn keep(&self, result: LoggedResult) {
        let mut kept = self.kept_mut();
        kept.pause = kept.pause.saturating_sub(1);
        if kept.held() >= self.room.most() {
            kept.drop_oldest(self.room.block.max(1));
        }
        kept.results.push_back(Arc::new(result));
    }

    /// How a bot did against those that it met, or against this one alone, by their names.
    pub(super) fn met(
        &self,
        bot: &BotName,
        only: Option<&BotName>,
        of: &PageFrom<BotName>,
    ) -> Result<Page<Met>, LadderFault> {
        let kept = self.kept();
        let mut met = kept.met.met_by(bot).peekable();
        if met.peek().is_none() {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        let wanted = |opponent: &BotName| {
            only.is_none_or(|only| opponent == only) && of.after.as_ref().is_none_or(|after| opponent > after)
        };
        let mut met = met.filter(|(opponent, _)| wanted(opponent));
        let items: Vec<Met> = met
            .by_ref()
            .take(of.most)
            .map(|(opponent, between)| Met { opponent: opponent.clone(), between })
            .collect();
        let next = items.last().map(|last| last.opponent.to_string()).filter(|_| met.next().is_some());
        Ok(Page { items, next })
    }

    /// How the rating of a bot went, the latest first, before a result's number.
    pub(super) async fn history(
        &self,
        bot: &BotName,
        of: &PageFrom<u64>,
    ) -> Result<Page<RatingAt>, LadderFault> {
        if self.kept().met.met_by(bot).next().is_none() {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        let rating = |result: &Arc<LoggedResult>| {
            let seat = result.seats.iter().find(|seat| seat.bot == *bot)?;
            let (_, rating) = seat.rating?;
            let LoggedResult { number, match_id, ended_at, .. } = **result;
            Some(RatingAt { number, match_id, ended_at, rating })
        };
        self.look(None, of, rating).await
    }

    /// The results that a filter wants, the latest first, before a result's number.
    pub(super) async fn results(
        &self,
        filter: &ResultsFilter,
        of: &PageFrom<u64>,
    ) -> Result<Page<Arc<LoggedResult>>, LadderFault> {
        self.look(filter.since, of, |result| filter.wants(result).then(|| Arc::clone(result))).await
    }

    /// The results that a filter wants, the oldest first, after a result's number.
    pub(super) async fn results_after(
        &self,
        filter: &ResultsFilter,
        after: ResultNumber,
        most: usize,
    ) -> Result<ResultsOnward, LadderFault> {
        let mut items = Vec::new();
        let mut looked_to = after;
        let mut looked_at = 0;
        let mut left_out_to = None;
        loop {
            let part = self.part_after(looked_to, filter.since).await;
            let gap_of =
                |dropped: Option<Dropped>| dropped.map(|gap| gap.last).filter(|&last| last > looked_to);
            let Part { results, more } = match part {
                Ok((part, dropped)) if looked_at == 0 => {
                    left_out_to = gap_of(dropped);
                    part
                }
                Ok((part, dropped)) if gap_of(dropped).is_none() => part,
                Err(fault) if looked_at == 0 => return Err(fault),
                // A file is damaged, or can't be read: who asks on is told so.
                Ok(_) | Err(_) => {
                    return Ok(ResultsOnward { items, looked_to, next: Some(looked_to), left_out_to });
                }
            };
            let mut rest = results.iter();
            while items.len() < most
                && looked_at < limits::LADDER_RESULTS_LOOKED_AT
                && let Some(result) = rest.next()
            {
                looked_at += 1;
                looked_to = result.number;
                if filter.wants(result) {
                    items.push(Arc::clone(result));
                }
            }
            let more = more || rest.next().is_some();
            if !more || items.len() == most || looked_at == limits::LADDER_RESULTS_LOOKED_AT {
                let next = more.then_some(looked_to);
                return Ok(ResultsOnward { items, looked_to, next, left_out_to });
            }
        }
    }

    /// As many results as are looked at at once after a number, the oldest first, and those before all of them that can't be looked up.
    async fn part_after(
        &self,
        after: ResultNumber,
        since: Option<UnixMillis>,
    ) -> Result<(Part, Option<Dropped>), LadderFault> {
        loop {
            let (place, dropped) = self.place_after(after, since);
            match place {
                Place::InMemory(part) => return Ok((part, dropped)),
                Place::InFile { block, more } => {
                    if let Some(mut results) = self.read(block).await? {
                        results.retain(|result| result.number > after);
                        return Ok((Part { results, more }, dropped));
                    }
                }
            }
        }
    }

    /// Where the results after a number begin that may have ended then or later, and which can't be looked up.
    fn place_after(&self, after: ResultNumber, since: Option<UnixMillis>) -> (Place, Option<Dropped>) {
        let kept = self.kept();
        if let Some(&block) = kept.blocks.iter().find(|block| block.last > after && block.has_since(since)) {
            return (Place::InFile { block, more: true }, kept.dropped);
        }
        // Copied, so that nobody waits for who looks.
        let first = kept.results.partition_point(|result| result.number <= after);
        let end = kept.results.len().min(first.saturating_add(limits::LADDER_RESULTS_LOOKED_AT));
        let results = kept.results.range(first..end).cloned().collect();
        (Place::InMemory(Part { results, more: end < kept.results.len() }), kept.dropped)
    }

    /// The rated results of a span, the latest first, at most so many. They are looked through a part at a time, as the clock may have
    /// been set back: none that is older says that all before it are.
    pub(super) async fn rated_of(&self, span: SeasonSpan, most: usize) -> Result<RatedResults, LadderFault> {
        let is_since = |result: &LoggedResult| span.since.is_none_or(|since| result.ended_at >= since);
        let mut results = Vec::new();
        let mut onward = span;
        loop {
            let Part { results: part, more } = self.part(onward).await?;
            for result in part.iter().rev().filter(|result| result.is_rated() && is_since(result)) {
                if results.len() == most {
                    return Ok(RatedResults { results, left_out_to: Some(result.number) });
                }
                results.push(Arc::clone(result));
            }
            onward.before = part.first().map(|first| first.number);
            if !more {
                return Ok(RatedResults { results, left_out_to: self.left_out_of(span) });
            }
            yield_now().await;
        }
    }

    /// The last result of a span that can't be looked up.
    fn left_out_of(&self, span: SeasonSpan) -> Option<ResultNumber> {
        let dropped = self.kept().dropped?;
        let is_since = span.since.is_none_or(|since| dropped.ended_by >= since);
        span.up_to(dropped.last).filter(|_| is_since)
    }

    /// As many results as are looked at at once, the oldest first: the latest of a span, among which may be some that ended before it.
    async fn part(&self, span: SeasonSpan) -> Result<Part, LadderFault> {
        loop {
            match self.place_before(span) {
                Place::InMemory(part) => return Ok(part),
                Place::InFile { block, more } => {
                    if let Some(mut results) = self.read(block).await? {
                        results.retain(|result| span.before.is_none_or(|before| result.number < before));
                        return Ok(Part { results, more });
                    }
                }
            }
        }
    }

    fn place_before(&self, SeasonSpan { since, before }: SeasonSpan) -> Place {
        let kept = self.kept();
        let is_before = |number: ResultNumber| before.is_none_or(|before| number < before);
        let end = kept.results.partition_point(|result| is_before(result.number));
        if end > 0 {
            // Copied, so that nobody waits for who looks.
            let first = end.saturating_sub(limits::LADDER_RESULTS_LOOKED_AT);
            let results = kept.results.range(first..end).cloned().collect();
            return Place::InMemory(Part { results, more: first > 0 || !kept.blocks.is_empty() });
        }
        let mut blocks =
            kept.blocks.iter().rev().filter(|block| is_before(block.first) && block.has_since(since));
        match blocks.next() {
            Some(&block) => Place::InFile { block, more: blocks.next().is_some() },
            None => Place::InMemory(Part { results: Vec::new(), more: false }),
        }
    }

    /// Looks at results, the latest first, until the page is full or as many were looked at as may be at once. Some that ended before
    /// that time are passed over.
    async fn look<T>(
        &self,
        since: Option<UnixMillis>,
        of: &PageFrom<u64>,
        want: impl Fn(&Arc<LoggedResult>) -> Option<T>,
    ) -> Result<Page<T>, LadderFault> {
        let mut span = SeasonSpan { since, before: of.after.map(ResultNumber::new) };
        let mut items = Vec::new();
        let mut looked_at = 0;
        loop {
            let next = |before: Option<ResultNumber>| before.map(|last| last.get().to_string());
            let Part { results, more } = match self.part(span).await {
                Ok(part) => part,
                Err(fault) if looked_at == 0 => return Err(fault),
                // Who asks on is told so.
                Err(_) => return Ok(Page { items, next: next(span.before) }),
            };
            let mut rest = results.iter().rev();
            while items.len() < of.most
                && looked_at < limits::LADDER_RESULTS_LOOKED_AT
                && let Some(result) = rest.next()
            {
                looked_at += 1;
                span.before = Some(result.number);
                items.extend(want(result));
            }
            let more = more || rest.next().is_some();
            if !more || items.len() == of.most || looked_at == limits::LADDER_RESULTS_LOOKED_AT {
                return Ok(Page { items, next: next(span.before.filter(|_| more)) });
            }
        }
    }

    fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_mut(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}
