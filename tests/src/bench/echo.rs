//! The bare server, and its clients: what a call and a message of a stream cost without anything that the service does.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use anyhow::bail;
use futures::{Stream, StreamExt};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::BoxFuture;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;
use tonic::transport::Channel;
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::message::Payload;
use super::meter::Meter;
use super::relay::{self, Pairs};
use super::spread::spread;

const CALL: &str = "/bench.Echo/Call";
const STREAM: &str = "/bench.Echo/Stream";

/// The bare service: it answers every message with the same one.
#[derive(Clone)]
pub(super) struct Echo {
    answer: Payload,
    /// The streams of a relay.
    pairs: Pairs,
}

impl Echo {
    /// One whose answers take so many bytes.
    pub(super) fn new(response_bytes: usize) -> Self {
        Self { answer: Payload::of_size(response_bytes), pairs: Pairs::default() }
    }
}

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl tower::Service<Request<Body>> for Echo {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Response<Body>, Infallible>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.answer.clone();
        let mut grpc = tonic::server::Grpc::new(ProstCodec::<Payload, Payload>::default());
        match request.uri().path() {
            STREAM => {
                let service = service_fn(move |asked: tonic::Request<Streaming<Payload>>| {
                    let answers = answers(asked.into_inner(), answer.clone());
                    async { Ok::<_, Status>(tonic::Response::new(answers)) }
                });
                Box::pin(async move { Ok(grpc.streaming(service, request).await) })
            }
            relay::PATH => {
                let pairs = self.pairs.clone();
                let service = service_fn(move |asked: tonic::Request<Streaming<Payload>>| {
                    let answers = pairs.answers(asked, answer.clone());
                    async { answers.map(tonic::Response::new) }
                });
                Box::pin(async move { Ok(grpc.streaming(service, request).await) })
            }
            _ => {
                let service = service_fn(move |_: tonic::Request<Payload>| {
                    let answer = answer.clone();
                    async { Ok::<_, Status>(tonic::Response::new(answer)) }
                });
                Box::pin(async move { Ok(grpc.unary(service, request).await) })
            }
        }
    }
}

fn answers(asked: Streaming<Payload>, answer: Payload) -> impl Stream<Item = Result<Payload, Status>> {
    asked.map(move |message| message.map(|_| answer.clone()))
}

/// Unary calls, so many at once.
pub(super) fn call(
    channels: &[Channel],
    in_flight: usize,
    request_bytes: usize,
    meter: &Arc<Meter>,
) -> JoinSet<()> {
    spread(channels, in_flight, meter, |_, channel, meter| calls(channel, request_bytes, meter))
}

/// Streams, with one message in flight on each.
pub(super) fn ping_pong(
    channels: &[Channel],
    streams: usize,
    request_bytes: usize,
    meter: &Arc<Meter>,
) -> JoinSet<()> {
    spread(channels, streams, meter, |_, channel, meter| stream(channel, request_bytes, meter))
}

async fn calls(channel: Channel, request_bytes: usize, meter: Arc<Meter>) -> anyhow::Result<()> {
    let request = Payload::of_size(request_bytes);
    let mut grpc = Grpc::new(channel);
    loop {
        let began = Instant::now();
        grpc.ready().await?;
        let codec = ProstCodec::<Payload, Payload>::default();
        let path = PathAndQuery::from_static(CALL);
        grpc.unary(tonic::Request::new(request.clone()), path, codec).await?;
        meter.done(began.elapsed());
    }
}

async fn stream(channel: Channel, request_bytes: usize, meter: Arc<Meter>) -> anyhow::Result<()> {
    let request = Payload::of_size(request_bytes);
    let mut grpc = Grpc::new(channel);
    grpc.ready().await?;
    let (requests, sent) = unbounded_channel();
    requests.send(request.clone())?;
    let mut began = Instant::now();
    let sent = tonic::Request::new(UnboundedReceiverStream::new(sent));
    let codec = ProstCodec::<Payload, Payload>::default();
    let answers = grpc.streaming(sent, PathAndQuery::from_static(STREAM), codec).await?;
    let mut answers = answers.into_inner();
    while answers.message().await?.is_some() {
        meter.done(began.elapsed());
        began = Instant::now();
        requests.send(request.clone())?;
    }
    bail!("the server has ended a stream")
}
