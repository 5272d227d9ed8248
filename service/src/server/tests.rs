//! What a connection's bounds do to who goes beyond them: each bound, how it is exceeded, and what is counted.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    middleware::from_fn_with_state,
    routing::get,
};
use futures::{StreamExt, stream};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    task::JoinHandle,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Http, serve},
    heard::PREFACE,
    measure::measure,
};
use crate::{
    admission::{Address, Rates},
    config::{Number, Numbers},
    executor::Executor,
    matches::SystemClock,
    metrics::{CLOSED_CONNECTIONS, Rpcs, recorder},
};

const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
const SETTINGS_ACK: &[u8] = b"\0\0\0\x04\x01\0\0\0\0";
/// The window of every stream is 0.
const NO_WINDOW: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0";
/// It is as wide as it may be.
const WIDE: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0abcdefgh";
const WIDER: &[u8] = b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01";
const PRIORITY: &[u8] = b"\0\0\x05\x02\0\0\0\0\x09\0\0\0\0\x01";
const UNKNOWN: &[u8] = b"\0\0\0\xee\0\0\0\0\0";

/// A request for what is at `/`, with nothing to follow.
const ASK: &[u8] = b"\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
/// One whose body goes on, and pieces of that.
const ASK_ON: &[u8] = b"\0\0\x03\x01\x04\0\0\0\x01\x83\x86\x84";
const PIECE: &[u8] = b"\0\0\x01\0\0\0\0\0\x01x";
const EMPTY_PIECE: &[u8] = b"\0\0\0\0\0\0\0\0\x01";

fn numbers() -> Numbers {
    // Nobody is silent in here.
    Numbers::default().with(Number::PingIntervalMs, 600_000).unwrap()
}

/// What is at `/`: bytes without end.
fn router() -> Router {
    let endless = || async { Body::from_stream(stream::repeat(Ok::<_, Infallible>(vec![0_u8; 1024]))) };
    let swallow = |body: Body| async move {
        let mut pieces = body.into_data_stream();
        while let Some(Ok(_)) = pieces.next().await {}
    };
    Router::new().route("/", get(endless).post(swallow))
}

fn connect(numbers: &Numbers, buffer: usize) -> (DuplexStream, JoinHandle<()>) {
    let (client, host) = duplex(buffer);
    let http = Http::new(numbers, Rates::new(numbers), Arc::new(SystemClock::new()), Executor::start());
    let served = async move {
        serve(&http, host, Address::NONE, router(), CancellationToken::new()).await;
    };
    (client, tokio::spawn(served))
}

fn counted(page: &PrometheusHandle, reason: &str) -> bool {
    page.render().contains(&format!("{CLOSED_CONNECTIONS}{{reason=\"{reason}\"}} 1"))
}

/// A client that reads all that it is told says this, and then that as often as it can: for what its connection is closed, and
/// after how many seconds.
async fn check(first: &[&[u8]], then: &[u8], reason: &str, seconds: std::ops::RangeInclusive<u64>) {
    let recorder = recorder().unwrap();
    let page = recorder.handle();
    let _counting = metrics::set_default_local_recorder(&recorder);
    let (client, served) = connect(&numbers(), 64 * 1024);
    let (mut answers, mut client) = tokio::io::split(client);
    let begun = Instant::now();
    let reading = async {
        let mut bytes = [0; 4096];
        while answers.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
    };
    let saying = async {
        for said in [&PREFACE[..]].iter().chain(first) {
            client.write_all(said).await.unwrap();
        }
        while !then.is_empty() && client.write_all(then).await.is_ok() {}
    };
    let all = async { tokio::join!(reading, saying, served) };
    let (.., served) = timeout(Duration::from_hours(1), all).await.expect(reason);
    served.unwrap();
    assert!(counted(&page, reason), "{reason}, {then:?}: {}", page.render());
    let took = begun.elapsed().as_secs();
    assert!(seconds.contains(&took), "{reason}, {then:?}: {took} s");
}

#[tokio::test(start_paused = true)]
async fn frames_that_carry_nothing_close_the_connection_whatever_they_are() {
    for frames in [PING, SETTINGS, WIDER, PRIORITY, UNKNOWN] {
        check(&[SETTINGS], frames, "flooding", 0..=0).await;
    }
    check(&[SETTINGS, ASK_ON], PIECE, "flooding", 0..=0).await;
}

#[tokio::test(start_paused = true)]
async fn what_h2_cuts_by_itself_is_cut() {
    let reset = |stream: u8| [&b"\0\0\x04\x03\0\0\0\0"[..], &[stream], &[0, 0, 0, 8]].concat();
    // Pieces of nothing; a header block without an end; an acknowledgement of nothing; a stream that is the server's to open.
    for (first, then, flood) in [
        (vec![SETTINGS, ASK_ON], EMPTY_PIECE.to_vec(), true),
        (vec![SETTINGS, b"\0\0\x03\x01\x01\0\0\0\x01\x82\x86\x84"], b"\0\0\0\x09\0\0\0\0\x01".to_vec(), true),
        (vec![SETTINGS], SETTINGS_ACK.to_vec(), false),
        (vec![SETTINGS], [b"\0\0\x03\x01\x05\0\0\0\x02\x82\x86\x84".to_vec(), reset(2)].concat(), false),
    ] {
        let recorder = recorder().unwrap();
        let page = recorder.handle();
        let _counting = metrics::set_default_local_recorder(&recorder);
        let (client, served) = connect(&numbers(), 64 * 1024);
        let (mut answers, mut client) = tokio::io::split(client);
        let saying = async {
            for said in [&PREFACE[..]].iter().chain(&first) {
                client.write_all(said).await.unwrap();
            }
            while client.write_all(&then).await.is_ok() {}
        };
        let mut heard = Vec::new();
        let reading = answers.read_to_end(&mut heard);
        let begun = Instant::now();
        let ((), _, served) = tokio::join!(saying, reading, served);
        served.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{then:?}");
        assert_eq!(counted(&page, "flooding"), flood, "{then:?}: {}", page.render());
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_is_asked_is_closed_in_order() {
    check(&[SETTINGS], b"", "idle", 30..=40).await;
    // What goes on and on that is no request keeps none open.
    check(&[SETTINGS, PING, WIDER], b"", "idle", 30..=40).await;
    let (mut client, served) = connect(&numbers(), 64 * 1024);
    client.write_all(PREFACE).await.unwrap();
    client.write_all(SETTINGS).await.unwrap();
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).await.unwrap();
    served.await.unwrap();
    let goes_away = heard.windows(9).any(|head| head[..4] == [0, 0, 8, 7] && head[4..] == [0; 5]);
    assert!(goes_away, "{heard:?} has no GOAWAY");
}

#[tokio::test(start_paused = true)]
async fn a_connection_of_http1_on_which_nothing_more_is_asked_is_closed() {
    let check = async |idle_ms, seconds: std::ops::RangeInclusive<u64>| {
        let recorder = recorder().unwrap();
        let page = recorder.handle();
        let _counting = metrics::set_default_local_recorder(&recorder);
        let numbers = numbers().with(Number::IdleTimeoutMs, idle_ms).unwrap();
        let (mut client, served) = connect(&numbers, 64 * 1024);
        let begun = Instant::now();
        client.write_all(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).await.unwrap();
        served.await.unwrap();
        assert!(heard.starts_with(b"HTTP/1.1 404"), "{heard:?}");
        assert!(counted(&page, "idle"), "{idle_ms}: {}", page.render());
        let took = begun.elapsed().as_secs();
        assert!(seconds.contains(&took), "{idle_ms}: {took} s");
    };
    check(2_000, 2..=3).await;
    check(30_000, 10..=11).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_an_open_stream_is_not_idle() {
    let (client, served) = connect(&numbers(), 64 * 1024);
    let (mut answers, mut client) = tokio::io::split(client);
    for said in [PREFACE, SETTINGS, ASK_ON] {
        client.write_all(said).await.unwrap();
    }
    let mut bytes = [0; 4096];
    let reading = async { while answers.read(&mut bytes).await.is_ok_and(|count| count > 0) {} };
    // The request itself is too slow, which answers it, and from then on nothing is open.
    let begun = Instant::now();
    timeout(Duration::from_hours(1), reading).await.unwrap();
    served.await.unwrap();
    assert!((40..=52).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_closed_however_it_does_not() {
    // It reads the connection, but gives no stream a window.
    check(&[NO_WINDOW, ASK], b"", "stalled", 10..=13).await;
    // It gives windows to streams and none to the connection.
    check(&[WIDE, ASK], b"", "stalled", 10..=13).await;

    // It does not read at all.
    let recorder = recorder().unwrap();
    let page = recorder.handle();
    let _counting = metrics::set_default_local_recorder(&recorder);
    let (mut client, served) = connect(&numbers(), 1024);
    let begun = Instant::now();
    for said in [PREFACE, WIDE, b"\0\0\x04\x08\0\0\0\0\0\x7f\0\0\0", ASK] {
        client.write_all(said).await.unwrap();
    }
    served.await.unwrap();
    assert!(counted(&page, "stalled"), "{}", page.render());
    assert!((10..=13).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_too_slow_is_counted_as_what_it_is_answered() {
    let recorder = recorder().unwrap();
    let page = recorder.handle();
    let _counting = metrics::set_default_local_recorder(&recorder);
    let rpcs = Rpcs::new().unwrap();
    let router = Router::new()
        .fallback(|body: Body| async move { to_bytes(body, usize::MAX).await.is_ok().to_string() })
        .layer(from_fn_with_state(rpcs, measure));
    let (client, host) = duplex(64 * 1024);
    let http = Http::new(&numbers(), Rates::new(&numbers()), Arc::new(SystemClock::new()), Executor::start());
    let served = tokio::spawn(async move {
        serve(&http, host, Address::NONE, router, CancellationToken::new()).await;
    });
    let (mut answers, mut client) = tokio::io::split(client);
    let path = "/zetema.v1.MatchService/GetMatch";
    let fields =
        |name: u8, value: &str| [&[name, u8::try_from(value.len()).unwrap()], value.as_bytes()].concat();
    let block = [vec![0x83, 0x86], fields(0x44, path), fields(0x5f, "application/grpc")].concat();
    let headers = [0, 0, u8::try_from(block.len()).unwrap(), 1, 4, 0, 0, 0, 1];
    for said in [PREFACE, SETTINGS, &headers, &block, PIECE] {
        client.write_all(said).await.unwrap();
    }
    // It is answered in time, and then the connection is idle.
    let mut heard = Vec::new();
    answers.read_to_end(&mut heard).await.unwrap();
    served.await.unwrap();
    let line = r#"zetema_rpc_answers_total{rpc="GetMatch",code="INVALID_ARGUMENT"} 1"#;
    assert!(page.render().contains(line), "{}", page.render());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_not_closed() {
    let (client, served) = connect(&numbers(), 1024);
    let (mut answers, mut client) = tokio::io::split(client);
    for said in [PREFACE, SETTINGS, ASK] {
        client.write_all(said).await.unwrap();
    }
    let mut bytes = [0; 1024];
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(answers.read(&mut bytes).await.unwrap() > 0);
    }
    assert!(!served.is_finished());
    served.abort();
}
