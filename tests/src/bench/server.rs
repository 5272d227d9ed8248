//! A server in a process of its own.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tonic::transport::Channel;
use zetema_service::access::ADMIN_TOKEN_FILE;

use super::load::Journaled;
use super::meter::Meter;
use super::setting::Setting;
use super::socket;
use crate::floods::{memory, processor_time};

/// Connections of the clients.
const CONNECTIONS: usize = 4;

/// How long one may take to stop before it is killed.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// A server in a process of its own, which stops when this is dropped: so one that is built to write a profile when it ends does that.
pub(super) struct Server {
    child: Child,
    /// Nothing comes here, until there is nobody left who could say something.
    says: Receiver<()>,
    address: SocketAddr,
    /// Of its data.
    folder: Option<TempDir>,
}

impl Server {
    /// A bare server.
    pub(super) async fn echo(response_bytes: usize) -> anyhow::Result<Self> {
        Self::start(&["echo", "--response-bytes", &response_bytes.to_string()], None).await
    }

    /// The service, on an empty folder.
    pub(super) async fn zetema(setting: &Setting, journaled: Journaled) -> anyhow::Result<Self> {
        Self::zetema_in(tempfile::tempdir_in(&setting.folder)?, journaled).await
    }

    /// The service, with the data that is in a folder of this one.
    pub(super) async fn zetema_in(folder: TempDir, journaled: Journaled) -> anyhow::Result<Self> {
        let data = data(folder.path());
        let data = data.to_str().context("the folder has a name that is no text")?.to_owned();
        let journal = journaled.to_possible_value().context("a journal has no name")?;
        Self::start(&["zetema", "--data", &data, "--journal", journal.get_name()], Some(folder)).await
    }

    async fn start(role: &[&str], folder: Option<TempDir>) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .args(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("it was asked for its output")?;
        let (first, line) = oneshot::channel();
        let (speaker, says) = channel();
        thread::spawn(move || {
            let (mut stdout, mut line) = (BufReader::new(stdout), String::new());
            // Nobody may wait for it any more.
            let _ = first.send(stdout.read_line(&mut line).map(|_| line));
            let _ = io::copy(&mut stdout, &mut io::sink());
            drop(speaker);
        });
        let line = line.await??;
        let address = line.trim().parse();
        // It has said why on standard error.
        let address = address.with_context(|| format!("the server {role:?} does not serve: {line:?}"))?;
        Ok(Self { child, says, address, folder })
    }

    /// The token of its admin.
    pub(super) fn admin_token(&self) -> anyhow::Result<String> {
        let folder = self.folder.as_ref().context("a bare server has no admin")?;
        let file = data(folder.path()).join(ADMIN_TOKEN_FILE);
        let token = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Ok(token.trim().to_owned())
    }

    /// Where it serves.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Kills it, and gives the folder that has its data.
    pub(super) fn kill(mut self) -> anyhow::Result<TempDir> {
        self.check()?;
        self.child.kill()?;
        self.child.wait()?;
        self.folder.take().context("a bare server has no data")
    }

    /// Some connections to it, whose bytes this meter counts.
    pub(super) async fn connect(&self, meter: &Arc<Meter>) -> anyhow::Result<Vec<Channel>> {
        let mut channels = Vec::new();
        for _ in 0..CONNECTIONS {
            channels.push(socket::connect(self.address, meter).await?);
        }
        Ok(channels)
    }

    /// The processor time that it has used.
    pub(super) fn processor_time(&self) -> Duration {
        processor_time(self.child.id())
    }

    /// The bytes that it has in memory.
    pub(super) fn memory(&self) -> u64 {
        memory(self.child.id()).now
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check(&mut self) -> anyhow::Result<()> {
        let ended = self.child.try_wait()?;
        ensure!(ended.is_none(), "the server has ended: {ended:?}");
        Ok(())
    }
}

/// Where in the folder of a server its data is.
pub(super) fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // An error says that it has ended, or does not.
        let _ = self.says.recv_timeout(STOPS_WITHIN);
        // What it has stored is of no use to anybody.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
