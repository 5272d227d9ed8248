//! How many instructions an action takes, server and clients together: a figure that another machine and what else it does hardly change.
//!
//! One match, and when it is over the next, is played in one process under callgrind, once with so many actions and once with twice as many. The
//! difference has no start and no end of a program in it. Deals and choices are the same each time.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, ensure};
use tonic::transport::Endpoint;
use zetema_service::config::{Config, Number};

use super::creation::{Creation, sackson};
use super::load::{Journaled, Views};
use super::meter::Meter;
use super::play::{Course, Manner, Players};
use super::serve;
use crate::harness::fixed;

/// From what the deals of all matches follow.
const DEALS_SEED: [u8; 32] = [7; 32];
/// Actions of the shorter run: so many that what the start of a program takes more in one run than in the other hardly counts.
const ACTIONS: u64 = 5_000;
/// How much more than the stored figure there may be.
const MOST: f64 = 1.1;
/// What stands before comments in the file of the stored figure.
const COMMENT: char = '#';
/// What callgrind says last, before how many there were.
const COLLECTED: &str = "Collected :";

/// Plays so many actions, on a server in this process whose data is in this folder, while time stands still: how often something is
/// done each second would count more on a slower machine.
///
/// # Errors
/// What is in the way, or came wrong.
pub fn play(actions: u64, folder: &Path, journaled: Journaled) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    runtime.block_on(async {
        // Time that is paused goes on by itself when nothing else does, unless a thread is busy.
        let (busy, until) = std::sync::mpsc::channel::<()>();
        let standing = tokio::task::spawn_blocking(move || until.recv());
        let played = play_on(actions, folder, journaled).await;
        drop(busy);
        // What it waited for was dropped, which is what ends it.
        let _dropped = standing.await?;
        played
    })
}

async fn play_on(actions: u64, folder: &Path, journaled: Journaled) -> anyhow::Result<()> {
    let data = tempfile::tempdir_in(folder)?;
    // It hardly writes: it runs where a server would create no more matches.
    let least = *Number::MinFreeDiskBytes.range().start();
    let config = Config::embedded(data.path()).with(Number::MinFreeDiskBytes, least)?;
    let server = serve::start(config, journaled).await?;
    let token = server.admin_token().context("the admin's token is not there")?;
    let channel = Endpoint::from_shared(server.url())?.tcp_nodelay(true).connect().await?;
    let creation = Creation::new(channel.clone(), token.expose(), fixed(sackson(), DEALS_SEED))?;
    let meter = Arc::new(Meter::default());
    let manner = Manner { streams: 2, in_flight: 1, course: Course::OnAndOn, views: Views::SnapshotsOnly };
    let players = Players::open(&[channel], manner, creation, &meter);
    players.begin(1).await?;
    meter.until_done(actions).await
}

/// Counts the instructions of an action. `played` is a command that [plays](play) as many actions as its last argument says.
///
/// # Errors
/// If valgrind is not there, or what is played comes out wrong.
pub fn count(program: &Path, played: &[&str]) -> anyhow::Result<u64> {
    let [once, twice] = [ACTIONS, 2 * ACTIONS].map(|actions| collected(program, played, actions));
    let (once, twice) = (once?, twice?);
    let more = twice.checked_sub(once).context("twice as many actions took fewer instructions")?;
    Ok(more / ACTIONS)
}

fn collected(program: &Path, played: &[&str], actions: u64) -> anyhow::Result<u64> {
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(played)
        .arg(actions.to_string())
        // The reason is to stand alone at the end of what it says.
        .env("RUST_BACKTRACE", "0")
        .output()
        .context("valgrind does not start: install it (apt-get install valgrind)")?;
    let said = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "the program fails under valgrind: {said}");
    let (_, number) =
        said.rsplit_once(COLLECTED).with_context(|| format!("callgrind has counted nothing: {said}"))?;
    let number = number.split_whitespace().next().context("callgrind says no number")?;
    number.parse().with_context(|| number.to_owned())
}

/// Reads a stored figure: the one line that is no comment.
///
/// # Errors
/// If there is none.
pub fn stored(text: &str) -> anyhow::Result<u64> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(COMMENT));
    let line = lines.next().context("the file of the stored figure has none")?;
    line.parse().with_context(|| format!("{line:?} is no number of instructions"))
}

/// Holds what was counted against the stored figure: what is to be said, and whether it is little enough.
pub fn judge(counted: u64, stored: u64) -> (String, bool) {
    #[expect(clippy::cast_precision_loss, reason = "fewer than a billion")]
    let ratio = counted as f64 / stored as f64;
    let more = 100.0 * (ratio - 1.0);
    let text = format!("{counted} instructions for an action, {more:+.1} % beside the stored {stored}");
    (text, ratio <= MOST)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_tenth_above_the_stored_figure_is_too_many() {
        let check = |counted, expected| assert_eq!(judge(counted, 1_000).1, expected, "{counted}");
        check(500, true);
        check(1_100, true);
        check(1_101, false);
        assert!(judge(1_050, 1_000).0.contains("+5.0 %"));
    }

    #[test]
    fn a_stored_figure_is_the_line_that_is_no_comment() {
        assert_eq!(stored("# Renew it so.\n\n 420000 \n").unwrap(), 420_000);
        for text in ["", "# 7", "many"] {
            assert!(stored(text).is_err(), "{text}");
        }
    }
}
