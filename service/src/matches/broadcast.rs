//! What all who look on with the same eyes are shown: kept once, however many they are.
//!
//! The table's task puts an observation into a log and wakes one task. That one wakes the readers row by row, and lets
//! others run after each row: so neither the players of the match nor other matches wait until a crowd is served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::yield_now;

use super::End;
use super::backlog::Backlog;
use super::observed::Shown;
use crate::limits::READERS_WOKEN_AT_ONCE;

/// The table's side: what it shows. When it is dropped without an end, its readers are told that the server stops.
pub(super) struct Broadcast {
    log: Arc<SharedLog>,
    news: watch::Sender<()>,
}

/// The side of one reader.
pub(super) struct Reader {
    log: Arc<SharedLog>,
    row: Arc<Notify>,
    /// What it reads next.
    next: u64,
}

struct SharedLog(Mutex<Log>);

/// What was shown and not read by all who are in time.
struct Log {
    unread: VecDeque<Unread>,
    backlog: Arc<Backlog>,
    /// The place of the first of them, or of what comes next if there is none. Who has yet to read an earlier one has
    /// fallen behind.
    first: u64,
    bytes: usize,
    /// The readers who have not fallen behind.
    in_time: usize,
    /// Each wakes its readers in the order in which they wait: a `watch` would draw lots.
    rows: Vec<Arc<Notify>>,
    end: Option<End>,
}

struct Unread {
    shown: Arc<Shown>,
    /// How many have yet to read it.
    by: usize,
}

/// How much waits at most for a reader who is in time.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub(super) observations: usize,
    pub(super) bytes: usize,
}

impl Broadcast {
    /// One without readers, whose task runs until it is dropped.
    pub(super) fn start(backlog: Arc<Backlog>) -> Self {
        let (news, heard) = watch::channel(());
        let log = Arc::new(SharedLog(Mutex::new(Log::new(backlog))));
        tokio::spawn(wake_by_rows(Arc::clone(&log), heard));
        Self { log, news }
    }

    /// How many readers there are who have not fallen behind.
    pub(super) fn readers(&self) -> usize {
        self.log.lock().in_time
    }

    /// A reader of all that is shown from now on.
    pub(super) fn reader(&self) -> Reader {
        let mut log = self.log.lock();
        log.in_time += 1;
        Reader { row: log.place(), next: log.end(), log: Arc::clone(&self.log) }
    }

    /// Shows one. The answer is how many readers have fallen behind by it: they get nothing more.
    pub(super) fn show(&self, shown: Arc<Shown>, most: Most) -> usize {
        let cut = self.log.lock().push(shown, most);
        self.news.send_replace(());
        cut
    }

    /// Ends it for all, behind what they have yet to read.
    pub(super) fn finish(self, end: End) {
        self.log.lock().end = Some(end);
    }
}

impl Drop for Broadcast {
    fn drop(&mut self) {
        // The readers are woken once more by the task, which sees that nothing else comes.
        self.log.lock().end.get_or_insert(End::Stopped);
    }
}

/// Wakes the readers whenever there is news, and a last time when no more can come. News that come meanwhile are read by
/// those who are woken then, and begin another round.
async fn wake_by_rows(log: Arc<SharedLog>, mut news: watch::Receiver<()>) {
    loop {
        let last = news.changed().await.is_err();
        let mut row = 0;
        while let Some(sleepers) = log.row(row) {
            sleepers.notify_waiters();
            row += 1;
            yield_now().await;
        }
        if last {
            return;
        }
    }
}

impl Reader {
    /// What is shown next, or why nothing more is. A call that is dropped loses nothing.
    pub(super) async fn next(&mut self) -> Result<Arc<Shown>, End> {
        loop {
            // Before it is looked, so that what comes after the look wakes it.
            let woken = self.row.notified();
            if let Some(read) = self.log.lock().read(self.next) {
                self.next += u64::from(read.is_ok());
                return read;
            }
            woken.await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.log.lock().leave(self.next);
    }
}

impl SharedLog {
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What wakes a row, if there is one with this number.
    fn row(&self, row: usize) -> Option<Arc<Notify>> {
        self.lock().rows.get(row).cloned()
    }
}

impl Log {
    const fn new(backlog: Arc<Backlog>) -> Self {
        Self { unread: VecDeque::new(), backlog, first: 0, bytes: 0, in_time: 0, rows: Vec::new(), end: None }
    }

    /// The place of what is shown next.
    fn end(&self) -> u64 {
        self.first + self.unread.len() as u64
    }

    /// A place in a row.
    fn place(&mut self) -> Arc<Notify> {
        // One is the log's own.
        let has_room = |row: &&Arc<Notify>| Arc::strong_count(row) <= READERS_WOKEN_AT_ONCE;
        if let Some(row) = self.rows.iter().find(has_room) {
            return Arc::clone(row);
        }
        let row = Arc::new(Notify::new());
        self.rows.push(Arc::clone(&row));
        row
    }

    /// Adds one. Those for whom there would be too much are behind then, which is how many.
    fn push(&mut self, shown: Arc<Shown>, most: Most) -> usize {
        let mut cut = 0;
        // One alone is always let through.
        while !self.unread.is_empty()
            && (self.unread.len() >= most.observations
                || self.bytes.saturating_add(shown.bytes()) > most.bytes)
        {
            cut += self.drop_first();
        }
        if self.in_time == 0 {
            self.first += 1;
        } else {
            self.bytes += shown.bytes();
            self.backlog.add(shown.bytes());
            self.unread.push_back(Unread { shown, by: self.in_time });
        }
        cut
    }

    /// Drops the first, and with it those who have not read it: nothing is kept for them.
    fn drop_first(&mut self) -> usize {
        let Some(Unread { shown, by: behind }) = self.unread.pop_front() else { return 0 };
        self.first += 1;
        self.forget(&shown);
        self.in_time -= behind;
        for unread in &mut self.unread {
            unread.by -= behind;
        }
        self.tidy();
        behind
    }

    /// What is at this place, or why nothing is. `None`: nothing yet.
    fn read(&mut self, place: u64) -> Option<Result<Arc<Shown>, End>> {
        let Some(index) = self.index(place) else { return Some(Err(End::Lagging)) };
        let Some(unread) = self.unread.get_mut(index) else { return self.end.clone().map(Err) };
        unread.by -= 1;
        let shown = Arc::clone(&unread.shown);
        self.tidy();
        Some(Ok(shown))
    }

    /// A reader is gone who has read all before this place.
    fn leave(&mut self, place: u64) {
        // Who is behind is not counted any more.
        let Some(index) = self.index(place) else { return };
        self.in_time -= 1;
        for unread in self.unread.range_mut(index..) {
            unread.by -= 1;
        }
        self.tidy();
    }

    /// Where a place is. `None`: it is gone.
    fn index(&self, place: u64) -> Option<usize> {
        usize::try_from(place.checked_sub(self.first)?).ok()
    }

    /// Drops what all have read.
    fn tidy(&mut self) {
        while let Some(Unread { by: 0, .. }) = self.unread.front() {
            if let Some(Unread { shown, by: _ }) = self.unread.pop_front() {
                self.first += 1;
                self.forget(&shown);
            }
        }
    }

    fn forget(&mut self, shown: &Shown) {
        self.bytes -= shown.bytes();
        self.backlog.remove(shown.bytes());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.backlog.remove(self.bytes);
    }
}
