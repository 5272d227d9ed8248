//! `zetema ladder suspicions`.

use anyhow::Result;
use comfy_table::Table;
use prost_types::Timestamp;
use zetema_proto::v1;

use super::filter::time;
use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::SuspicionsJson;
use crate::output::{self, Format};

/// Suspicions that a server remembers.
const MOST_READ: usize = 1_000;

/// List what the results of a ladder show that honest play is very unlikely to give.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For the admin alone, with its token. Nothing is done to anybody: somebody has to look. The server looks at the results
when it is asked, which may take a while (then ask again), and shows for ten minutes what it found. docs/honesty.md says
what is looked at, and what is no proof.

The JSON is an object: first_result_number, last_result_number, matches (looked at), unread_matches, left_out_to (older
results of that time, up to this number, were not looked at; 0: all were), suspicion_count (the first 1000 can be read)
and suspicions, each with kind (loses-to, feeds-opponent, fail-partner, times-out-when-behind, abandons or same-decisions),
bots, p_value, bar, looked_at, line, result_count and results (result_number, match_id; the first 50).

Examples:
  zetema ladder suspicions sackson-2
  zetema ladder suspicions sackson-2 --since 2026-11-01 --format json")]
pub(crate) struct Suspicions {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// Only by results of matches that ended then or later, as in 2026-11-21T03:04:01Z or 2026-11-21
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// At most so many, up to 1000
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
        // A page holds all that the server remembers.
        let request = v1::ListSuspicionsRequest {
            ladder: self.ladder,
            since: self.since,
            page_size: self.limit,
            ..v1::ListSuspicionsRequest::default()
        };
        let answer = client.list_suspicions(request).await?;
        let season = SuspicionsJson::new(&answer);
        match self.format.format {
            Format::Json => output::print_json(&season)?,
            Format::Table => {
                output::print(table(&season))?;
                output::note(looked_at(&season));
            }
        }
        if let Some(hidden) = not_shown(&season) {
            output::note(hidden);
        }
        Ok(())
    }
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

/// What was looked at, for people.
pub(super) fn looked_at(season: &SuspicionsJson) -> String {
    let SuspicionsJson {
        first_result_number, last_result_number, matches, unread_matches, left_out_to, ..
    } = season;
    let left_out = match left_out_to {
        0 => String::new(),
        left_out_to => {
            format!("; older ones, up to result {left_out_to}, were not: they are too many for one look")
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

/// How many suspicions are not in the table, for people; `None` if all are.
pub(super) fn not_shown(season: &SuspicionsJson) -> Option<String> {
    let (shown, all) = (season.suspicions.len(), season.suspicion_count);
    let more = if shown < MOST_READ { "a greater --limit shows more" } else { "no more can be read" };
    let hidden = u64::try_from(shown).is_ok_and(|shown| shown < all);
    hidden.then(|| format!("{shown} of {all} suspicions are shown: {more}"))
}
