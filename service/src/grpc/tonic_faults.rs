//! Faults that tonic itself finds, in our form.
//!
//! tonic answers bytes that are no frame with a bare INTERNAL, messages that are too large with a bare
//! `OUT_OF_RANGE`, and a request that breaks off with whatever its client reset it by, before any handler is
//! called. Every status of ours carries details, so a status without them is tonic's: [`explain`] gives those
//! their reason. All of them are about the request, so none is a fault of the server. On a Play stream,
//! whose messages are not read by tonic, a body that is at fault is met by its session, which asks [`of_stream`].

use axum::response::Response;
use http::header::CONTENT_TYPE;
use tonic::{Code, Status};
use zetema_proto::v1::ErrorReason;

use super::fault::Fault;

/// Turns a refusal of tonic's own into one of ours; every other response passes as it is.
pub(crate) fn explain<B: Default>(response: http::Response<B>) -> http::Response<B> {
    let Some(status) = Status::from_header_map(response.headers()) else { return response };
    if status.code() == Code::Ok || !status.details().is_empty() {
        return response;
    }
    Status::from(of_tonic(&status)).into_http()
}

/// What a request that no service here answers is told.
pub(crate) async fn unknown_method(request: axum::extract::Request) -> Response {
    if is_grpc(&request) {
        return Status::from(no_such_method()).into_http();
    }
    let mut response =
        Response::new("This is a gRPC server. GET /metrics is all it has for other clients.\n".into());
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    response
}

/// Whether a request is one of gRPC.
pub(crate) fn is_grpc<B>(request: &http::Request<B>) -> bool {
    let kind = request.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// Whether it is one of gRPC-Web.
pub(crate) fn is_grpc_web<B>(request: &http::Request<B>) -> bool {
    let kind = request.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc-web"))
}

/// What is wrong with the next message of a client's stream. `None`: nothing, the connection is gone.
pub(crate) fn of_stream(status: &Status) -> Option<Fault> {
    if let Some(fault) = Fault::of_status(status) {
        return Some(fault);
    }
    match status.code() {
        Code::Internal => Some(of_tonic(status)),
        _ => None,
    }
}

fn of_tonic(status: &Status) -> Fault {
    match status.code() {
        Code::OutOfRange => Fault::new(ErrorReason::MessageTooLarge, status.message()),
        Code::Unimplemented => no_such_method(),
        // What is not decoded, not framed or not there.
        Code::Internal => {
            let message = format!("the message can't be decoded: {}", status.message());
            Fault::new(ErrorReason::Undecodable, message)
        }
        // The client broke off in the middle of its message. tonic makes each code of HTTP/2 that may stand in a reset
        // one of its own: which of them a stranger chooses says nothing about the server.
        _ => Fault::new(ErrorReason::Undecodable, "the message did not come whole: send it again"),
    }
}

fn no_such_method() -> Fault {
    Fault::new(
        ErrorReason::NotSupported,
        "this version of the server has no such method, or not in this encoding: its reflection service lists what \
         there is",
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use zetema_proto::v1;

    use super::*;

    #[tokio::test]
    async fn what_tonic_says_of_a_request_is_never_a_fault_of_the_server() {
        for code in (1..=16).map(Code::from_i32) {
            let explained = explain(Status::new(code, "h2 protocol error: reset").into_http::<()>());
            let status = Status::from_header_map(explained.headers()).unwrap();
            let expected = match code {
                Code::OutOfRange => (Code::ResourceExhausted, ErrorReason::MessageTooLarge),
                Code::Unimplemented => (Code::Unimplemented, ErrorReason::NotSupported),
                _ => (Code::InvalidArgument, ErrorReason::Undecodable),
            };
            let reason = v1::Error::from_status(&status).unwrap().reason();
            assert_eq!((status.code(), reason), expected, "{code:?}");
        }
    }
}
