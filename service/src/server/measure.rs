//! What is counted of every call of gRPC, whichever method it asks.

use std::{
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
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tonic::Code;

use crate::{
    grpc::is_grpc,
    metrics::{Call, Messages, Rpcs},
};

/// Counts a call of gRPC from its request to the last of its answer. Calls of gRPC-Web come as such too.
pub(super) async fn measure(State(rpcs): State<Arc<Rpcs>>, request: Request, next: Next) -> Response {
    if !is_grpc(&request) {
        return next.run(request).await;
    }
    let mut call = rpcs.begin(request.uri().path());
    let messages = call.received();
    let request = request.map(|body| Body::new(Measured { body, messages, call: None }));
    let response = next.run(request).await;
    call.responds();
    // Without a message the code is here already, else it comes behind the last one.
    if let Some(code) = code(response.headers()) {
        call.ends(code);
    }
    let messages = call.sent();
    response.map(|body| Body::new(Measured { body, messages, call: Some(call) }))
}

fn code(headers: &HeaderMap) -> Option<Code> {
    headers.get("grpc-status").map(|code| Code::from_bytes(code.as_bytes()))
}

/// The body of a request, or of an answer, which has the call to which it is the last.
struct Measured {
    body: Body,
    messages: Messages,
    call: Option<Call>,
}

impl http_body::Body for Measured {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
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
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
