//! The body of a response that tells what follows matches.
//!
//! A handler of the generated code answers with a stream of messages, of which tonic makes the body: each is copied into a buffer that the
//! stream keeps, memory that each touches anew. Nearly all that is told has bytes already, with room for what stands before it, and goes
//! out as these.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, future::BoxFuture, stream};
use http::{Extensions, HeaderMap};
use http_body::Frame;
use tonic::{Response, Status, body::Body, codegen::Service};

use super::{
    fault::Fault,
    handed::{BY_ANOTHER_WAY, Handed},
    told::{Follows, Framed, Told},
};
use crate::limits;

/// What the generated code makes a body of, which nobody reads.
pub(super) type Nothing<M> = stream::Empty<Result<M, Status>>;

/// What the generated code answers, with the body that the handler [tells](tell).
pub(super) fn answered_by<S, B>(
    generated: &mut S,
    mut request: http::Request<B>,
) -> BoxFuture<'static, Result<http::Response<Body>, Infallible>>
where
    S: Service<http::Request<B>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    // Its handler leaves the body of the response there.
    let left = Handed::<Body>::default();
    request.extensions_mut().insert(left.clone());
    let answered = generated.call(request);
    async move {
        let response = answered.await?;
        Ok(match left.take() {
            Some(body) => response.map(|_| body),
            None => response,
        })
    }
    .boxed()
}

/// Tells this on the stream that a request with these extensions is answered by.
///
/// # Errors
/// If the request did not come by [`answered_by`].
pub(super) fn tell<M: Follows + 'static>(
    extensions: &Extensions,
    told: impl Stream<Item = Result<Told<M>, Status>> + Unpin + Send + 'static,
) -> Result<Response<Nothing<M>>, Status> {
    let left = extensions.get::<Handed<Body>>().ok_or_else(|| Fault::internal(&BY_ANOTHER_WAY))?;
    left.put(Body::new(ToldBody::new(told)));
    Ok(Response::new(stream::empty()))
}

/// A body of all that a stream tells.
struct ToldBody<S> {
    told: S,
    /// Bytes of the last piece.
    last: usize,
    end: End,
}

/// How far its end is.
enum End {
    Open,
    /// It ends so once what was told before is sent.
    Due(Status),
    Told,
}

impl<S> ToldBody<S> {
    const fn new(told: S) -> Self {
        Self { told, last: 0, end: End::Open }
    }
}

impl<S, M> http_body::Body for ToldBody<S>
where
    S: Stream<Item = Result<Told<M>, Status>> + Unpin,
    M: Follows,
{
    type Data = Bytes;
    type Error = Status;

    /// All that is told now is one piece, or as much of it as a stream may have written.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut piece = Framed::like(self.last.min(limits::HTTP2_MAX_SEND_BUFFER_BYTES));
        while matches!(self.end, End::Open) && piece.len() < limits::HTTP2_MAX_SEND_BUFFER_BYTES {
            match self.told.poll_next_unpin(context) {
                Poll::Pending if piece.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Some(Ok(told))) => {
                    if let Err(too_long) = piece.put(told) {
                        self.end = End::Due(too_long.into());
                    }
                }
                Poll::Ready(Some(Err(status))) => self.end = End::Due(status),
                Poll::Ready(None) => self.end = End::Due(Status::ok("")),
            }
        }
        if !piece.is_empty() {
            self.last = piece.len();
            return Poll::Ready(Some(Ok(Frame::data(piece.into_bytes()))));
        }
        let End::Due(status) = std::mem::replace(&mut self.end, End::Told) else { return Poll::Ready(None) };
        let mut trailers = HeaderMap::new();
        status.add_header(&mut trailers)?;
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.end, End::Told)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use futures::{
        channel::mpsc,
        future::{Ready, ready},
        poll,
    };
    use http_body::Body as _;
    use http_body_util::BodyExt;
    use tonic::Code;
    use zetema_proto::v1::{self, Error, ErrorReason};

    use super::*;
    use crate::grpc::told::{EncodedObservation, ROOM_BEFORE};

    type Item = Result<Told<v1::PlayResponse>, Status>;

    /// An observation of so many bytes, and nine more on the wire, or ten from 128 bytes on.
    fn observation(bytes: usize) -> Told<v1::PlayResponse> {
        Told::Observation { handle: 1, observation: EncodedObservation::Own(vec![0; ROOM_BEFORE + bytes]) }
    }

    /// A body of this, as lengths of its pieces, and the status in its trailers.
    async fn read(told: Vec<Item>) -> (Vec<usize>, Status) {
        let mut body = ToldBody::new(stream::iter(told));
        let mut pieces = Vec::new();
        loop {
            assert!(!body.is_end_stream());
            let frame = body.frame().await.unwrap().unwrap();
            match frame.into_data() {
                Ok(piece) => pieces.push(piece.len()),
                Err(trailers) => {
                    assert!(body.is_end_stream());
                    assert!(body.frame().await.is_none(), "nothing is behind its end");
                    return (pieces, Status::from_header_map(trailers.trailers_ref().unwrap()).unwrap());
                }
            }
        }
    }

    /// What is told is sent in pieces of so many bytes, and then this.
    async fn check(told: Vec<Item>, pieces: &[usize], reason: Option<ErrorReason>) {
        let (sent, status) = read(told).await;
        assert_eq!(sent, pieces);
        assert_eq!(Error::from_status(&status).map(|error| error.reason()), reason);
        assert_eq!(status.code() == Code::Ok, reason.is_none());
    }

    #[tokio::test]
    async fn what_is_told_comes_in_pieces_and_then_how_it_ends() {
        let (one, each) = (|| Ok(observation(1)), 10);
        let end = || Err(Fault::slow_reader().into());
        let slow = Some(ErrorReason::SlowReader);
        check(vec![], &[], None).await;
        check(vec![one(), one(), one()], &[3 * each], None).await;
        check(vec![end()], &[], slow).await;
        // What is behind an error is not told.
        check(vec![one(), end(), one()], &[each], slow).await;
        let too_long = Ok(observation(limits::MAX_RESPONSE_BYTES));
        check(vec![one(), too_long, one()], &[each], Some(ErrorReason::Internal)).await;
        // A piece is over once it has as much as a stream may have written.
        let most = limits::HTTP2_MAX_SEND_BUFFER_BYTES;
        check(vec![Ok(observation(most - 9)), one(), one()], &[most + 1, 2 * each], None).await;
    }

    #[tokio::test]
    async fn what_is_there_is_sent_and_the_rest_is_waited_for() {
        let (telling, told) = mpsc::unbounded();
        let mut body = ToldBody::new(told);
        assert!(poll!(body.frame()).is_pending());
        for round in 1..4 {
            (0..round).for_each(|_| telling.unbounded_send(Ok(observation(1))).unwrap());
            let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(piece.len(), 10 * round);
            assert!(poll!(body.frame()).is_pending());
            assert!(!body.is_end_stream());
        }
        drop(telling);
        assert!(body.frame().await.unwrap().unwrap().is_trailers());
    }

    /// Answers as generated code does by what its handler does with the request's extensions.
    struct Generated(fn(&Extensions) -> Result<(), Status>);

    impl Service<http::Request<()>> for Generated {
        type Response = http::Response<Body>;
        type Error = Infallible;
        type Future = Ready<Result<Self::Response, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: http::Request<()>) -> Self::Future {
            let response = match (self.0)(request.extensions()) {
                Ok(()) => http::Response::builder().header("made-by", "generated code"),
                Err(status) => return ready(Ok(status.into_http())),
            };
            ready(Ok(response.body(Body::default()).unwrap()))
        }
    }

    #[tokio::test]
    async fn the_generated_code_answers_with_the_body_that_its_handler_tells_if_it_tells_one() {
        let tells = |extensions: &Extensions| {
            tell::<v1::PlayResponse>(extensions, stream::iter(vec![Ok(observation(1))])).map(drop)
        };
        let response = answered_by(&mut Generated(tells), http::Request::new(())).await.unwrap();
        assert!(response.headers().contains_key("made-by"));
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes().len(), 10);
        let refuses = |_: &Extensions| Err(Fault::slow_reader().into());
        let response = answered_by(&mut Generated(refuses), http::Request::new(())).await.unwrap();
        let status = Status::from_header_map(response.headers()).unwrap();
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(response.into_body().is_end_stream());
    }

    #[test]
    fn a_request_that_came_another_way_is_answered_a_fault() {
        let told = stream::iter(Vec::<Item>::new());
        let status = tell::<v1::PlayResponse>(&Extensions::new(), told).unwrap_err();
        assert_eq!(status.code(), Code::Internal);
    }
}
