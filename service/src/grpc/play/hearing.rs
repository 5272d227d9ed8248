//! What the seats of a stream hear, each by its handle.
//!
//! Who has heard something is on a list, so that a stream of a thousand seats looks at those alone that were told something.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker, ready},
};

use super::{by_handle::ByHandle, post::Post};
use crate::{
    admission::Room,
    executor::{self, Part},
    grpc::heard::{Following, Heard},
    matches::Subscription,
    prefetch::{self, Place},
    short_queue::ShortQueue,
};

/// The seats that are listened to.
pub(super) struct Hearing {
    listeners: ByHandle<Listener>,
    /// The room of those that are left, of which there may be something that is not read.
    left: Vec<Room>,
    /// Where those call who may have something to tell.
    post: Arc<Post>,
    /// Those of them that come next, for whom what they need was fetched.
    ahead: ShortQueue<u32>,
}

/// One seat.
struct Listener {
    following: Following,
    call: Arc<Call>,
    waker: Waker,
    /// It is taken as long as the seat is listened to, and what it has told is not read.
    room: Option<Room>,
}

/// Tells the task that runs here what its only listener is called by and hears from, if it has one alone.
fn tell(only: Option<&Listener>) {
    let subscription = only.and_then(|listener| listener.following.subscription());
    let places = [
        (Part::Call, only.map(|listener| Place::of(&*listener.call))),
        (Part::Queue, subscription.and_then(Subscription::queue)),
    ];
    for (part, place) in places {
        executor::has(part, place.unwrap_or(Place::NOWHERE));
    }
}

/// Has what some of them need fetched, of all before what that leads to.
fn fetch<'a>(listeners: impl Iterator<Item = &'a Listener>) {
    let mut found = [None; prefetch::AT_ONCE];
    for (found, listener) in found.iter_mut().zip(listeners) {
        Place::of(listener).fetch();
        *found = Some(listener);
    }
    for listener in found.iter().flatten() {
        Place::of(&*listener.call).fetch();
        let queue = listener.following.subscription().and_then(Subscription::queue);
        queue.into_iter().for_each(Place::fetch);
    }
}

/// What a seat calls by.
struct Call {
    handle: u32,
    post: Arc<Post>,
    /// Whether it is on the list.
    is_listed: AtomicBool,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, Ordering::AcqRel) {
            self.post.called.put(self.handle);
        }
    }
}

impl Hearing {
    /// No seat yet. Those that are listened to call there.
    pub(super) fn new(post: Arc<Post>) -> Self {
        Self { listeners: ByHandle::default(), left: Vec::new(), post, ahead: ShortQueue::new() }
    }

    /// Listens to a seat from now on. To what the handle stood for before nobody listens any more.
    pub(super) fn listen(&mut self, handle: u32, following: Following, room: Option<Room>) {
        let is_listed = AtomicBool::new(false);
        let call = Arc::new(Call { handle, post: Arc::clone(&self.post), is_listed });
        let waker = Waker::from(Arc::clone(&call));
        waker.wake_by_ref();
        self.listeners.insert(handle, Listener { following, call, waker, room });
        self.tell_parts();
    }

    /// How many seats there are to listen to.
    pub(super) fn seats(&self) -> usize {
        self.listeners.len()
    }

    /// Whether there is no seat to listen to.
    pub(super) fn is_over(&self) -> bool {
        self.listeners.is_empty()
    }

    /// Listens to a seat no longer.
    pub(super) fn leave(&mut self, handle: u32) {
        let listener = self.listeners.remove(handle);
        self.left.extend(listener.and_then(|listener| listener.room));
        self.tell_parts();
    }

    /// Of many seats those that are called are fetched, of one alone all is whenever the task runs that listens.
    fn tell_parts(&self) {
        executor::has(Part::Post, Place::of(&*self.post));
        tell(self.listeners.only());
    }

    /// Gives up the room of those that are left: no more waits for the reader than those have room for that are listened to.
    pub(super) fn forget_left(&mut self) {
        self.left.clear();
    }

    /// The room of all.
    pub(super) fn into_rooms(self) -> Vec<Room> {
        let Self { listeners, mut left, .. } = self;
        left.extend(listeners.into_values().filter_map(|listener| listener.room));
        left
    }

    /// Who may have something to tell next. Of several, what they need is fetched for some of them before the first has its turn.
    fn next_called(&mut self, context: &Context<'_>, fetch_too: impl Fn(u32)) -> Poll<u32> {
        if self.ahead.is_empty() {
            ready!(self.post.called.poll_take_some(context, prefetch::AT_ONCE, &mut self.ahead));
            if self.ahead.len() > 1 {
                self.ahead.iter().copied().for_each(fetch_too);
                fetch(self.ahead.iter().filter_map(|handle| self.listeners.get(*handle)));
            }
        }
        self.ahead.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    /// The next thing that a seat has heard. Of several that may have, it is said beforehand which, so that what else is needed for them
    /// can be fetched.
    pub(super) fn poll_next(
        &mut self,
        context: &Context<'_>,
        fetch_too: impl Fn(u32) + Copy,
    ) -> Poll<(u32, Heard)> {
        while let Poll::Ready(handle) = self.next_called(context, fetch_too) {
            let Some(listener) = self.listeners.get_mut(handle) else { continue };
            // Before it is looked, so that what comes after the look calls again.
            listener.call.is_listed.store(false, Ordering::Release);
            let call = &mut Context::from_waker(&listener.waker);
            match listener.following.poll_next(call) {
                Poll::Pending => {}
                Poll::Ready(Some(heard @ Heard::Observation { .. })) => {
                    // While it is at hand: a later look would have to fetch it again.
                    if !listener.following.sleeps(call) {
                        listener.waker.wake_by_ref();
                    }
                    return Poll::Ready((handle, heard));
                }
                Poll::Ready(Some(end)) => {
                    self.leave(handle);
                    return Poll::Ready((handle, end));
                }
                Poll::Ready(None) => self.leave(handle),
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Address, Crowd};

    #[test]
    fn the_room_of_a_seat_that_is_left_is_taken_until_what_it_told_is_read() {
        let crowd = Crowd::new(2, 2);
        let room = || crowd.room(Address::NONE);
        let mut hearing = Hearing::new(Arc::default());
        for handle in 1..=2 {
            hearing.listen(handle, Following::ended(), Some(room().unwrap()));
        }
        assert_eq!(hearing.seats(), 2);
        hearing.leave(1);
        assert_eq!((hearing.seats(), room().is_err()), (1, true));
        hearing.forget_left();
        let again = room().unwrap();
        // Seats are given up at the end of a stream before it is read, and their room is not.
        hearing.leave(2);
        hearing.listen(3, Following::ended(), Some(again));
        let rooms = hearing.into_rooms();
        assert_eq!((rooms.len(), room().is_err()), (2, true));
        drop(rooms);
        assert!(room().is_ok());
    }
}
