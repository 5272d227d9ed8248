//! What the client of a Play stream says, a message at a time.
//!
//! tonic copies all that comes into a buffer of the stream, memory that each message touches anew. Nearly every message comes whole, in a
//! piece of its own, and is read where it is.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use http_body::Body as _;
use tonic::{Code, Status, body::Body};
use zetema_proto::v1::{self, ErrorReason};

use crate::grpc::{PREFIX, fault::Fault};

/// The messages of a client.
pub(super) struct Requests {
    /// Gone at its end.
    body: Option<Body>,
    /// What has come and is not read: it may be a part of a larger piece of memory.
    here: Bytes,
    /// A message that has not come whole, with what stands before it.
    begun: Vec<u8>,
    /// How many bytes a message may have.
    max_bytes: usize,
}

impl Requests {
    /// The messages in this body, of so many bytes at most.
    pub(super) const fn new(body: Body, max_bytes: usize) -> Self {
        Self { body: Some(body), here: Bytes::new(), begun: Vec::new(), max_bytes }
    }

    /// The next message; `None`: the client says no more. What is not read yet stays when this is dropped.
    ///
    /// # Errors
    /// With a reason of ours if the client has sent what is no message, or as tonic has it if the connection is at fault. Nothing comes
    /// behind it.
    pub(super) async fn message(&mut self) -> Result<Option<v1::PlayRequest>, Status> {
        poll_fn(|context| self.poll_message(context)).await
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<v1::PlayRequest>, Status>> {
        loop {
            if let Some(message) = self.take().inspect_err(|_| self.end())? {
                return Poll::Ready(Ok(Some(message)));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(Ok(None)) };
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) => self.here = frame.into_data().unwrap_or_default(),
                Some(Err(status)) => {
                    self.end();
                    // As its client gives it up.
                    let is_given_up = status.code() == Code::Cancelled;
                    return Poll::Ready(if is_given_up { Ok(None) } else { Err(status) });
                }
                None => {
                    let is_cut = !self.begun.is_empty();
                    self.end();
                    return Poll::Ready(if is_cut { Err(cut().into()) } else { Ok(None) });
                }
            }
        }
    }

    /// Takes out the first message of what is here, if it is whole.
    fn take(&mut self) -> Result<Option<v1::PlayRequest>, Status> {
        if self.begun.is_empty() {
            let length = self.length(&self.here)?;
            let Some(length) = length.filter(|length| self.here.len() - PREFIX >= *length) else {
                // A part of one, or nothing.
                let here = mem::take(&mut self.here);
                self.begun.reserve_exact(length.map_or(here.len(), |length| PREFIX + length));
                self.begun.extend_from_slice(&here);
                return Ok(None);
            };
            let message = zetema_proto::decode(&self.here[PREFIX..PREFIX + length]);
            self.here.advance(PREFIX + length);
            if self.here.is_empty() {
                self.here = Bytes::new();
            }
            return Ok(Some(message?));
        }
        self.add(PREFIX);
        let Some(length) = self.length(&self.begun)? else { return Ok(None) };
        // Once: then there is room for all of it.
        self.begun.reserve_exact(PREFIX + length - self.begun.len());
        self.add(PREFIX + length);
        if self.begun.len() < PREFIX + length {
            return Ok(None);
        }
        let whole = mem::take(&mut self.begun);
        Ok(Some(zetema_proto::decode(&whole[PREFIX..])?))
    }

    /// Adds what is here to the message that has begun, up to so many bytes of it.
    fn add(&mut self, whole: usize) {
        let more = whole.saturating_sub(self.begun.len()).min(self.here.len());
        self.begun.extend_from_slice(&self.here.split_to(more));
    }

    /// How long the message is that these bytes begin, if that is known.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let Some(&[flag, a, b, c, d]) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        if flag != 0 {
            return Err(Fault::new(
                ErrorReason::Undecodable,
                format!(
                    "a message begins with {flag}, where 0 is the only one that stands before one: none is compressed"
                ),
            ));
        }
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length > self.max_bytes {
            let most = self.max_bytes;
            let message = format!("the message has {length} bytes, and may have {most} at most");
            return Err(Fault::new(ErrorReason::MessageTooLarge, message));
        }
        Ok(Some(length))
    }

    /// Nothing comes any more.
    fn end(&mut self) {
        *self = Self { body: None, here: Bytes::new(), begun: Vec::new(), ..*self };
    }
}

/// A stream that ended in the middle of a message.
fn cut() -> Fault {
    Fault::new(ErrorReason::Undecodable, "the stream ended in the middle of a message: send it whole")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::convert::Infallible;

    use futures::{FutureExt, StreamExt, stream};
    use http::HeaderMap;
    use http_body::Frame;
    use http_body_util::StreamBody;
    use proptest::prelude::*;
    use prost::Message;
    use v1::{Pong, play_request::Kind};

    use super::*;

    const MAX_BYTES: usize = 300;

    fn message(tag: u64) -> v1::PlayRequest {
        v1::PlayRequest { tag, handle: 1, kind: Some(Kind::Pong(Pong { number: tag })) }
    }

    /// One that has about so many bytes.
    fn long(bytes: usize) -> v1::PlayRequest {
        let panic = Some(v1::BotPanic { message: "x".repeat(bytes) });
        v1::PlayRequest { tag: 1, handle: 1, kind: Some(Kind::Resign(v1::Resign { panic })) }
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        [&[0], &u32::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
    }

    fn of(messages: &[v1::PlayRequest]) -> Vec<u8> {
        messages.iter().flat_map(|message| framed(&message.encode_to_vec())).collect()
    }

    fn requests(frames: Vec<Result<Frame<Bytes>, Status>>) -> Requests {
        Requests::new(Body::new(StreamBody::new(stream::iter(frames))), MAX_BYTES)
    }

    fn data(pieces: &[&[u8]]) -> Vec<Result<Frame<Bytes>, Status>> {
        pieces.iter().map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect()
    }

    /// How what is read ends.
    type End = Result<(), (Code, Option<ErrorReason>)>;

    /// All that is read, and how it ends.
    fn read(mut requests: Requests) -> (Vec<v1::PlayRequest>, End) {
        let mut read = Vec::new();
        let end = loop {
            match requests.message().now_or_never().unwrap() {
                Ok(Some(message)) => read.push(message),
                Ok(None) => break Ok(()),
                Err(status) => {
                    let reason = v1::Error::from_status(&status).map(|error| error.reason());
                    break Err((status.code(), reason));
                }
            }
        };
        assert!(matches!(requests.message().now_or_never(), Some(Ok(None))), "nothing is behind its end");
        (read, end)
    }

    proptest! {
        #[test]
        fn messages_are_read_however_they_come_in_pieces(
            lengths in prop::collection::vec(0usize..250, 0..8),
            cuts in prop::collection::vec(0usize..1_500, 0..20),
        ) {
            let messages: Vec<_> = lengths.into_iter().map(long).collect();
            let bytes = of(&messages);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            prop_assert_eq!(read(requests(data(&pieces))), (messages, Ok(())));
        }
    }

    #[test]
    fn what_is_no_message_ends_what_is_read_behind_those_before_it() {
        let too_long = of(&[long(MAX_BYTES)]);
        let undecodable = Err((Code::InvalidArgument, Some(ErrorReason::Undecodable)));
        let too_large = Err((Code::ResourceExhausted, Some(ErrorReason::MessageTooLarge)));
        let cases: [(&str, &[&[u8]], _); _] = [
            ("nothing", &[], Ok(())),
            ("no bytes", &[&[], &[]], Ok(())),
            ("no message", &[&framed(&[0xff; 16])], undecodable),
            ("no message, in pieces", &[&[0, 0, 0], &[0, 1], &[0xff]], undecodable),
            ("a compressed one", &[&[1, 0, 0, 0, 0]], undecodable),
            ("what nothing begins with", &[&[7, 0, 0, 0, 0]], undecodable),
            ("too long a one", &[&too_long], too_large),
            ("the longest that can be told", &[&[0, 0xff], &[0xff, 0xff, 0xff]], too_large),
            ("a part of what is before one", &[&[0, 0]], undecodable),
            ("a part of one", &[&[0, 0, 0, 0, 9, 1], &[1]], undecodable),
        ];
        for (name, pieces, end) in cases {
            let before = of(&[message(1), message(2)]);
            // In a piece of their own, and in one with the first of what comes behind them.
            let apart: Vec<_> = [&before[..]].into_iter().chain(pieces.iter().copied()).collect();
            let first = [&before[..], pieces.first().copied().unwrap_or_default()].concat();
            let together: Vec<_> = [&first[..]].into_iter().chain(pieces.iter().skip(1).copied()).collect();
            for pieces in [apart, together] {
                let expected = (vec![message(1), message(2)], end);
                assert_eq!(read(requests(data(&pieces))), expected, "{name}: {pieces:?}");
            }
        }
    }

    #[test]
    fn a_client_that_gives_its_stream_up_says_no_more_and_another_fault_is_told_as_it_is() {
        for (code, end) in [
            (Code::Cancelled, Ok(())),
            (Code::Unavailable, Err((Code::Unavailable, None))),
            (Code::Internal, Err((Code::Internal, None))),
        ] {
            let mut frames = data(&[&of(&[message(1)]), &[0, 0]]);
            frames.push(Err(Status::new(code, "reset")));
            frames.extend(data(&[&of(&[message(2)])]));
            assert_eq!(read(requests(frames)), (vec![message(1)], end));
        }
        // What may come behind all messages says nothing.
        let mut frames = data(&[&of(&[message(1)])]);
        frames.push(Ok(Frame::trailers(HeaderMap::new())));
        assert_eq!(read(requests(frames)), (vec![message(1)], Ok(())));
    }

    #[tokio::test]
    async fn what_has_come_stays_for_whoever_asks_next() {
        let (said, heard) = futures::channel::mpsc::unbounded::<Result<_, Infallible>>();
        let mut requests = Requests::new(Body::new(StreamBody::new(heard)), MAX_BYTES);
        let bytes = of(&[message(1), message(2)]);
        let (first, rest) = bytes.split_at(7);
        for (piece, is_read) in [(first, [None, None]), (rest, [Some(message(1)), Some(message(2))])] {
            said.unbounded_send(Ok(Frame::data(Bytes::copy_from_slice(piece)))).unwrap();
            for expected in is_read {
                assert_eq!(requests.message().now_or_never().map(|said| said.unwrap().unwrap()), expected);
            }
        }
        // Nothing of the connection's memory is kept once all is read.
        assert!(requests.here.is_empty() && requests.begun.is_empty());
    }

    #[test]
    fn a_message_that_comes_in_pieces_takes_no_more_memory_than_it_has_bytes() {
        let whole = framed(&[0; MAX_BYTES]);
        for pieces in [vec![&whole[..2], &whole[2..4], &whole[4..9], &whole[9..200]], vec![&whole[..250]]] {
            let mut frames = data(&pieces);
            frames.extend(data(&[&whole[250..251]]));
            let frames = stream::iter(frames).chain(stream::pending());
            let mut requests = Requests::new(Body::new(StreamBody::new(frames)), MAX_BYTES);
            assert!(requests.message().now_or_never().is_none());
            assert_eq!(requests.begun.capacity(), whole.len());
        }
    }
}
