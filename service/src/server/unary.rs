//! A call of one message that comes whole, as nearly all do: read and answered without what a stream of messages takes.
//!
//! tonic makes a stream of every request and every answer, with buffers and boxes of its own. What is not one plain message goes to it
//! as it came, so that all that may be wrong with a request is found and said in one place.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, header::CONTENT_TYPE};
use http_body::{Frame, SizeHint};
use prost::Message;
use tonic::{Status, body::Body};

use crate::grpc::PREFIX;

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
pub(super) const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
const WELL: HeaderValue = HeaderValue::from_static("0");

type Piece<B> = Result<Frame<Bytes>, <B as http_body::Body>::Error>;
/// What was read of a body.
type Pieces<B> = [Option<Piece<B>>; 2];

/// Reads the message of a request, of so many bytes at most.
///
/// # Errors
/// What was read of the body, if it is anything but one plain message.
pub(super) async fn read<M, B>(headers: &HeaderMap, body: &mut B, max_bytes: usize) -> Result<M, Pieces<B>>
where
    M: Message + Default,
    B: http_body::Body<Data = Bytes> + Unpin,
{
    if headers.contains_key(GRPC_ENCODING) {
        return Err([None, None]);
    }
    let first = next(body).await;
    let data = first.as_ref().and_then(|piece| piece.as_ref().ok()?.data_ref());
    let Some(message) = data.and_then(|data| M::decode(whole(data, max_bytes)?).ok()) else {
        return Err([first, None]);
    };
    // Many clients end a request by a frame of its own, which is empty.
    while !body.is_end_stream() {
        match next(body).await {
            None => break,
            Some(Ok(frame)) if frame.data_ref().is_some_and(Bytes::is_empty) => {}
            after => return Err([first, after]),
        }
    }
    Ok(message)
}

async fn next<B: http_body::Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Piece<B>> {
    poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}

/// The message that these bytes are with what stands before it, if they are one and it is not compressed.
fn whole(bytes: &[u8], max_bytes: usize) -> Option<&[u8]> {
    let (&[0, a, b, c, d], message) = bytes.split_first_chunk::<PREFIX>()? else { return None };
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    (length == message.len() && length <= max_bytes).then_some(message)
}

/// A body of which a part was read, from its start.
pub(super) struct Again<B: http_body::Body> {
    pub(super) read: Pieces<B>,
    pub(super) body: B,
}

/// What was read is never pinned.
impl<B: http_body::Body + Unpin> Unpin for Again<B> {}

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Again<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Piece<B>>> {
        match self.read.iter_mut().find_map(Option::take) {
            Some(piece) => Poll::Ready(Some(piece)),
            None => Pin::new(&mut self.body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.iter().all(Option::is_none) && self.body.is_end_stream()
    }
}

/// The body of an answer.
pub(super) enum Reply {
    /// One message, with what stands before it, and that all is well.
    Message(Bytes),
    /// What is left of that.
    Well,
    /// Nothing is.
    Told,
    /// Made by whoever answers.
    Made(Body),
}

impl Reply {
    /// An answer with this message.
    pub(super) fn message(message: &impl Message) -> Response<Self> {
        let length = message.encoded_len();
        let mut bytes = Vec::with_capacity(PREFIX + length);
        bytes.push(0);
        bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        message.encode_raw(&mut bytes);
        let mut response = Response::new(Self::Message(bytes.into()));
        response.headers_mut().insert(CONTENT_TYPE, GRPC);
        response
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::Made(Body::default())
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Self::Made(body) = &mut *self {
            return Pin::new(body).poll_frame(context);
        }
        let (frame, left) = match mem::replace(&mut *self, Self::Told) {
            Self::Message(bytes) => (Frame::data(bytes), Self::Well),
            Self::Well => (Frame::trailers(HeaderMap::from_iter([(GRPC_STATUS, WELL)])), Self::Told),
            Self::Told | Self::Made(_) => return Poll::Ready(None),
        };
        *self = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Message(_) | Self::Well => false,
            Self::Told => true,
            Self::Made(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            // It is not told how long all of it is, as by tonic: what gRPC says of a length is before each message.
            Self::Message(_) => SizeHint::default(),
            Self::Well | Self::Told => SizeHint::with_exact(0),
            Self::Made(body) => body.size_hint(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use http_body_util::{BodyExt, StreamBody};
    use zetema_proto::v1;

    use super::*;

    fn framed(message: &impl Message) -> Vec<u8> {
        let bytes = message.encode_to_vec();
        [vec![0], u32::try_from(bytes.len()).unwrap().to_be_bytes().to_vec(), bytes].concat()
    }

    fn asked() -> v1::ActRequest {
        v1::ActRequest { seat_token: "a token".to_owned(), ..v1::ActRequest::default() }
    }

    /// Whether such a request is read here; if not, whether tonic is given all of it.
    async fn is_read(headers: &HeaderMap, pieces: &[&[u8]], max_bytes: usize) -> bool {
        let frames =
            pieces.iter().map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(piece))));
        let mut body = StreamBody::new(stream::iter(frames.collect::<Vec<_>>()));
        match read::<v1::ActRequest, _>(headers, &mut body, max_bytes).await {
            Ok(message) => {
                assert_eq!(message, asked());
                true
            }
            Err(read) => {
                let bytes = Again { read, body }.collect().await.unwrap().to_bytes();
                assert_eq!(bytes, pieces.concat(), "not a byte is lost");
                false
            }
        }
    }

    #[tokio::test]
    async fn one_plain_message_is_read_and_all_else_is_tonics_from_its_start() {
        let (none, message) = (HeaderMap::new(), framed(&asked()));
        let most = message.len() - PREFIX;
        assert!(is_read(&none, &[&message], most).await);
        assert!(is_read(&none, &[&message, &[], &[]], most).await, "its end comes after it");
        assert!(!is_read(&none, &[&message], most - 1).await, "too long");
        assert!(!is_read(&none, &[&message, &message], most).await, "two");
        assert!(!is_read(&none, &[&message[..7], &message[7..]], most).await, "in pieces");
        assert!(!is_read(&none, &[&message[..7]], most).await, "cut off");
        assert!(!is_read(&none, &[], most).await, "none");
        assert!(!is_read(&none, &[&[0, 0, 0, 0, 2, 0xff, 0xff]], most).await, "undecodable");
        let compressed = [&[1], &message[1..]].concat();
        assert!(!is_read(&none, &[&compressed], most).await);
        let headers = HeaderMap::from_iter([(GRPC_ENCODING, HeaderValue::from_static("gzip"))]);
        assert!(!is_read(&headers, &[&message], most).await);
    }

    #[tokio::test]
    async fn an_answer_is_its_message_and_then_that_all_is_well() {
        let answer = v1::ActResponse { receipt: Some(v1::Receipt { seq: 7, ..v1::Receipt::default() }) };
        let response = Reply::message(&answer);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/grpc");
        let collected = response.into_body().collect().await.unwrap();
        assert_eq!(collected.trailers().unwrap()["grpc-status"], "0");
        assert_eq!(collected.to_bytes(), framed(&answer));
    }

    #[tokio::test]
    async fn a_message_that_comes_in_pieces_is_tonics_wherever_it_is_cut() {
        let (none, message) = (HeaderMap::new(), framed(&asked()));
        for at in 1..message.len() {
            assert!(!is_read(&none, &[&message[..at], &message[at..]], 1_000).await, "cut at {at}");
        }
        let (head, rest) = message.split_at(PREFIX);
        assert!(!is_read(&none, &[&head[..1], &head[1..], rest], 1_000).await);
        assert!(!is_read(&none, &[&[], &message], 1_000).await, "a piece without a byte comes first");
        assert!(
            !is_read(&none, &[&[0; PREFIX], &message], 1_000).await,
            "a message without a byte comes first"
        );
    }

    #[tokio::test]
    async fn what_is_said_of_a_length_is_held_against_what_came() {
        for length in [u32::MAX, u32::MAX - 4, 1 << 31, 1] {
            let head = [&[0], &length.to_be_bytes()[..]].concat();
            let longer = [&head[..], &framed(&asked())].concat();
            for max_bytes in [0, 1_000, usize::MAX] {
                assert!(!is_read(&HeaderMap::new(), &[&head], max_bytes).await, "{length}");
                assert!(!is_read(&HeaderMap::new(), &[&longer], max_bytes).await, "{length}");
            }
        }
    }

    type Sent = Result<Frame<Bytes>, &'static str>;

    fn body(pieces: Vec<Sent>) -> impl http_body::Body<Data = Bytes, Error = &'static str> + Unpin {
        StreamBody::new(stream::iter(pieces))
    }

    fn data(bytes: &[u8]) -> Frame<Bytes> {
        Frame::data(Bytes::copy_from_slice(bytes))
    }

    #[tokio::test]
    async fn a_message_without_a_byte_is_one() {
        let mut body = body(vec![Ok(data(&[0; PREFIX]))]);
        let read = read::<v1::ActRequest, _>(&HeaderMap::new(), &mut body, 0).await;
        assert_eq!(read.ok(), Some(v1::ActRequest::default()));
    }

    /// Tonic is given all these pieces, and nothing else.
    async fn check_left_to_tonic(pieces: impl Fn() -> Vec<Sent>) {
        let mut body = body(pieces());
        let read = read::<v1::ActRequest, _>(&HeaderMap::new(), &mut body, 1_000).await;
        let mut again = Again { read: read.expect_err("it is left to tonic"), body };
        let mut left = Vec::new();
        while let Some(piece) = next(&mut again).await {
            left.push(format!("{piece:?}"));
        }
        assert_eq!(left, pieces().iter().map(|piece| format!("{piece:?}")).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn trailers_and_errors_are_tonics_behind_what_came_before_them() {
        let message = framed(&asked());
        let trailers = || Ok(Frame::trailers(HeaderMap::from_iter([(GRPC_STATUS, WELL)])));
        check_left_to_tonic(|| vec![Ok(data(&message)), trailers()]).await;
        check_left_to_tonic(|| vec![trailers()]).await;
        check_left_to_tonic(|| vec![Err("reset")]).await;
        check_left_to_tonic(|| vec![Ok(data(&message)), Err("reset")]).await;
        check_left_to_tonic(|| vec![Ok(data(&message[..7])), Err("reset")]).await;
        check_left_to_tonic(|| vec![Ok(data(&message[..7])), Ok(data(&message[7..])), trailers()]).await;
    }
}
