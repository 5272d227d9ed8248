use std::sync::atomic::AtomicUsize;

use axum::{
    extract::Request as Asking,
    response::{IntoResponse, Response as Answered},
    routing::get,
};
use http::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    admission::{Address, Rates, Share},
    config::{Number, Numbers},
    matches::SystemClock,
    server::{
        connection::{Http, serve},
        heard::PREFACE,
    },
};

/// Settings of streams that may be sent nothing until their windows are opened.
const NO_WINDOW: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
/// What is answered, in bytes.
const PIECE: usize = 64 * 1024;
const LARGE: usize = 256 * 1024;
/// How long an answer is worked at.
const WORK: Duration = Duration::from_millis(1);
/// Until all is done that can be.
const SETTLED: Duration = Duration::from_millis(500);

/// A server that counts the answers that it makes, and its connections.
struct Host {
    http: Arc<Http>,
    router: axum::Router,
    made: Arc<AtomicUsize>,
}

impl Host {
    fn new(numbers: &Numbers) -> Self {
        let rates = Rates::new(numbers);
        let made = Arc::new(AtomicUsize::new(0));
        let piece = {
            let made = Arc::clone(&made);
            move || async move {
                sleep(WORK).await;
                counted(made, PIECE)
            }
        };
        let large = {
            let (rates, made) = (Arc::clone(&rates), Arc::clone(&made));
            move |asking: Asking| async move { in_turn(rates, made, asking).await }
        };
        // Their paths have a place in HPACK's table.
        let router = axum::Router::new().route("/", get(piece)).route("/index.html", get(large));
        let http = Arc::new(Http::new(numbers, rates, Arc::new(SystemClock::new())));
        Self { http, router, made }
    }

    /// A connection that says all this.
    async fn hears(&self, said: &[u8]) -> DuplexStream {
        let (mut client, host) = duplex(1 << 20);
        let (http, router) = (Arc::clone(&self.http), self.router.clone());
        tokio::spawn(async move {
            serve(&http, host, Address::NONE, router, CancellationToken::new()).await;
        });
        client.write_all(said).await.unwrap();
        client
    }

    async fn made(&self) -> usize {
        sleep(SETTLED).await;
        self.made.load(Ordering::Relaxed)
    }
}

/// An answer of so many bytes, counted when its piece is made.
fn counted(made: Arc<AtomicUsize>, bytes: usize) -> Answered {
    let piece = async move {
        made.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::convert::Infallible>(Bytes::from(vec![0; bytes]))
    };
    Body::from_stream(futures::stream::once(piece)).into_response()
}

async fn in_turn(rates: Arc<Rates>, made: Arc<AtomicUsize>, asking: Asking) -> Answered {
    let origin = asking.extensions().get::<Origin>().cloned();
    let Ok(turn) = Share::new(rates, origin, &http::HeaderMap::new()).list().await else {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    };
    sleep(WORK).await;
    let mut answer = counted(made, LARGE);
    answer.extensions_mut().insert(turn);
    answer
}

/// The frames of so many calls of one of the two paths: GET, http (RFC 7541, appendix A).
fn calls(path: u8, count: u32) -> Vec<u8> {
    let call = |stream: u32| [&[0, 0, 3, 1, 5][..], &stream.to_be_bytes(), &[0x82, path, 0x86]].concat();
    (0..count).flat_map(|call_of| call(2 * call_of + 1)).collect()
}

const PIECES: u8 = 0x84;
const LARGE_ONES: u8 = 0x85;

fn numbers() -> Numbers {
    Numbers::default().with(Number::WriteStallTimeoutMs, 600_000).unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_reads_nothing_is_not_answered_all_that_it_asks_at_once() {
    let numbers = numbers();
    let host = Host::new(&numbers);
    let calls = calls(PIECES, numbers.small(Number::MaxStreamsPerConnection));
    let _client = host.hears(&[&PREFACE[..], &NO_WINDOW, &calls].concat()).await;
    let (made, most) = (host.made().await, numbers.count(Number::MaxQueuedBytesPerConnection));
    assert!(made > 0 && made <= limits::MAX_CALLS_AT_WORK + most / PIECE, "{made}");
}

#[tokio::test(start_paused = true)]
async fn lists_for_many_connections_that_read_nothing_stop_when_as_much_waits_as_may() {
    let most = 1024 * 1024;
    let numbers = numbers().with(Number::MaxQueuedBytes, most).unwrap();
    let host = Host::new(&numbers);
    let said = [&PREFACE[..], &NO_WINDOW, &calls(LARGE_ONES, 4)].concat();
    let mut clients = Vec::new();
    for _ in 0..40 {
        clients.push(host.hears(&said).await);
    }
    let made = host.made().await;
    let most = usize::try_from(most).unwrap() / LARGE + limits::LISTS_AT_WORK;
    assert!((1..=most).contains(&made), "{made} of {most}");
    // When they are gone there is room again.
    drop(clients);
    assert_eq!(host.made().await, made);
    assert_eq!(host.http.bounds().queued_in_all(), 0);
    let mut client = host.hears(b"GET /index.html HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > LARGE, "{}", answer.len());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_reads_nothing_has_few_lists_made() {
    let numbers = numbers();
    let host = Host::new(&numbers);
    let _client = host.hears(&[&PREFACE[..], &NO_WINDOW, &calls(LARGE_ONES, 100)].concat()).await;
    let made = host.made().await;
    let most = numbers.count(Number::MaxQueuedBytesPerConnection) / LARGE + limits::LISTS_AT_WORK_PER_ADDRESS;
    assert!((1..=most).contains(&made), "{made} of {most}");
}
