use std::sync::atomic::{AtomicUsize, Ordering};

use axum::{
    body::Bytes,
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
    executor::Executor,
    limits,
    matches::SystemClock,
    server::{
        connection::{Http, serve},
        heard::PREFACE,
    },
};

/// Settings of streams that may be sent nothing until their windows are opened.
const NO_WINDOW: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
/// Settings of streams that may be sent as much as they like, and the same for the connection.
const WIDE_WINDOWS: [u8; 28] =
    [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0];
/// What is answered, in bytes.
const PIECE: usize = 64 * 1024;
const LARGE: usize = 256 * 1024;
/// What is under way in each direction at most.
const ROOM: usize = 4 * 1024 * 1024;
/// How long an answer is worked at.
const WORK: Duration = Duration::from_millis(1);
/// Until all is done that can be.
const SETTLED: Duration = Duration::from_millis(500);

/// A server that counts the answers that it makes, and its connections.
struct Host {
    http: Arc<Http>,
    router: Router,
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
        let page = |asking: Asking| async move {
            match asking.extensions().get::<Origin>() {
                Some(origin) if !origin.crowded => vec![0_u8; PIECE].into_response(),
                _ => StatusCode::TOO_MANY_REQUESTS.into_response(),
            }
        };
        // The paths of the first two have a place in HPACK's table.
        let router = Router::new().route("/", get(piece).post(read)).route("/index.html", get(large));
        let router = router.route("/metrics", get(page));
        let http = Arc::new(Http::new(numbers, rates, Arc::new(SystemClock::new()), Executor::start()));
        Self { http, router, made }
    }

    /// A connection that says all this.
    async fn hears(&self, said: &[u8]) -> DuplexStream {
        self.hears_from(Address::NONE, said).await
    }

    async fn hears_from(&self, address: Address, said: &[u8]) -> DuplexStream {
        self.hears_with(ROOM, address, said).await
    }

    /// Not more than so many bytes are under way in each direction.
    async fn hears_with(&self, room: usize, address: Address, said: &[u8]) -> DuplexStream {
        let (mut client, host) = duplex(room);
        let (http, router) = (Arc::clone(&self.http), self.router.clone());
        tokio::spawn(async move {
            serve(&http, host, address, router, CancellationToken::new()).await;
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
        Ok::<_, Infallible>(Bytes::from(vec![0; bytes]))
    };
    Body::from_stream(futures::stream::once(piece)).into_response()
}

/// Reads a request to its end, as tonic does.
async fn read(asking: Asking) -> Answered {
    match axum::body::to_bytes(asking.into_body(), usize::MAX).await {
        Ok(bytes) => bytes.len().to_string().into_response(),
        Err(error) => Status::from_error(Box::new(error)).into_http(),
    }
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
async fn who_opens_its_windows_wide_and_reads_slowly_is_answered_as_slowly() {
    let numbers = numbers();
    let host = Host::new(&numbers);
    let calls = calls(PIECES, numbers.small(Number::MaxStreamsPerConnection));
    let said = [&PREFACE[..], &WIDE_WINDOWS, &calls].concat();
    let mut client = host.hears_with(PIECE, Address::NONE, &said).await;
    let steps = 16;
    for _ in 0..steps {
        sleep(SETTLED).await;
        client.read_exact(&mut vec![0; PIECE]).await.unwrap();
    }
    let (made, most) = (host.made().await, numbers.count(Number::MaxQueuedBytesPerConnection));
    let most = limits::MAX_CALLS_AT_WORK + most / PIECE + steps + 2;
    assert!((steps..=most).contains(&made), "{made} of {most}");
    drop(client);
    sleep(SETTLED).await;
    assert_eq!(host.http.bounds().queued_in_all(), 0);
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

/// A request of HTTP/1 with the beginning of a body of so many bytes, that is said to be one message.
fn request(said: usize, sent: usize) -> Vec<u8> {
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {said}\r\n\r\n\0");
    let length = u32::try_from(said - 5).unwrap().to_be_bytes();
    [head.as_bytes(), &length, &vec![0; sent - 5]].concat()
}

async fn answer(mut client: DuplexStream) -> String {
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn address(last: u8) -> Address {
    Address::from(std::net::IpAddr::from([192, 0, 2, last]))
}

#[tokio::test(start_paused = true)]
async fn who_fills_its_room_for_large_requests_waits_and_leaves_another_address_its_own() {
    let (said, sent) = (1_000_000, 20_000);
    let host = Host::new(&numbers());
    let mut coming = Vec::new();
    for _ in 0..17 {
        coming.push(host.hears_from(address(1), &request(said, sent)).await);
    }
    sleep(SETTLED).await;
    let waits = host.hears_from(address(1), &request(said, said)).await;
    let other = host.hears_from(address(2), &request(said, said)).await;
    let other = answer(other).await;
    assert!(other.ends_with("\r\n\r\n1000000"), "{other}");
    // There is room again when one of them is gone.
    coming.pop();
    let waits = answer(waits).await;
    assert!(waits.ends_with("\r\n\r\n1000000"), "{waits}");
}

#[tokio::test(start_paused = true)]
async fn a_large_request_without_room_in_time_is_told_to_come_again() {
    let (said, sent) = (1_000_000, 20_000);
    let numbers = numbers();
    let host = Host::new(&numbers);
    let mut coming = Vec::new();
    for _ in 0..20 {
        coming.push(host.hears_from(address(1), &request(said, sent)).await);
    }
    let mut told = Vec::new();
    for client in coming {
        let answer = answer(client).await;
        told.push(answer.contains("grpc-status: 8\r\n"));
        assert!(answer.contains("grpc-status: 3\r\n") || answer.contains("grpc-status: 8\r\n"), "{answer}");
    }
    // 16 MiB have room for 17 of them, and what is small is taken anyway.
    assert_eq!(told.iter().filter(|waited| **waited).count(), 3, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_longer_than_a_message_may_be_is_refused() {
    let numbers = numbers().with(Number::MaxRequestBytes, 65_536).unwrap();
    let host = Host::new(&numbers);
    for (bytes, code) in [(65_541, None), (87_388, None), (87_389, Some("grpc-status: 8\r\n"))] {
        let answer = answer(host.hears(&request(bytes, bytes)).await).await;
        match code {
            None => assert!(answer.ends_with(&format!("\r\n\r\n{bytes}")), "{answer}"),
            Some(code) => assert!(answer.contains(code), "{bytes}: {answer}"),
        }
    }
}

/// A connection from there that asks for many pages of metrics, of which it reads none.
async fn asks_for_pages(host: &Host, from: Address) -> DuplexStream {
    let block = [&[0x82, 0x86, 0x44, 8][..], b"/metrics"].concat();
    let length = u8::try_from(block.len()).unwrap();
    let call = |stream: u32| [&[0, 0, length, 1, 5][..], &stream.to_be_bytes(), &block].concat();
    let calls: Vec<u8> = (0..100).flat_map(|number| call(2 * number + 1)).collect();
    host.hears_from(from, &[&PREFACE[..], &NO_WINDOW, &calls].concat()).await
}

async fn page(host: &Host, from: Address) -> String {
    let said = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    answer(host.hears_from(from, said).await).await.lines().next().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn who_reads_no_page_of_metrics_keeps_nobody_from_them() {
    let (given, refused) = ("HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests");
    let loopback = Address::from(std::net::IpAddr::from([127, 0, 0, 1]));
    let check = async |numbers: &Numbers, others| {
        let host = Host::new(numbers);
        let mut held = Vec::new();
        // What the first leave is taken by the others.
        for last in 1..=40 {
            held.push(asks_for_pages(&host, address(last)).await);
            sleep(SETTLED).await;
        }
        for last in [1, 41] {
            assert_eq!(page(&host, address(last)).await, others, "{last}");
        }
        assert_eq!(page(&host, loopback).await, given);
    };
    check(&numbers(), given).await;
    // Where calls have no more room either, some is left for this machine.
    check(&numbers().with(Number::MaxStreams, 1).unwrap(), refused).await;
}
