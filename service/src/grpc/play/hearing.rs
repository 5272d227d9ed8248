//! What the seats of a stream hear, each by its handle.
//!
//! Who has heard something is on a list, so that a stream of a thousand seats looks at those alone that were told something.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use super::{
    by_handle::ByHandle,
    post::{Answers, Post},
};
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
    /// The task that looks there.
    task: Place,
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
            self.post.call(self.handle);
        }
    }
}

impl Hearing {
    /// No seat yet. Those that are listened to call there.
    pub(super) fn new(post: Arc<Post>) -> Self {
        Self {
            listeners: ByHandle::default(),
            left: Vec::new(),
            post,
            ahead: ShortQueue::new(),
            task: Place::NOWHERE,
        }
    }

    /// Listens to a seat from now on. To what the handle stood for before nobody listens any more.
    pub(super) fn listen(&mut self, handle: u32, following: Following, room: Option<Room>) {
        let is_listed = AtomicBool::new(false);
        let call = Arc::new(Call { handle, post: Arc::clone(&self.post), is_listed });
        let waker = Waker::from(Arc::clone(&call));
        waker.wake_by_ref();
        self.listeners.insert(handle, Listener { following, call, waker, room });
    }

    /// Whether it is known of no seat that it has something to tell, and of no table that it has answered.
    pub(super) fn is_dry(&self) -> bool {
        self.ahead.is_empty() && self.post.is_empty()
    }

    /// Whether there is no seat to listen to.
    pub(super) fn is_over(&self) -> bool {
        self.listeners.is_empty()
    }

    /// Listens to a seat no longer.
    pub(super) fn leave(&mut self, handle: u32) {
        let listener = self.listeners.remove(handle);
        self.left.extend(listener.and_then(|listener| listener.room));
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

    /// Takes out what is in the post: who may have something to tell, and what tables have answered to the stream. Where nothing is, the task
    /// of this context is woken for it. Of several seats what they need is fetched, and it is said which, so that what else is needed for them
    /// can be too.
    pub(super) fn look(&mut self, context: &Context<'_>, fetch_too: impl Fn(u32)) -> Poll<Answers> {
        self.task = Place::of_woken(context.waker());
        let Poll::Ready(answers) = self.post.take(context, &mut self.ahead) else {
            self.tell_parts();
            return Poll::Pending;
        };
        if self.ahead.len() > 1 {
            self.ahead.iter().copied().for_each(fetch_too);
            fetch(self.ahead.iter().filter_map(|handle| self.listeners.get(*handle)));
        }
        Poll::Ready(answers)
    }

    /// The next thing that a seat has heard, of those that were found to have called.
    pub(super) fn next(&mut self) -> Option<(u32, Heard)> {
        while let Some(handle) = self.ahead.pop_front() {
            let Some(listener) = self.listeners.get_mut(handle) else { continue };
            // Before it is looked, so that what comes after the look calls again.
            listener.call.is_listed.store(false, Ordering::Release);
            let call = &mut Context::from_waker(&listener.waker);
            if let Some(subscription) = listener.following.subscription() {
                subscription.is_called_by([Place::of(&*listener.call), Place::of(&*self.post), self.task]);
            }
            match listener.following.poll_next(call) {
                Poll::Pending => {}
                Poll::Ready(Some(heard @ Heard::Observation { .. })) => {
                    // While it is at hand: a later look would have to fetch it again.
                    if !listener.following.sleeps(call) {
                        listener.waker.wake_by_ref();
                    }
                    return Some((handle, heard));
                }
                Poll::Ready(Some(end)) => {
                    self.leave(handle);
                    return Some((handle, end));
                }
                Poll::Ready(None) => self.leave(handle),
            }
        }
        None
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
        hearing.leave(1);
        assert_eq!((hearing.is_over(), room().is_err()), (false, true));
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
