//! `zetema demo`: matches between the house bots on a server inside the program.

mod arena;
mod many;
mod one;
mod pace;

use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::{Result, bail};
use zetema_service::server::termination;

use self::arena::Arena;
use zetema_rules::NamedTimeControl;

use crate::args::{BotsArgs, FormatArgs, RulesArgs, TimeControlArgs};
use crate::output::Format;

/// Show a match between the house bots, or play many.
///
/// A server starts inside the program, on a free port of this machine, and the bots play on it over
/// gRPC as any bot does. When a match is over its record is read and verified.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema demo --preset fosdick --players 4 --bots greedy,random
  zetema demo --matches 200 --preset quick --format json > results.json

The JSON is one object: rules, matches (match_id, outcome, deals, steps, verified, error) and summary.
The exit code is 1 if a match has no result or does not verify.")]
pub(crate) struct Demo {
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// Deal fixed cards by this number, that of the first match; the next ones count up
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many matches to play; one is shown as it is played
    #[arg(long, value_name = "N", default_value = "1")]
    matches: NonZeroU64,
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

impl Default for Demo {
    fn default() -> Self {
        Self {
            rules: RulesArgs::default(),
            bots: BotsArgs::default(),
            seed: None,
            matches: NonZeroU64::MIN,
            data: None,
            records: None,
            format: FormatArgs::default(),
            time: TimeControlArgs::default(),
        }
    }
}

impl Demo {
    pub(super) async fn run(self) -> Result<()> {
        let rules = self.rules.rules()?;
        let control = self.time.control(None, NamedTimeControl::Standard)?;
        let bots = self.bots.by_seat(&rules)?;
        crate::log::start_quietly("error")?;
        let arena = Arena::start(rules, control, bots, self.seed, self.data.as_deref()).await?;
        let done = tokio::select! {
            done = self.play(&arena) => done,
            told = termination() => told.map_err(Into::into).and_then(|()| bail!("stopped before the end")),
        };
        arena.stop().await;
        done
    }

    async fn play(&self, arena: &Arena) -> Result<()> {
        let records = self.records.as_deref();
        if self.matches == NonZeroU64::MIN && self.format.format == Format::Table {
            one::play(arena, records).await
        } else {
            many::play(arena, self.matches.get(), records, self.format.format).await
        }
    }
}
