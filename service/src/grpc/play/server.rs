//! `PlayService`, with a codec of its own for what follows matches: what happens in one goes out as the bytes that were made of it.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use prost::Message;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::Service,
    server::{Grpc, NamedService, ServerStreamingService, StreamingService},
};
use zetema_proto::v1::{self, play_service_server::PlayServiceServer};

use super::{
    PlayAdapter,
    events::Validity,
    observe,
    opener::{Opener, TokenKey},
    outbox::{Unread, outbox},
    session::{Outgoing, Session, Told},
};
use crate::{
    admission::Share,
    executor::Executor,
    grpc::{
        caller::Caller,
        told::{Follows, ToldCodec},
    },
    limits,
};

const PLAY: &str = "/zetema.v1.PlayService/Play";
const OBSERVE: &str = "/zetema.v1.PlayService/Observe";

/// `PlayService`: the generated code answers all of it but `Play` and `Observe`.
#[derive(Clone)]
pub(crate) struct PlayServer {
    generated: PlayServiceServer<PlayAdapter>,
    adapter: PlayAdapter,
    /// In which streams run.
    executor: Executor,
    max_request_bytes: usize,
}

impl PlayServer {
    /// The service, whose requests, or messages of a stream, have so many bytes at most.
    pub(crate) fn new(adapter: PlayAdapter, executor: Executor, max_request_bytes: usize) -> Self {
        let generated = PlayServiceServer::new(adapter.clone())
            .max_decoding_message_size(max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
        Self { generated, adapter, executor, max_request_bytes }
    }

    fn grpc<M: Follows + 'static, U: Message + Default + 'static>(&self) -> Grpc<ToldCodec<M, U>> {
        Grpc::new(ToldCodec::default())
            .max_decoding_message_size(self.max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES)
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
        let adapter = self.adapter.clone();
        match request.uri().path() {
            PLAY => {
                let mut grpc = self.grpc();
                let players = Players(adapter, self.executor.clone());
                async move { Ok(grpc.streaming(players, request).await) }.boxed()
            }
            OBSERVE => {
                let mut grpc = self.grpc();
                async move { Ok(grpc.server_streaming(Observers(adapter), request).await) }.boxed()
            }
            _ => self.generated.call(request),
        }
    }
}

/// What answers `Play`.
struct Players(PlayAdapter, Executor);

type Said = stream::Map<Unread<Outgoing>, fn(Outgoing) -> Result<Told, Status>>;

impl StreamingService<v1::PlayRequest> for Players {
    type Response = Told;
    type ResponseStream = Said;
    type Future = BoxFuture<'static, Result<Response<Said>, Status>>;

    fn call(&mut self, request: Request<Streaming<v1::PlayRequest>>) -> Self::Future {
        let (PlayAdapter { backend, cuts, leases: _ }, executor) = (self.0.clone(), self.1.clone());
        async move {
            let caller = Caller::of(&backend, request.metadata()).await?;
            let (opener, token) = (Opener::from(&caller), TokenKey::of(request.metadata(), &caller));
            let share = request.extensions().get::<Share>().cloned();
            let session = Session::new(backend, cuts, opener, token, share);
            let (out, unread) = outbox();
            let validity = Validity { rotated: caller.rotated(), voided: caller.voided() };
            executor.spawn(session.run(request.into_inner(), out, validity));
            let said: fn(Outgoing) -> Result<Told, Status> = |said| said.map_err(|end| *end);
            Ok(Response::new(unread.map(said)))
        }
        .boxed()
    }
}

/// What answers `Observe`.
struct Observers(PlayAdapter);

type Observations = BoxStream<'static, Result<observe::Told, Status>>;

impl ServerStreamingService<v1::ObserveRequest> for Observers {
    type Response = observe::Told;
    type ResponseStream = Observations;
    type Future = BoxFuture<'static, Result<Response<Observations>, Status>>;

    fn call(&mut self, request: Request<v1::ObserveRequest>) -> Self::Future {
        let backend = Arc::clone(&self.0.backend);
        async move {
            let (metadata, extensions, message) = request.into_parts();
            let share = extensions.get::<Share>().cloned();
            Ok(Response::new(observe::observe(&backend, share, &metadata, message).await?))
        }
        .boxed()
    }
}
