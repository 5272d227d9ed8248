//! Two builds of this program, measured in turn: what differs between them, on a machine whose host is twice as quick in one hour as in
//! the next.
//!
//! Both measure the same rows at the same time. One stands still, its server and all, while the other runs, and so on many times in what
//! is measured: so whatever else the host does meets both alike.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures::FutureExt;
use futures::future::select_all;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::interval;

use super::{Report, SCHEMA};

/// About how long each runs before it stands still for the other: long beside what it takes to have the caches filled anew, short beside
/// what the host does.
const TURN: Duration = Duration::from_millis(200);

/// How long a turn is, so that what is measured for so long is a whole number of turns of both: each runs half of it then, wherever in its
/// turn it begins.
fn turn(measured: Duration) -> Duration {
    let both = (measured.as_secs_f64() / (2.0 * TURN.as_secs_f64())).round().max(1.0);
    measured.div_f64(2.0 * both).max(Duration::from_millis(1))
}

/// Has two programs measure in turn, each with these arguments and its data in this folder, and gives what they report. Each is to measure
/// for so long at a time.
///
/// # Errors
/// What one of them says that is in its way, or that it was interrupted.
pub async fn in_turn(
    [this, that]: [&Path; 2],
    arguments: &[String],
    folder: &Path,
    measured: Duration,
) -> anyhow::Result<[Report; 2]> {
    // Neither is of the group that a terminal interrupts: nobody else ends them. Before they are there, so that no signal is missed.
    let mut ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(signal)
        .collect::<io::Result<Vec<_>>>()?;
    // One for all of theirs: who is killed leaves it as it is.
    let folder = tempfile::tempdir_in(folder)?;
    let mut both = [
        Measuring::start(this, arguments, folder.path(), "this")?,
        Measuring::start(that, arguments, folder.path(), "that")?,
    ];
    both[1].signal(Signal::SIGSTOP)?;
    // Its ticks don't drift.
    let mut turns = interval(turn(measured));
    turns.tick().await;
    let mut running = 0;
    loop {
        tokio::select! {
            _ = turns.tick() => {}
            _ = select_all(ends.iter_mut().map(|end| end.recv().boxed())) => bail!("interrupted"),
        }
        if [both[0].runs()?, both[1].runs()?] == [false, false] {
            return Ok([both[0].report()?, both[1].report()?]);
        }
        // When the other one is over too, so that the last one runs no more of the time than before.
        both[running].signal(Signal::SIGSTOP)?;
        running = 1 - running;
        both[running].signal(Signal::SIGCONT)?;
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
        let wrong = || {
            let program = self.program.display();
            format!("{program} reports in another form than {SCHEMA}: compare builds that have the same")
        };
        let report: Report = serde_json::from_slice(&text).with_context(wrong)?;
        ensure!(report.schema == SCHEMA, wrong());
        Ok(report)
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        // The servers of one that is over end by themselves, as nobody is there who would write to them.
        if !self.is_over {
            // What stands still is killed too.
            let _ = self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_a_whole_number_of_turns_of_both() {
        let check = |measured_ms: u64, turn_ms: f64| {
            let turn = turn(Duration::from_millis(measured_ms)).as_secs_f64() * 1e3;
            assert!((turn - turn_ms).abs() < 1e-3, "{measured_ms} ms: {turn} ms");
        };
        check(20_000, 200.0);
        check(5_000, 5_000.0 / 26.0);
        check(1_000, 500.0 / 3.0);
        check(400, 200.0);
        check(100, 50.0);
        check(0, 1.0);
    }
}
