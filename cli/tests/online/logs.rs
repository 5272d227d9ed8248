//! The log of a server that nobody reads.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::server::{parse, zetema};

/// How long a busy machine may take for anything.
const LONG: Duration = Duration::from_mins(2);

/// A server that says very much, of which nobody reads more than where it serves.
struct Talkative {
    child: Child,
    log: Option<BufReader<ChildStderr>>,
    address: String,
    data: TempDir,
}

impl Talkative {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut child = zetema()
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "debug", "--data"])
            .arg(data.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let line =
            log.by_ref().lines().map_while(Result::ok).find(|line| line.contains("serves at ")).unwrap();
        let address = line.split_once("serves at http://").unwrap().1.split_once(';').unwrap().0.to_owned();
        Self { child, log: Some(log), address, data }
    }

    /// Plays until so many lines of its log were dropped.
    fn plays_until_dropped(&self, lines: u64) {
        let begun = Instant::now();
        while self.dropped() < lines {
            assert!(begun.elapsed() < LONG, "{} lines were dropped", self.dropped());
            let output = zetema()
                .args(["load", "--matches", "8", "--warmup", "0s", "--duration", "2s", "--format", "json"])
                .args(["--server", &format!("http://{}", self.address)])
                .env("ZETEMA_DATA", self.data.path())
                .output()
                .unwrap();
            let report = parse(&output);
            assert!(report["passed"] == true, "{report}");
        }
    }

    /// How many lines were dropped, by its metrics.
    fn dropped(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET /metrics HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = Vec::new();
        stream.read_to_end(&mut page).unwrap();
        let page = String::from_utf8_lossy(&page);
        let value = page.lines().find_map(|line| line.strip_prefix("zetema_log_lines_dropped_total "));
        value.unwrap().trim().parse().unwrap()
    }

    /// Reads on from here.
    fn read_on(&mut self) -> Receiver<String> {
        let log = self.log.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || log.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        lines
    }
}

impl Drop for Talkative {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_log_that_nobody_reads_holds_up_no_match_and_says_what_it_lacks_when_it_is_read_again() {
    let mut server = Talkative::start();
    server.plays_until_dropped(100);
    let (lines, begun) = (server.read_on(), Instant::now());
    let told = loop {
        let rest = LONG.saturating_sub(begun.elapsed());
        let line = lines.recv_timeout(rest).expect("it says that lines are missing");
        // Whatever was cut off in the middle is none.
        assert!(line.starts_with("20") || line.starts_with("zetema "), "{line}");
        if line.contains("lines of it were dropped") {
            break line;
        }
    };
    let many: u64 = told.split_once("lines=").expect("how many").1.trim().parse().unwrap();
    assert!(many >= 100 && many <= server.dropped(), "{told}");
}

#[test]
fn a_server_whose_log_nobody_reads_stops_when_it_is_told_to() {
    let server = Talkative::start();
    server.plays_until_dropped(1);
    let (sender, stopped) = channel();
    let pid = server.child.id().to_string();
    let mut waiting = server;
    thread::spawn(move || sender.send(waiting.child.wait().unwrap()));
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let status = stopped.recv_timeout(LONG).expect("it stops");
    assert!(status.success(), "{status}");
}
