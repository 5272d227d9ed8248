//! `zetema ladder suspicions`.

use anyhow::{Context, Result};
use comfy_table::Table;
use prost_types::Timestamp;
use zetema_proto::v1;

use super::filter::time;
use crate::args::{FormatArgs, ServerArgs};
use crate::client::{Client, patiently, reason_of};
use crate::json::{SuspicionsJson, UncomparedJson};
use crate::output::{self, Format};

/// Suspicions that a server remembers.
const MOST_READ: usize = 1_000;

/// List what the results of a ladder show that honest play is very unlikely to give.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For the admin alone, with its token. Nothing is done to anybody: somebody has to look. The server looks at the results
when it is asked, which may take a while (then ask again), and shows for ten minutes what it found. docs/honesty.md says
what is looked at, and what is no proof.

One look is at a season: the latest 30000 rated results, or those before --before. --all looks at one season after the
other, back to --since or to the first result, waits where the server takes long, and prints what is suspected as it is
found. Each season has its chance of a false alarm, so that of many seasons some list an honest bot.

The JSON is an object: first_result_number, last_result_number, matches (looked at), unread_matches, left_out_to (older
results of that time, up to this number, were not looked at; 0: all were), uncompared (pairs of bots of so many, of_pairs,
that played too little for anybody to tell whether they decide alike; half of them lack lacking_matches matches or more,
0 if that is not known), suspicion_count (the first 1000 can be read) and suspicions, each with kind (loses-to, feeds-opponent, fail-partner, times-out-when-behind, abandons or same-decisions),
bots, p_value, bar, looked_at, line, result_count and results (result_number, match_id; the first 50). With --all it is
such an object for each season, one on a line, the latest first.

Examples:
  zetema ladder suspicions sackson-2
  zetema ladder suspicions sackson-2 --since 2026-11-01 --format json
  zetema ladder suspicions sackson-2 --before 400001
  zetema ladder suspicions sackson-2 --since 2026-11-20 --all")]
pub(crate) struct Suspicions {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// Only by results of matches that ended then or later, as in 2026-11-21T03:04:01Z or 2026-11-21
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Only by results before the one with this number
    #[arg(long, value_name = "RESULT", value_parser = clap::value_parser!(u64).range(1..))]
    before: Option<u64>,
    /// Look at all seasons, the latest first, back to --since or to the first result
    #[arg(long)]
    all: bool,
    /// At most so many of a season, up to 1000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Suspicions {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let mut before = self.before;
        if !self.all {
            let answer = client.list_suspicions(self.request(before)).await;
            let season = SuspicionsJson::new(&answer.map_err(for_the_admin)?);
            if self.format.format == Format::Json {
                output::print_json(&season)?;
            }
            return self.show(&season, before);
        }
        loop {
            let request = self.request(before);
            let answer = patiently(async || client.list_suspicions(request.clone()).await).await;
            let season =
                SuspicionsJson::new(&answer.map_err(for_the_admin).with_context(|| stopped(before))?);
            if self.format.format == Format::Json {
                output::print_json_line(&season)?;
            }
            self.show(&season, before)?;
            match season_before(&season, before) {
                Some(next) => before = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// A page holds all that the server remembers of a season.
    fn request(&self, before: Option<u64>) -> v1::ListSuspicionsRequest {
        v1::ListSuspicionsRequest {
            ladder: self.ladder.clone(),
            since: self.since,
            page_size: self.limit,
            before_result_number: before.unwrap_or(0),
            ..v1::ListSuspicionsRequest::default()
        }
    }

    /// What people are told of a season, which was looked at before this result.
    fn show(&self, season: &SuspicionsJson, before: Option<u64>) -> Result<()> {
        if self.format.format == Format::Table {
            // Of many seasons, those without a suspicion have no table.
            if !self.all || !season.suspicions.is_empty() {
                output::print(table(season))?;
            }
            output::note(looked_at(season, before));
            if let Some(untold) = season.uncompared.and_then(not_compared) {
                output::note(untold);
            }
        }
        if let Some(hidden) = not_shown(season) {
            output::note(hidden);
        }
        Ok(())
    }
}

/// Where the season before one is to be looked at, which was looked at before this result; `None` if there is none.
pub(super) fn season_before(season: &SuspicionsJson, before: Option<u64>) -> Option<u64> {
    let next = season.left_out_to.checked_add(1).filter(|_| season.left_out_to > 0)?;
    // What can't be looked up any more stays left out.
    before.is_none_or(|before| next < before).then_some(next)
}

/// Where to go on.
fn stopped(before: Option<u64>) -> String {
    match before {
        Some(before) => {
            format!("the season before result {before} can't be shown: go on with --before {before}")
        }
        None => "the latest season can't be shown".to_owned(),
    }
}

/// The error, and whose token is needed where the one that was sent is not: the server takes it for none.
fn for_the_admin(error: anyhow::Error) -> anyhow::Error {
    if reason_of(&error) == Some(v1::ErrorReason::Unauthenticated) {
        return error.context("suspicions are for the admin alone, and the token is not the admin's");
    }
    error
}

/// Suspicions for people.
pub(super) fn table(season: &SuspicionsJson) -> Table {
    let mut table = output::table(["kind", "bots", "p", "what was seen"]);
    for suspicion in &season.suspicions {
        table.add_row([
            suspicion.kind.to_owned(),
            suspicion.bots.join("\n"),
            format!("{:.1e}", suspicion.p_value),
            suspicion.line.clone(),
        ]);
    }
    table
}

/// What was looked at before a result, for people.
pub(super) fn looked_at(season: &SuspicionsJson, before: Option<u64>) -> String {
    let SuspicionsJson {
        first_result_number, last_result_number, matches, unread_matches, left_out_to, ..
    } = season;
    let left_out = match (left_out_to, season_before(season, before)) {
        (0, _) => String::new(),
        (left_out_to, Some(next)) => {
            format!("; older ones, up to result {left_out_to}, were not: --before {next} looks at them")
        }
        (left_out_to, None) => {
            format!(
                "; older ones, up to result {left_out_to}, can't be looked up: the log of the server says why"
            )
        }
    };
    let unread = match unread_matches {
        0 => String::new(),
        unread => format!("; {unread} could not be read, as the log of the server says"),
    };
    match matches {
        0 => format!("no rated match was looked at{unread}{left_out}"),
        matches => format!(
            "{matches} rated matches were looked at, results {first_result_number} to {last_result_number}{unread}{left_out}"
        ),
    }
}

/// Of how many bots nothing is told as they played too little, for people; `None` if all were compared.
pub(super) fn not_compared(uncompared: UncomparedJson) -> Option<String> {
    let UncomparedJson { pairs, of_pairs, lacking_matches } = uncompared;
    let lacking = match lacking_matches {
        0 => String::new(),
        matches => format!("; half of them lack {matches} matches of one bot or more"),
    };
    (pairs > 0).then(|| {
        format!(
            "{pairs} of {of_pairs} pairs of bots played too little to tell whether they decide alike{lacking}"
        )
    })
}

/// How many suspicions are not in the table, for people; `None` if all are.
pub(super) fn not_shown(season: &SuspicionsJson) -> Option<String> {
    let (shown, all) = (season.suspicions.len(), season.suspicion_count);
    let more = if shown < MOST_READ { "a greater --limit shows more" } else { "no more can be read" };
    let hidden = u64::try_from(shown).is_ok_and(|shown| shown < all);
    hidden.then(|| format!("{shown} of {all} suspicions are shown: {more}"))
}
