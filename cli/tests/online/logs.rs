//! The log of a server that nobody reads.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

use tempfile::TempDir;

use crate::server::{parse, zetema};

/// A server whose log fills what is between it and its reader, which reads as a test has it read.
struct Talkative {
    child: Child,
    log: BufReader<ChildStderr>,
    url: String,
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
        let line = line_with(&mut log, "serves at ");
        let url = line.split_once("serves at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        Self { child, log, url, data }
    }

    /// Plays so much that a pipe could not hold what the log has of it, which nobody reads. A line has more than a hundred bytes.
    fn plays_unread(&self) {
        let output = zetema()
            .args(["load", "--matches", "8", "--warmup", "0s", "--duration", "3s", "--format", "json"])
            .args(["--server", &self.url])
            .env("ZETEMA_DATA", self.data.path())
            .output()
            .unwrap();
        let report = parse(&output);
        let acknowledged = report["summary"]["counts"]["action_acknowledged"].as_u64().unwrap();
        assert!(report["passed"] == true && acknowledged > 2_000, "{report}");
    }
}

/// Reads on to a line with this.
fn line_with(log: &mut BufReader<ChildStderr>, text: &str) -> String {
    let mut lines = log.by_ref().lines().map_while(Result::ok);
    lines.find(|line| line.contains(text)).expect(text)
}

impl Drop for Talkative {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_log_that_nobody_reads_holds_up_no_match_and_no_stop_and_says_what_it_lacks_when_it_is_read_again() {
    let mut server = Talkative::start();
    server.plays_unread();
    let line = line_with(&mut server.log, "lines of it were dropped");
    let lines = line.split_once("lines=").expect("how many").1;
    assert!(lines.trim().parse::<u64>().unwrap() > 100, "{line}");
    server.plays_unread();
    let told = Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
    assert!(told.success() && server.child.wait().unwrap().success());
    // What was there is whole, up to where nobody read on.
    let left: Vec<String> = server.log.by_ref().lines().map_while(Result::ok).collect();
    let is_whole = |line: &&String| line.starts_with("20") || line.starts_with("zetema ");
    let whole = left.iter().filter(is_whole).count();
    assert!(whole > 100 && whole == left.len(), "{whole} of {} lines: {:?}", left.len(), left.last());
}
