//! Looks at a server and its clients for a while.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::time::{sleep, timeout};

use super::meter::{Counts, Meter, Timed};
use super::server::Server;
use super::setting::{Scale, Setting};
use super::{Figure, Figures};
use crate::floods::processor_time;

/// Lets clients warm up, and then looks at what they and their server do.
///
/// # Errors
/// If something came that should not have, or the server has ended.
pub(super) async fn sample(setting: &Setting, server: &mut Server, meter: &Meter) -> anyhow::Result<Figures> {
    wait(setting.warm_up, meter).await?;
    meter.measure(true);
    let before = State::now(server, meter);
    wait(setting.lasts, meter).await?;
    if setting.scale == Scale::Smoke {
        timeout(SHOWS_WITHIN, until_it_shows(&before, meter)).await.context("nothing is done")??;
    }
    let after = State::now(server, meter);
    meter.measure(false);
    server.check()?;
    let figures = before.until(&after, meter);
    ensure!(after.counts.done > before.counts.done, "nothing was done in {:?}", setting.lasts);
    Ok(figures)
}

/// How long a smoke test may take on a busy machine until there is something to show.
const SHOWS_WITHIN: Duration = Duration::from_mins(2);

/// Waits until something is done, and until it shows in the clients' processor time, which is counted in ticks.
async fn until_it_shows(before: &State, meter: &Meter) -> anyhow::Result<()> {
    meter.until_done(before.counts.done + 1).await?;
    while processor_time(std::process::id()) == before.clients {
        meter.until_done(meter.counts().done + 1).await?;
    }
    Ok(())
}

/// Lets this time go by.
///
/// # Errors
/// If something has failed meanwhile.
pub(super) async fn wait(time: Duration, meter: &Meter) -> anyhow::Result<()> {
    tokio::select! {
        problem = meter.failed() => Err(problem),
        () = sleep(time) => Ok(()),
    }
}

struct State {
    at: Instant,
    counts: Counts,
    server: Duration,
    clients: Duration,
}

impl State {
    fn now(server: &Server, meter: &Meter) -> Self {
        let clients = processor_time(std::process::id());
        Self { at: Instant::now(), counts: meter.counts(), server: server.processor_time(), clients }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a minute")]
    fn until(&self, after: &Self, meter: &Meter) -> Figures {
        let seconds = (after.at - self.at).as_secs_f64();
        let counted = |of: fn(&Counts) -> u64| (of(&after.counts) - of(&self.counts)) as f64;
        let used = |of: fn(&Self) -> Duration| of(after).saturating_sub(of(self)).as_secs_f64();
        let (server, clients) = (used(|state| state.server), used(|state| state.clients));
        let done = counted(|counts| counts.done);
        let (sent, received) = (counted(|counts| counts.sent), counted(|counts| counts.received));
        let found = [
            (Figure::PerSecond, Some(done / seconds)),
            (Figure::P50Us, meter.quantile_us(Timed::Answer, 0.5)),
            (Figure::P99Us, meter.quantile_us(Timed::Answer, 0.99)),
            (Figure::NextP50Us, meter.quantile_us(Timed::Decision, 0.5)),
            (Figure::ServerUs, Some(server * 1e6 / done)),
            (Figure::ClientUs, Some(clients * 1e6 / done)),
            (Figure::ServerBusy, Some(server / seconds)),
            (Figure::ClientBusy, Some(clients / seconds)),
            (Figure::WireBytes, Some(counted(|counts| counts.crossed_bytes) / done)),
            (Figure::RequestBytes, Some(counted(|counts| counts.sent_bytes) / sent)),
            (Figure::ResponseBytes, Some(counted(|counts| counts.received_bytes) / received)),
            (Figure::ResponsesEach, Some(received / done).filter(|each| *each > 0.0)),
        ];
        let known =
            |(figure, value): (Figure, Option<f64>)| Some((figure, value.filter(|value| value.is_finite())?));
        found.into_iter().filter_map(known).collect()
    }
}
