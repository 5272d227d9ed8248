//! What seldom happens on a stream, beside what is asked and heard on it.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::{Instant, sleep_until};

use super::post::Post;
use crate::{grpc::drain::Drain, journal::Rotation};

/// One such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The token that opened the stream holds no longer.
    Voided,
    /// The bot whose token opened the stream got another.
    Rotated(Rotation),
    /// The server drains.
    Draining,
    /// The server closes.
    Closing,
    /// It is time to look at this.
    Due(Due),
    /// Something else rang: the session is to look at what it has to see to.
    Called,
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
    pub(super) fn new(post: Arc<Post>, drain: &'stream Drain, validity: Validity) -> Self {
        let awaited = FuturesUnordered::new();
        let Validity { rotated, voided } = validity;
        awaited.push(voided.map(|()| Event::Voided).boxed());
        awaited.push(rotated.map(Event::Rotated).boxed());
        awaited.push(drain.draining().cancelled().map(|()| Event::Draining).boxed());
        awaited.push(drain.closing().cancelled().map(|()| Event::Closing).boxed());
        let waker = Waker::from(Arc::clone(&post));
        Self { awaited, post, waker }
    }

    /// This is to be looked at then, once. It is awaited from when the next event is asked for.
    pub(super) fn look_at(&self, due: Due, at: Instant) {
        self.awaited.push(sleep_until(at).map(move |()| Event::Due(due)).boxed());
        self.post.is_to_be_looked_at();
    }

    /// The next that happens. It is always one task that asks.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Event> {
        if !self.post.has_rung(context.waker()) {
            return Poll::Pending;
        }
        match self.awaited.poll_next_unpin(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(Some(event)) => {
                // There may be more.
                self.post.is_to_be_looked_at();
                Poll::Ready(event)
            }
            Poll::Ready(None) | Poll::Pending => Poll::Ready(Event::Called),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{future::poll_fn, iter, time::Duration};

    use futures::future;
    use tokio::sync::oneshot;

    use super::*;

    fn validity(voided: oneshot::Receiver<()>) -> Validity {
        Validity { rotated: future::pending().boxed(), voided: voided.map(|_| ()).boxed() }
    }

    /// The next that happens, but that the session is called.
    async fn next(events: &mut Events<'_>) -> Event {
        loop {
            match poll_fn(|context| events.poll_next(context)).await {
                Event::Called => {}
                event => return event,
            }
        }
    }

    /// Whether the session is called before nothing is left to look at. It may be more than once: what is awaited calls itself where there
    /// is more of it than is looked at in a row.
    fn rests(events: &mut Events<'_>) -> bool {
        let mut called = iter::from_fn(|| poll_fn(|context| events.poll_next(context)).now_or_never());
        called.any(|event| event == Event::Called) && called.all(|event| event == Event::Called)
    }

    #[tokio::test(start_paused = true)]
    async fn each_event_wakes_whoever_waits_for_it_and_none_is_lost() {
        let (drain, (void, voided)) = (Drain::default(), oneshot::channel());
        let mut events = Events::new(Arc::default(), &drain, validity(voided));
        let begun = Instant::now();
        let late = begun + Duration::from_secs(2);
        events.look_at(Due::Ping, late);
        events.look_at(Due::Hello, begun + Duration::from_secs(1));
        assert_eq!(next(&mut events).await, Event::Due(Due::Hello));
        assert_eq!(next(&mut events).await, Event::Due(Due::Ping));
        assert_eq!(Instant::now(), late);
        // Two at once, while nobody asks.
        void.send(()).unwrap();
        drain.close();
        let both = [next(&mut events).await, next(&mut events).await];
        assert!(both.contains(&Event::Voided), "{both:?}");
        assert!(both.iter().any(|event| matches!(event, Event::Draining | Event::Closing)), "{both:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_to_be_looked_at_anew_is_awaited_though_nothing_has_rung() {
        let (drain, (_void, voided)) = (Drain::default(), oneshot::channel());
        let mut events = Events::new(Arc::default(), &drain, validity(voided));
        assert!(rests(&mut events), "nothing has been looked at");
        for _ in 0..3 {
            events.look_at(Due::Sign, Instant::now() + Duration::from_secs(1));
            assert_eq!(next(&mut events).await, Event::Due(Due::Sign));
        }
    }

    #[tokio::test]
    async fn what_else_rings_calls_the_session_once() {
        let (drain, (_void, voided), post) = (Drain::default(), oneshot::channel(), Arc::<Post>::default());
        let mut events = Events::new(Arc::clone(&post), &drain, validity(voided));
        assert!(rests(&mut events), "nothing has been looked at");
        let called = poll_fn(|context| events.poll_next(context));
        let (called, ()) = tokio::join!(called, async { post.ring() });
        assert_eq!(called, Event::Called);
        assert!(!rests(&mut events));
    }
}
