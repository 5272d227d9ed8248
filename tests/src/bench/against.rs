//! Two builds of this program, measured in turn: what differs between them, on a machine whose host is twice as quick in one hour as in
//! the next.
//!
//! Both measure the same rows at the same time. One stands still, its server and all, while the other runs, and so on many times in what
//! is measured: so whatever else the host does meets both alike.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::signal::ctrl_c;
use tokio::time::sleep;

use super::Report;

/// How long each runs before it stands still for the other: long beside what it takes to have the caches filled anew, short beside what
/// the host does.
const TURN: Duration = Duration::from_millis(200);

/// Has two programs measure in turn, each with these arguments and its data in this folder, and gives what they report.
///
/// # Errors
/// What one of them says that is in its way, or that it was interrupted.
pub async fn in_turn(
    [this, that]: [&Path; 2],
    arguments: &[String],
    folder: &Path,
) -> anyhow::Result<[Report; 2]> {
    // One for all of theirs: who is killed leaves it as it is.
    let folder = tempfile::tempdir_in(folder)?;
    let mut both = [
        Measuring::start(this, arguments, folder.path(), "this")?,
        Measuring::start(that, arguments, folder.path(), "that")?,
    ];
    both[1].signal(Signal::SIGSTOP)?;
    let mut running = 0;
    loop {
        tokio::select! {
            () = sleep(TURN) => {}
            // Neither is of the group that a terminal interrupts: nobody else ends them.
            interrupted = ctrl_c() => {
                interrupted?;
                bail!("interrupted")
            }
        }
        let run = [both[0].runs()?, both[1].runs()?];
        if run == [false, false] {
            return Ok([both[0].report()?, both[1].report()?]);
        }
        let other = 1 - running;
        if run[other] {
            both[running].signal(Signal::SIGSTOP)?;
            both[other].signal(Signal::SIGCONT)?;
            running = other;
        }
    }
}

/// A program that measures, with its servers. It is killed when this is dropped.
struct Measuring {
    program: PathBuf,
    child: Child,
    is_over: bool,
    report: PathBuf,
    said: PathBuf,
}

impl Measuring {
    /// Starts it in a group of its own, to which its servers belong too.
    fn start(program: &Path, arguments: &[String], folder: &Path, name: &str) -> anyhow::Result<Self> {
        let [report, said] = ["json", "text"].map(|kind| folder.join(name).with_extension(kind));
        let child = Command::new(program)
            .args(arguments)
            .arg("--folder")
            .arg(folder)
            .arg("--json")
            .arg(&report)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&said)?)
            .process_group(0)
            .spawn()
            .with_context(|| program.display().to_string())?;
        Ok(Self { program: program.to_owned(), child, is_over: false, report, said })
    }

    /// Whether it is not over.
    ///
    /// # Errors
    /// What was in its way.
    fn runs(&mut self) -> anyhow::Result<bool> {
        // It ends with 1 where a bar is missed, too.
        self.is_over = self.is_over || self.child.try_wait()?.is_some();
        if self.is_over && !self.report.exists() {
            let said = std::fs::read_to_string(&self.said).unwrap_or_default();
            bail!("{} has measured nothing: {}", self.program.display(), said.trim_end());
        }
        Ok(!self.is_over)
    }

    /// Sends all of its group a signal, if it is not over.
    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        if self.is_over {
            return Ok(());
        }
        let group = Pid::from_raw(self.child.id().try_into()?);
        killpg(group, signal).with_context(|| format!("{signal} to {}", self.program.display()))
    }

    fn report(&self) -> anyhow::Result<Report> {
        let text = std::fs::read(&self.report)?;
        serde_json::from_slice(&text)
            .with_context(|| format!("{} reports in another form", self.program.display()))
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        if !self.is_over {
            // What stands still is killed too.
            let _ = self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}
