//! `zetema demo`: matches between the house bots on a server inside the program, and a ladder of them.

mod arena;
mod ladder;
mod many;
mod one;
mod pace;

use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::{Result, bail};
use zetema_service::server::termination;

use self::arena::Arena;
use zetema_rules::NamedTimeControl;

use crate::args::{BotsArgs, FormatArgs, RulesArgs, TimeControlArgs, from_one};
use crate::output::Format;
use crate::writable;

/// The flags that say what is played, which a ladder does. Each is named where it conflicts.
const OF_MATCHES: [&str; 16] = [
    "preset",
    "players",
    "teams",
    "changes",
    "bots",
    "seed",
    "records",
    "time_control",
    "idle_timeout",
    "budget",
    "first_budget",
    "bank",
    "increment",
    "network_credit",
    "network_credit_total",
    "on_time_out",
];

/// Show a match between the house bots, or play many, or have them play on a ladder.
///
/// A server starts inside the program, on a free port of this machine, and the bots play on it over
/// gRPC as any bot does. When a match is over its record is read and verified.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  zetema demo --preset fosdick --players 4 --bots greedy,random
  zetema demo --matches 200 --preset quick --format json > results.json
  zetema demo --ladder
  zetema demo --ladder --matches 100 --data ./ladder

The JSON is one object: rules, matches (match_id, outcome, deals, steps, verified, error) and summary.
The exit code is 1 if a match has no result or does not verify.

With --ladder six bots play rated matches on the ladder quick-2, one deal for two, and the standings are on the terminal, until
Ctrl-C or until so many are rated. What runs then is played to its end; another Ctrl-C does not wait for it. The JSON is one object:
ladder, matches (rated in this run), rated_matches (with those of earlier runs with the same --data), unfinished, failures (bot and
problem of each that could not play on, or whose seats or deals failed: the exit code is 1 then), duration_ms and standings, as
`zetema ladder standings` has them.")]
pub(crate) struct Demo {
    /// Have six house bots play rated matches, and show their standings
    #[arg(long, conflicts_with_all = OF_MATCHES)]
    ladder: bool,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// Deal fixed cards by this number, that of the first match; the next ones count up
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many matches to play: unless given one, which is shown as it is played, and with --ladder until Ctrl-C
    #[arg(long, value_name = "N", value_parser = from_one(NonZeroU64::MAX))]
    matches: Option<NonZeroU64>,
    /// Keep the server's data in this folder; unless given, they are removed
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Write the record of every match into this folder, as text
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    time: TimeControlArgs,
}

impl Demo {
    pub(super) async fn run(self) -> Result<()> {
        if self.ladder {
            crate::log::start_quietly("error")?;
            let matches = self.matches.map(NonZeroU64::get);
            return ladder::play(matches, self.data.as_deref(), self.format.format).await;
        }
        let rules = self.rules.rules()?;
        let control = self.time.control(None, NamedTimeControl::Standard)?;
        let bots = self.bots.by_seat(&rules)?;
        crate::log::start_quietly("error")?;
        self.records.as_deref().map_or(Ok(()), |folder| writable::folder("--records", folder))?;
        let arena = Arena::start(rules, control, bots, self.seed, self.data.as_deref()).await?;
        let done = self.play(&arena).await;
        arena.stop().await;
        done
    }

    async fn play(&self, arena: &Arena) -> Result<()> {
        let records = self.records.as_deref();
        let matches = self.matches.unwrap_or(NonZeroU64::MIN);
        if matches == NonZeroU64::MIN && self.format.format == Format::Table {
            tokio::select! {
                done = one::play(arena, records) => done,
                told = termination() => told.map_err(Into::into).and_then(|()| bail!("stopped before the end")),
            }
        } else {
            many::play(arena, matches.get(), records, self.format.format).await
        }
    }
}
