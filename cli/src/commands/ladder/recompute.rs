//! `zetema ladder recompute`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use comfy_table::Table;
use zetema_service::config::{Config, ConfigError, Flags, Setting};
use zetema_service::journal::BotName;
use zetema_service::ladders::{self, Comparison, Deviation, Difference, RecomputedLadder};

use crate::args::FormatArgs;
use crate::failure::Usage;
use crate::json::{EntryJson, RecomputedJson};
use crate::output::{self, Format};
use crate::render::amount;

/// Rate all results of a server that does not run anew, and hold the ratings against those that it has stored.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A server that runs must be stopped first: its journal is refused. The ratings follow from the results and from the
settings of the ladders, so give the server's --config, if it has one. The stored ones are compared as they were when they
were stored: results that came after that are counted, and said. With --check nothing is changed, and the exit code is 1
when a stored rating is not that of the results, or when nothing was compared and there are ladders that are not in the
configuration. What differs by rounding, at most 10⁻⁹ rating points with equal counts, as that of another build or
platform may, is printed, and fails with --exact only. Without --check the ratings of the results are stored, and the
journal is opened as a server does: one of an earlier release is upgraded.

The JSON is an object: differs (by more than rounding), rounded, replaced, results (looked at), result_number (of the last), unknown_ladders,
nameless_ladders (stored ones whose names can't be read), damage (found as the journal was opened to store), and
ladders: a list of ladder, results, rated_matches, bots, state (nothing-stored, other-settings, ahead, unreadable or
compared), stored_after, results_after, problem, and differences: a list of bot, rounding, stored and recomputed (mu, sigma, matches,
wins, draws, forfeits, sides_met, margin; null where there is no such bot).

Examples:
  zetema ladder recompute --check --data /var/lib/zetema --config /etc/zetema.toml
  zetema ladder recompute --check --exact
  zetema ladder recompute --ladder sackson-2")]
pub(crate) struct Recompute {
    /// The server's data folder; unless given, that of the configuration, or zetema-data
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The server's TOML file with its ladders; without one, a server has the usual ladders
    #[arg(long, env = "ZETEMA_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// This ladder alone
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Compare, and change nothing
    #[arg(long)]
    check: bool,
    /// With --check: demand the same bits, as the same build on the same platform gives them
    #[arg(long, requires = "check")]
    exact: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Recompute {
    pub(super) async fn run(self) -> Result<()> {
        let Self { data, config, ladder, check, exact, format } = self;
        let Config { data, ladders, .. } = load(data.as_deref(), config.as_deref())?;
        let what = if check { ladders::Recompute::Check } else { ladders::Recompute::Store };
        let only = ladder.clone();
        let recomputed = ladders::recompute(data, ladders, only, what).await?;
        let json = RecomputedJson::new(&recomputed, what);
        match format.format {
            Format::Json => output::print_json(&json)?,
            Format::Table => {
                output::print(table(&recomputed.ladders))?;
                if json.differences().next().is_some() {
                    output::print(differences(&json))?;
                }
                tell(&recomputed.ladders);
                output::note(format!(
                    "{} results were looked at, up to number {}.",
                    amount::count(recomputed.results),
                    recomputed.last
                ));
            }
        }
        for name in &recomputed.unknown {
            output::note(format!(
                "the ladder {name} is not in the configuration: its ratings were not looked at. Give the server's --config"
            ));
        }
        if recomputed.nameless > 0 {
            output::note(format!(
                "stored ladders whose names can't be read: {}. Without --check they are removed",
                recomputed.nameless
            ));
        }
        for found in &recomputed.found {
            output::note(format!("damaged in the journal: {found}"));
        }
        if !check {
            output::note(match recomputed.stored {
                0 => "There were no ratings to store.".to_owned(),
                1 => "The ratings of one ladder are stored, as the results say.".to_owned(),
                ladders => format!("The ratings of {ladders} ladders are stored, as the results say."),
            });
        } else if json.differs {
            bail!(
                "stored ratings are not those of the results: the results count, and \"zetema ladder recompute\" without --check \
                 stores what they say"
            );
        } else if json.rounded && exact {
            bail!(
                "stored ratings are those of the results but for rounding, and the same bits were demanded (--exact)"
            );
        } else if json.rounded {
            output::note(
                "All stored ratings that were compared are those of the results but for rounding, as another build or platform may have it.",
            );
        } else if recomputed.ladders.iter().any(|ladder| is_compared(&ladder.comparison)) {
            output::note("All stored ratings that were compared are equal to those of the results.");
        } else if recomputed.ladders.iter().any(|ladder| is_by_others(&ladder.comparison)) {
            output::note(
                "Nothing was compared: the stored ratings were made by other settings, or of a ladder that was rated then.",
            );
        } else if recomputed.unknown.is_empty() || ladder.is_some() {
            output::note("There were no stored ratings to compare.");
        } else {
            bail!(
                "nothing was compared, and there are ladders that are not in the configuration. Give the server's --config"
            );
        }
        Ok(())
    }
}

fn load(data: Option<&Path>, config: Option<&Path>) -> Result<Config> {
    let mut flags = Flags::new();
    if let Some(data) = data {
        let text = data.to_str().ok_or_else(|| Usage::new("--data has to be UTF-8"))?;
        flags = flags.with(Setting::Data, text);
    }
    Config::load(&flags, std::env::vars_os(), config).map_err(|error| match error {
        ConfigError::File { .. } => anyhow!(error),
        wrong => Usage::new(wrong.to_string()).into(),
    })
}

const fn is_compared(comparison: &Comparison) -> bool {
    matches!(comparison, Comparison::Compared { .. })
}

const fn is_by_others(comparison: &Comparison) -> bool {
    matches!(comparison, Comparison::OtherSettings { .. })
}

/// The ladders for people.
fn table(ladders: &[RecomputedLadder]) -> Table {
    let columns = ["ladder", "results", "rated", "bots", "stored after result", "results after it", "stored"];
    let mut table = output::table(columns);
    for ladder in ladders {
        let (after, found) = match &ladder.comparison {
            Comparison::NothingStored => (None, "nothing".to_owned()),
            Comparison::OtherSettings { after } => {
                (Some(after), "by other settings: not compared".to_owned())
            }
            Comparison::Ahead { after, .. } => (Some(after), "ahead of the results".to_owned()),
            Comparison::Unreadable(_) => (None, "not readable".to_owned()),
            Comparison::Compared { after, differences } if differences.is_empty() => {
                (Some(after), "equal".to_owned())
            }
            Comparison::Compared { after, differences } => (Some(after), differing(differences)),
        };
        table.add_row([
            ladder.name.to_string(),
            amount::count(ladder.results),
            amount::count(ladder.rated),
            ladder.bots.to_string(),
            after.map(ToString::to_string).unwrap_or_default(),
            amount::count(ladder.results_after),
            found,
        ]);
    }
    output::align_right(&mut table, 1..=5);
    table
}

/// How many bots differ, and how many of them by rounding.
fn differing(differences: &[Difference<BotName>]) -> String {
    let is_rounded = |one: &&Difference<BotName>| one.deviation == Deviation::Rounding;
    match (differences.iter().filter(is_rounded).count(), differences.len()) {
        (0, all) => format!("{all} of the bots differ"),
        (rounded, all) if rounded == all => format!("equal but for rounding, for {all} of the bots"),
        (rounded, all) => format!("{all} of the bots differ, {rounded} by rounding"),
    }
}

/// What differs, bot by bot, with every digit.
fn differences(json: &RecomputedJson) -> Table {
    let columns =
        ["ladder", "bot", "", "mu", "sigma", "matches", "wins", "draws", "forfeits", "sides", "margin"];
    let mut table = output::table(columns);
    for (ladder, difference) in json.differences() {
        for (which, entry) in [("stored", &difference.stored), ("recomputed", &difference.recomputed)] {
            let mut row = vec![ladder.to_owned(), difference.bot.clone(), which.to_owned()];
            match entry {
                Some(EntryJson { mu, sigma, matches, wins, draws, forfeits, sides_met, margin }) => {
                    row.extend([mu.to_string(), sigma.to_string()]);
                    row.extend([matches, wins, draws, forfeits, sides_met].map(ToString::to_string));
                    row.push(format!("{margin:+}"));
                }
                None => row.push("none".to_owned()),
            }
            table.add_row(row);
        }
    }
    output::align_right(&mut table, 3..=10);
    table
}

/// What else is wrong.
fn tell(ladders: &[RecomputedLadder]) {
    for RecomputedLadder { name, rated, by_other_rules, comparison, .. } in ladders {
        if *by_other_rules > 0 {
            output::note(format!(
                "of the {} rated results of {name}, {} were played by other rules, or another number of players, than it has now, and \
                 count in the same ratings: if that is another game, give it a ladder with a name of its own",
                amount::count(*rated),
                amount::count(*by_other_rules)
            ));
        }
        match comparison {
            Comparison::Ahead { after, last } => output::note(format!(
                "the stored ratings of {name} are after result {after}, and the last one here is {last}: results were lost"
            )),
            Comparison::Unreadable(problem) => {
                output::note(format!("the stored ratings of {name} can't be read: {problem}"));
            }
            _ => {}
        }
    }
}
