//! `zetema bot`: house bots that play on a server, and the accounts of bots.

mod faults;
mod house;
mod list;
mod register;
mod register_owner;
mod retire;
mod rotate;
mod show;
mod update;

use anyhow::{Result, anyhow};
use clap::Subcommand;
use zetema_proto::v1;

use crate::json::BotJson;
use crate::output::{self, Format};

/// Let a house bot take seats on a server, or look after the accounts of bots
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    subcommand_value_name = "COMMAND",
    after_help = house::HELP
)]
pub(crate) struct Bot {
    #[command(subcommand)]
    account: Option<AccountCommand>,
    #[command(flatten)]
    house: house::HouseArgs,
}

/// What to do with accounts.
#[derive(Debug, Subcommand)]
enum AccountCommand {
    /// Register a bot and print its token, once
    Register(register::Register),
    /// Register as an owner of bots where a server lets everybody, and print the token, once
    RegisterOwner(register_owner::RegisterOwner),
    /// List bots, the latest first
    List(list::List),
    /// Show a bot
    Show(show::Show),
    /// Change what is said of a bot
    Update(update::Update),
    /// Give a bot another token; the old one plays its matches to the end, for 24 hours at most, unless --now voids it
    Rotate(rotate::Rotate),
    /// Show an owner, or the admin, what went wrong for a bot, retired or not
    Faults(faults::Faults),
    /// End a bot: its tokens are void, its history stays, and nobody else gets its name
    Retire(retire::Retire),
}

impl Bot {
    pub(super) async fn run(self) -> Result<()> {
        match self.account {
            None => self.house.run().await,
            Some(AccountCommand::Register(register)) => register.run().await,
            Some(AccountCommand::RegisterOwner(register)) => register.run().await,
            Some(AccountCommand::List(list)) => list.run().await,
            Some(AccountCommand::Show(show)) => show.run().await,
            Some(AccountCommand::Update(update)) => update.run().await,
            Some(AccountCommand::Rotate(rotate)) => rotate.run().await,
            Some(AccountCommand::Faults(faults)) => faults.run().await,
            Some(AccountCommand::Retire(retire)) => retire.run().await,
        }
    }
}

/// The columns of a table of bots.
const ROW: [&str; 6] = ["bot", "owner", "version", "state", "registered", "description"];

fn row(bot: BotJson) -> [String; 6] {
    [
        bot.name,
        bot.owner,
        output::plain(&bot.version),
        bot.state.to_owned(),
        bot.create_time.unwrap_or_default(),
        output::plain(&bot.description),
    ]
}

fn json_of(bot: Option<&v1::Bot>) -> Result<BotJson> {
    Ok(BotJson::new(bot.ok_or_else(|| anyhow!("the server sent no bot"))?))
}

/// Prints one bot.
fn print(bot: Option<&v1::Bot>, format: Format) -> Result<()> {
    let bot = json_of(bot)?;
    match format {
        Format::Json => output::print_json(&bot),
        Format::Table => {
            let mut table = output::table(ROW);
            table.add_row(row(bot));
            output::print(table)
        }
    }
}
