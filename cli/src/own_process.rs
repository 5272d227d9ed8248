//! A server in a process of its own, for measurements that this program's work must not disturb.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::args::{AddressArgs, ServerArgs};
use crate::output::note;

/// What the program says on stderr when it serves, before its address and a semicolon.
const SERVES_AT: &str = "zetema serves at ";
/// How long it may take to stop before it is killed.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// A server in a process of its own, with its data in a temporary folder. It stops when this is dropped or this program is gone: so one
/// that is built to write a profile when it ends does that. Ctrl-C in a terminal reaches this program alone: what is measured must not
/// stop before it.
pub(crate) struct OwnProcess {
    child: Child,
    url: String,
    /// Nothing comes here, until there is nobody left who could say something.
    says: Receiver<()>,
    folder: TempDir,
}

impl OwnProcess {
    /// Starts it with the settings of `zetema serve`, but for the limits of a single client.
    pub(crate) fn start() -> Result<Self> {
        let folder = TempDir::with_prefix("zetema-load-").context("no temporary folder can be made")?;
        let program = std::env::current_exe().context("the system does not know where this program is")?;
        let mut command = Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "error",
                "--log-format",
                "text",
                "--until-stdin-ends",
                "--data",
            ])
            .arg(folder.path())
            .args(zetema_load::SERVER_FLAGS)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("a server can't be started")?;
        let (speaker, says) = channel();
        let mut started = Self { child, url: String::new(), says, folder };
        let stderr = started.child.stderr.take().context("what the server says can't be read")?;
        let mut lines = BufReader::new(stderr).lines();
        started.url = address(&mut lines)?;
        // What else it says must not fill the pipe, which is there until it ends.
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(drop);
            drop(speaker);
        });
        Ok(started)
    }

    /// Where it is, and where its token.
    pub(crate) fn args(&self) -> ServerArgs {
        let data = self.folder.path().to_owned();
        ServerArgs { address: AddressArgs::plaintext(&self.url), token: None, data }
    }

    /// Ends it at once, whatever it does: for who has no time to wait until it stops.
    pub(crate) fn kill(&mut self) {
        // It may have ended already. Whoever drops this waits for it.
        let _ = self.child.kill();
    }
}

fn address(lines: &mut Lines<BufReader<ChildStderr>>) -> Result<String> {
    let mut said = Vec::new();
    for line in lines.map_while(Result::ok) {
        if let Some((url, _)) = line.split_once(SERVES_AT).and_then(|(_, rest)| rest.split_once(';')) {
            return Ok(url.to_owned());
        }
        said.push(line);
    }
    bail!("the server did not start: {}", said.join("; "));
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if self.says.recv_timeout(STOPS_WITHIN) == Err(RecvTimeoutError::Timeout) {
            note(format!("the server did not stop within {} s, and is killed", STOPS_WITHIN.as_secs()));
        }
        // What it has stored goes with the folder.
        self.kill();
        let _ = self.child.wait();
    }
}
