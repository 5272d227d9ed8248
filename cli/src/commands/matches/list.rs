//! `zetema match list`.

use anyhow::Result;
use clap::ValueEnum;
use zetema_proto::v1;

use super::show::{ROW, row};
use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::MatchJson;
use crate::output::{self, Format};
use crate::pages::pages;

/// List matches, newest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is a list of what `zetema match show` gives.

Examples:
  zetema match list --state playing
  zetema match list --reference nightly --limit 1000 --format json")]
pub(crate) struct List {
    /// Only matches in this state; repeatable
    #[arg(long, value_enum)]
    state: Vec<State>,
    /// Only matches with exactly this reference
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    WaitingForSeats,
    WaitingForNonces,
    Playing,
    Finished,
    Aborted,
}

impl State {
    const fn to_wire(self) -> v1::MatchState {
        match self {
            Self::WaitingForSeats => v1::MatchState::WaitingForSeats,
            Self::WaitingForNonces => v1::MatchState::WaitingForNonces,
            Self::Playing => v1::MatchState::Playing,
            Self::Finished => v1::MatchState::Finished,
            Self::Aborted => v1::MatchState::Aborted,
        }
    }
}

impl List {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let filter = v1::MatchFilter {
            states: self.state.iter().map(|state| state.to_wire().into()).collect(),
            client_reference: self.reference,
        };
        let page = async |page_size, page_token| {
            let filter = Some(filter.clone());
            let answer =
                client.list_matches(v1::ListMatchesRequest { filter, page_size, page_token }).await?;
            Ok((answer.matches, answer.next_page_token))
        };
        let (matches, more) = pages(self.limit, page).await?;
        match self.format.format {
            Format::Json => {
                let matches: Vec<_> = matches.iter().map(MatchJson::new).collect::<Result<_>>()?;
                output::print_json(&matches)?;
            }
            Format::Table => {
                let mut table = output::table(ROW);
                for message in &matches {
                    table.add_row(row(message)?);
                }
                output::print(table)?;
            }
        }
        if more {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}
