//! The program `zetema serve` in a process of its own, which can be killed at any moment.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::JoinHandle;

use cargo_metadata::Message;
use tempfile::TempDir;
use tokio::sync::oneshot;
use zetema_service::access::ADMIN_TOKEN_FILE;

use super::{Clients, soon};

/// What the program says on stderr when it serves, before its address and a semicolon.
const SERVES_AT: &str = "zetema serves at http://";

/// The program of this build. Built with the tests of the whole workspace, it has been built already when
/// they all run, and is never an older one when this package's run alone.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let profile: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
    let build = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--no-run", "--locked", "--message-format", "json"])
        .args(profile)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(build.status.success(), "the program does not build");
    let messages = Message::parse_stream(&build.stdout[..]).map(Result::unwrap);
    let program = messages.filter_map(|message| match message {
        Message::CompilerArtifact(built) if built.target.name == "zetema" && !built.profile.test => {
            built.executable
        }
        _ => None,
    });
    program.last().expect("cargo says where the program is").into()
});

/// A server in a process of its own.
pub struct Process {
    child: Child,
    folder: TempDir,
    log: JoinHandle<String>,
}

impl Process {
    /// A server with an empty folder, and a connection to it.
    pub async fn start() -> (Self, Clients) {
        Self::start_in(tempfile::tempdir().unwrap()).await
    }

    /// Kills the server (SIGKILL) and gives its folder and its log.
    pub fn kill(mut self) -> (TempDir, String) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.folder, self.log.join().unwrap())
    }

    /// A server with the data of this folder.
    pub async fn start_in(folder: TempDir) -> (Self, Clients) {
        let data = folder.path().join("data");
        let mut child = Command::new(&*PROGRAM)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "debug", "--data"])
            .arg(&data)
            .env_remove("ZETEMA_CONFIG")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (told, serves) = oneshot::channel();
        let log = std::thread::spawn(move || {
            let mut told = Some(told);
            let mut log = String::new();
            for line in stderr.lines() {
                let Ok(line) = line else { break };
                if let Some(told) = address(&line).and_then(|address| told.take().map(|told| (told, address)))
                {
                    // Nobody waits any more when the test has failed.
                    let _ = told.0.send(told.1);
                }
                log.push_str(&line);
                log.push('\n');
            }
            log
        });
        let address = soon("the server to serve", serves).await.expect("the server says its address");
        let token = std::fs::read_to_string(data.join(ADMIN_TOKEN_FILE)).unwrap();
        let clients = Clients::connect(address, token.trim()).await;
        (Self { child, folder, log }, clients)
    }
}

fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once(SERVES_AT)?;
    rest.split(';').next()?.parse().ok()
}
