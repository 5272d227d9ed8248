//! The memory of a server on which nothing happens any more.

use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::time::sleep;

use super::server::Server;
use super::setting::Setting;

/// How often it is looked at.
const LOOKS: Duration = Duration::from_millis(50);
/// So many looks in a row must find the same.
const STILL: u32 = 20;
/// What they may differ by: one part in so many.
const DRIFT: u64 = 1_000;
/// How long that may take.
const STILL_WITHIN: Duration = Duration::from_mins(1);

/// The bytes that a server has in memory (its resident set), once they have stopped to change after the warm-up's time.
///
/// # Errors
/// If they don't, or the server has ended.
pub(super) async fn settled(server: &mut Server, setting: &Setting) -> anyhow::Result<u64> {
    sleep(setting.warm_up).await;
    let until = Instant::now() + STILL_WITHIN;
    let (mut found, mut looks) = (server.memory(), 0);
    while looks < STILL {
        sleep(LOOKS).await;
        server.check()?;
        let now = server.memory();
        if now.abs_diff(found) > found / DRIFT {
            (found, looks) = (now, 0);
        } else {
            looks += 1;
        }
        ensure!(Instant::now() < until, "the server's memory still changes after {STILL_WITHIN:?}");
    }
    Ok(server.memory())
}
