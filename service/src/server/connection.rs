//! Accepting connections, each with every bound that hyper and h2 have.
//!
//! axum's own `serve` sets none of them, so this is done here: see [`limits`] for the bounds and their reasons.

use std::{pin::pin, sync::Arc, time::Duration};

use hyper_util::{rt::TokioIo, server::conn::auto};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    calls::Calls,
    heard::Heard,
    listener::Listener,
    routes::Routes,
    timer::{ByClock, until},
    tls::Tls,
    watched::Watched,
};
use crate::{
    admission::{Address, Bounds, Crowd, Full, Origin, Rates, Traffic, Verdict},
    config::{Number, Numbers},
    executor::Executor,
    limits,
    matches::Clock,
    metrics::{Closed, Open, Refused, closed, refused},
    seldom::Seldom,
};

/// What connections speak below HTTP.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    Plaintext,
    Tls(Arc<Tls>),
}

/// Accepts until `closing`, one task for each connection. A connection that is open then is told to go away and
/// ends after its last request, or when `stopped` cuts it.
#[allow(clippy::large_types_passed_by_value, reason = "once, when the server starts")]
pub(super) async fn accept(
    mut listener: Listener,
    transport: Transport,
    routes: Routes,
    numbers: Numbers,
    http: Arc<Http>,
    closing: CancellationToken,
    stopped: CancellationToken,
) {
    let max_connections = numbers.count(Number::MaxConnections);
    let crowd = Crowd::new(max_connections, numbers.count(Number::MaxConnectionsPerAddress));
    let connections = TaskTracker::new();
    let full = Seldom::new();
    while let Some((stream, from)) = closing.run_until_cancelled(listener.next()).await {
        // Beyond the limit a connection is closed at once: one that waits unanswered looks like a dead server.
        let address = Address::from(from.ip());
        let room = match crowd.room(address) {
            Ok(room) => room,
            Err(Full::All) => {
                if let Some(times) = full.times() {
                    tracing::warn!(max_connections, times, "a connection was refused: too many are open");
                }
                refused(Refused::All);
                continue;
            }
            Err(Full::Address) => {
                tracing::debug!(%from, "a connection was refused: too many of its address are open");
                refused(Refused::Address);
                continue;
            }
        };
        if http.rates.connection(address).is_err() {
            tracing::debug!(%from, "a connection was refused: its address opens them too fast");
            refused(Refused::Rate);
            continue;
        }
        let (http, transport, routes) = (Arc::clone(&http), transport.clone(), routes.clone());
        let (closing, stopped) = (closing.clone(), stopped.clone());
        connections.spawn(async move {
            let _open = Open::connection();
            let served = async {
                match transport {
                    Transport::Plaintext => serve(&http, stream, address, routes, closing).await,
                    Transport::Tls(tls) => {
                        // One that is not yet open when the server stops has nothing to finish.
                        let opened = closing.run_until_cancelled(tls.handshake(stream, address)).await;
                        if let Some(Some(stream)) = opened {
                            serve(&http, stream, address, routes, closing).await;
                        }
                    }
                }
            };
            stopped.run_until_cancelled(served).await;
            drop(room);
        });
    }
    // Whoever comes now is refused: one that waits unanswered looks like a dead server.
    drop(listener);
    connections.close();
    connections.wait().await;
}

pub(super) async fn serve(
    Http { builder, silence, preface_timeout, request_timeout, max_request_bytes, bounds, rates, clock }: &Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: Address,
    routes: impl Into<Routes>,
    closing: CancellationToken,
) {
    let heard = Heard::new(Arc::clone(clock));
    let traffic = Traffic::new(bounds, address);
    let io = TokioIo::new(Watched::new(stream, heard.clone(), traffic.clone()));
    let origin = Origin { address, traffic: traffic.clone(), crowded: false };
    let calls = Calls::new(routes.into(), origin, *request_timeout, *max_request_bytes);
    let mut connection = pin!(builder.serve_connection(io, calls));
    let mut verdict = pin!(traffic.watch());
    let mut silent = pin!(heard.silent_for(*silence));
    let mut preface = pin!(until(&**clock, clock.now().after(*preface_timeout)));
    let mut stage = Stage::Preface;
    loop {
        tokio::select! {
            end = connection.as_mut() => {
                if let Err(error) = end {
                    tracing::debug!(from = %address, %error, "a connection ended with an error");
                    let timeout = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout);
                    if timeout && !traffic.is_http2() {
                        closed(Closed::Idle);
                    }
                }
                // h2 cuts some floods by itself.
                if traffic.verdict() == Some(Verdict::Flooding) {
                    tracing::debug!(from = %address, why = ?Verdict::Flooding, "a connection was closed");
                    closed(Closed::Flooding);
                    rates.flooded(address);
                }
                return;
            }
            () = &mut preface, if stage == Stage::Preface => {
                if !heard.has_begun() {
                    tracing::debug!(from = %address, "a connection said nothing that a client says, and was closed");
                    closed(Closed::Preface);
                    return;
                }
                stage = Stage::Serving;
            }
            // hyper would first say farewell to a client that takes nothing, and never come to an end.
            () = &mut silent => {
                tracing::debug!(from = %address, "a connection fell silent, and was closed");
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
                tracing::debug!(from = %address, ?why, "a connection was closed");
                match why {
                    Verdict::Idle => {}
                    Verdict::Stalled => closed(Closed::Stalled),
                    Verdict::Flooding => {
                        closed(Closed::Flooding);
                        rates.flooded(address);
                    }
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

/// How HTTP is served.
pub(super) struct Http {
    builder: auto::Builder<Executor>,
    /// How long an HTTP/2 client may say nothing.
    silence: Duration,
    preface_timeout: Duration,
    request_timeout: Duration,
    max_request_bytes: usize,
    bounds: Arc<Bounds>,
    rates: Arc<Rates>,
    clock: Arc<dyn Clock>,
}

impl Http {
    /// The bounds of its connections.
    pub(super) const fn bounds(&self) -> &Arc<Bounds> {
        &self.bounds
    }

    /// Of a dead peer the connection is closed after as many ping intervals as a Play stream: one without a word, and
    /// two that wait for the answer to a ping of HTTP/2. All by this clock, which stands while the server itself does.
    pub(super) fn new(
        numbers: &Numbers,
        rates: Arc<Rates>,
        clock: Arc<dyn Clock>,
        executor: Executor,
    ) -> Self {
        let ping_interval = numbers.millis(Number::PingIntervalMs);
        let mut builder = auto::Builder::new(executor);
        builder
            .http1()
            .timer(ByClock(Arc::clone(&clock)))
            // It runs between two requests too.
            .header_read_timeout(numbers.millis(Number::IdleTimeoutMs).min(limits::HTTP1_HEADER_TIMEOUT))
            .max_headers(limits::HTTP1_MAX_HEADERS)
            .max_buf_size(limits::HTTP1_MAX_BUFFER_BYTES);
        builder
            .http2()
            .timer(ByClock(Arc::clone(&clock)))
            .max_concurrent_streams(numbers.small(Number::MaxStreamsPerConnection))
            .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
            .initial_connection_window_size(connection_window(numbers.small(Number::MaxStreamsPerConnection)))
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
            max_request_bytes: numbers.count(Number::MaxRequestBytes),
            bounds: Bounds::new(numbers),
            rates,
            clock,
        }
    }
}

/// The window of a connection that may have so many streams.
fn connection_window(streams: u32) -> u32 {
    /// What HTTP/2 allows (RFC 9113, section 6.9.1).
    const MOST: u32 = 0x7fff_ffff;
    let window = streams.saturating_mul(limits::HTTP2_WINDOW_BYTES_PER_STREAM);
    window.clamp(limits::HTTP2_CONNECTION_WINDOW_BYTES, MOST)
}

#[cfg(test)]
mod tests;
