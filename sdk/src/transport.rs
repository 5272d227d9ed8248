//! The socket under a session: one Play stream, and a call for a record.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::errors::InvalidMetadataValue;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, GrpcMethod, Request, Status, Streaming};
use zetema_proto::v1;
use zetema_rules::Record;

use crate::claim::Claim;
use crate::error::{Disconnect, Error, ErrorReason, Refusal};
use crate::tls::{Tls, TlsProblem};
use crate::token::BotToken;
use crate::wire::{Incoming, Outgoing, PlayCodec, RecordCodec};

pub(crate) const AUTHORIZATION: &str = "authorization";
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const RECORD_WITHIN: Duration = Duration::from_secs(20);
/// How long a record is asked for while the server is away, which restarts meanwhile.
const RECORD_TRIED_FOR: Duration = Duration::from_secs(30);
/// The same while the record is not to be had yet.
const REVEAL_WAITED_FOR: Duration = Duration::from_secs(2);
/// The first and the longest wait before it is asked for again.
const RECORD_WAITS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// Records are large: a match of many deals has each deck.
const MOST_RECORD_BYTES: usize = 64 << 20;

/// The server's address, and the stream to it.
pub(crate) struct Transport {
    server: String,
    tls: Tls,
    endpoint: Endpoint,
    channel: Channel,
    /// The bot's token, in the form of the metadata.
    bot: Option<MetadataValue<Ascii>>,
    stream: Stream,
    /// What has come by the stream and was not asked for yet, with why it is gone as the last, if it is.
    ahead: VecDeque<Result<Incoming, Disconnect>>,
    sender: Option<UnboundedSender<Outgoing>>,
}

enum Stream {
    None,
    Opening(BoxFuture<'static, Result<Streaming<Incoming>, Disconnect>>),
    Open(Box<Streaming<Incoming>>),
}

impl Transport {
    /// # Errors
    /// [`Error::Address`] if it is none; [`Error::TlsOption`] if TLS can't be had as it is asked for;
    /// [`Error::BotToken`] if the token can't be sent.
    pub(crate) fn new(server: &str, tls: &Tls, bot: Option<BotToken>) -> Result<Self, Error> {
        let endpoint = endpoint(server, tls)?;
        Ok(Self {
            server: server.to_owned(),
            tls: tls.clone(),
            channel: endpoint.connect_lazy(),
            endpoint,
            bot: bot.map(|token| bearer(token.reveal())).transpose().map_err(|_| Error::BotToken)?,
            stream: Stream::None,
            ahead: VecDeque::new(),
            sender: None,
        })
    }

    /// Opens a stream, on a connection of its own: the one before may be of no more use without having ended.
    /// What is sent from here on goes into it.
    pub(crate) fn connect(&mut self) {
        self.channel = self.endpoint.connect_lazy();
        // Without a bound, since what may wait has one: for each seat a join, a nonce, an answer and a
        // resignation, and a pong for each ping.
        let (sender, requests) = unbounded_channel();
        let channel = self.channel.clone();
        let bot = self.bot.clone();
        self.sender = Some(sender);
        let (server, tls) = (self.server.clone(), self.tls.clone());
        let opening = async move {
            let mut request = Request::new(UnboundedReceiverStream::new(requests));
            if let Some(bot) = bot {
                request.metadata_mut().insert(AUTHORIZATION, bot);
            }
            match play(channel, request).await {
                Ok(stream) => Ok(stream),
                Err(status) => Err(match disconnect(&status) {
                    // It may be for a reason that the server told and HTTP/2 lost.
                    Disconnect::Broken(text) => {
                        tls.diagnose(&server).await.map_or(Disconnect::Broken(text), Disconnect::Insecure)
                    }
                    why => why,
                }),
            }
        };
        self.ahead.clear();
        self.stream = Stream::Opening(opening.boxed());
    }

    /// Closes the stream. What has come by it and was not asked for is gone with it.
    pub(crate) fn disconnect(&mut self) {
        self.sender = None;
        self.ahead.clear();
        self.stream = Stream::None;
    }

    pub(crate) fn send(&self, message: Outgoing) {
        if let Some(sender) = &self.sender {
            // If the stream is gone, `next` says so, and all that matters is sent again.
            let _ = sender.send(message);
        }
    }

    /// The next message, or why the stream is gone.
    pub(crate) async fn next(&mut self) -> Result<Incoming, Disconnect> {
        let next = match self.ahead.pop_front() {
            Some(next) => next,
            None => self.read().await,
        };
        if next.is_err() {
            self.disconnect();
        }
        next
    }

    /// Reads so many messages at most that are there, without waiting: the next ones, in order.
    pub(crate) fn read_ahead(&mut self, most: usize) -> impl Iterator<Item = &Incoming> + Clone {
        while self.ahead.len() < most
            && self.ahead.back().is_none_or(Result::is_ok)
            && let Some(next) = self.read().now_or_never()
        {
            self.ahead.push_back(next);
        }
        self.ahead.iter().flatten()
    }

    /// Reads the next message of the stream, or why it is gone.
    async fn read(&mut self) -> Result<Incoming, Disconnect> {
        if let Stream::Opening(opening) = &mut self.stream {
            match opening.await {
                Ok(stream) => self.stream = Stream::Open(Box::new(stream)),
                Err(why) => {
                    self.stream = Stream::None;
                    return Err(why);
                }
            }
        }
        let Stream::Open(stream) = &mut self.stream else { return std::future::pending().await };
        let why = match stream.message().await {
            Ok(Some(message)) => return Ok(message),
            Ok(None) => Disconnect::Ended,
            Err(status) => disconnect(&status),
        };
        self.stream = Stream::None;
        Err(why)
    }

    /// Fetches a record, and tries again for a while.
    pub(crate) fn fetch_record(
        &self,
        match_id: String,
        claim: &Claim,
    ) -> impl Future<Output = Result<Box<Record>, Refusal>> + use<> {
        let (mut channel, endpoint) = (self.channel.clone(), self.endpoint.clone());
        let token = match (claim, &self.bot) {
            (Claim::Token(token), _) => bearer(token.reveal()).ok(),
            (Claim::Assigned { .. }, bot) => bot.clone(),
        };
        async move {
            let begun = Instant::now();
            let (mut wait, longest) = RECORD_WAITS;
            loop {
                let fetched = record_once(channel.clone(), &match_id, token.clone());
                match whole(RECORD_WITHIN, fetched).await {
                    Err(status) if patience(&status).is_some_and(|patience| begun.elapsed() < patience) => {
                        tokio::time::sleep(wait).await;
                        wait = longest.min(wait * 2);
                        channel = endpoint.connect_lazy();
                    }
                    Err(status) => return Err(refusal(&status)),
                    Ok(record) => return Ok(record),
                }
            }
        }
    }
}

/// The server, as connections are made to it.
///
/// # Errors
/// [`Error::Address`] if it is none; [`Error::TlsOption`] if TLS can't be had as it is asked for.
pub(crate) fn endpoint(server: &str, tls: &Tls) -> Result<Endpoint, Error> {
    let error = |problem: String| Error::Address { address: server.to_owned(), problem };
    let endpoint = Endpoint::from_shared(server.to_owned()).map_err(|problem| error(problem.to_string()))?;
    let endpoint = match endpoint.uri().scheme_str() {
        Some("http") => {
            tls.check_plaintext(server)?;
            endpoint
        }
        Some("https") => endpoint.tls_config(tls.config()).map_err(|problem| Error::TlsOption {
            option: "TLS can't be set up".to_owned(),
            problem: with_causes(&problem.to_string(), problem.source()),
        })?,
        Some(other) => return Err(error(format!("{other} is not supported"))),
        None => return Err(error("it must begin with http:// or https://".to_owned())),
    };
    Ok(endpoint.connect_timeout(CONNECT_WITHIN).tcp_nodelay(true))
}

/// Opens a stream. The generated client has a codec of its own.
async fn play(
    channel: Channel,
    mut request: Request<UnboundedReceiverStream<Outgoing>>,
) -> Result<Streaming<Incoming>, Status> {
    let mut client = Grpc::new(channel);
    ready(&mut client).await?;
    request.extensions_mut().insert(GrpcMethod::new("zetema.v1.PlayService", "Play"));
    let path = PathAndQuery::from_static("/zetema.v1.PlayService/Play");
    Ok(client.streaming(request, path, PlayCodec).await?.into_inner())
}

/// A token in the form of the metadata.
///
/// # Errors
/// If it has characters that no token has.
pub(crate) fn bearer(token: &str) -> Result<MetadataValue<Ascii>, InvalidMetadataValue> {
    let mut bearer = MetadataValue::try_from(format!("Bearer {token}"))?;
    bearer.set_sensitive(true);
    Ok(bearer)
}

async fn record_once(
    channel: Channel,
    match_id: &str,
    token: Option<MetadataValue<Ascii>>,
) -> Result<Box<Record>, Status> {
    let mut request = Request::new(v1::GetRecordRequest { match_id: match_id.to_owned() });
    request.set_timeout(RECORD_WITHIN);
    let token =
        token.ok_or_else(|| Status::invalid_argument("the token has characters that no token has"))?;
    request.metadata_mut().insert(AUTHORIZATION, token);
    request.extensions_mut().insert(GrpcMethod::new("zetema.v1.MatchService", "GetRecord"));
    let mut client = Grpc::new(channel).max_decoding_message_size(MOST_RECORD_BYTES);
    ready(&mut client).await?;
    let path = PathAndQuery::from_static("/zetema.v1.MatchService/GetRecord");
    client.unary(request, path, RecordCodec).await?.into_inner()
}

/// A call that has to be over in time, with its answer whole: tonic's own time-out is for the headers of that.
///
/// # Errors
/// The call's own, and `DEADLINE_EXCEEDED`.
pub(crate) async fn whole<T>(
    within: Duration,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    tokio::time::timeout(within, call)
        .await
        .unwrap_or_else(|_| Err(Status::deadline_exceeded("the server did not answer in time")))
}

async fn ready(client: &mut Grpc<Channel>) -> Result<(), Status> {
    client.ready().await.map_err(|error| Status::unknown(format!("the service is not ready: {error}")))
}

/// How long to ask for a record again that was refused so, if it may pass: the stream may tell of the end a little before
/// the record is there. A call whose HTTP/2 stream broke ends as `INTERNAL` without an error of the server, and one that a proxy
/// answers, which has no server for a while, as `UNIMPLEMENTED`.
fn patience(status: &Status) -> Option<Duration> {
    match v1::Error::from_status(status) {
        Some(error) => match error.reason() {
            ErrorReason::NotRevealed => Some(REVEAL_WAITED_FOR),
            ErrorReason::OutcomeUnknown | ErrorReason::Draining | ErrorReason::LimitExceeded => {
                Some(RECORD_TRIED_FOR)
            }
            _ => None,
        },
        None => match status.code() {
            Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Unknown
            | Code::Cancelled
            | Code::Internal
            | Code::Unimplemented => Some(RECORD_TRIED_FOR),
            _ => None,
        },
    }
}

pub(crate) fn refusal(status: &Status) -> Refusal {
    match v1::Error::from_status(status) {
        Some(error) => {
            Refusal { reason: error.reason(), decision: error.decision_number, message: error.message }
        }
        None => Refusal {
            reason: ErrorReason::Unspecified,
            message: format!("{}: {}", status.code(), status.message()),
            decision: None,
        },
    }
}

pub(crate) fn disconnect(status: &Status) -> Disconnect {
    if v1::Error::from_status(status).is_some() {
        return Disconnect::Refused(refusal(status));
    }
    if let Some(problem) = status.source().and_then(TlsProblem::find) {
        return Disconnect::Insecure(problem);
    }
    let text = with_causes(status.message(), status.source());
    match status.code() {
        // The status of an HTTP 404, too.
        Code::Unimplemented => Disconnect::NotServed,
        Code::Unavailable => Disconnect::NotReached(text),
        _ => Disconnect::Broken(text),
    }
}

fn with_causes(text: &str, mut source: Option<&(dyn StdError + 'static)>) -> String {
    let mut text = text.to_owned();
    while let Some(error) = source {
        // Some errors repeat what they come from.
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;
    use tonic::codec::Codec;
    use tonic::codegen::http::StatusCode;

    use super::*;
    use crate::token::SeatToken;

    /// One that has a stream by which pings of these numbers come, and then nothing.
    fn with_pings(numbers: &[u64]) -> Transport {
        let frame = |number: &u64| {
            let kind = v1::play_response::Kind::Ping(v1::Ping { number: *number });
            let message =
                v1::PlayResponse { kind: Some(kind), ..v1::PlayResponse::default() }.encode_to_vec();
            [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()], &message[..]].concat()
        };
        let body = String::from_utf8(numbers.iter().flat_map(frame).collect()).unwrap();
        let mut transport = Transport::new("http://127.0.0.1:1", &Tls::default(), None).unwrap();
        let stream = Streaming::new_response(PlayCodec.decoder(), body, StatusCode::OK, None, None);
        transport.stream = Stream::Open(Box::new(stream));
        transport
    }

    fn number(message: &Incoming) -> u64 {
        let Incoming::Message(message) = message else { panic!("{message:?}") };
        let Some(v1::play_response::Kind::Ping(v1::Ping { number })) = message.kind else {
            panic!("{message:?}")
        };
        number
    }

    /// A server that begins to answer the first request of each connection, and says no more.
    async fn begins_to_answer() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut connection, _)) = listener.accept().await {
                let settings: [&[u8]; 2] = [&[0, 0, 0, 4, 0, 0, 0, 0, 0], &[0, 0, 0, 4, 1, 0, 0, 0, 0]];
                // `:status 200`, and a content type without an index.
                let head: [&[u8]; 3] = [&[0x88, 0x0f, 0x10, 16], b"application/grpc", b""];
                let headers: [&[u8]; 2] = [&[0, 0, 20, 1, 4, 0, 0, 0, 1], &head.concat()];
                let mut asked = vec![0; 4096];
                connection.write_all(&settings.concat()).await.unwrap();
                // Up to the request's own headers, on the first stream.
                let mut read = 0;
                while !asked[..read].windows(5).any(|frame| frame == [1, 4, 0, 0, 0]) {
                    read += connection.read(&mut asked[read..]).await.unwrap();
                }
                connection.write_all(&headers.concat()).await.unwrap();
                open.push(connection);
            }
        });
        server
    }

    #[tokio::test]
    async fn a_record_of_which_the_headers_alone_come_is_waited_for_no_longer_than_the_time() {
        let channel = endpoint(&begins_to_answer().await, &Tls::default()).unwrap().connect_lazy();
        let fetched = record_once(channel, "match", bearer("token").ok());
        let fetched = timeout(Duration::from_mins(1), whole(Duration::from_millis(300), fetched)).await;
        assert_eq!(fetched.unwrap().unwrap_err().code(), Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn what_is_read_ahead_comes_in_order_with_the_end_behind_it() {
        let mut transport = with_pings(&[1, 2, 3, 4]);
        assert_eq!(transport.read_ahead(3).map(number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(number(&transport.next().await.unwrap()), 1);
        for _ in 0..2 {
            assert_eq!(transport.read_ahead(9).map(number).collect::<Vec<_>>(), [2, 3, 4]);
        }
        for expected in 2..=4 {
            assert_eq!(number(&transport.next().await.unwrap()), expected);
        }
        assert!(transport.next().await.is_err());
        assert!(transport.next().now_or_never().is_none(), "there is no stream");
    }

    #[tokio::test]
    async fn what_was_read_ahead_is_gone_with_its_stream() {
        for read in [1, 2] {
            let mut closed = with_pings(&[1, 2]);
            assert_eq!(closed.read_ahead(read).count(), read);
            closed.disconnect();
            assert!(closed.next().now_or_never().is_none());
            let mut opened_anew = with_pings(&[1, 2]);
            assert_eq!(opened_anew.read_ahead(read).count(), read);
            opened_anew.connect();
            assert_eq!(opened_anew.read_ahead(9).count(), 0);
        }
    }

    #[test]
    fn a_record_is_asked_for_again_where_a_proxy_has_no_server_for_a_while() {
        for status in [Status::unimplemented("404 page not found"), Status::unavailable("no upstream")] {
            assert_eq!(patience(&status), Some(RECORD_TRIED_FOR));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_record_is_asked_for_as_long_as_a_restart_takes() {
        // A port at which nothing listens any more.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let transport = Transport::new(&server, &Tls::default(), None).unwrap();
        let begun = Instant::now();
        let claim = Claim::Token(SeatToken::new("a token"));
        let refused = transport.fetch_record("a match".to_owned(), &claim).await;
        assert!(refused.is_err(), "{refused:?}");
        let waited = begun.elapsed();
        assert!((RECORD_TRIED_FOR..2 * RECORD_TRIED_FOR).contains(&waited), "{waited:?}");
    }
}
