//! A server of its own, and commands against it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn zetema() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    for name in ["ZETEMA_TOKEN", "ZETEMA_SERVER", "ZETEMA_DATA", "ZETEMA_LOG"] {
        command.env_remove(name);
    }
    // A debug build on a busy machine is late all the time: the servers too that a command starts for itself.
    command.env("ZETEMA_MAX_LATE_MS", "60000");
    command
}

/// A `zetema serve` of its own, stopped when it is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    pub(crate) data: TempDir,
    /// What it says after that it serves.
    pub(crate) log: Receiver<String>,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::on(tempfile::tempdir().unwrap()).0
    }

    /// A server on this data folder, and the line in which it says that it serves.
    pub(crate) fn on(data: TempDir) -> (Self, String) {
        Self::on_with(data, &[])
    }

    /// The same with these flags.
    pub(crate) fn on_with(data: TempDir, flags: &[&str]) -> (Self, String) {
        let log: &[&str] = if flags.contains(&"--log") { &[] } else { &["--log", "warn"] };
        let mut child = zetema()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(log)
            .arg("--data")
            .arg(data.path())
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line =
            lines.by_ref().find(|line| line.contains("serves at ")).expect("the server says where it serves");
        let url = line.split_once("serves at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        // What else it says must not fill the pipe.
        let (sender, log) = channel();
        std::thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
        (Self { child, url, data, log }, line)
    }

    /// A command against this server, with the admin token from its data folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = zetema();
        command.args(args).arg("--server").arg(&self.url);
        command.env("ZETEMA_DATA", self.data.path());
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Tells the server to stop (SIGTERM).
    pub(crate) fn terminate(&self) {
        let kill = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(kill.success());
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.extend(["--format", "json"]);
        parse(&self.output(&args))
    }

    /// Has the house bot take all these seats, and waits for their matches to end.
    pub(crate) fn play(&self, tokens: &[String]) -> Output {
        let mut command = self.command(&["bot", "greedy", "--format", "json"]);
        for token in tokens {
            command.args(["--token", token]);
        }
        command.output().unwrap()
    }
}

impl Served {
    /// Tells the server to stop (SIGTERM), waits until it has, and gives its data folder.
    pub(crate) fn told_to_stop(self) -> (ExitStatus, TempDir) {
        self.terminate();
        self.stopped()
    }

    /// Waits until the server, which was told to, has stopped, and gives its data folder.
    pub(crate) fn stopped(mut self) -> (ExitStatus, TempDir) {
        let status = self.child.wait().unwrap();
        (status, std::mem::replace(&mut self.data, tempfile::tempdir().unwrap()))
    }

    /// Kills the server and gives its data folder.
    pub(crate) fn stop(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.data, tempfile::tempdir().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What `bot show` shows once the ladders have said how the bot behaves: the server waits two seconds for them, and then shows the rest.
pub(crate) fn with_ladders(show: impl Fn() -> Value) -> Value {
    loop {
        let shown = show();
        if !shown["on_ladders"].is_null() {
            return shown;
        }
    }
}

/// The JSON on the stdout of a command that succeeded.
pub(crate) fn parse(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

pub(crate) fn tokens(created: &Value) -> Vec<String> {
    let tokens = created["seat_tokens"].as_array().unwrap().iter();
    tokens.map(|token| token["token"].as_str().unwrap().to_owned()).collect()
}
