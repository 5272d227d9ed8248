//! The seats of a Play stream between its session and its client: the session does something with them, and the body of the response takes
//! out what is to be told.

use std::{
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use futures::Stream;
use tonic::Status;

use super::{
    post::Post,
    seats::{Seats, Told},
};
use crate::{
    executor::{self, Part},
    grpc::{backend::Backend, fault::Fault},
    prefetch::Place,
    sleeper::Sleeper,
};

/// The side of the session. When it is dropped, what is said is the last, and the seats are given up.
pub(super) struct Outbox(Arc<Shared>);

/// The side of the client: the body of the response.
pub(super) struct Unread {
    shared: Arc<Shared>,
    /// Whether what was told last was all that was there.
    is_dry: bool,
}

struct Shared {
    inside: Mutex<Inside>,
    post: Arc<Post>,
}

struct Inside {
    seats: Seats,
    /// What the session waits for.
    session: Waits,
    /// Who takes out what is told.
    reader: Sleeper,
    end: End,
}

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Nothing that has to do with what is taken out.
    Nothing,
    /// That something is taken out.
    One,
    /// That all is.
    All,
}

/// What comes behind all that is said.
enum End {
    /// It may go on.
    Open,
    /// This, or nothing.
    Ended(Option<Box<Status>>),
}

/// Nobody reads any more.
#[derive(Debug)]
pub(super) struct Closed;

/// An empty one, whose session is called by this.
pub(super) fn outbox(backend: Arc<Backend>, post: Arc<Post>) -> (Outbox, Unread) {
    let inside = Inside {
        seats: Seats::new(backend, Arc::clone(&post)),
        session: Waits::Nothing,
        reader: Sleeper::Awake,
        end: End::Open,
    };
    let shared = Arc::new(Shared { inside: Mutex::new(inside), post });
    (Outbox(Arc::clone(&shared)), Unread { shared, is_dry: false })
}

impl Outbox {
    /// Where what is in it is.
    pub(super) fn place(&self) -> Place {
        Place::of(&*self.0)
    }

    /// Does something with the seats. Who reads is called for what is said by it.
    pub(super) fn with<R>(&self, does: impl FnOnce(&mut Seats) -> R) -> R {
        self.0.with(|inside| does(&mut inside.seats))
    }

    /// The same, if anybody reads. The answer is what the session waits for from now on, and something of its own: its bell rings for that
    /// once.
    pub(super) fn look<R>(&self, look: impl FnOnce(&mut Seats) -> (Waits, R)) -> Result<R, Closed> {
        self.0.with(|inside| {
            if inside.reader.is_gone() {
                return Err(Closed);
            }
            let (waits, result) = look(&mut inside.seats);
            inside.session = waits;
            Ok(result)
        })
    }

    /// Waits until all that is said is taken out, or nobody reads any more.
    pub(super) async fn is_read(&self) {
        let is_read = |context: &mut Context<'_>| {
            // It is called from here on.
            self.0.post.has_rung(context.waker());
            match self.look(|seats| (Waits::One, seats.said() > 0)) {
                Ok(true) => Poll::Pending,
                Ok(false) | Err(Closed) => Poll::Ready(()),
            }
        };
        poll_fn(is_read).await;
    }

    /// Ends with this, behind what is said.
    pub(super) fn end(self, status: Option<Box<Status>>) {
        self.0.lock().end = End::Ended(status);
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let mut inside = self.0.lock();
        if matches!(inside.end, End::Open) {
            inside.end = End::Ended(None);
        }
        let left = inside.seats.close();
        let reader = inside.reader.wake();
        drop(inside);
        reader.into_iter().for_each(Waker::wake);
        drop(left);
    }
}

impl Stream for Unread {
    type Item = Result<Told, Box<Status>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if mem::take(&mut self.is_dry) {
            // Who asks for more sends what was told first, and asks again behind that.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(executor::poll_one_more(context));
        let Self { shared, is_dry } = &mut *self;
        let mut inside = shared.lock();
        // A panic ends the stream as a fault of the server, as one of its session does.
        let next = match catch_unwind(AssertUnwindSafe(|| inside.seats.poll_next(context))) {
            Ok(next) => next,
            Err(panic) => {
                inside.seats.breaks(Fault::panicked(&*panic));
                Poll::Pending
            }
        };
        *is_dry = next.is_ready() && inside.seats.is_dry();
        let is_called = match inside.session {
            Waits::Nothing => false,
            Waits::One => true,
            Waits::All => next.is_pending() || *is_dry,
        };
        if is_called {
            inside.session = Waits::Nothing;
        }
        let rings = is_called || inside.seats.is_cut();
        let next = match (next, &mut inside.end) {
            (Poll::Ready(told), _) => Poll::Ready(Some(Ok(told))),
            (Poll::Pending, End::Open) => {
                inside.reader.sleep(context);
                Poll::Pending
            }
            (Poll::Pending, End::Ended(status)) => Poll::Ready(status.take().map(Err)),
        };
        drop(inside);
        if rings {
            self.shared.post.ring();
        }
        if next.is_pending() {
            executor::has(Part::Seats, Place::of(&*self.shared));
            executor::has(Part::Body, Place::of(&*self));
            // Whatever polls a body has looked at all else just before, and looks at the body again behind all that it sends. Nothing that is
            // done here calls the task for anything else, such as what h2 has for it.
            executor::has_looked();
        }
        next
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.shared.lock().reader = Sleeper::Gone;
        self.shared.post.ring();
    }
}

impl Shared {
    fn with<R>(&self, does: impl FnOnce(&mut Inside) -> R) -> R {
        let mut inside = self.lock();
        let result = does(&mut inside);
        let reader = if inside.seats.said() > 0 { inside.reader.wake() } else { None };
        drop(inside);
        reader.into_iter().for_each(Waker::wake);
        result
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // It is whole, whatever panicked.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use futures::{FutureExt, StreamExt, task::noop_waker_ref};
    use zetema_proto::v1::{ErrorReason, PlayResponse};

    use super::*;
    use crate::{
        grpc::lists::tests::World,
        planted::{Bug, plant},
    };

    /// What a stream tells: a message by its tag, or why it ends.
    async fn next(unread: &mut Unread) -> Option<Result<u64, ErrorReason>> {
        Some(match unread.next().await? {
            Ok(Told::Message(response)) => Ok(response.tag),
            Ok(Told::Observation { .. }) => unreachable!("no seat is joined"),
            Err(status) => Err(zetema_proto::v1::Error::from_status(&status).unwrap().reason()),
        })
    }

    /// The same, if it is told now. Behind the last that is told it has to be asked twice.
    fn next_now(unread: &mut Unread) -> Poll<Option<Result<u64, ErrorReason>>> {
        let mut ask = || next(unread).now_or_never().map_or(Poll::Pending, Poll::Ready);
        match ask() {
            Poll::Pending => ask(),
            told @ Poll::Ready(_) => told,
        }
    }

    async fn read(mut unread: Unread) -> Vec<Result<u64, ErrorReason>> {
        let mut told = Vec::new();
        while let Some(next) = next(&mut unread).await {
            told.push(next);
        }
        told
    }

    fn say(outbox: &Outbox, tag: u64) {
        outbox.with(|seats| seats.say(PlayResponse { tag, ..PlayResponse::default() }));
    }

    /// How often someone was called.
    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Calls {
        fn many(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Played {
        _folder: tempfile::TempDir,
        post: Arc<Post>,
        outbox: Outbox,
        unread: Unread,
    }

    async fn open() -> Played {
        let folder = tempfile::tempdir().unwrap();
        let post = Arc::<Post>::default();
        let backend = World::open(folder.path()).await.backend;
        let (outbox, unread) = outbox(backend, Arc::clone(&post));
        Played { _folder: folder, post, outbox, unread }
    }

    #[tokio::test]
    async fn what_is_said_is_read_in_order_and_then_how_it_ends() {
        let faults: [Option<Fault>; 2] = [None, Some(Fault::slow_reader())];
        for fault in faults {
            let Played { outbox, mut unread, _folder, .. } = open().await;
            let reason = fault.as_ref().map(|fault| Err(fault.error().reason()));
            // Whoever waits is called.
            let (first, ()) = tokio::join!(next(&mut unread), async { say(&outbox, 1) });
            assert_eq!(first, Some(Ok(1)));
            (2..5).for_each(|tag| say(&outbox, tag));
            outbox.end(fault.map(|fault| Box::new(fault.into())));
            assert_eq!(
                read(unread).await,
                [Ok(2), Ok(3), Ok(4)].into_iter().chain(reason).collect::<Vec<_>>()
            );
        }
    }

    #[tokio::test]
    async fn a_session_that_is_dropped_ends_what_it_has_said() {
        let Played { outbox, unread, _folder, .. } = open().await;
        say(&outbox, 1);
        let (told, ()) = tokio::join!(read(unread), async { drop(outbox) });
        assert_eq!(told, [Ok(1)]);
    }

    #[tokio::test]
    async fn the_session_is_called_for_what_is_taken_out_if_it_waits_for_that_and_when_nobody_reads() {
        let Played { outbox, mut unread, post, _folder } = open().await;
        let has_rung = || post.has_rung(noop_waker_ref());
        assert!(has_rung(), "nothing has been looked at");
        for (waits, rings) in [
            (Waits::Nothing, [false, false, false]),
            (Waits::One, [true, false, false]),
            (Waits::All, [false, true, false]),
        ] {
            (1..3).for_each(|tag| say(&outbox, tag));
            outbox.look(|_| (waits, ())).unwrap();
            let told = [Poll::Ready(Some(Ok(1))), Poll::Ready(Some(Ok(2))), Poll::Pending];
            for (told, rings) in told.into_iter().zip(rings) {
                assert_eq!(next_now(&mut unread), told, "{waits:?}");
                assert_eq!(has_rung(), rings, "{waits:?}, {told:?}");
            }
            // It has looked once.
            assert!(next_now(&mut unread).is_pending() && !has_rung());
        }
        drop(unread);
        assert!(has_rung());
        assert!(outbox.look(|_| (Waits::Nothing, ())).is_err());
    }

    #[tokio::test]
    async fn who_asks_for_more_than_is_there_is_called_to_ask_again_and_then_waits() {
        let Played { outbox, mut unread, _folder, .. } = open().await;
        let calls = Arc::<Calls>::default();
        let waker = Waker::from(Arc::clone(&calls));
        let context = &mut Context::from_waker(&waker);
        let mut told =
            |most: usize| (0..most).take_while(|_| unread.poll_next_unpin(context).is_ready()).count();
        for round in 1..4 {
            (0..round).for_each(|tag| say(&outbox, tag));
            let before = calls.many();
            assert_eq!(told(usize::MAX), usize::try_from(round).unwrap());
            assert_eq!((told(usize::MAX), calls.many()), (0, before + 1), "it has asked again");
            // It waits, so what is said calls it, once for all that is.
            (0..2).for_each(|tag| say(&outbox, tag));
            assert_eq!((calls.many(), told(2)), (before + 2, 2));
            // What is said meanwhile is told when it asks again.
            assert_eq!(told(1), 0);
            say(&outbox, 7);
            assert_eq!((told(1), told(1), told(1)), (1, 0, 0));
        }
    }

    #[tokio::test]
    async fn what_is_said_is_waited_for_until_it_is_read_or_nobody_reads() {
        let Played { outbox, mut unread, _folder, .. } = open().await;
        outbox.is_read().await;
        say(&outbox, 1);
        assert!(outbox.is_read().now_or_never().is_none());
        let ((), told) = tokio::join!(outbox.is_read(), next(&mut unread));
        assert_eq!(told, Some(Ok(1)));
        say(&outbox, 2);
        tokio::join!(outbox.is_read(), async { drop(unread) });
    }

    #[tokio::test]
    async fn what_panics_when_it_is_told_cuts_the_stream() {
        let Played { outbox, mut unread, post, _folder } = open().await;
        plant(Bug::TellingPanics);
        assert!(next(&mut unread).now_or_never().is_none());
        assert!(post.has_rung(noop_waker_ref()));
        let cut = outbox.look(|seats| (Waits::Nothing, seats.cut())).unwrap();
        assert_eq!(cut.map(|fault| fault.error().reason()), Some(ErrorReason::Internal));
    }
}
