//! `zetema match results`.

use anyhow::{Result, bail};
use serde::Serialize;
use zetema_proto::v1;
use zetema_proto::v1::watch_results_request::From;
use zetema_proto::v1::watch_results_response::Kind;

use super::show::{ROW, row};
use crate::args::{FormatArgs, ServerArgs};
use crate::client::{Client, explain};
use crate::json::MatchJson;
use crate::output::{self, Format};

/// Read the results of matches that are over, in the order in which they ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is a list of objects: result_number, cursor, match. With --follow each is on a line of its own.
At the end, stderr has the cursor to go on from.

Examples:
  zetema match results --reference nightly
  zetema match results --from-now --follow --format json")]
pub(crate) struct Results {
    /// Only those after this cursor; unless given, from the first
    #[arg(long, value_name = "CURSOR", conflicts_with = "from_now")]
    after: Option<String>,
    /// Only those that come from now on
    #[arg(long)]
    from_now: bool,
    /// Only of matches with exactly this reference
    #[arg(long, visible_alias = "client-reference", value_name = "TEXT")]
    reference: Option<String>,
    /// Go on when all are told, until Ctrl-C
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// A result, and where to go on after it.
#[derive(Serialize)]
struct ResultJson {
    result_number: u64,
    cursor: String,
    #[serde(rename = "match")]
    ended: MatchJson,
}

impl Results {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let from = match self.after.clone() {
            Some(cursor) => Some(From::After(cursor)),
            None => self.from_now.then_some(From::Now(v1::FromNow {})),
        };
        let filter = self.reference.clone().map(|text| v1::ResultFilter { client_reference: Some(text) });
        let mut results = client.watch_results(v1::WatchResultsRequest { from, filter }).await?;
        let mut read = Vec::new();
        let mut reached = self.after.clone();
        loop {
            let message = results.message().await.map_err(|status| stopped(&status, reached.as_deref()))?;
            let Some(v1::WatchResultsResponse { cursor, kind }) = message else {
                bail!("the stream ended{}", go_on(reached.as_deref()));
            };
            reached = Some(cursor.clone());
            match kind {
                Some(Kind::Ended(ended)) if self.follow => self.tell(&ended, cursor)?,
                Some(Kind::Ended(ended)) => read.push((ended, cursor)),
                Some(Kind::CaughtUp(_)) if !self.follow => break,
                // The end of the stream follows; what this version does not know is passed over.
                Some(Kind::CaughtUp(_) | Kind::Draining(_)) | None => {}
            }
        }
        self.tell_all(&read)?;
        output::note(format!("to go on from here:{}", flag(reached.as_deref())));
        Ok(())
    }

    fn tell_all(&self, read: &[(v1::EndedMatch, String)]) -> Result<()> {
        match self.format.format {
            Format::Json => {
                let all = read.iter().map(|(ended, cursor)| json(ended, cursor.clone()));
                output::print_json(&all.collect::<Result<Vec<_>>>()?)
            }
            Format::Table => {
                let mut table = output::table(std::array::from_fn::<&str, 7, _>(|column| {
                    if column == 0 { "result" } else { ROW[column - 1] }
                }));
                for (ended, _) in read {
                    let cells = row(found(ended)?)?;
                    table.add_row(std::iter::once(ended.result_number.to_string()).chain(cells));
                }
                output::align_right(&mut table, [0]);
                output::print(table)
            }
        }
    }

    /// Tells one result, on a line of its own.
    fn tell(&self, ended: &v1::EndedMatch, cursor: String) -> Result<()> {
        match self.format.format {
            Format::Json => output::print_json_line(&json(ended, cursor)?),
            Format::Table => {
                let [match_id, state, _, _, reference, outcome] = row(found(ended)?)?;
                let reference = if reference.is_empty() { reference } else { format!(" ({reference})") };
                output::print(format!("{} {match_id}{reference} {state}: {outcome}", ended.result_number))
            }
        }
    }
}

fn json(ended: &v1::EndedMatch, cursor: String) -> Result<ResultJson> {
    let result_number = ended.result_number;
    Ok(ResultJson { result_number, cursor, ended: MatchJson::new(found(ended)?)? })
}

fn found(ended: &v1::EndedMatch) -> Result<&v1::Match> {
    ended.r#match.as_ref().ok_or_else(|| anyhow::anyhow!("the server sent a result without its match"))
}

fn flag(reached: Option<&str>) -> String {
    reached.map(|cursor| format!(" --after {cursor}")).unwrap_or_default()
}

fn go_on(reached: Option<&str>) -> String {
    reached.map(|cursor| format!(": go on by --after {cursor}")).unwrap_or_default()
}

fn stopped(status: &tonic::Status, reached: Option<&str>) -> anyhow::Error {
    anyhow::anyhow!("{:#}{}", explain(status), go_on(reached))
}
