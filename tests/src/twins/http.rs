//! Requests of gRPC without a connection, and every byte of their answers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD;
use bytes::{Buf, Bytes, BytesMut};
use futures::{FutureExt, StreamExt};
use http::{HeaderMap, Request, StatusCode, Version};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic_types::pb;
use tower::ServiceExt;
use zetema_service::server::InProcess;

use super::page::without_times;

type RequestBody = UnsyncBoxBody<Bytes, Infallible>;
type ResponseBody = UnsyncBoxBody<Bytes, String>;

/// How many bytes stand before a message of gRPC: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// One answer, whole.
pub(super) struct Reply {
    /// Status, headers, body and trailers, as they came.
    pub(super) bytes: Vec<u8>,
    /// The first message, if there is one.
    pub(super) message: Option<Bytes>,
}

impl Reply {
    /// The message of an answer that must be one.
    ///
    /// # Panics
    /// If it is an error.
    pub(super) fn decode<M: Message + Default>(&self) -> M {
        let Some(message) = &self.message else { panic!("{}", String::from_utf8_lossy(&self.bytes)) };
        M::decode(message.clone()).unwrap()
    }
}

/// Something of an answer that goes on.
pub(super) enum Part {
    /// Status and headers, or trailers.
    Frame(Vec<u8>),
    /// A message, without its prefix.
    Message(Bytes),
}

/// An answer that goes on.
pub(super) struct Answers {
    head: Option<Vec<u8>>,
    body: Option<ResponseBody>,
    buffer: BytesMut,
}

/// The other side of a stream of requests.
pub(super) struct Asks(mpsc::UnboundedSender<Bytes>);

impl Asks {
    /// Says one more message.
    pub(super) fn say(&self, message: &impl Message) {
        self.0.send(framed(&message.encode_to_vec())).unwrap();
    }
}

/// Asks for one answer.
pub(super) async fn ask(server: &InProcess, path: &str, bearer: Option<&str>, message: &[u8]) -> Reply {
    let body = Full::new(framed(message)).boxed_unsync();
    let mut answers = send(server, path, bearer, body).await;
    let mut reply = Reply { bytes: Vec::new(), message: None };
    while let Some(part) = answers.next().await {
        match part {
            Part::Frame(bytes) => reply.bytes.extend(bytes),
            Part::Message(message) => {
                reply.bytes.extend_from_slice(&framed(&message));
                reply.message.get_or_insert(message);
            }
        }
    }
    reply
}

/// Asks for answers that go on.
pub(super) async fn follow(server: &InProcess, path: &str, bearer: Option<&str>, message: &[u8]) -> Answers {
    send(server, path, bearer, Full::new(framed(message)).boxed_unsync()).await
}

/// Opens a stream in both directions.
pub(super) async fn talk(server: &InProcess, path: &str, bearer: Option<&str>) -> (Asks, Answers) {
    let (asks, asked) = mpsc::unbounded_channel();
    let frames = UnboundedReceiverStream::new(asked).map(|bytes| Ok(http_body::Frame::data(bytes)));
    let answers = send(server, path, bearer, StreamBody::new(frames).boxed_unsync()).await;
    (Asks(asks), answers)
}

/// The page of the metrics, without [what is a time](super::page).
pub(super) async fn metrics(server: &InProcess) -> Vec<u8> {
    let request = Request::get("http://twins/metrics").body(Full::new(Bytes::new()).boxed_unsync()).unwrap();
    let response = server.router().oneshot(request).await.unwrap();
    let head = head(response.status(), response.headers());
    let page = response.into_body().collect().await.unwrap().to_bytes();
    [head, without_times(std::str::from_utf8(&page).unwrap()).into_bytes()].concat()
}

async fn send(server: &InProcess, path: &str, bearer: Option<&str>, body: RequestBody) -> Answers {
    let mut request = Request::post(format!("http://twins/zetema.v1.{path}"))
        .version(Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if let Some(bearer) = bearer {
        request = request.header("authorization", format!("Bearer {bearer}"));
    }
    let response = server.router().oneshot(request.body(body).unwrap()).await.unwrap();
    let head = Some(head(response.status(), response.headers()));
    let body = response.into_body().map_err(|error| error.to_string()).boxed_unsync();
    Answers { head, body: Some(body), buffer: BytesMut::new() }
}

fn framed(message: &[u8]) -> Bytes {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    bytes.into()
}

fn head(status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
    format!("{status}\n{}", lines(headers)).into_bytes()
}

fn lines(headers: &HeaderMap) -> String {
    headers.iter().fold(String::new(), |mut lines, (name, value)| {
        let text = String::from_utf8_lossy(value.as_bytes());
        let text = if name == "grpc-status-details-bin" { in_order(&text) } else { text.into() };
        let _ = writeln!(lines, "{name}: {text}");
        lines
    })
}

/// The details of an error, with its length. The two entries that the metadata of an `ErrorInfo` may have come in the
/// order of a hash map, which is another every time: here they are sorted.
fn in_order(details: &str) -> String {
    let bytes = STANDARD_NO_PAD.decode(details.trim_end_matches('=')).unwrap();
    let pb::Status { code, message, details: parts } = pb::Status::decode(bytes.as_slice()).unwrap();
    let part = |part: &prost_types::Any| match pb::ErrorInfo::decode(part.value.as_slice()) {
        Ok(pb::ErrorInfo { reason, domain, metadata }) if part.type_url.ends_with(".ErrorInfo") => {
            format!("{reason} {domain} {:?}", metadata.into_iter().collect::<BTreeMap<_, _>>())
        }
        _ => format!("{} {:?}", part.type_url, part.value),
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("{} bytes, {code} {message} {}", details.len(), parts.join(", "))
}

impl Answers {
    /// What has come by now; `None`: nothing more has.
    pub(super) fn ready(&mut self) -> Option<Part> {
        // What is there is taken, however much it is.
        tokio::task::unconstrained(self.next()).now_or_never().flatten()
    }

    /// The next part; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Part> {
        if let Some(head) = self.head.take() {
            return Some(Part::Frame(head));
        }
        loop {
            if let Some(message) = self.message() {
                return Some(Part::Message(message));
            }
            let Some(frame) = self.body.as_mut()?.frame().await else {
                self.body = None;
                return None;
            };
            let frame = frame.unwrap();
            match frame.into_data() {
                Ok(data) => self.buffer.extend_from_slice(&data),
                Err(frame) => {
                    let trailers = frame.into_trailers().unwrap_or_default();
                    return Some(Part::Frame(lines(&trailers).into_bytes()));
                }
            }
        }
    }

    fn message(&mut self) -> Option<Bytes> {
        let length = self.buffer.get(1..PREFIX)?.try_into().ok().map(u32::from_be_bytes)?;
        let length = usize::try_from(length).ok()?;
        if self.buffer.len() < PREFIX + length {
            return None;
        }
        self.buffer.advance(PREFIX);
        Some(self.buffer.split_to(length).freeze())
    }
}
