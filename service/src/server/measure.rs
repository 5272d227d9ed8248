//! What is counted of every call of gRPC, whichever method it asks.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use futures::{FutureExt, future::lazy};
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tonic::{Code, Status};

use super::unary::GRPC_STATUS;
use crate::{
    grpc::{Fault, is_grpc},
    metrics::{Call, GivenUp, Messages, Rpcs},
};

/// Counts a call of gRPC on its way through the routes. Calls of gRPC-Web come as such too.
pub(super) async fn measure(State(rpcs): State<Arc<Rpcs>>, request: Request, next: Next) -> Response {
    if !is_grpc(&request) {
        return next.run(request).await;
    }
    let given_up = request.extensions().get::<GivenUp>().cloned().unwrap_or_default();
    measured(&rpcs, given_up, request, |request| next.run(request.map(Body::new))).await.map(Body::new)
}

/// Counts a call of gRPC from its request to the last of its answer. What panics is answered as a fault of the server.
///
/// It is no `async fn`, as the future of one has room for what it was given beside that of what it awaits: each that a request is
/// handed through would add a request to the future of every action.
pub(super) fn measured<B, A, F>(
    rpcs: &Rpcs,
    given_up: GivenUp,
    request: http::Request<B>,
    answer: impl FnOnce(http::Request<Measured<B>>) -> F,
) -> impl Future<Output = http::Response<Measured<A>>>
where
    F: Future<Output = http::Response<A>>,
    A: Default,
{
    let mut call = rpcs.begin(request.uri().path(), given_up);
    let messages = call.received();
    let request = request.map(|body| Measured { body: Some(body), messages, call: None });
    let answered = AssertUnwindSafe(lazy(|_| answer(request)).flatten()).catch_unwind();
    answered.map(move |answered| {
        let response = answered.unwrap_or_else(|panic| Status::from(Fault::panicked(&*panic)).into_http());
        call.responds();
        // Without a message the code is here already, else it comes behind the last one.
        if let Some(code) = code(response.headers()) {
            call.ends(code);
        }
        let messages = call.sent();
        response.map(|body| Measured { body: Some(body), messages, call: Some(call) })
    })
}

fn code(headers: &HeaderMap) -> Option<Code> {
    headers.get(GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes()))
}

/// The body of a request, or of an answer, which has the call to which it is the last.
pub(super) struct Measured<B> {
    /// There until it panics.
    body: Option<B>,
    messages: Messages,
    call: Option<Call>,
}

impl<B: http_body::Body<Data = Bytes> + Unpin> Measured<B> {
    /// The next of the body. An answer that panics ends as a fault of the server; a request is read by what is answered so.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let body = Pin::new(body);
        if self.call.is_none() {
            return body.poll_frame(context);
        }
        let polled = catch_unwind(AssertUnwindSafe(|| body.poll_frame(context)));
        polled.unwrap_or_else(|panic| {
            self.body = None;
            let status = Status::from(Fault::panicked(&*panic)).into_http::<()>();
            Poll::Ready(Some(Ok(Frame::trailers(status.into_parts().0.headers))))
        })
    }
}

impl<B: http_body::Body<Data = Bytes> + Unpin> http_body::Body for Measured<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(self.poll_body(context));
        if let Some(Ok(frame)) = &frame {
            if let Some(data) = frame.data_ref() {
                self.messages.take(data);
            } else if let (Some(code), Some(call)) = (frame.trailers_ref().and_then(code), &mut self.call) {
                call.ends(code);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), B::size_hint)
    }
}

#[cfg(test)]
mod tests;
