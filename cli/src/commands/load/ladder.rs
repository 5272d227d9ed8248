//! A load of bots that wait on a ladder.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use anyhow::Result;
use tokio_util::sync::CancellationToken;
use zetema_load::outcome::{Reading, Second};
use zetema_load::report::Report;
use zetema_load::{LadderPlan, live, run_ladder};

use super::{IN_SCENARIO, Live, Load, joining, target};
use crate::args::from_one;
use crate::failure::Usage;

/// The flags that a run on a ladder has no use for, besides those of the load: it is one generator's, and has no rate.
const OF_OTHERS: [&str; 6] = ["find_limit", "resolution", "generators", "listen", "plaintext", "join"];

/// The flags of the load that it has too.
const SHARED: [&str; 4] = ["think", "warmup", "duration", "seed"];

/// Which ladder bots wait on, and how many do.
#[derive(Debug, clap::Args)]
pub(super) struct LadderArgs {
    /// Instead of creating matches: register bots, have them wait on this ladder and play what it gives them
    #[arg(long, value_name = "NAME", conflicts_with_all = conflicts())]
    ladder: Option<String>,
    /// Bots that wait on the ladder
    #[arg(long, value_name = "N", requires = "ladder", conflicts_with_all = conflicts())]
    #[arg(default_value = "6", value_parser = from_one(NonZeroU32::MAX))]
    bots: NonZeroU32,
    /// Owners that the bots have, in turn; unless given, each has its own, as bots of one owner meet on few ladders
    #[arg(long, value_name = "N", requires = "ladder", conflicts_with_all = conflicts())]
    #[arg(value_parser = from_one(NonZeroU32::MAX))]
    owners: Option<NonZeroU32>,
    /// Matches that each bot plays at once at most
    #[arg(long, value_name = "N", requires = "ladder", conflicts_with_all = conflicts())]
    #[arg(default_value = "1", value_parser = from_one(NonZeroU16::MAX))]
    places: NonZeroU16,
}

/// What can't be beside --ladder, nor beside a flag that is for it: what a flag requires is not asked for where that conflicts.
fn conflicts() -> Vec<&'static str> {
    let of_load = IN_SCENARIO.into_iter().filter(|flag| !SHARED.contains(flag));
    of_load.chain(OF_OTHERS).chain(["scenario"]).collect()
}

impl LadderArgs {
    /// What is to be run, if it is to be on a ladder.
    pub(super) fn plan(&self, load: &Load) -> Result<Option<LadderPlan>> {
        let Some(ladder) = &self.ladder else { return Ok(None) };
        let plan = LadderPlan::new(ladder, self.bots, self.owners, self.places, load.duration);
        let mut plan = plan.map_err(|error| Usage::new(error.to_string()))?;
        plan.think = load.think;
        plan.seed = load.seed;
        plan.warm_up = load.warmup;
        Ok(Some(plan))
    }
}

impl Load {
    /// Has bots wait on a ladder, and measures that.
    pub(super) async fn run_on_ladder(&self, plan: &LadderPlan) -> Result<()> {
        self.files.check()?;
        let before = self.before()?;
        crate::log::start_quietly("error")?;
        let (mut own, server) = self.server().await?;
        let name = if own.is_some() { "embedded" } else { &server.address.server };
        let live = Live::new()?;
        let told = |elapsed: Duration, second: &Second, reading: Option<&Reading>| {
            let phase = if second.phase() == 0 { "warm-up" } else { plan.ladder.as_str() };
            live.show(&live::lines(phase, elapsed, second, reading));
        };
        let stop = CancellationToken::new();
        let running = run_ladder(target(&server)?, plan, name, stop.clone(), told);
        let outcome = Box::pin(joining::until_stopped(&stop, own.as_mut(), running)).await;
        live.end();
        let report = Report::new(outcome?, self.slo.as_ref());
        self.conclude(report, before.as_ref())
    }
}
