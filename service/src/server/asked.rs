//! The body of a request as it comes: what is large waits for room, and what is longer than any message is refused.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::{BoxError, body::Bytes};
use http::{HeaderMap, header::CONTENT_TYPE};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};
use tonic::Status;

use crate::{
    admission::{Taken, Traffic},
    executor::{self, Part},
    grpc::{Fault, PREFIX},
    limits,
    prefetch::Place,
};

/// How far the message of a request has come.
#[derive(Debug, Default)]
pub(super) struct Coming {
    whole: AtomicBool,
    /// Whether it had to wait for room.
    waited: AtomicBool,
}

impl Coming {
    /// Whether all of it is there.
    pub(super) fn is_whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Why it has not come, when it had the time to.
    pub(super) fn fault(&self) -> Option<Fault> {
        if self.is_whole() {
            None
        } else if self.waited.load(Ordering::Relaxed) {
            Some(Fault::no_room_for_request())
        } else {
            Some(Fault::slow_request())
        }
    }
}

/// The body of a request.
pub(super) struct Asked {
    body: Incoming,
    /// Others have it too until the request is answered.
    coming: Arc<Coming>,
    /// Bytes that have come.
    come: usize,
    /// Bytes that may come before it is answered.
    most: usize,
    traffic: Traffic,
    /// What is taken for what is large, once it is.
    room: Option<Taken>,
    retry: Option<Pin<Box<Sleep>>>,
    /// What is before its first message, as far as it is there.
    prefix: [u8; PREFIX],
    /// How much of that is there.
    known: usize,
    /// Whether the body is text: base64 of all that it would be else.
    is_text: bool,
    /// Whether the request is answered: once it is, no piece of it looks at what others have.
    answered: bool,
}

impl Asked {
    /// A body with messages of so many bytes at most.
    pub(super) fn new(
        body: Incoming,
        headers: &HeaderMap,
        max_bytes: usize,
        traffic: &Traffic,
        coming: Arc<Coming>,
    ) -> Self {
        let kind = headers.get(CONTENT_TYPE);
        let is_text = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc-web-text"));
        Self {
            body,
            coming,
            come: 0,
            most: longest(max_bytes),
            traffic: traffic.clone(),
            room: None,
            retry: None,
            prefix: [0; PREFIX],
            known: 0,
            is_text,
            answered: false,
        }
    }

    /// Bytes for which there is room.
    fn covered(&self) -> usize {
        let taken = self.room.as_ref().map_or(0, Taken::amount);
        limits::SMALL_REQUEST_BYTES + usize::try_from(taken).unwrap_or(usize::MAX)
    }

    /// Bytes for which there should be room next: the rest of the message where its length is known, so that requests that
    /// have room for a part each don't wait for one another.
    fn wanted(&self) -> usize {
        // A piece is no larger than a frame.
        let piece = limits::SMALL_REQUEST_BYTES;
        match self.prefix {
            [_, a, b, c, d] if self.known == PREFIX && !self.is_text => {
                let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
                let end = length.saturating_add(PREFIX).min(self.most);
                end.saturating_sub(self.covered()).max(piece)
            }
            _ => piece,
        }
    }

    /// Makes room for what comes next.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(retry) = &mut self.retry {
                ready!(retry.as_mut().poll(context));
                self.retry = None;
            }
            let wanted = u64::try_from(self.wanted()).unwrap_or(u64::MAX);
            let room = self.room.get_or_insert_with(|| self.traffic.large_request());
            if room.more(wanted) {
                return Poll::Ready(());
            }
            self.coming.waited.store(true, Ordering::Relaxed);
            self.retry = Some(Box::pin(sleep(limits::LARGE_REQUEST_RETRY)));
        }
    }

    fn take(&mut self, data: &[u8]) {
        for (place, byte) in self.prefix.iter_mut().skip(self.known).zip(data) {
            *place = *byte;
            self.known += 1;
        }
        self.come += data.len();
    }
}

impl http_body::Body for Asked {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // A stream of requests is answered at once, and what it sends is read message by message.
        if !self.answered && Arc::strong_count(&self.coming) == 1 {
            self.answered = true;
            // Others may have what was taken for messages that came before the answer.
            (self.room, self.retry) = (None, None);
        }
        let answered = self.answered;
        if !answered && self.come >= self.covered() {
            ready!(self.poll_room(context));
        }
        if answered {
            executor::has(Part::Body, Place::of(&*self));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.take(data);
            // All that a request is read to is its first message, but its body is read to its end.
            if !answered && self.come > self.most {
                return Poll::Ready(Some(Err(Status::from(Fault::long_request(self.most)).into())));
            }
        }
        if frame.is_none() || self.body.is_end_stream() {
            self.coming.whole.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes of a body with a message of so many at most: as text, base64, it has four for each three.
pub(super) const fn longest(max_bytes: usize) -> usize {
    (max_bytes + PREFIX).div_ceil(3) * 4
}
