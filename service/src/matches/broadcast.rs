//! What all who look on with the same eyes are shown: kept once, however many they are.
//!
//! The table's task puts an observation into a log and wakes its readers, if they are a row at most. Of a crowd it wakes one task: that
//! one wakes the readers row by row, and lets others run after each row. So neither the players of the match nor other matches wait until
//! a crowd is served.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use smallvec::{SmallVec, smallvec};
use tokio::sync::watch;
use tokio::task::yield_now;

use super::End;
use super::backlog::Backlog;
use super::observed::Shown;
use crate::limits::READERS_WOKEN_AT_ONCE;
use crate::short_queue::ShortQueue;
use crate::sleeper::Sleeper;

/// The table's side: what it shows. When it is dropped without an end, its readers are told that the server stops.
pub(super) struct Broadcast {
    log: Arc<SharedLog>,
    /// What has a crowd woken, once there is one.
    crowd: Option<watch::Sender<()>>,
}

/// The side of one reader.
pub(super) struct Reader {
    log: Arc<SharedLog>,
    place: Place,
    /// What it reads next.
    next: u64,
}

struct SharedLog(Mutex<Log>);

/// What was shown and not read by all who are in time.
struct Log {
    unread: ShortQueue<Unread>,
    backlog: Arc<Backlog>,
    /// The place of the first of them, or of what comes next if there is none. Who has yet to read an earlier one has
    /// fallen behind.
    first: u64,
    bytes: usize,
    /// The readers who have not fallen behind.
    in_time: usize,
    /// Each wakes its readers in the order of their places.
    rows: SmallVec<[Row; 1]>,
    end: Option<End>,
}

/// Readers who are woken at once. At a place that one has left is nobody.
#[derive(Default)]
struct Row(SmallVec<[Sleeper; 1]>);

/// Where a reader is.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    index: usize,
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
    /// One without readers.
    pub(super) fn new(backlog: Arc<Backlog>) -> Self {
        Self { log: Arc::new(SharedLog(Mutex::new(Log::new(backlog)))), crowd: None }
    }

    /// How many readers there are who have not fallen behind.
    pub(super) fn readers(&self) -> usize {
        self.log.lock().in_time
    }

    /// A reader of all that is shown from now on.
    pub(super) fn reader(&mut self) -> Reader {
        let mut log = self.log.lock();
        log.in_time += 1;
        let reader = Reader { place: log.place(), next: log.end(), log: Arc::clone(&self.log) };
        let is_crowd = log.rows.len() > 1;
        drop(log);
        if is_crowd && self.crowd.is_none() {
            let (news, heard) = watch::channel(());
            tokio::spawn(wake_by_rows(Arc::clone(&self.log), heard));
            self.crowd = Some(news);
        }
        reader
    }

    /// Shows one. The answer is how many readers have fallen behind by it: they get nothing more.
    pub(super) fn show(&self, shown: Arc<Shown>, most: Most) -> usize {
        let cut = self.log.lock().push(shown, most);
        self.tell();
        cut
    }

    /// Ends it for all, behind what they have yet to read.
    pub(super) fn finish(self, end: End) {
        self.log.lock().end = Some(end);
    }

    /// Wakes the readers, or what wakes them.
    fn tell(&self) {
        match &self.crowd {
            Some(news) => {
                news.send_replace(());
            }
            None => self.log.wake(0),
        }
    }
}

impl Drop for Broadcast {
    fn drop(&mut self) {
        // Of a crowd the task wakes them once more, as it sees that nothing else comes.
        self.log.lock().end.get_or_insert(End::Stopped);
        if self.crowd.is_none() {
            self.log.wake(0);
        }
    }
}

/// Wakes the readers of a crowd whenever there is news, and a last time when no more can come. News that come meanwhile are read by
/// those who are woken then, and begin another round.
async fn wake_by_rows(log: Arc<SharedLog>, mut news: watch::Receiver<()>) {
    loop {
        let last = news.changed().await.is_err();
        for row in 0..log.rows() {
            log.wake(row);
            yield_now().await;
        }
        if last {
            return;
        }
    }
}

impl Reader {
    /// What is shown next, or why nothing more is.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Result<Arc<Shown>, End>> {
        let mut log = self.log.lock();
        if let Some(read) = log.read(self.next) {
            self.next += u64::from(read.is_ok());
            return Poll::Ready(read);
        }
        // With the log still held: what is shown after the look wakes it.
        log.sleep(self.place, context);
        Poll::Pending
    }

    /// Has the task of this context woken for what is shown next, if it is known that nothing is there now.
    pub(super) fn sleeps(&self, context: &Context<'_>) -> bool {
        let mut log = self.log.lock();
        let is_empty = log.end.is_none() && self.next == log.end();
        if is_empty {
            log.sleep(self.place, context);
        }
        is_empty
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut log = self.log.lock();
        log.leave(self.next);
        if let Some(reading) = log.at(self.place) {
            *reading = Sleeper::Gone;
        }
    }
}

impl SharedLog {
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rows(&self) -> usize {
        self.lock().rows.len()
    }

    /// Wakes those of a row who wait.
    fn wake(&self, row: usize) {
        let mut log = self.lock();
        let Some(Row(readers)) = log.rows.get_mut(row) else { return };
        if let [reading] = readers.as_mut_slice() {
            let woken = reading.wake();
            drop(log);
            woken.into_iter().for_each(Waker::wake);
            return;
        }
        let woken: Vec<Waker> = readers.iter_mut().filter_map(Sleeper::wake).collect();
        drop(log);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Log {
    fn new(backlog: Arc<Backlog>) -> Self {
        let (unread, rows) = (ShortQueue::new(), SmallVec::new());
        Self { unread, backlog, first: 0, bytes: 0, in_time: 0, rows, end: None }
    }

    /// The place of what is shown next.
    fn end(&self) -> u64 {
        self.first + self.unread.len() as u64
    }

    /// A place in a row, where a reader is from now on.
    fn place(&mut self) -> Place {
        for (row, Row(readers)) in self.rows.iter_mut().enumerate() {
            if let Some(index) = readers.iter().position(Sleeper::is_gone) {
                readers[index] = Sleeper::Awake;
                return Place { row, index };
            }
            if readers.len() < READERS_WOKEN_AT_ONCE {
                readers.push(Sleeper::Awake);
                return Place { row, index: readers.len() - 1 };
            }
        }
        self.rows.push(Row(smallvec![Sleeper::Awake]));
        Place { row: self.rows.len() - 1, index: 0 }
    }

    /// Who is at a place waits for more.
    fn sleep(&mut self, place: Place, context: &Context<'_>) {
        if let Some(reading) = self.at(place) {
            reading.sleep(context);
        }
    }

    /// Who is at a place.
    fn at(&mut self, Place { row, index }: Place) -> Option<&mut Sleeper> {
        self.rows.get_mut(row)?.0.get_mut(index)
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
        self.unread.iter_mut().for_each(|unread| unread.by -= behind);
        self.tidy();
        behind
    }

    /// What is at this place, or why nothing is. `None`: nothing yet.
    fn read(&mut self, place: u64) -> Option<Result<Arc<Shown>, End>> {
        let Some(index) = self.index(place) else { return Some(Err(End::Lagging)) };
        let Some(unread) = self.unread.iter_mut().nth(index) else { return self.end.clone().map(Err) };
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
        self.unread.iter_mut().skip(index).for_each(|unread| unread.by -= 1);
        self.tidy();
    }

    /// Where a place is. `None`: it is gone.
    fn index(&self, place: u64) -> Option<usize> {
        usize::try_from(place.checked_sub(self.first)?).ok()
    }

    /// Drops what all have read.
    fn tidy(&mut self) {
        while self.unread.iter().next().is_some_and(|first| first.by == 0) {
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
