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

use hyper::rt::{Sleep, Timer};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{calls::Calls, listener::Listener, tls::Tls, watched::Watched};
use crate::{
    admission::{Address, Bounds, Crowd, Full, Origin, Traffic, Verdict},
    config::{Number, Numbers},
    limits,
    matches::Clock,
    metrics::{Closed, Open, Refused, closed, refused},
    table::Moment,
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
    clock: Arc<dyn Clock>,
    closing: CancellationToken,
    stopped: CancellationToken,
) {
    let max_connections = numbers.count(Number::MaxConnections);
    let crowd = Crowd::new(max_connections, numbers.count(Number::MaxConnectionsPerAddress));
    let connections = TaskTracker::new();
    let http = Arc::new(Http::new(&numbers, clock));
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
    Http { builder, silence, preface_timeout, request_timeout, bounds, clock }: &Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: Address,
    router: axum::Router,
    closing: CancellationToken,
) {
    let heard = Heard::new(Arc::clone(clock));
    let traffic = Traffic::new(bounds);
    let io = TokioIo::new(Watched::new(Listening { stream, heard: heard.clone() }, traffic.clone()));
    let calls =
        Calls::new(router, Origin { address, traffic: traffic.clone(), crowded: false }, *request_timeout);
    let mut connection = pin!(builder.serve_connection(io, calls));
    let mut verdict = pin!(traffic.watch());
    let mut silent = pin!(heard.silent_for(*silence));
    let mut preface = pin!(until(&**clock, clock.now().after(*preface_timeout)));
    let mut stage = Stage::Preface;
    loop {
        tokio::select! {
            end = connection.as_mut() => {
                if let Err(error) = end {
                    tracing::debug!(%error, "a connection ended with an error");
                }
                return;
            }
            () = &mut preface, if stage == Stage::Preface => {
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
    clock: Arc<dyn Clock>,
}

impl Http {
    /// Of a dead peer the connection is closed after as many ping intervals as a Play stream: one without a word, and
    /// two that wait for the answer to a ping of HTTP/2. All by this clock, which stands while the server itself does.
    pub(super) fn new(numbers: &Numbers, clock: Arc<dyn Clock>) -> Self {
        let ping_interval = numbers.millis(Number::PingIntervalMs);
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(ByClock(Arc::clone(&clock)))
            .header_read_timeout(limits::HTTP1_HEADER_TIMEOUT)
            .max_headers(limits::HTTP1_MAX_HEADERS)
            .max_buf_size(limits::HTTP1_MAX_BUFFER_BYTES);
        builder
            .http2()
            .timer(ByClock(Arc::clone(&clock)))
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
        Self {
            builder,
            silence: ping_interval * limits::SILENT_PING_INTERVALS,
            preface_timeout: numbers.millis(Number::PrefaceTimeoutMs),
            request_timeout: numbers.millis(Number::RequestTimeoutMs),
            bounds: Bounds::new(numbers),
            clock,
        }
    }
}

/// Waits until the clock shows this. What came while the server stalled is read before a clock that stood then shows
/// that it is too late.
async fn until(clock: &dyn Clock, due: Moment) {
    loop {
        let left = due.since(clock.now());
        if left.is_zero() {
            return;
        }
        sleep(left).await;
    }
}

/// The timers of hyper, by the server's clock.
struct ByClock(Arc<dyn Clock>);

impl Timer for ByClock {
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Sleep>> {
        let (clock, due) = (Arc::clone(&self.0), self.0.now().after(time));
        Box::pin(Waiting(Box::pin(async move { until(&*clock, due).await })))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(deadline.saturating_duration_since(self.now()))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

struct Waiting(Pin<Box<dyn Future<Output = ()> + Send + Sync>>);

impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Sleep for Waiting {}

/// What a client has said so far.
#[derive(Clone)]
struct Heard {
    said: Arc<Mutex<Said>>,
    clock: Arc<dyn Clock>,
}

#[derive(Clone, Copy)]
struct Said {
    bytes: usize,
    last: Moment,
    /// Whether it is as a client of HTTP/2 would say it.
    http2: bool,
}

impl Heard {
    fn new(clock: Arc<dyn Clock>) -> Self {
        let said = Said { bytes: 0, last: clock.now(), http2: true };
        Self { said: Arc::new(Mutex::new(said)), clock }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, new: &[u8]) {
        if new.is_empty() {
            return;
        }
        let now = self.clock.now();
        let mut said = self.said();
        let preface = PREFACE.iter().skip(said.bytes);
        said.http2 &= preface.zip(new).all(|(expected, byte)| expected == byte);
        said.bytes += new.len();
        said.last = now;
    }

    /// Waits until a client of HTTP/2, which answers pings, has said nothing for so long. One of HTTP/1 may.
    async fn silent_for(&self, silence: Duration) {
        loop {
            let last = self.said().last;
            until(&*self.clock, last.after(silence)).await;
            let said = *self.said();
            if !said.http2 {
                return std::future::pending().await;
            }
            if said.last == last {
                return;
            }
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
mod tests;
