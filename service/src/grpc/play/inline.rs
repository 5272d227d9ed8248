use std::{pin::Pin, sync::{Arc, Mutex}, task::{Context, Poll, Wake, Waker}};
use futures::Stream;
use crate::{executor::{self, Part}, prefetch::Place};
use super::outbox::Unread;

pub(super) struct Flag(Mutex<(bool, Option<Waker>)>);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        let mut inside = self.0.lock().unwrap();
        inside.0 = true;
        let waker = inside.1.take();
        drop(inside);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

pub(crate) struct Inline<T> {
    pub(super) run: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    flag: Waker,
    flags: Arc<Flag>,
    pub(super) unread: Unread<T>,
}

impl<T> Inline<T> {
    pub(super) fn new(unread: Unread<T>) -> Self {
        let flags = Arc::new(Flag(Mutex::new((true, None))));
        Self { run: None, flag: Waker::from(Arc::clone(&flags)), flags, unread }
    }
}

impl<T> Stream for Inline<T> {
    type Item = T;
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        let Some(run) = &mut this.run else { return Pin::new(&mut this.unread).poll_next(context) };
        if let Some(said) = this.unread.pop() {
            return Poll::Ready(Some(said));
        }
        {
            let mut inside = this.flags.0.lock().unwrap();
            if !inside.1.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                inside.1 = Some(context.waker().clone());
            }
            if !std::mem::take(&mut inside.0) {
                return Poll::Pending;
            }
        }
        executor::has(Part::Session, Place::of(&**run));
        let ended = run.as_mut().poll(&mut Context::from_waker(&this.flag)).is_ready();
        match this.unread.pop() {
            Some(said) => Poll::Ready(Some(said)),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
