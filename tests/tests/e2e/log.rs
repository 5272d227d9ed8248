//! What strangers do to the log: they don't fill it, and whoever looks for them finds where they come from.

use std::ffi::OsStr;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
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
    for _ in 0..10 {
        // Refused from the second on.
        let _ = soon("ListPresets", clients.rules().list_presets(v1::ListPresetsRequest {})).await;
    }
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
