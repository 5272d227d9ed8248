//! `zetema token`: the bearer tokens of a server.

mod create;
mod list;
mod reset_admin;
mod revoke;

use anyhow::{Result, anyhow};
use clap::Subcommand;
use zetema_proto::v1;

use crate::json::TokenJson;
use crate::output::{self, Format};

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print its secret, once
    Create(create::Create),
    /// List tokens, the latest first
    List(list::List),
    /// Void a token: what it opened ends at once
    Revoke(revoke::Revoke),
    /// Replace the lost admin token of a server that does not run
    ResetAdmin(reset_admin::ResetAdmin),
}

pub(super) async fn run(command: TokenCommand) -> Result<()> {
    match command {
        TokenCommand::Create(create) => create.run().await,
        TokenCommand::List(list) => list.run().await,
        TokenCommand::Revoke(revoke) => revoke.run().await,
        TokenCommand::ResetAdmin(reset) => reset.run().await,
    }
}

/// The columns of a table of tokens.
const ROW: [&str; 6] = ["token", "scope", "label", "created", "expires", "revoked"];

fn row(token: &TokenJson) -> [String; 6] {
    let scope = token
        .account
        .as_ref()
        .map_or_else(|| token.scope.to_owned(), |name| format!("{} {name}", token.scope));
    let time = |time: &Option<String>| time.clone().unwrap_or_default();
    [
        token.token_id.clone(),
        scope,
        output::plain(&token.label),
        time(&token.create_time),
        time(&token.expire_time),
        time(&token.revoke_time),
    ]
}

/// Prints one token.
fn print(token: Option<&v1::Token>, format: Format) -> Result<()> {
    let token = TokenJson::new(token.ok_or_else(|| anyhow!("the server sent no token"))?);
    match format {
        Format::Json => output::print_json(&token),
        Format::Table => {
            let mut table = output::table(ROW);
            table.add_row(row(&token));
            output::print(table)
        }
    }
}
