//! The bare relay: streams in pairs, as the seats of a match are, with the messages of their actions and nothing else that the service does.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use anyhow::bail;
use futures::{Stream, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;

use super::message::Payload;
use super::meter::Meter;
use super::spread::spread;

/// The method of these streams.
pub(super) const PATH: &str = "/bench.Echo/Relay";
/// The metadata that names the pair of a stream, by a number.
const PAIR: &str = "pair";

/// The pairs of which one stream has come.
#[derive(Clone, Default)]
pub(super) struct Pairs(Arc<Mutex<HashMap<String, Side>>>);

/// How one of a pair reaches the other.
struct Side {
    to_other: UnboundedSender<()>,
    from_other: UnboundedReceiver<()>,
}

impl Pairs {
    /// What goes out on a stream: the same answer for each message of its own, and for each of the other stream of its pair.
    ///
    /// # Errors
    /// If it does not say of which pair it is.
    pub(super) fn answers(
        &self,
        asked: tonic::Request<Streaming<Payload>>,
        answer: Payload,
    ) -> Result<Answers, Status> {
        let pair = asked.metadata().get(PAIR).and_then(|pair| pair.to_str().ok());
        let pair = pair.ok_or_else(|| {
            Status::invalid_argument("metadata pair: missing, give the number of the stream's pair")
        })?;
        let side = self.side(pair);
        Ok(Answers { asked: asked.into_inner(), side, answer })
    }

    fn side(&self, pair: &str) -> Side {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.remove(pair).unwrap_or_else(|| {
            let ((to_this, from_other), (to_other, from_this)) = (unbounded_channel(), unbounded_channel());
            waiting.insert(pair.to_owned(), Side { to_other: to_this, from_other: from_this });
            Side { to_other, from_other }
        })
    }
}

/// What goes out on a stream of a pair.
pub(super) struct Answers {
    asked: Streaming<Payload>,
    side: Side,
    answer: Payload,
}

impl Stream for Answers {
    type Item = Result<Payload, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(Some(())) = self.side.from_other.poll_recv(context) {
            return Poll::Ready(Some(Ok(self.answer.clone())));
        }
        let asked = ready!(self.asked.poll_next_unpin(context));
        Poll::Ready(asked.map(|asked| {
            asked?;
            let other = self.side.to_other.send(());
            other.map_err(|_gone| Status::aborted("the other stream of the pair is gone"))?;
            Ok(self.answer.clone())
        }))
    }
}

/// Streams in so many pairs, with one message in flight in each: who has said one is answered, the other is shown it, and is next.
pub(super) fn take_turns(
    channels: &[Channel],
    pairs: usize,
    request_bytes: usize,
    meter: &Arc<Meter>,
) -> JoinSet<()> {
    spread(channels, 2 * pairs, meter, |number, channel, meter| seat(channel, request_bytes, number, meter))
}

/// Of the two of a pair the one with the even number begins.
async fn seat(
    channel: Channel,
    request_bytes: usize,
    number: usize,
    meter: Arc<Meter>,
) -> anyhow::Result<()> {
    let request = Payload::of_size(request_bytes);
    let mut grpc = Grpc::new(channel);
    grpc.ready().await?;
    let (requests, sent) = unbounded_channel();
    let mut is_answered_next = number.is_multiple_of(2);
    if is_answered_next {
        requests.send(request.clone())?;
    }
    let mut began = Instant::now();
    let mut sent = tonic::Request::new(UnboundedReceiverStream::new(sent));
    sent.metadata_mut().insert(PAIR, (number / 2).into());
    let codec = ProstCodec::<Payload, Payload>::default();
    let answers = grpc.streaming(sent, PathAndQuery::from_static(PATH), codec).await?;
    let mut answers = answers.into_inner();
    while answers.message().await?.is_some() {
        if is_answered_next {
            meter.done(began.elapsed());
        } else {
            began = Instant::now();
            requests.send(request.clone())?;
        }
        is_answered_next = !is_answered_next;
    }
    bail!("the server has ended a stream")
}

#[cfg(test)]
mod tests {
    use tonic::codec::Codec;

    use super::*;

    /// What goes out on a stream of a pair by which so many messages come.
    fn stream(pairs: &Pairs, pair: Option<u32>, messages: usize) -> Result<Answers, Status> {
        let body = String::from_utf8([0; 5].repeat(messages)).unwrap();
        let decoder = ProstCodec::<Payload, Payload>::default().decoder();
        let mut asked = tonic::Request::new(Streaming::new_request(decoder, body, None, None));
        if let Some(pair) = pair {
            asked.metadata_mut().insert(PAIR, pair.into());
        }
        pairs.answers(asked, Payload::of_size(41))
    }

    async fn rest(answers: &mut Answers) -> usize {
        answers.map(|answer| answer.unwrap()).count().await
    }

    #[tokio::test]
    async fn what_one_of_a_pair_says_is_answered_and_shown_to_the_other_and_nobody_else() {
        let pairs = Pairs::default();
        let open = |pair, messages| stream(&pairs, Some(pair), messages).unwrap();
        // The first says two before the other is there.
        let mut first = open(1, 2);
        for _ in 0..2 {
            assert!(first.next().await.unwrap().is_ok());
        }
        let (mut other, mut of_another_pair) = (open(1, 1), open(2, 0));
        assert_eq!(rest(&mut other).await, 2 + 1);
        assert_eq!(rest(&mut first).await, 1);
        assert_eq!(rest(&mut of_another_pair).await, 0);
    }

    #[test]
    fn a_stream_of_no_pair_is_refused() {
        let refused = stream(&Pairs::default(), None, 0).map(|_| ()).unwrap_err();
        assert_eq!(refused.code(), tonic::Code::InvalidArgument);
    }
}
