//! Accepting connections, each with every bound that hyper and h2 have.
//!
//! axum's own `serve` sets none of them, so this is done here: see [`limits`] for the bounds and their reasons.

use std::{
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{calls::Calls, listener::Listener, tls::Tls, watched::Watched};
use crate::{
    admission::{Address, Bounds, Crowd, Full, Origin, Traffic, Verdict},
    config::{Number, Numbers},
    limits,
    metrics::{Closed, Open, Refused, closed, refused},
};

/// What connections speak below HTTP.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    Plaintext,
    Tls(Arc<Tls>),
}

/// Accepts until `closing`, one task for each connection. A connection that is open then is told to go away and
/// ends after its last request, or when `stopped` cuts it.
pub(super) async fn accept(
    mut listener: Listener,
    transport: Transport,
    router: axum::Router,
    numbers: Numbers,
    closing: CancellationToken,
    stopped: CancellationToken,
) {
    let max_connections = numbers.count(Number::MaxConnections);
    let crowd = Crowd::new(max_connections, numbers.count(Number::MaxConnectionsPerAddress));
    let connections = TaskTracker::new();
    let http = Arc::new(http(&numbers));
    while let Some((stream, from)) = closing.run_until_cancelled(listener.next()).await {
        // Beyond the limit a connection is closed at once: one that waits unanswered looks like a dead server.
        let address = Address::from(from.ip());
        let room = match crowd.room(address) {
            Ok(room) => room,
            Err(Full::All) => {
                tracing::warn!(max_connections, "a connection was refused: too many are open");
                refused(Refused::All);
                continue;
            }
            Err(Full::Address) => {
                tracing::debug!(%from, "a connection was refused: too many of its address are open");
                refused(Refused::Address);
                continue;
            }
        };
        let (http, transport, router) = (Arc::clone(&http), transport.clone(), router.clone());
        let (closing, stopped) = (closing.clone(), stopped.clone());
        connections.spawn(async move {
            let _open = Open::connection();
            let served = async {
                match transport {
                    Transport::Plaintext => serve(&http, stream, address, router, closing).await,
                    Transport::Tls(tls) => {
                        // One that is not yet open when the server stops has nothing to finish.
                        let opened = closing.run_until_cancelled(tls.handshake(stream)).await;
                        if let Some(Some(stream)) = opened {
                            serve(&http, stream, address, router, closing).await;
                        }
                    }
                }
            };
            stopped.run_until_cancelled(served).await;
            drop(room);
        });
    }
    connections.close();
    connections.wait().await;
}

pub(super) async fn serve(
    Http { builder, silence, preface_timeout, request_timeout, bounds }: &Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: Address,
    router: axum::Router,
    closing: CancellationToken,
) {
    let heard = Heard::default();
    let traffic = Traffic::new(bounds);
    let io = TokioIo::new(Watched::new(Listening { stream, heard: heard.clone() }, traffic.clone()));
    let calls =
        Calls::new(router, Origin { address, traffic: traffic.clone(), crowded: false }, *request_timeout);
    let mut connection = pin!(builder.serve_connection(io, calls));
    let mut verdict = pin!(traffic.watch());
    let mut silent = pin!(heard.silent_for(*silence));
    let preface_deadline = Instant::now() + *preface_timeout;
    let mut stage = Stage::Preface;
    loop {
        tokio::select! {
            end = connection.as_mut() => {
                if let Err(error) = end {
                    tracing::debug!(%error, "a connection ended with an error");
                }
                return;
            }
            () = sleep_until(preface_deadline), if stage == Stage::Preface => {
                if heard.said().bytes < PREFACE.len() {
                    tracing::debug!("a connection said nothing that a client says, and was closed");
                    closed(Closed::Preface);
                    return;
                }
                stage = Stage::Serving;
            }
            // hyper would first say farewell to a client that takes nothing, and never come to an end.
            () = &mut silent => {
                tracing::debug!("a connection fell silent, and was closed");
                closed(Closed::Silent);
                return;
            }
            why = verdict.as_mut() => {
                let idle = why == Verdict::Idle;
                if idle && stage != Stage::Closing {
                    // In order: what the client asks at this moment is answered, or it knows that it was not heard.
                    closed(Closed::Idle);
                    connection.as_mut().graceful_shutdown();
                    stage = Stage::Closing;
                    verdict.set(traffic.watch());
                    continue;
                }
                tracing::debug!(?why, "a connection was closed");
                match why {
                    Verdict::Idle => {}
                    Verdict::Stalled => closed(Closed::Stalled),
                    Verdict::Flooding => closed(Closed::Flooding),
                }
                return;
            }
            () = closing.cancelled(), if stage != Stage::Closing => {
                connection.as_mut().graceful_shutdown();
                stage = Stage::Closing;
            }
        }
    }
}

/// Where a connection stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Preface,
    Serving,
    Closing,
}

/// What an HTTP/2 client says first (RFC 9113, section 3.4). The shortest HTTP/1.1 request with a host has as many bytes.
/// Once they are there, the keepalive of HTTP/2 and the header timeout of HTTP/1 take over.
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How HTTP is served.
pub(super) struct Http {
    builder: auto::Builder<TokioExecutor>,
    /// How long an HTTP/2 client may say nothing.
    silence: Duration,
    preface_timeout: Duration,
    request_timeout: Duration,
    bounds: Arc<Bounds>,
}

/// Of a dead peer the connection is closed after as many ping intervals as a Play stream: one without a word, and two
/// that wait for the answer to a ping of HTTP/2.
pub(super) fn http(numbers: &Numbers) -> Http {
    let ping_interval = numbers.millis(Number::PingIntervalMs);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HTTP1_HEADER_TIMEOUT)
        .max_headers(limits::HTTP1_MAX_HEADERS)
        .max_buf_size(limits::HTTP1_MAX_BUFFER_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(numbers.small(Number::MaxStreamsPerConnection))
        .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
        .max_frame_size(limits::HTTP2_MAX_FRAME_BYTES)
        .max_header_list_size(numbers.small(Number::MaxHeaderListBytes))
        .max_send_buf_size(limits::HTTP2_MAX_SEND_BUFFER_BYTES)
        .max_pending_accept_reset_streams(limits::HTTP2_MAX_PENDING_RESETS)
        .max_local_error_reset_streams(limits::HTTP2_MAX_LOCAL_ERROR_RESETS)
        .keep_alive_interval(ping_interval)
        .keep_alive_timeout(ping_interval * (limits::SILENT_PING_INTERVALS - 1));
    Http {
        builder,
        silence: ping_interval * limits::SILENT_PING_INTERVALS,
        preface_timeout: numbers.millis(Number::PrefaceTimeoutMs),
        request_timeout: numbers.millis(Number::RequestTimeoutMs),
        bounds: Bounds::new(numbers),
    }
}

/// What a client has said so far.
#[derive(Debug, Clone, Default)]
struct Heard(Arc<Mutex<Said>>);

#[derive(Debug, Clone, Copy)]
struct Said {
    bytes: usize,
    last: Instant,
    /// Whether it is as a client of HTTP/2 would say it.
    http2: bool,
}

impl Default for Said {
    fn default() -> Self {
        Self { bytes: 0, last: Instant::now(), http2: true }
    }
}

impl Heard {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, new: &[u8]) {
        if new.is_empty() {
            return;
        }
        let mut said = self.said();
        let preface = PREFACE.iter().skip(said.bytes);
        said.http2 &= preface.zip(new).all(|(expected, byte)| expected == byte);
        said.bytes += new.len();
        said.last = Instant::now();
    }

    /// Waits until a client of HTTP/2, which answers pings, has said nothing for so long. One of HTTP/1 may.
    async fn silent_for(&self, silence: Duration) {
        let mut since = self.said().last;
        loop {
            let due = since + silence;
            sleep_until(due).await;
            let (said, now) = (*self.said(), Instant::now());
            if !said.http2 {
                return std::future::pending().await;
            }
            since = if said.last > since {
                said.last
            } else if now > due + limits::STALL_GAP {
                // The server itself has stalled: what was said meanwhile is not read yet.
                now
            } else {
                return;
            };
        }
    }
}

/// A connection that notes what it hears.
struct Listening<S> {
    stream: S,
    heard: Heard,
}

impl<S: AsyncRead + Unpin> AsyncRead for Listening<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heard.hear(buffer.filled().get(before..).unwrap_or_default());
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Listening<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(20);
    /// Empty settings.
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

    fn numbers() -> Numbers {
        let changes = [
            (Number::PingIntervalMs, INTERVAL.as_millis().try_into().unwrap()),
            // Not what closes these.
            (Number::IdleTimeoutMs, 86_400_000),
            (Number::WriteStallTimeoutMs, 600_000),
        ];
        let change = |numbers: Numbers, (number, value)| numbers.with(number, value).unwrap();
        changes.into_iter().fold(Numbers::default(), change)
    }

    /// What a client that says only this is answered before it is closed, and how long that takes.
    async fn check(said: &[u8]) -> (Vec<u8>, Duration) {
        let (mut client, host) = duplex(1024);
        let router = axum::Router::new().route("/", get(async || "here"));
        let begun = Instant::now();
        let served = tokio::spawn(async move {
            serve(&http(&numbers()), host, Address::NONE, router, CancellationToken::new()).await;
        });
        client.write_all(said).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        served.await.unwrap();
        (answer, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_finishes_its_preface_is_closed() {
        for said in [&b""[..], b"PRI", b"PRI * HTTP/2.0\r\n\r\nSM\r\n", b"GET / HTTP/1.1\r\n"] {
            let (answer, elapsed) = check(said).await;
            assert!(answer.len() < 100, "{answer:?}");
            assert!(
                elapsed <= numbers().millis(Number::PrefaceTimeoutMs) + limits::HTTP1_HEADER_TIMEOUT,
                "{elapsed:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_answers_no_http2_ping_is_closed() {
        let (answer, elapsed) = check(&[&PREFACE[..], &SETTINGS].concat()).await;
        assert!(!answer.is_empty(), "settings and a ping");
        let silence = INTERVAL * limits::SILENT_PING_INTERVALS;
        assert!((INTERVAL..=silence + INTERVAL / 10).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_what_it_is_sent_is_closed() {
        // Less than the settings and the first ping: the connection is stuck in writing them.
        let (mut client, host) = duplex(16);
        let begun = Instant::now();
        let router = axum::Router::new();
        let served = tokio::spawn(async move {
            serve(&http(&numbers()), host, Address::NONE, router, CancellationToken::new()).await;
        });
        client.write_all(PREFACE).await.unwrap();
        client.write_all(&SETTINGS).await.unwrap();
        served.await.unwrap();
        let elapsed = begun.elapsed();
        let silence = INTERVAL * limits::SILENT_PING_INTERVALS;
        assert!((INTERVAL..=silence + INTERVAL / 10).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test]
    async fn a_request_is_answered() {
        let (answer, _) = check(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(answer.ends_with(b"here"), "{}", String::from_utf8_lossy(&answer));
    }
}
