//! The short way of most calls: gRPC over HTTP/2, of the services by which matches are played.
//!
//! They are let in, measured and explained as all others are, but pass by no route and by nothing of the web: each layer of a route
//! costs every call, and every message of a stream, two boxes.

use std::{convert::Infallible, sync::Arc};

use axum::body::Bytes;
use futures::{FutureExt, future::ready};
use http::{Method, Request, Response, Version, header::ORIGIN};
use tonic::{Status, body::Body, codegen::Service, metadata::MetadataMap, server::NamedService};

use super::{
    admit::let_in,
    measure::{Measured, measured},
    unary::{self, Again, Reply},
};
use crate::{
    admission::{Origin, Rates, Share},
    executor::Executor,
    grpc::{Backend, MatchServer, PlayAdapter, PlayServer, explain, is_grpc, is_grpc_web},
    limits,
    metrics::{GivenUp, Rpcs},
};

/// The call whose stream carries all that a bot plays.
pub(super) const PLAY_STREAM: &str = "/zetema.v1.PlayService/Play";
/// The call that is made most, by those who have no such stream.
const ACT: &str = "/zetema.v1.PlayService/Act";

/// The services by which matches are played.
#[derive(Clone)]
pub(super) struct Direct {
    pub(super) matches: MatchServer,
    pub(super) play: PlayServer,
    adapter: PlayAdapter,
    /// Of `Play` alone, whose messages are shorter than other requests may be.
    pub(super) stream: PlayServer,
    pub(super) rates: Arc<Rates>,
    pub(super) rpcs: Arc<Rpcs>,
}

/// Which of them a call is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Matches,
    Play,
    Act,
    Stream,
}

impl Direct {
    pub(super) fn new(
        backend: &Arc<Backend>,
        executor: &Executor,
        rates: &Arc<Rates>,
        rpcs: &Arc<Rpcs>,
    ) -> Self {
        let adapter = PlayAdapter::new(Arc::clone(backend), executor.clone());
        Self {
            matches: MatchServer::new(backend),
            play: PlayServer::new(adapter.clone(), limits::MAX_PLAY_REQUEST_BYTES),
            stream: PlayServer::new(adapter.clone(), limits::MAX_PLAY_MESSAGE_BYTES),
            adapter,
            rates: Arc::clone(rates),
            rpcs: Arc::clone(rpcs),
        }
    }

    /// Answers a call of one of them, which came from there and may be given up.
    pub(super) fn answer<B>(
        &self,
        to: Destination,
        origin: Origin,
        given_up: GivenUp,
        request: Request<B>,
    ) -> impl Future<Output = Response<Measured<Reply>>>
    where
        B: http_body::Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<axum::BoxError> + Send,
    {
        measured(&self.rpcs, given_up, request, move |request| {
            match (let_in(&self.rates, Some(origin), &request), to) {
                (Ok(share), Destination::Act) => self.act(share, request).left_future(),
                // Boxed, or the future of each action were as large.
                (Ok(share), to) => self.call(to, share, request).boxed().right_future(),
                (Err(refused), _) => {
                    ready((*refused).map(|body| Reply::Made(Body::new(body)))).boxed().right_future()
                }
            }
        })
    }

    /// Answers a call of `Act`. It is no `async fn`, as [`measured`] is none.
    fn act<B>(
        &self,
        share: Share,
        request: Request<Measured<B>>,
    ) -> impl Future<Output = Response<Reply>> + Send
    where
        B: http_body::Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<axum::BoxError> + Send,
    {
        let (parts, mut body) = request.into_parts();
        async move {
            let message = match unary::read(&parts.headers, &mut body, limits::MAX_PLAY_REQUEST_BYTES).await {
                Ok(message) => message,
                Err(read) => {
                    let request = Request::from_parts(parts, Again { read, body });
                    return self.call(Destination::Play, share, request).boxed().await;
                }
            };
            drop(body);
            let metadata = {
                let parts = parts;
                MetadataMap::from_headers(parts.headers)
            };
            match self.adapter.acted(metadata, Some(&share), message).await {
                Ok(response) => Reply::message(&response),
                Err(fault) => Status::from(fault).into_http().map(Reply::Made),
            }
        }
    }

    async fn call<B>(&self, to: Destination, share: Share, mut request: Request<B>) -> Response<Reply>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError> + Send,
    {
        request.extensions_mut().insert(share);
        let answered: Result<_, Infallible> = match to {
            Destination::Matches => self.matches.clone().call(request.map(Body::new)).await,
            Destination::Play | Destination::Act => self.play.clone().call(request).await,
            Destination::Stream => self.stream.clone().call(request).await,
        };
        let Ok(response) = answered;
        explain(response).map(Reply::Made)
    }
}

/// Of which of the services a request is a plain call. `None`: the routes know.
pub(super) fn destination<B>(request: &Request<B>) -> Option<Destination> {
    let headers = request.headers();
    // What a page in a browser asks has the headers answered that let it read the answer.
    let is_plain = request.version() == Version::HTTP_2
        && request.method() == Method::POST
        && is_grpc(request)
        && !is_grpc_web(request)
        && !headers.contains_key(ORIGIN);
    if !is_plain {
        return None;
    }
    let path = request.uri().path();
    let (service, _) = path.strip_prefix('/')?.split_once('/')?;
    match service {
        _ if path == PLAY_STREAM => Some(Destination::Stream),
        _ if path == ACT => Some(Destination::Act),
        PlayServer::NAME => Some(Destination::Play),
        MatchServer::NAME => Some(Destination::Matches),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::{super::asked::Asked, *};

    /// Each layer that holds the request once more adds some 400 bytes, in memory that is cold for every action.
    #[test]
    fn the_future_of_an_action_holds_its_request_few_times() {
        const fn size<F>(_: fn(&'static Direct, Origin, GivenUp, Request<Asked>) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = size(|direct, origin, given_up, request| {
            direct.answer(Destination::Act, origin, given_up, request)
        });
        assert!(bytes <= 2_000, "{bytes}");
    }

    #[test]
    fn plain_calls_of_the_services_that_play_take_the_short_way_and_no_others() {
        let check = |request: http::request::Builder, expected| {
            assert_eq!(destination(&request.body(()).unwrap()), expected);
        };
        let plain = |path: &str| {
            Request::post(path).version(Version::HTTP_2).header("content-type", "application/grpc+proto")
        };
        check(plain(PLAY_STREAM), Some(Destination::Stream));
        check(plain("/zetema.v1.PlayService/Act"), Some(Destination::Act));
        check(plain("/zetema.v1.PlayService/Observe"), Some(Destination::Play));
        check(plain("/zetema.v1.PlayService/NoSuchMethod"), Some(Destination::Play));
        check(plain("/zetema.v1.MatchService/GetMatch"), Some(Destination::Matches));
        for other in ["/", "/metrics", "/zetema.v1.PlayService", "/zetema.v1.RulesService/ListPresets"] {
            check(plain(other), None);
        }
        check(plain(PLAY_STREAM).header("origin", "https://example.org"), None);
        check(plain(PLAY_STREAM).version(Version::HTTP_11), None);
        check(plain(PLAY_STREAM).method(Method::OPTIONS), None);
        for kind in ["application/grpc-web", "application/grpc-web-text+proto", "text/html"] {
            let post = Request::post(PLAY_STREAM).version(Version::HTTP_2);
            check(post.header("content-type", kind), None);
        }
    }
}
