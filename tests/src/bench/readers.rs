//! What players feel of clients that never read, by the scene of the floods.

use std::time::Duration;

use anyhow::ensure;

use super::setting::{Scale, Setting};
use super::{Figure, Figures};
use crate::floods::{Beside, Crowd, Readers, Setup, Transport};

/// How long a smoke test lasts at least: its players need some time for their first action.
const SMOKE: Duration = Duration::from_millis(500);

/// How long players wait for what they do, beside so many readers.
///
/// # Errors
/// What is in the way, or came wrong.
pub(super) async fn measure(readers: Readers, count: usize, setting: &Setting) -> anyhow::Result<Figures> {
    let program = setting.program.clone();
    let setup = Setup { program, shell: Some(Setup::ON_ONE_PROCESSOR), ..Setup::usual(Transport::Plaintext) };
    let (players, lasts) = match setting.scale {
        Scale::Full => (Beside::PLAYERS, setting.lasts),
        Scale::Smoke => (Crowd::FEW, setting.lasts.max(SMOKE)),
    };
    let beside = Beside { players, readers: setting.many(count), warm_up: setting.warm_up, lasts };
    let row = readers.run(&setup, tempfile::tempdir_in(&setting.folder)?, beside).await?;
    ensure!(row.felt.broken == 0, "{} matches were broken off", row.felt.broken);
    let [p50, p99] = row.felt.percentiles().map(|ms| ms * 1e3);
    ensure!(p99 > 0.0, "nobody has acted in {lasts:?}");
    #[expect(clippy::cast_precision_loss, reason = "actions of a minute")]
    let per_second = row.felt.round_trips.len() as f64 / lasts.as_secs_f64();
    Ok(Figures::from([
        (Figure::PerSecond, per_second),
        (Figure::P50Us, p50),
        (Figure::P99Us, p99),
        (Figure::ServerBusy, row.processors),
    ]))
}
