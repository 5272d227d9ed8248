//! What goes over one connection, and when it is too much, too little, or nothing that the client takes.
//!
//! h2 and hyper bound what a client may send in one stream, and the number of streams. What they leave open is bounded here:
//! frames that carry nothing, answers that wait for a client that does not read, and connections that nobody uses.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use axum::body::Bytes;
use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, sleep_until},
};

use super::{
    Address, Crowd, Full, Purpose, Room,
    allowance::{Allowance, cost},
    frames::{Frames, kind},
    pace::Pace,
    pool::{Part, Pool, Taken},
    queued::{LetGo, Queued},
    verdict::Verdict,
    windows::Windows,
};
use crate::{
    config::{Number, Numbers},
    limits,
};

/// The bounds of every connection, and what they share.
#[derive(Debug)]
pub(crate) struct Bounds {
    idle: Duration,
    write_stall: Duration,
    queued: u64,
    streams: usize,
    /// The calls and streams of all connections.
    pub(crate) calls: Arc<Crowd>,
    /// As many of them may be for something else than to play.
    others: usize,
    /// Questions about its health, when there is no room for other calls.
    checks: Arc<Crowd>,
    /// Pages of metrics, which are no calls.
    pages: Arc<Crowd>,
    /// Bytes of requests that are large.
    large_requests: Arc<Pool>,
    /// Requests on Play streams that are not answered.
    unanswered: Arc<Pool>,
    /// Bytes that wait to be sent.
    waiting: Arc<Pool>,
}

impl Bounds {
    pub(crate) fn new(numbers: &Numbers) -> Arc<Self> {
        let streams = numbers.count(Number::MaxStreams);
        Arc::new(Self {
            idle: numbers.millis(Number::IdleTimeoutMs),
            write_stall: numbers.millis(Number::WriteStallTimeoutMs),
            queued: numbers.get(Number::MaxQueuedBytesPerConnection),
            streams: numbers.count(Number::MaxStreamsPerConnection),
            calls: Crowd::new(streams, numbers.count(Number::MaxStreamsPerAddress)),
            others: streams - streams / limits::PART_OF_STREAMS_FOR_PLAY,
            checks: Crowd::new(limits::MAX_HEALTH_CHECKS, limits::MAX_HEALTH_CHECKS_PER_ADDRESS),
            pages: Crowd::new(limits::MAX_METRICS_PAGES, limits::MAX_METRICS_PAGES_PER_ADDRESS),
            large_requests: large_requests(numbers),
            unanswered: Pool::new(limits::UNANSWERED_REQUESTS, limits::UNANSWERED_REQUESTS_PER_ADDRESS),
            waiting: Pool::new(
                numbers.get(Number::MaxQueuedBytes),
                numbers.get(Number::MaxQueuedBytesPerAddress),
            ),
        })
    }

    /// Bytes that wait to be sent on all connections.
    pub(crate) fn queued_in_all(&self) -> u64 {
        self.waiting.taken()
    }

    /// How long a client may take nothing: when much waits to be sent, those that don't read are the first to go.
    fn patience(&self) -> Duration {
        if self.waiting.is_half_full() {
            self.write_stall.min(limits::WRITE_STALL_WHEN_FULL)
        } else {
            self.write_stall
        }
    }
}

/// One request has room in the part of an address, however large it may be.
fn large_requests(numbers: &Numbers) -> Arc<Pool> {
    let most = limits::LARGE_REQUESTS_BYTES;
    let largest = numbers.get(Number::MaxRequestBytes) * 2;
    Pool::new(most, (most / limits::PART_OF_LARGE_REQUESTS).max(largest))
}

/// The traffic of one connection. A clone is another handle to the same.
#[derive(Debug, Clone)]
pub(crate) struct Traffic(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bounds: Arc<Bounds>,
    address: Address,
    /// What waits to be sent to its address.
    waiting: Part,
    /// Of that, what waits no more.
    let_go: LetGo,
    state: Mutex<State>,
    flooded: Notify,
    workers: Arc<Semaphore>,
}

#[derive(Debug)]
struct State {
    http2: Option<Http2>,
    /// Since when the system takes nothing more.
    blocked_since: Option<Instant>,
    /// Calls and streams that are open.
    calls: usize,
    /// When the last of them ended.
    idle_since: Instant,
    /// Bytes of answers that were handed over, without those that were let go and taken off.
    queued: u64,
    pace: Pace,
    /// Answers that wait until less is queued.
    waiting: VecDeque<Waker>,
    allowance: Allowance,
    verdict: Option<Verdict>,
}

#[derive(Debug)]
struct Http2 {
    heard: Frames,
    said: Frames,
    windows: Windows,
}

impl Traffic {
    pub(crate) fn new(bounds: &Arc<Bounds>, address: Address) -> Self {
        let now = Instant::now();
        Self(Arc::new(Shared {
            bounds: Arc::clone(bounds),
            address,
            waiting: bounds.waiting.part(address),
            let_go: LetGo::default(),
            state: Mutex::new(State {
                http2: None,
                blocked_since: None,
                calls: 0,
                idle_since: now,
                queued: 0,
                pace: Pace::default(),
                waiting: VecDeque::new(),
                allowance: Allowance::new(now),
                verdict: None,
            }),
            flooded: Notify::new(),
            workers: Arc::new(Semaphore::new(limits::MAX_CALLS_AT_WORK)),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client speaks HTTP/2: what it says from here on are frames.
    pub(crate) fn speaks_http2(&self) {
        let windows = Windows::new(self.0.bounds.streams);
        self.state().http2 = Some(Http2 { heard: Frames::default(), said: Frames::default(), windows });
    }

    /// Whether the client speaks HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        self.state().http2.is_some()
    }

    /// Takes in what the client has sent.
    pub(crate) fn heard(&self, bytes: &[u8]) {
        let now = Instant::now();
        let mut state = self.state();
        let State { http2: Some(Http2 { heard, windows, .. }), allowance, .. } = &mut *state else { return };
        let mut enough = true;
        heard.take(bytes, |frame| {
            windows.heard(&frame, now);
            match cost(&frame) {
                // What is asked may be acknowledged, cancelled and so on.
                0 if frame.kind == kind::HEADERS => allowance.give(limits::EMPTY_FRAMES_PER_REQUEST),
                0 => {}
                cost => enough &= allowance.take(cost, now),
            }
        });
        drop(state);
        if !enough {
            self.flooded();
        }
    }

    /// Takes in what the server has sent.
    pub(crate) fn said(&self, bytes: &[u8]) {
        let now = Instant::now();
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut state = self.state();
        state.blocked_since = None;
        state.allowance.said(count);
        let mut flood = false;
        if let Some(Http2 { said, windows, .. }) = &mut state.http2 {
            said.take(bytes, |frame| {
                windows.said(&frame, now);
                flood |= frame.cuts_a_flood();
            });
        }
        if flood {
            state.verdict.get_or_insert(Verdict::Flooding);
        }
        self.settle(&mut state);
    }

    /// The system takes nothing more for now.
    pub(crate) fn blocked(&self) {
        let mut state = self.state();
        state.blocked_since.get_or_insert_with(Instant::now);
        self.settle(&mut state);
    }

    /// All is sent that was written. More may wait: h2 writes and flushes one large frame at a time.
    pub(crate) fn flushed(&self) {
        let mut state = self.state();
        state.blocked_since = None;
        self.settle(&mut state);
    }

    pub(super) fn let_go(&self) -> &LetGo {
        &self.0.let_go
    }

    /// Takes off what was let go. Whatever lets something go, the connection writes or flushes after it, which asks this.
    fn settle(&self, state: &mut State) {
        let bytes = self.0.let_go.take();
        if bytes == 0 {
            return;
        }
        state.queued = state.queued.saturating_sub(bytes);
        state.pace.took(bytes, state.queued, Instant::now());
        self.0.waiting.remove(bytes);
        if state.queued < self.0.bounds.queued {
            state.waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// Waits until there is room for another piece of an answer. Where nothing waits there always is, so that no connection
    /// is kept out by others.
    pub(crate) fn poll_room(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        self.settle(&mut state);
        let room = state.queued < self.0.bounds.queued && self.0.waiting.room().is_ok();
        if state.queued == 0 || room {
            return Poll::Ready(());
        }
        // There are never more of them than calls; one that asks twice is woken twice.
        if state.waiting.len() >= 2 * self.0.bounds.streams {
            state.waiting.drain(..).for_each(Waker::wake);
        }
        state.waiting.push_back(context.waker().clone());
        Poll::Pending
    }

    /// Waits until there is room for another piece of an answer.
    pub(crate) async fn room_for_answer(&self) {
        poll_fn(|context| self.poll_room(context)).await;
    }

    /// Whether there is room on this connection for a large answer. There is none on any while as much waits as may, in all or
    /// for its address.
    pub(crate) fn has_room(&self) -> Result<bool, Full> {
        self.0.waiting.room()?;
        let mut state = self.state();
        self.settle(&mut state);
        Ok(state.queued < self.0.bounds.queued)
    }

    /// A piece of an answer that is handed over, and waits until it is let go.
    pub(crate) fn queue(&self, piece: Bytes) -> Queued {
        let bytes = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if bytes > 0 {
            self.0.waiting.add(bytes);
            let mut state = self.state();
            state.queued += bytes;
            state.pace.waits(Instant::now);
        }
        Queued::new(piece, self.clone())
    }

    /// Something was asked that is worth some frames that carry nothing.
    pub(crate) fn useful(&self) {
        self.state().allowance.give(limits::EMPTY_FRAMES_PER_REQUEST);
    }

    /// Something was refused that came too fast. Who goes on regardless is flooding.
    pub(crate) fn refused(&self) {
        let enough = self.state().allowance.take(2 * limits::EMPTY_FRAMES_PER_REQUEST, Instant::now());
        if !enough {
            self.flooded();
        }
    }

    fn flooded(&self) {
        self.0.flooded.notify_one();
    }

    /// Room for a call or stream, among those of all connections. What waits to be sent to others keeps nobody from playing:
    /// a connection on which nothing waits may always be sent something.
    pub(crate) fn room(&self, purpose: Purpose) -> Option<Room> {
        let Shared { bounds, address, waiting, .. } = &*self.0;
        let address = *address;
        let room = match purpose {
            Purpose::Health => bounds.calls.room(address).or_else(|_| bounds.checks.room(address)),
            Purpose::Metrics if address.is_loopback() => bounds.pages.room(address),
            Purpose::Metrics => bounds.pages.room_within(limits::METRICS_PAGES_FOR_ALL, address),
            Purpose::Play => bounds.calls.room(address),
            Purpose::Other if waiting.room().is_err() => return None,
            Purpose::Other => bounds.calls.room_within(bounds.others, address),
        };
        room.ok()
    }

    /// The room of a large request, none of which is taken yet.
    pub(crate) fn large_request(&self) -> Taken {
        Taken::new(self.0.bounds.large_requests.part(self.0.address))
    }

    /// The room of requests on a Play stream that are not answered, none of which is taken yet.
    pub(crate) fn unanswered(&self) -> Taken {
        Taken::new(self.0.bounds.unanswered.part(self.0.address))
    }

    /// What limits how many calls are worked on at once.
    pub(crate) fn workers(&self) -> Arc<Semaphore> {
        Arc::clone(&self.0.workers)
    }

    /// A call or stream, open for as long as what is returned lives.
    pub(crate) fn call(&self) -> OpenCall {
        self.state().calls += 1;
        OpenCall(self.clone())
    }

    /// Why the connection was closed, if it was the server that closed it.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.state().verdict
    }

    /// Waits until the connection has to be closed.
    pub(crate) async fn watch(&self) -> Verdict {
        let Bounds { idle, write_stall, .. } = *self.0.bounds;
        let step = (idle.min(write_stall) / 4).min(limits::WRITE_STALL_WHEN_FULL);
        let mut due = Instant::now() + step;
        let verdict = loop {
            tokio::select! {
                () = self.0.flooded.notified() => break Verdict::Flooding,
                () = sleep_until(due) => {}
            }
            let (now, patience) = (Instant::now(), self.0.bounds.patience());
            let mut state = self.state();
            self.settle(&mut state);
            if now > due + limits::STALL_GAP {
                // The server itself has stalled: the client may have read meanwhile.
                state.blocked_since = state.blocked_since.map(|_| now);
                if let Some(http2) = &mut state.http2 {
                    http2.windows.shut_at_the_earliest(now);
                }
                state.pace.began_at_the_earliest(now);
            }
            let shut = state.http2.as_ref().and_then(|http2| http2.windows.shut_since());
            let longer = |since: Instant, than| now.duration_since(since) >= than;
            let slow = state.pace.since();
            if [shut, state.blocked_since, slow].into_iter().flatten().any(|since| longer(since, patience)) {
                break Verdict::Stalled;
            }
            if state.calls == 0 && longer(state.idle_since, idle) {
                break Verdict::Idle;
            }
            due = now + step;
        };
        self.state().verdict = Some(verdict);
        verdict
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.waiting.remove(state.queued);
    }
}

/// A call or stream that is open.
#[derive(Debug)]
pub(crate) struct OpenCall(Traffic);

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.calls -= 1;
        state.idle_since = Instant::now();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
