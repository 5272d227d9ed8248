//! `zetema load` by several generators, each a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::server::{Served, zetema};

/// Longer than anything takes that is waited for.
const SOON: Duration = Duration::from_mins(2);

/// A generator. It is killed when it is dropped.
struct Generator {
    child: Child,
    said: Receiver<String>,
    stdout: Option<JoinHandle<String>>,
}

impl Generator {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, said) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // The test may be over.
                let _ = sender.send(line);
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, said, stdout: Some(stdout) }
    }

    /// One that waits for others, so many with itself, and where.
    fn first(server: &Served, generators: &str, load: &[&str]) -> (Self, String) {
        let listen = ["load", "--generators", generators, "--listen", "127.0.0.1:0", "--format", "json"];
        let mut command = server.command(&listen);
        command.args(["--warmup", "0s", "--set", "target=20"]).args(load);
        let first = Self::start(command);
        let said = first.says("this generator waits at ");
        let address = said.split_once("waits at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        (first, address)
    }

    fn join(server: &Served, address: &str) -> Self {
        Self::start(server.command(&["load", "--join", address]))
    }

    /// Waits until it says this.
    fn says(&self, text: &str) -> String {
        let mut all = Vec::new();
        loop {
            match self.said.recv_timeout(SOON) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => all.push(line),
                Err(error) => panic!("it has not said {text:?} ({error}): {all:?}"),
            }
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until it ends, and gives what it has written.
    fn end(&mut self) -> (ExitStatus, String) {
        let stdout = self.stdout.take().unwrap().join().unwrap();
        (self.child.wait().unwrap(), stdout)
    }

    /// The same of one that has done what it was to.
    fn report(&mut self) -> Value {
        let (status, stdout) = self.end();
        assert!(status.success(), "{status}: {:?}", self.said.try_iter().collect::<Vec<_>>());
        serde_json::from_str(&stdout).unwrap()
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until matches are played.
fn until_it_runs(server: &Served) {
    while server.json(&["match", "list"]).as_array().unwrap().is_empty() {}
}

fn sum(report: &Value, count: &str) -> u64 {
    let generators = report["outcome"]["generators"].as_array().unwrap();
    generators.iter().map(|generator| generator["seen"]["counts"][count].as_u64().unwrap_or(0)).sum()
}

#[test]
fn three_generators_make_one_load() {
    let server = Served::start();
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let load = [
        "--rate",
        "150actions/s",
        "--matches",
        "10",
        "--spectators",
        "2",
        "--drop-every",
        "500ms",
        "--duration",
        "4s",
        "--slo",
        "p99<60s,errors<50%",
        "--html",
        page.to_str().unwrap(),
    ];
    let (mut first, address) = Generator::first(&server, "3", &load);
    // Somebody else is at the port.
    TcpStream::connect(&address).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    first.says("may not join: it has sent what no generator sends");
    let mut others = [Generator::join(&server, &address), Generator::join(&server, &address)];
    let report = first.report();
    for other in &mut others {
        assert!(other.end().0.success());
        other.says("joined the generator at");
        other.says("has the report");
    }
    assert_eq!(report["passed"], true, "{}", report["verdict"]);
    let outcome = &report["outcome"];
    assert_eq!(outcome["faults"]["all"], 0, "{}", outcome["faults"]);
    assert_eq!(outcome["description"]["generators"], 3);
    assert_eq!(outcome["description"]["arrivals"]["open"]["per_second"], 150.0);
    assert_eq!(outcome["machines"].as_array().unwrap().len(), 3);
    let counts = &report["summary"]["counts"];
    for count in ["offered", "action_acknowledged", "match_created"] {
        assert_eq!(counts[count].as_u64().unwrap(), sum(&report, count), "{count}");
    }
    // In four seconds, four standard deviations.
    let offered = counts["offered"].as_u64().unwrap();
    assert!((500..700).contains(&offered), "{offered} offered");
    for generator in outcome["generators"].as_array().unwrap() {
        let offered = generator["seen"]["counts"]["offered"].as_u64().unwrap();
        assert!((140..260).contains(&offered), "{}: {offered} of 200", generator["name"]);
    }
    // Each has measured the same seconds, and they are one run of four.
    let measured = report["summary"]["measured_s"].as_f64().unwrap();
    assert!((3.9..8.0).contains(&measured), "{measured} s");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("generator 3 of 3 (127.0.0.1:"), "{page}");
}

#[test]
fn a_generator_that_is_killed_is_named_and_the_run_fails() {
    let server = Served::start();
    let (mut first, address) = Generator::first(&server, "3", &["--matches", "6", "--duration", "10m"]);
    let mut kept = Generator::join(&server, &address);
    first.says("has joined");
    let killed = Generator::join(&server, &address);
    first.says("0 missing");
    until_it_runs(&server);
    drop(killed);
    let (status, stdout) = first.end();
    assert_eq!((status.code(), stdout.as_str()), (Some(1), ""));
    let said = first.says("error:");
    assert!(said.contains("generator 3 of 3 (127.0.0.1:") && said.contains("is gone"), "{said}");
    assert_eq!(kept.end().0.code(), Some(1));
    let said = kept.says("error:");
    assert!(said.contains("the run has failed: generator 3 of 3"), "{said}");
}

#[test]
fn a_generator_that_stands_still_is_given_up() {
    let server = Served::start();
    let (mut first, address) = Generator::first(&server, "2", &["--matches", "4", "--duration", "10m"]);
    let other = Generator::join(&server, &address);
    first.says("0 missing");
    until_it_runs(&server);
    other.signal("-STOP");
    assert_eq!(first.end().0.code(), Some(1));
    let said = first.says("error:");
    assert!(said.contains("generator 2 of 2") && said.contains("has said nothing for 10 s"), "{said}");
}

#[test]
fn a_first_generator_that_is_killed_ends_the_others() {
    let server = Served::start();
    let (first, address) = Generator::first(&server, "2", &["--matches", "4", "--duration", "10m"]);
    let mut other = Generator::join(&server, &address);
    first.says("0 missing");
    until_it_runs(&server);
    drop(first);
    assert_eq!(other.end().0.code(), Some(1));
    let said = other.says("error:");
    assert!(said.contains(&format!("the generator at {address} is gone")), "{said}");
}

#[test]
fn an_interrupted_run_of_several_generators_is_reported_and_has_not_passed() {
    let server = Served::start();
    let (mut first, address) = Generator::first(&server, "2", &["--matches", "4", "--duration", "10m"]);
    let mut other = Generator::join(&server, &address);
    first.says("0 missing");
    until_it_runs(&server);
    first.signal("-INT");
    let (status, stdout) = first.end();
    assert_eq!(status.code(), Some(1), "it has not done what it was to do");
    first.says("it was stopped before its time");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&report["passed"], &report["outcome"]["is_stopped"]), (&false.into(), &true.into()));
    assert_eq!(report["outcome"]["generators"].as_array().unwrap().len(), 2);
    assert_eq!(report["summary"]["counts"]["match_created"].as_u64().unwrap(), sum(&report, "match_created"));
    assert!(other.end().0.success());
}

#[test]
fn several_generators_search_the_limit_together() {
    let server = Served::start();
    let search = [
        "--rate",
        "50actions/s",
        "--matches",
        "8",
        "--find-limit",
        "--slo",
        "p99<1s",
        "--resolution",
        "100%",
        "--time-control",
        "none",
        "--duration",
        "1s",
    ];
    let (mut first, address) = Generator::first(&server, "2", &search);
    let mut other = Generator::join(&server, &address);
    let report = first.report();
    let steps = report["search"]["steps"].as_array().unwrap();
    assert!(report["search"]["limit"].as_f64().unwrap() > 0.0 && steps.len() > 1, "{}", report["search"]);
    assert_eq!(report["outcome"]["generators"].as_array().unwrap().len(), 2);
    assert!(other.end().0.success());
}

#[test]
fn what_generators_can_t_do_together_is_said_before_it_begins() {
    let check = |args: &[&str], said: &str| {
        let output = zetema().arg("load").args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    };
    let server = ["--server", "http://127.0.0.1:1"];
    let with = |args: &[&str], said: &str| check(&[&server[..], args].concat(), said);
    with(&["--generators", "3"], "--listen");
    with(&["--listen", "127.0.0.1:0"], "--generators");
    check(&["--generators", "3", "--listen", "127.0.0.1:0"], "--server");
    with(&["--generators", "3", "--listen", "0.0.0.0:0"], "--plaintext anywhere");
    with(
        &["--generators", "3", "--listen", "127.0.0.1:0", "--matches", "2"],
        "2 matches can't be divided between 3 generators",
    );
    check(&["--join", "127.0.0.1:1"], "--server");
    with(&["--join", "127.0.0.1:1", "--slo", "p99<1s"], "--slo");
    with(&["--join", "127.0.0.1:1", "--matches", "5"], "--matches");
    with(&["--join", "127.0.0.1:1", "--listen", "127.0.0.1:0"], "--listen");
}
