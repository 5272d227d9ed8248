//! What strangers do to the log: they don't fill it, and whoever looks for them finds where they come from.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::Code;
use zetema_proto::v1;
use zetema_proto::v1::watch_results_request::From;
use zetema_tests::harness::{Clients, Process, soon};

/// A cursor that only a server has given that has as many results.
const TWELFTH: &str = "r-000000000000000c-2b44c90e";
const TIMES: usize = 200;

async fn start(flags: &[&str]) -> (Process, Clients) {
    let flags: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let clients = process.connect().await;
    (process, clients)
}

/// This stands in the log at least once, and no more than once a second.
fn check_seldom(log: &str, text: &str, begun: Instant) {
    let (told, seconds) = (log.matches(text).count(), begun.elapsed().as_secs());
    assert!(told > 0 && u64::try_from(told).unwrap() <= seconds + 2, "{told} times in {seconds} s: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_strangers_do_again_and_again_is_told_once_in_a_second() {
    let begun = Instant::now();
    let (process, clients) = start(&["--max-connections=2", "--max-connections-per-address=2"]).await;
    let made_up =
        || v1::WatchResultsRequest { from: Some(From::After(TWELFTH.to_owned())), ..Default::default() };
    for _ in 0..TIMES {
        let refused = soon("WatchResults", clients.matches().watch_results(made_up())).await.unwrap_err();
        assert_eq!(refused.code(), Code::OutOfRange, "{refused}");
    }
    let address = process.url().strip_prefix("http://").unwrap();
    let mut open = Vec::new();
    for _ in 0..TIMES {
        let mut stream = soon("a connection", TcpStream::connect(address)).await.unwrap();
        // Of those that are refused nothing more comes.
        if open.len() < 2 { open.push(stream) } else { drop(stream.read(&mut [0; 1]).await) }
    }
    let (_folder, log) = process.kill();
    check_seldom(&log, "a client has a cursor beyond the last result", begun);
    check_seldom(&log, "a connection was refused: too many are open", begun);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_level_debug_the_log_names_the_address_of_who_is_cut_or_refused() {
    let flags = ["--requests-per-second-per-address=1", "--request-burst-per-address=1"];
    let (process, clients) = start(&flags).await;
    // At once: refused from the second on.
    let ask = |_| {
        let mut rules = clients.rules();
        async move { soon("ListPresets", rules.list_presets(v1::ListPresetsRequest {})).await }
    };
    drop(futures::future::join_all((0..10).map(ask)).await);
    process.logs("a share is used up from=127.0.0.1 what=\"request\" by=\"address\"", 1).await;
    let address = process.url().strip_prefix("http://").unwrap();
    let mut stream = soon("a connection", TcpStream::connect(address)).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let ping = b"\0\0\x08\x06\0\0\0\0\0abcdefgh".repeat(1_000);
    // Until it is cut.
    let (mut read, mut write) = stream.into_split();
    let reading = tokio::spawn(async move { while read.read(&mut [0; 4096]).await.is_ok_and(|n| n > 0) {} });
    soon("the cut", async { while write.write_all(&ping).await.is_ok() {} }).await;
    process.logs("a connection was closed from=127.0.0.1 why=Flooding", 1).await;
    soon("the end", reading).await.unwrap();
    process.kill();
}

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Begins a call of this method, with three bytes of the five before its message.
fn begun_call(stream: u32, path: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        // A literal that the table does not keep (RFC 7541, section 6.2.2).
        headers.push(0);
        for text in [name, value] {
            headers.push(u8::try_from(text.len()).unwrap());
            headers.extend(text.as_bytes());
        }
    }
    [frame(1, 4, stream, &headers), frame(0, 0, stream, &[0; 3])].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_broken_off_is_no_fault_of_the_server_by_whatever_code_it_is_reset() {
    let (process, _clients) = start(&[]).await;
    let address = process.url().strip_prefix("http://").unwrap();
    let (mut read, mut write) = soon("a connection", TcpStream::connect(address)).await.unwrap().into_split();
    let _reading = AbortOnDropHandle::new(tokio::spawn(async move {
        while read.read(&mut [0; 4096]).await.is_ok_and(|count| count > 0) {}
    }));
    write.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let calls = ["/zetema.v1.RulesService/ListPresets", "/zetema.v1.PlayService/Play"];
    // All codes that RFC 9113 has, and one that it has not.
    let resets = (0..=0xd).chain([0xff]).flat_map(|code: u32| calls.map(|path| (path, code)));
    let resets: Vec<_> = (0_u32..).map(|number| 2 * number + 1).zip(resets).collect();
    let many = f64::from(u32::try_from(resets.len()).unwrap());
    let [asked, answered] = ["zetema_rpc_requests_total", "zetema_rpc_answers_total"];
    let before = process.scrape().await;
    for &(stream, (path, _)) in &resets {
        write.write_all(&begun_call(stream, path)).await.unwrap();
    }
    counted(&process, asked, before.sum(asked) + many).await;
    for &(stream, (_, code)) in &resets {
        write.write_all(&frame(3, 0, stream, &code.to_be_bytes())).await.unwrap();
    }
    counted(&process, answered, before.sum(answered) + many).await;
    assert_eq!(process.metric("zetema_incidents_total").await, 0);
    let (_folder, log) = process.kill();
    // The level follows the time; a name of a code, as `NO_ERROR`, is no level.
    let faults: Vec<_> = log.lines().filter(|line| line.split_whitespace().nth(1) == Some("ERROR")).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Waits until so many calls are counted.
async fn counted(process: &Process, name: &str, number: f64) {
    // An address reads a hundred pages a second at most.
    let mut turns = tokio::time::interval(Duration::from_millis(50));
    let counted = async {
        while process.scrape().await.sum(name) < number {
            turns.tick().await;
        }
    };
    soon(name, counted).await;
}
