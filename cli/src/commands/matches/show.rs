//! `zetema match show`.

use anyhow::{Result, anyhow};
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::{MatchJson, matches};
use crate::output::{self, Format};
use crate::render::{self, Names};

/// Show where a match stands.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The match's id
    #[arg(value_name = "ID")]
    match_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let answer = client.get_match(v1::GetMatchRequest { match_id: self.match_id }).await?;
        print(answer.r#match.as_ref(), self.format.format)
    }
}

/// Prints one match.
pub(super) fn print(message: Option<&v1::Match>, format: Format) -> Result<()> {
    let message = message.ok_or_else(|| anyhow!("the server sent no match"))?;
    match format {
        Format::Json => output::print_json(&MatchJson::new(message)?),
        Format::Table => {
            let mut table = output::table(ROW);
            table.add_row(row(message)?);
            output::print(table)
        }
    }
}

/// The headings of matches in a table.
pub(super) const ROW: [&str; 6] = ["match", "state", "rules", "joined", "reference", "outcome"];

/// A match as a row of a table.
pub(super) fn row(message: &v1::Match) -> Result<[String; 6]> {
    let rules = matches::rules(message)?;
    let outcome = matches::outcome(message)?.map(|outcome| {
        console::strip_ansi_codes(&render::outcome(&outcome, &Names::numbers(rules))).into_owned()
    });
    Ok([
        message.match_id.clone(),
        matches::state(message.state()).to_owned(),
        rules.to_string(),
        format!("{} of {}", matches::joined(message).len(), rules.player_count()),
        message.client_reference.clone(),
        outcome.unwrap_or_default(),
    ])
}
