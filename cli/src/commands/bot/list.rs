//! `zetema bot list`.

use anyhow::Result;
use clap::ValueEnum;
use zetema_proto::v1;

use super::{ROW, row};
use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::BotJson;
use crate::output::{self, Format};
use crate::pages::pages;

/// List bots, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Everybody may: it needs no token. The JSON is a list of objects: name, owner, description, version, fault_contact
(empty unless the bot is yours or you are the admin), state (active or retired), create_time, retire_time (or
null), matches_at_once and matches_a_day.

Examples:
  zetema bot list
  zetema bot list --owner kennel --state active --format json")]
pub(crate) struct List {
    /// Only those of this owner
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Only those in this state
    #[arg(long, value_name = "STATE")]
    state: Option<State>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Active,
    Retired,
}

impl List {
    pub(super) async fn run(self) -> Result<()> {
        let state = self.state.map(|state| match state {
            State::Active => v1::BotState::Active.into(),
            State::Retired => v1::BotState::Retired.into(),
        });
        let filter = v1::BotFilter { owner: self.owner, state };
        let client = Client::connect_with_any_token(&self.server).await?;
        let page = async |page_size, page_token| {
            let filter = Some(filter.clone());
            let answer = client.list_bots(v1::ListBotsRequest { filter, page_size, page_token }).await?;
            Ok((answer.bots, answer.next_page_token))
        };
        let (bots, more) = pages(self.limit, page).await?;
        let bots: Vec<BotJson> = bots.iter().map(BotJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&bots)?,
            Format::Table => {
                let mut table = output::table(ROW);
                for bot in bots {
                    table.add_row(row(bot));
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
