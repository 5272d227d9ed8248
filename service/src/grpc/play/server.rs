//! `PlayService`, of which the streams are [read](Requests) and have [bodies](told_body) in ways of their own.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use tonic::{body::Body, codegen::Service, server::NamedService};
use zetema_proto::v1::play_service_server::PlayServiceServer;

use super::{PlayAdapter, requests::Requests};
use crate::{
    grpc::{handed::Handed, told_body},
    limits,
};

const PLAY: &str = "/zetema.v1.PlayService/Play";
const OBSERVE: &str = "/zetema.v1.PlayService/Observe";

/// `PlayService`.
#[derive(Clone)]
pub(crate) struct PlayServer {
    generated: PlayServiceServer<PlayAdapter>,
    max_request_bytes: usize,
}

impl PlayServer {
    /// The service, whose requests, or messages of a stream, have so many bytes at most.
    pub(crate) fn new(adapter: PlayAdapter, max_request_bytes: usize) -> Self {
        let generated = PlayServiceServer::new(adapter)
            .max_decoding_message_size(max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
        Self { generated, max_request_bytes }
    }
}

impl NamedService for PlayServer {
    const NAME: &'static str = <PlayServiceServer<PlayAdapter> as NamedService>::NAME;
}

impl<B> Service<http::Request<B>> for PlayServer
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError> + Send,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        match request.uri().path() {
            PLAY => {
                let (mut parts, body) = request.into_parts();
                let said = Requests::new(Body::new(body), self.max_request_bytes);
                parts.extensions.insert(Handed::new(said));
                let request = http::Request::from_parts(parts, Body::empty());
                told_body::answered_by(&mut self.generated, request)
            }
            OBSERVE => told_body::answered_by(&mut self.generated, request),
            _ => self.generated.call(request),
        }
    }
}
