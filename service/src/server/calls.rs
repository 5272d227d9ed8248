//! The calls of one connection: counted while they are open, and answered as fast as their client reads.

use std::{
    convert::Infallible,
    future::{pending, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
};
use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;
use tokio::{sync::OwnedSemaphorePermit, time::sleep};
use tonic::Status;

use super::{
    asked::{Asked, Coming},
    direct::{Destination, Direct, destination},
    measure::Measured,
    routes::Routes,
    unary::Reply,
};
use crate::{
    admission::{OpenCall, Origin, Purpose, Queued, Room, Traffic, Turn},
    executor::{self, Part},
    metrics::GivenUp,
    prefetch::Place,
};

/// What answers the requests of one connection.
pub(super) struct Calls {
    routes: Routes,
    origin: Origin,
    /// How long a request's message may take to come.
    timeout: Duration,
    /// How many bytes it may have.
    max_request_bytes: usize,
}

impl Calls {
    pub(super) const fn new(
        routes: Routes,
        origin: Origin,
        timeout: Duration,
        max_request_bytes: usize,
    ) -> Self {
        Self { routes, origin, timeout, max_request_bytes }
    }
}

impl Service<Request<Incoming>> for Calls {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let Self { routes, origin, timeout, max_request_bytes } = self;
        let timeout = *timeout;
        let traffic = origin.traffic.clone();
        let purpose = Purpose::of(request.uri().path());
        let room = traffic.room(purpose);
        let origin = Origin { crowded: room.is_none(), ..origin.clone() };
        let mut open = Open { _call: traffic.call(), room };
        let way = match (&routes.direct, destination(&request)) {
            (Some(direct), Some(to)) => Way::Direct(Arc::clone(direct), to),
            _ => Way::Routed(routes.router.clone()),
        };
        let coming = Arc::new(Coming::default());
        let mut request = asked(request, *max_request_bytes, &traffic, &coming);
        let answering = async move {
            let at_work = traffic.workers().acquire_owned().await.ok();
            // While its client has not read what it was answered, it is asked nothing more. What it was answered before is
            // known only now that this one is at work.
            traffic.room_for_answer().await;
            let given_up = GivenUp::default();
            let late = async {
                // Most messages come with what goes before them, and no timer is set for them.
                if coming.is_whole() {
                    return pending().await;
                }
                sleep(timeout).await;
                // What is slow to be answered is no fault of the client.
                let Some(fault) = coming.fault() else { return pending().await };
                let status = Status::from(fault);
                // Before what would have answered is dropped.
                given_up.with(status.code());
                status
            };
            // No async block, or there were room for the request in it too.
            let answer = match &way {
                Way::Direct(direct, to) => {
                    let answer = direct.answer(*to, origin, given_up.clone(), request);
                    answer.map(|response| response.map(Made::Direct)).left_future()
                }
                Way::Routed(router) => {
                    request.extensions_mut().insert(origin);
                    request.extensions_mut().insert(given_up.clone());
                    let answer = TowerToHyperService::new(router.clone()).call(request.map(Body::new));
                    // Boxed, or the future of each action were as large.
                    answer.map(|Ok(response)| response.map(Made::Routed)).boxed().right_future()
                }
            };
            let mut response = tokio::select! {
                biased;
                response = answer => response,
                status = late => status.into_http().map(Made::Routed),
            };
            if purpose == Purpose::Metrics
                && let Some(room) = traffic.room(Purpose::Other)
            {
                // It is shared by all who asked: who is slow to read it, or never does, keeps nobody from asking.
                open.room = Some(room);
            }
            let turn = response.extensions_mut().remove::<Turn>();
            let mut response =
                response.map(|made| Answer { made, traffic, at_work, first: None, _open: open });
            if turn.is_some() {
                // What it is made of is gone and its first piece is counted before the next has a turn, whenever the
                // connection takes it.
                response.body_mut().begin().await;
            }
            Ok(response)
        };
        Answering(Box::pin(answering))
    }
}

/// What answers a call. It waits for the journal while others are answered: its memory is fetched before it goes on.
pub(super) struct Answering(BoxFuture<'static, Result<Response<Answer>, Infallible>>);

impl Future for Answering {
    type Output = Result<Response<Answer>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.0.as_mut().poll(context);
        // What answered is gone then, however long its answer goes on.
        let place = if polled.is_ready() { Place::NOWHERE } else { Place::of(&*self.0) };
        executor::has(Part::Body, place);
        polled
    }
}

/// A request whose body is watched as it comes.
fn asked(
    request: Request<Incoming>,
    max_bytes: usize,
    traffic: &Traffic,
    coming: &Arc<Coming>,
) -> Request<Asked> {
    let (parts, body) = request.into_parts();
    let body = Asked::new(body, &parts.headers, max_bytes, traffic, Arc::clone(coming));
    Request::from_parts(parts, body)
}

/// Which way a call takes.
enum Way {
    Direct(Arc<Direct>, Destination),
    Routed(Router),
}

/// A call that is open.
struct Open {
    _call: OpenCall,
    room: Option<Room>,
}

/// What an answer is made of: each body in another costs each of its messages.
enum Made {
    Routed(Body),
    Direct(Measured<Reply>),
}

impl Made {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self {
            Self::Routed(body) => Pin::new(body).poll_frame(context),
            Self::Direct(body) => {
                let frame = ready!(Pin::new(body).poll_frame(context));
                Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Routed(body) => body.is_end_stream(),
            Self::Direct(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Routed(body) => body.size_hint(),
            Self::Direct(body) => body.size_hint(),
        }
    }
}

/// The body of a response, of which a piece is made only when there is room for it.
pub(super) struct Answer {
    made: Made,
    traffic: Traffic,
    /// There until the first piece is made: that waits for no room, since what it is made of takes as much.
    at_work: Option<OwnedSemaphorePermit>,
    /// That piece, if it is made before the connection asks for it.
    first: Option<Piece>,
    _open: Open,
}

type Piece = Result<Frame<Queued>, axum::Error>;

impl Answer {
    /// Makes the first piece.
    async fn begin(&mut self) {
        self.first = poll_fn(|context| self.poll_piece(context)).await;
    }

    /// Makes the next piece, and counts it.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Piece>> {
        let piece = ready!(self.made.poll_frame(context));
        Poll::Ready(piece.map(|piece| Ok(piece?.map_data(|data| self.traffic.queue(data)))))
    }

    /// Bytes of the first piece, if it is made.
    fn first_bytes(&self) -> u64 {
        let data = self.first.as_ref().and_then(|piece| piece.as_ref().ok()?.data_ref());
        data.map_or(0, |data| u64::try_from(data.len()).unwrap_or(u64::MAX))
    }
}

impl http_body::Body for Answer {
    type Data = Queued;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Piece>> {
        let at_work = self.at_work.take();
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        if at_work.is_none() {
            ready!(self.traffic.poll_room(context));
        }
        self.poll_piece(context)
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.made.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (first, left) = (self.first_bytes(), self.made.size_hint());
        let mut hint = SizeHint::new();
        if let Some(upper) = left.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint.set_lower(left.lower().saturating_add(first));
        hint
    }
}

#[cfg(test)]
mod tests;
