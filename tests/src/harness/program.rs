//! Programs of this build, each in a process of its own, which can be killed at any moment.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::JoinHandle;

use cargo_metadata::Message;
use tokio::sync::watch;

use super::soon;

/// For tests: with the tests of the whole workspace, the programs have been built already when these all run, and are never
/// older ones when this package's run alone.
const WITH_THE_TESTS: &[&str] = &["test", "--workspace", "--no-run"];
/// For programs of this package: what the README's first command builds.
const BY_ITSELF: &[&str] = &["build", "--package", "zetema-cli", "--bin", "zetema"];

/// The programs of this build by their names.
static BUILT: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| {
    let profile: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
    let build = if is_test() { WITH_THE_TESTS } else { BY_ITSELF };
    let mut cargo = Command::new(env!("CARGO"));
    // What cargo tells a test of its package would make build scripts run anew, and half the workspace with them.
    for (name, _) in std::env::vars_os() {
        let of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(of_package) {
            cargo.env_remove(name);
        }
    }
    let build = cargo
        .args(build)
        .args(["--locked", "--message-format", "json"])
        .args(profile)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(build.status.success(), "the programs do not build");
    let messages = Message::parse_stream(&build.stdout[..]).map(Result::unwrap);
    let programs = messages.filter_map(|message| match message {
        Message::CompilerArtifact(built) if !built.profile.test => {
            Some((built.target.name, built.executable?.into()))
        }
        _ => None,
    });
    programs.collect()
});

/// Whether cargo has built the running program as a test: those it keeps beside what they depend on.
fn is_test() -> bool {
    let program = std::env::current_exe().expect("the system knows the program");
    program.parent().is_some_and(|folder| folder.ends_with("deps"))
}

/// Where a program of this build is, such as `zetema`.
///
/// # Panics
/// If this build has none of that name.
pub fn built(name: &str) -> &'static Path {
    BUILT.get(name).unwrap_or_else(|| panic!("cargo says of no program {name}"))
}

/// A program that runs, and what it has said. It is killed when it is dropped.
pub struct Program {
    child: Child,
    said: watch::Receiver<String>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts it. Its standard output is read.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (writer, said) = watch::channel(String::new());
        let reader = std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                writer.send_modify(|said| {
                    said.push_str(&line);
                    said.push('\n');
                });
            }
        });
        Self { child, said, reader: Some(reader) }
    }

    /// Waits until it has said this so many times.
    pub async fn says(&self, text: &str, times: usize) {
        let mut said = self.said.clone();
        let waited = soon(text, said.wait_for(|said| said.matches(text).count() >= times)).await;
        assert!(waited.is_ok(), "the program ended before it said {text} {times} times: {}", self.said());
    }

    /// What it has said.
    pub fn said(&self) -> String {
        self.said.borrow().clone()
    }

    /// Kills it (SIGKILL), and gives what it had said.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.read_out()
    }

    /// Waits until it ends by itself, as it should, and gives what it has said.
    pub async fn end(mut self) -> String {
        let mut said = self.said.clone();
        // The writer goes when the output ends.
        while soon("the program to say more, or to end", said.changed()).await.is_ok() {}
        let all = self.read_out();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {all}");
        all
    }

    fn read_out(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.said()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
