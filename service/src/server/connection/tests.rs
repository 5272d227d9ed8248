use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, duplex, split};
use tokio::task::JoinHandle;
use tokio::time::{Instant, advance, sleep, timeout};

use super::*;
use crate::executor::Executor;
use crate::matches::{ServerClock, SystemClock};
use crate::server::heard::PREFACE;

const INTERVAL: Duration = Duration::from_secs(20);
const SILENCE: Duration = INTERVAL.saturating_mul(limits::SILENT_PING_INTERVALS);
/// Empty settings.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// The length of a frame's header.
const FRAME_HEADER: usize = 9;
const GOAWAY: u8 = 7;
const PING: u8 = 6;
const ACK: u8 = 1;

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

/// The other end of a connection that is served by this clock, and how its end is seen. So many bytes are under way in each
/// direction at most.
fn served(clock: Arc<dyn Clock>, room: usize) -> (DuplexStream, JoinHandle<()>) {
    let (client, host) = duplex(room);
    let router = axum::Router::new().route("/", get(async || "here"));
    let http = Http::new(&numbers(), Rates::new(&numbers()), clock, Executor::start());
    (
        client,
        tokio::spawn(
            async move { serve(&http, host, Address::NONE, router, CancellationToken::new()).await },
        ),
    )
}

/// The clock of a server that has heartbeats.
fn kept_clock() -> Arc<ServerClock> {
    let clock = Arc::new(ServerClock::new());
    tokio::spawn(Arc::clone(&clock).keep(CancellationToken::new()));
    clock
}

/// Time passes in which the server does nothing, then it goes on.
async fn stall(time: Duration) {
    // All that is to be done is done before.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    advance(time).await;
}

fn ping(flags: u8, payload: [u8; 8]) -> Vec<u8> {
    [&[0, 0, 8, PING, flags, 0, 0, 0, 0][..], &payload].concat()
}

/// What the next ping of the server holds. `None` if it closes the connection.
async fn next_ping(client: &mut (impl AsyncRead + Unpin)) -> Option<[u8; 8]> {
    loop {
        let mut header = [0; FRAME_HEADER];
        client.read_exact(&mut header).await.ok()?;
        let [high, middle, low, kind, flags, ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
        client.read_exact(&mut payload).await.ok()?;
        match (kind, flags) {
            (PING, 0) => return Some(payload.try_into().unwrap()),
            (GOAWAY, _) => return None,
            _ => {}
        }
    }
}

/// What a client that says only this is answered before it is closed, and how long that takes.
async fn check(said: &[u8]) -> (Vec<u8>, Duration) {
    let begun = Instant::now();
    let (mut client, served) = served(Arc::new(SystemClock::new()), 1024);
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
    assert!((INTERVAL..=SILENCE + INTERVAL / 10).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_of_what_it_is_sent_is_closed() {
    let begun = Instant::now();
    // Less than the settings and the first ping: the connection is stuck in writing them.
    let (mut client, served) = served(Arc::new(SystemClock::new()), 16);
    client.write_all(PREFACE).await.unwrap();
    client.write_all(&SETTINGS).await.unwrap();
    served.await.unwrap();
    let elapsed = begun.elapsed();
    assert!((INTERVAL..=SILENCE + INTERVAL / 10).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_and_reads_nothing_is_closed() {
    // With the room for all that it is sent it is closed since it answers no ping, without since it is read no more.
    for room in [1 << 20, 32] {
        let begun = Instant::now();
        let (mut client, served) = served(Arc::new(SystemClock::new()), room);
        let sending = async {
            client.write_all(PREFACE).await.unwrap();
            client.write_all(&SETTINGS).await.unwrap();
            while client.write_all(&ping(0, [7; 8])).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        timeout(10 * SILENCE, sending).await.expect("it is closed");
        served.await.unwrap();
        let elapsed = begun.elapsed();
        assert!((INTERVAL..=SILENCE + INTERVAL / 10).contains(&elapsed), "{room}: {elapsed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_that_was_under_way_when_the_server_stalled_closes_no_connection() {
    let (client, served) = served(kept_clock(), 1 << 20);
    let (mut reading, mut writing): (ReadHalf<_>, _) = split(client);
    writing.write_all(PREFACE).await.unwrap();
    writing.write_all(&SETTINGS).await.unwrap();
    for _ in 0..3 {
        let asked = next_ping(&mut reading).await.expect("it is open");
        stall(2 * SILENCE).await;
        writing.write_all(&ping(ACK, asked)).await.unwrap();
    }
    // Then the client is gone, and a stall more does not keep it.
    next_ping(&mut reading).await.expect("it is open");
    stall(2 * SILENCE).await;
    let begun = Instant::now();
    assert_eq!(next_ping(&mut reading).await, None);
    served.await.unwrap();
    let elapsed = begun.elapsed();
    assert!((INTERVAL..=SILENCE + limits::RESTART_GRACE).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_counted_by_the_clock_that_stands_in_a_stall() {
    let clock = kept_clock();
    let heard = Heard::new(clock);
    heard.hear(PREFACE);
    let silent = heard.clone();
    let silent = tokio::spawn(async move { silent.silent_for(SILENCE).await });
    sleep(SILENCE / 2).await;
    let begun = Instant::now();
    stall(2 * SILENCE).await;
    assert!(begun.elapsed() < 3 * SILENCE && !silent.is_finished(), "what came meanwhile is not read yet");
    heard.hear(b"what came meanwhile");
    let begun = Instant::now();
    silent.await.unwrap();
    let elapsed = begun.elapsed();
    // After a long stall the clock stands for a grace more.
    assert!((SILENCE..=SILENCE + limits::RESTART_GRACE + INTERVAL / 10).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_of_http1_may_be_silent() {
    for (said, closed) in [(&PREFACE[..], true), (b"PRI", true), (b"GET / HTTP/1.1\r\n", false)] {
        let heard = Heard::new(Arc::new(SystemClock::new()));
        heard.hear(said);
        assert_eq!(timeout(2 * SILENCE, heard.silent_for(SILENCE)).await.is_ok(), closed, "{said:?}");
    }
}

#[tokio::test]
async fn a_request_is_answered() {
    let (answer, _) = check(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.ends_with(b"here"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn all_streams_of_a_connection_may_say_two_small_things_at_once() {
    /// What h2 counts for a small message that nobody has read, against half of the window.
    const SMALL: u32 = 256;
    for streams in [1, 256, 257, 1_000, 10_000] {
        let window = connection_window(streams);
        assert!(window / 2 >= 2 * streams * SMALL, "{streams} streams in {window} bytes");
    }
    assert_eq!(
        connection_window(limits::DEFAULT_MAX_STREAMS_PER_CONNECTION),
        limits::HTTP2_CONNECTION_WINDOW_BYTES
    );
}
