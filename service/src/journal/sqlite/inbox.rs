//! What waits for the writer. It is taken many at a time: to take one by one costs as much as to write them.

use std::mem;
use std::thread;
use std::time::Instant;

use futures::FutureExt;
use tokio::sync::mpsc;

use super::limits;
use super::request::Request;
use super::stats::Stats;

pub(super) struct Inbox {
    requests: mpsc::Receiver<Request>,
    /// Taken, and too much for the last commit.
    left: Vec<Request>,
    /// How many writes came to the last commit.
    last_writes: usize,
    /// Since when nobody has looked at what waits.
    looked_away: Instant,
}

/// What is there for the writer.
pub(super) enum Taken {
    /// What one commit takes; one that asks to close is the last.
    Some(Vec<Request>),
    /// Nothing, now.
    Nothing,
    /// All senders are gone.
    Gone,
}

/// How much of what was taken one commit takes.
struct Count {
    requests: usize,
    writes: usize,
    bytes: usize,
    is_full: bool,
}

impl Inbox {
    pub(super) fn new(requests: mpsc::Receiver<Request>) -> Self {
        Self { requests, left: Vec::new(), last_writes: 0, looked_away: Instant::now() }
    }

    /// Takes what is waiting, up to a commit's limit. When nothing is, it waits, if it may.
    ///
    /// Where more than one has come to this commit or the last one, it waits for no longer than others take who run in the meantime:
    /// whoever has more may be about to hand it in. A match alone waits for nobody.
    pub(super) fn take(&mut self, may_wait: bool, stats: &Stats) -> Taken {
        let mut taken = mem::take(&mut self.left);
        taken.reserve(self.last_writes);
        let mut since = self.looked_away;
        if taken.is_empty() {
            match self.poll(&mut taken) {
                Some(0) => return Taken::Gone,
                Some(_) => {}
                None if !may_wait => return Taken::Nothing,
                None => {
                    if self.requests.blocking_recv_many(&mut taken, limits::COMMIT_WRITES) == 0 {
                        return Taken::Gone;
                    }
                    since = Instant::now();
                }
            }
        }
        let mut count = Count { requests: 0, writes: 0, bytes: 0, is_full: false };
        let (mut lingers, begun) = (limits::LINGERS, Instant::now());
        loop {
            count.go_on(&taken);
            if count.is_full {
                break;
            }
            if self.poll(&mut taken).is_none_or(|more| more == 0) {
                let may_linger = lingers > 0 && count.writes.max(self.last_writes) > 1;
                if !may_linger || begun.elapsed() >= limits::MAX_LINGER {
                    break;
                }
                lingers -= 1;
                stats.took(count.requests, Some(since));
                thread::yield_now();
                if self.poll(&mut taken).is_none_or(|more| more == 0) {
                    break;
                }
            }
        }
        self.left = taken.split_off(count.requests);
        self.last_writes = count.writes;
        self.looked_away = Instant::now();
        stats.took(taken.len() + self.left.len(), Some(since));
        Taken::Some(taken)
    }

    /// Takes what is there without waiting: how many these are. Of none it says if there will never be any more, by 0.
    fn poll(&mut self, taken: &mut Vec<Request>) -> Option<usize> {
        self.requests.recv_many(taken, limits::COMMIT_WRITES).now_or_never()
    }

    /// Closes the queue. The answer is what is still in it, or being sent right now: to drop it would lose the latter, and its sender
    /// would wait for ever.
    pub(super) fn close(mut self) -> Vec<Request> {
        self.requests.close();
        let mut rest = self.left;
        while let Some(request) = self.requests.blocking_recv() {
            rest.push(request);
        }
        rest
    }
}

impl Count {
    /// Counts those that were not counted yet, up to what a commit takes.
    fn go_on(&mut self, taken: &[Request]) {
        for request in taken.iter().skip(self.requests) {
            if self.is_full {
                break;
            }
            self.requests += 1;
            match request {
                Request::Write(write) => {
                    self.writes += 1;
                    self.bytes += write.bytes();
                }
                Request::Query(_) => {}
                Request::Close(_) => self.is_full = true,
            }
            self.is_full |= self.bytes >= limits::COMMIT_BYTES || self.writes >= limits::COMMIT_WRITES;
        }
    }
}
