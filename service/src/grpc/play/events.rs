//! What seldom happens on a stream, beside what is asked and heard on it.

use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{FuturesUnordered, Next},
};
use tokio::time::{Instant, sleep_until};

use super::outbox::Outbox;
use crate::{grpc::drain::Drain, journal::Rotation};

/// One such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The token that opened the stream holds no longer.
    Voided,
    /// The bot whose token opened the stream got another.
    Rotated(Rotation),
    /// Nobody reads the answers any more.
    Unread,
    /// The server drains.
    Draining,
    /// The server closes.
    Closing,
    /// It is time to look at this.
    Due(Due),
}

/// What has its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Hello,
    Ping,
    /// A sign of life.
    Sign,
}

/// Until when the token that opened a stream is for what.
pub(super) struct Validity {
    pub(super) rotated: BoxFuture<'static, Rotation>,
    pub(super) voided: BoxFuture<'static, ()>,
}

/// All that may happen. What has not happened costs nothing when something else does, which is with every message: so none
/// of it is waited for anew.
pub(super) struct Events<'stream>(FuturesUnordered<BoxFuture<'stream, Event>>);

impl<'stream> Events<'stream> {
    pub(super) fn new<T>(out: &'stream Outbox<T>, drain: &'stream Drain, validity: Validity) -> Self
    where
        T: Send,
    {
        let events = FuturesUnordered::new();
        let Validity { rotated, voided } = validity;
        events.push(voided.map(|()| Event::Voided).boxed());
        events.push(rotated.map(Event::Rotated).boxed());
        events.push(out.closed().map(|()| Event::Unread).boxed());
        events.push(drain.draining().cancelled().map(|()| Event::Draining).boxed());
        events.push(drain.closing().cancelled().map(|()| Event::Closing).boxed());
        Self(events)
    }

    /// This is to be looked at then, once.
    pub(super) fn look_at(&self, due: Due, at: Instant) {
        self.0.push(sleep_until(at).map(move |()| Event::Due(due)).boxed());
    }

    /// The next that happens.
    pub(super) fn next(&mut self) -> Next<'_, FuturesUnordered<BoxFuture<'stream, Event>>> {
        self.0.next()
    }
}
