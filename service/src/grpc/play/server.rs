//! `PlayService`, of which the streams have [bodies of their own](told_body).

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use tonic::{body::Body, codegen::Service, server::NamedService};
use zetema_proto::v1::play_service_server::PlayServiceServer;

use super::PlayAdapter;
use crate::{grpc::told_body, limits};

const PLAY: &str = "/zetema.v1.PlayService/Play";
const OBSERVE: &str = "/zetema.v1.PlayService/Observe";

/// `PlayService`.
#[derive(Clone)]
pub(crate) struct PlayServer(PlayServiceServer<PlayAdapter>);

impl PlayServer {
    /// The service, whose requests, or messages of a stream, have so many bytes at most.
    pub(crate) fn new(adapter: PlayAdapter, max_request_bytes: usize) -> Self {
        let generated = PlayServiceServer::new(adapter)
            .max_decoding_message_size(max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
        Self(generated)
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
            PLAY | OBSERVE => told_body::answered_by(&mut self.0, request),
            _ => self.0.call(request),
        }
    }
}
