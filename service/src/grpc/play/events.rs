//! What seldom happens on a stream, beside what is asked and heard on it.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::{Instant, sleep_until};

use super::{outbox::Outbox, post::Post};
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

/// All that may happen. What has not happened costs next to nothing when something else does, which is with every message: none of it
/// is looked at before it calls.
pub(super) struct Events<'stream> {
    awaited: FuturesUnordered<BoxFuture<'stream, Event>>,
    post: Arc<Post>,
    /// Its bell, as what is awaited rings it.
    waker: Waker,
}

impl<'stream> Events<'stream> {
    pub(super) fn new<T>(
        post: Arc<Post>,
        out: &'stream Outbox<T>,
        drain: &'stream Drain,
        validity: Validity,
    ) -> Self
    where
        T: Send,
    {
        let awaited = FuturesUnordered::new();
        let Validity { rotated, voided } = validity;
        awaited.push(voided.map(|()| Event::Voided).boxed());
        awaited.push(rotated.map(Event::Rotated).boxed());
        awaited.push(out.closed().map(|()| Event::Unread).boxed());
        awaited.push(drain.draining().cancelled().map(|()| Event::Draining).boxed());
        awaited.push(drain.closing().cancelled().map(|()| Event::Closing).boxed());
        let waker = Waker::from(Arc::clone(&post));
        Self { awaited, post, waker }
    }

    /// This is to be looked at then, once. It is awaited from when the next event is asked for.
    pub(super) fn look_at(&self, due: Due, at: Instant) {
        self.awaited.push(sleep_until(at).map(move |()| Event::Due(due)).boxed());
        self.post.bell.is_to_be_looked_at();
    }

    /// The next that happens. It is always one task that asks.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Event> {
        if !self.post.bell.has_rung(context.waker()) {
            return Poll::Pending;
        }
        match self.awaited.poll_next_unpin(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(Some(event)) => {
                // There may be more.
                self.post.bell.is_to_be_looked_at();
                Poll::Ready(event)
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use futures::future;
    use tokio::sync::oneshot;

    use super::*;
    use crate::grpc::play::outbox::outbox;

    fn validity(voided: oneshot::Receiver<()>) -> Validity {
        Validity { rotated: future::pending().boxed(), voided: voided.map(|_| ()).boxed() }
    }

    #[tokio::test(start_paused = true)]
    async fn each_event_wakes_whoever_waits_for_it_and_none_is_lost() {
        let (out, unread) = outbox::<()>();
        let (drain, (void, voided)) = (Drain::default(), oneshot::channel());
        let mut events = Events::new(Arc::default(), &out, &drain, validity(voided));
        let begun = Instant::now();
        let late = begun + Duration::from_secs(2);
        events.look_at(Due::Ping, late);
        events.look_at(Due::Hello, begun + Duration::from_secs(1));
        let mut next = async || poll_fn(|context| events.poll_next(context)).await;
        assert_eq!(next().await, Event::Due(Due::Hello));
        assert_eq!(next().await, Event::Due(Due::Ping));
        assert_eq!(Instant::now(), late);
        // Two at once, while nobody asks.
        void.send(()).unwrap();
        drop(unread);
        let both = [next().await, next().await];
        assert!(both.contains(&Event::Voided) && both.contains(&Event::Unread), "{both:?}");
        let (event, ()) = tokio::join!(next(), async { drain.close() });
        assert!(matches!(event, Event::Draining | Event::Closing), "{event:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_to_be_looked_at_anew_is_awaited_though_nothing_has_rung() {
        let (out, _unread) = outbox::<()>();
        let (drain, (_void, voided)) = (Drain::default(), oneshot::channel());
        let mut events = Events::new(Arc::default(), &out, &drain, validity(voided));
        assert!(poll_fn(|context| events.poll_next(context)).now_or_never().is_none());
        for _ in 0..3 {
            events.look_at(Due::Sign, Instant::now() + Duration::from_secs(1));
            assert_eq!(poll_fn(|context| events.poll_next(context)).await, Event::Due(Due::Sign));
        }
    }
}
