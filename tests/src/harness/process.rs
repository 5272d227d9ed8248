//! The program `zetema serve` in a process of its own, which can be killed at any moment.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use zetema_load::scrape::Scrape;
use zetema_service::access::ADMIN_TOKEN_FILE;

use super::{Clients, built, soon};

/// What the program says on stderr when it serves, before its address and a semicolon.
const SERVES_AT: &str = "zetema serves at ";
/// An address of which the system chooses the port.
const ANY_PORT: &str = "127.0.0.1:0";

/// A server in a process of its own.
pub struct Process {
    child: Running,
    folder: TempDir,
    /// Empty until it serves.
    url: String,
    /// What the log is of.
    level: &'static str,
    log: watch::Receiver<String>,
    reader: JoinHandle<()>,
    /// Tells the address. `None` once it has.
    serves: Option<oneshot::Receiver<String>>,
}

/// A program that is killed when this is dropped, as by a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// A server with an empty folder, and a connection to it.
    pub async fn start() -> (Self, Clients) {
        Self::start_in(tempfile::tempdir().unwrap()).await
    }

    /// Kills the server (SIGKILL) and gives its folder and its log.
    pub fn kill(mut self) -> (TempDir, String) {
        self.child.0.kill().unwrap();
        self.child.0.wait().unwrap();
        self.reader.join().unwrap();
        let log = self.log.borrow().clone();
        (self.folder, log)
    }

    /// Tells the server to stop (SIGTERM).
    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Waits until the server has stopped by itself, as it should.
    pub async fn stopped(mut self) -> Stopped {
        let mut log = self.log.clone();
        // The writer goes with the process.
        while soon("the server to stop", log.changed()).await.is_ok() {}
        let status = self.child.0.wait().unwrap();
        self.reader.join().unwrap();
        let log = self.log.borrow().clone();
        assert!(status.success(), "{status}: {log}");
        // One that was stopped before it served has none.
        let address = self.url.strip_prefix("http://").unwrap_or(ANY_PORT).to_owned();
        Stopped { folder: self.folder, address, level: self.level, log }
    }

    /// Sends it SIGKILL, and does not wait until it is gone.
    pub fn strike(&mut self) {
        self.child.0.kill().unwrap();
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The admin's token.
    pub fn admin_token(&self) -> String {
        std::fs::read_to_string(self.admin_token_file()).unwrap().trim().to_owned()
    }

    /// Its data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Where the admin's token is.
    pub fn admin_token_file(&self) -> PathBuf {
        self.folder.path().join("data").join(ADMIN_TOKEN_FILE)
    }

    /// Sends it SIGHUP.
    pub fn hang_up(&self) {
        self.signal("-HUP");
    }

    /// Waits until it has closed its log, as it does when it ends.
    pub async fn over(&self) {
        let mut log = self.log.clone();
        while soon("the server to say more, or to end", log.changed()).await.is_ok() {}
    }

    /// Stops it where it is (SIGSTOP), until it is told to go on.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.0.id().to_string()]).status().unwrap();
        assert!(sent.success(), "the server runs");
    }

    /// Waits until its log has this so many times.
    pub async fn logs(&self, text: &str, times: usize) {
        let mut log = self.log.clone();
        let logged = log.wait_for(|log| log.matches(text).count() >= times);
        soon(text, logged).await.expect("the server runs");
    }

    /// A server with the data of this folder.
    pub async fn start_in(folder: TempDir) -> (Self, Clients) {
        let process = Self::start_with(folder, &[]).await;
        let clients = process.connect().await;
        (process, clients)
    }

    /// Another connection to it.
    pub async fn connect(&self) -> Clients {
        let address = self.url.strip_prefix("http://").unwrap().parse().unwrap();
        Clients::connect(address, &self.admin_token()).await
    }

    /// A whole number of its metrics, such as `zetema_connections`.
    pub async fn metric(&self, name: &str) -> u64 {
        let scrape = self.scrape().await;
        assert!(scrape.has(name), "no metric {name} in {scrape:?}");
        scrape.sum(name).to_string().parse().unwrap()
    }

    /// Its metrics.
    pub async fn scrape(&self) -> Scrape {
        let address = self.url.strip_prefix("http://").unwrap();
        let page = soon("the metrics", async {
            let mut server = TcpStream::connect(address).await?;
            let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
            server.write_all(request.as_bytes()).await?;
            let mut page = String::new();
            server.read_to_string(&mut page).await.map(|_| page)
        });
        let page = page.await.expect("the server runs");
        let (_, page) = page.split_once("\r\n\r\n").expect("an answer of HTTP");
        Scrape::parse(page).unwrap()
    }

    /// A server with the data of this folder and these flags.
    pub async fn start_with(folder: TempDir, flags: &[&OsStr]) -> Self {
        Self::start_at(ANY_PORT, "debug", folder, flags).await
    }

    /// A server with these flags, on a system whose CAs are those of this file.
    pub async fn start_trusting(cas: &Path, flags: &[&OsStr]) -> Self {
        let variables = [("SSL_CERT_FILE", cas.as_os_str())];
        let folder = tempfile::tempdir().unwrap();
        let mut process = Self::spawn_with(ANY_PORT, "debug", folder, flags, &variables);
        assert!(process.serves().await, "the server did not start: {}", process.kill().1);
        process
    }

    /// A server with an empty folder, which says nothing of what goes well.
    pub async fn start_quietly() -> Self {
        Self::start_at(ANY_PORT, "warn", tempfile::tempdir().unwrap(), &[]).await
    }

    /// Kills the server (SIGKILL), and starts another with its data at its address.
    pub async fn restart(self) -> Self {
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        let level = self.level;
        let (folder, _) = self.kill();
        Self::start_at(&address, level, folder, &[]).await
    }

    async fn start_at(address: &str, level: &'static str, folder: TempDir, flags: &[&OsStr]) -> Self {
        let mut process = Self::spawn(address, level, folder, flags);
        assert!(process.serves().await, "the server did not start: {}", process.kill().1);
        process
    }

    /// Starts a server with the data of this folder and these flags, whose log is of this level, and does not wait until
    /// it serves.
    pub fn spawn(address: &str, level: &'static str, folder: TempDir, flags: &[&OsStr]) -> Self {
        Self::spawn_with(address, level, folder, flags, &[])
    }

    fn spawn_with(
        address: &str,
        level: &'static str,
        folder: TempDir,
        flags: &[&OsStr],
        variables: &[(&str, &OsStr)],
    ) -> Self {
        let data = folder.path().join("data");
        let mut child = Command::new(built("zetema"))
            .args(["serve", "--listen", address, "--log", level, "--data"])
            .arg(&data)
            // A debug build on a busy machine is late all the time.
            .args(["--max-late-ms", "60000"])
            .args(flags)
            .env_remove("ZETEMA_CONFIG")
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (told, serves) = oneshot::channel();
        let (writer, log) = watch::channel(String::new());
        let reader = std::thread::spawn(move || {
            let mut told = Some(told);
            for line in stderr.lines() {
                let Ok(line) = line else { break };
                if let Some(told) = url(&line).and_then(|url| told.take().map(|told| (told, url))) {
                    // Nobody waits any more when the test has failed.
                    let _ = told.0.send(told.1);
                }
                writer.send_modify(|log| {
                    log.push_str(&line);
                    log.push('\n');
                });
            }
        });
        Self { child: Running(child), folder, url: String::new(), level, log, reader, serves: Some(serves) }
    }

    /// Waits until it serves. `false` if it ends before.
    pub async fn serves(&mut self) -> bool {
        if let Some(serves) = &mut self.serves {
            let Ok(url) = soon("the server to serve", serves).await else { return false };
            self.url = url;
            self.serves = None;
        }
        true
    }
}

/// A server that has stopped by itself.
pub struct Stopped {
    folder: TempDir,
    address: String,
    level: &'static str,
    log: String,
}

impl Stopped {
    /// Its folder.
    pub fn into_folder(self) -> TempDir {
        self.folder
    }

    /// What it has logged.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Starts another with its data at its address.
    pub async fn start(self) -> Process {
        Process::start_at(&self.address, self.level, self.folder, &[]).await
    }
}

fn url(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(SERVES_AT)?;
    rest.split(';').next().map(str::to_owned)
}
