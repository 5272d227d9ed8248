//! `zetema token list`.

use anyhow::Result;
use zetema_proto::v1;
use zetema_proto::v1::token_scope::Kind;

use super::{ROW, row};
use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::TokenJson;
use crate::output::{self, Format};
use crate::pages::pages;

/// List tokens, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Secrets are not shown: the server does not have them. The admin token that was made at the first start is
not among these. The JSON is a list of objects: token_id, scope (admin, owner or bot), account (the name,
or null), label, create_time, expire_time, revoke_time and rotate_time (since when it only plays on).

Examples:
  zetema token list
  zetema token list --owner shop --void --format json")]
pub(crate) struct List {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Those that are void too: expired, revoked or replaced
    #[arg(long)]
    void: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Which tokens.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ScopeArgs {
    /// Only those of admins
    #[arg(long)]
    admin: bool,
    /// Only those of this owner
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Only those of this bot
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
}

impl List {
    pub(super) async fn run(self) -> Result<()> {
        let ScopeArgs { admin, owner, bot } = self.scope;
        let admin = admin.then_some(Kind::Admin(v1::AdminScope {}));
        let owner = owner.map(|owner| Kind::Owner(v1::OwnerScope { owner }));
        let kind = admin.or(owner).or_else(|| bot.map(|bot| Kind::Bot(v1::BotScope { bot })));
        let filter = v1::TokenFilter {
            scope: kind.map(|kind| v1::TokenScope { kind: Some(kind) }),
            void_tokens: self.void.then_some(v1::VoidTokens::Listed.into()),
        };
        let client = Client::connect(&self.server).await?;
        let page = async |page_size, page_token| {
            let filter = Some(filter.clone());
            let answer = client.list_tokens(v1::ListTokensRequest { filter, page_size, page_token }).await?;
            Ok((answer.tokens, answer.next_page_token))
        };
        let (tokens, more) = pages(self.limit, page).await?;
        let tokens: Vec<TokenJson> = tokens.iter().map(TokenJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&tokens)?,
            Format::Table => {
                let mut table = output::table(ROW);
                for token in &tokens {
                    table.add_row(row(token));
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
