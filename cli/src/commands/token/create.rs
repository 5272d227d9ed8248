//! `zetema token create`.

use std::time::{Duration, SystemTime};

use anyhow::{Result, anyhow};
use prost_types::Timestamp;
use zetema_proto::v1;
use zetema_proto::v1::token_scope::Kind;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::{CreatedTokenJson, TokenJson};
use crate::output::{self, Format};

/// Make a token and print its secret, once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
stdout has the secret alone, and the server does not keep it: pipe it to where it is to stay. The JSON
is one object: token, as `zetema token list` gives it, and secret.

Examples:
  zetema token create --owner shop --label backend > shop.token
  zetema token create --bot greedy --expires-in-days 90
  zetema token create --replaces 0f1e2d3c4b5a69788796a5b4c3d2e1f0")]
pub(crate) struct Create {
    #[command(flatten)]
    what: What,
    /// What it is for, at most 64 bytes
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    label: String,
    /// From when on it is void, as in 2027-01-01T00:00:00Z; unless given, it does not expire
    #[arg(long, value_name = "TIME", conflicts_with = "expires_in_days")]
    expires: Option<Timestamp>,
    /// After how many days it is void; with --request-id give --expires, which says the same when it is sent again
    #[arg(long, value_name = "DAYS", conflicts_with = "request_id", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    expires_in_days: Option<u32>,
    /// A name for this request, at most 64 characters: sent again it voids the token of the first time
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    request_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// What the token allows.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// For everything
    #[arg(long)]
    admin: bool,
    /// To create matches, and to see, watch and cancel these
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// To play the seats that matches have for a bot
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// As the token with this id, which is void from then on
    #[arg(long, value_name = "ID")]
    replaces: Option<String>,
}

impl Create {
    pub(super) async fn run(self) -> Result<()> {
        let What { admin, owner, bot, replaces } = self.what;
        let admin = admin.then_some(Kind::Admin(v1::AdminScope {}));
        let owner = owner.map(|owner| Kind::Owner(v1::OwnerScope { owner }));
        let kind = admin.or(owner).or_else(|| bot.map(|bot| Kind::Bot(v1::BotScope { bot })));
        let request = v1::CreateTokenRequest {
            request_id: self.request_id,
            scope: kind.map(|kind| v1::TokenScope { kind: Some(kind) }),
            label: self.label,
            expire_time: self.expires.or_else(|| self.expires_in_days.map(in_days)),
            replaces_token_id: replaces.unwrap_or_default(),
        };
        let client = Client::connect(&self.server).await?;
        let v1::CreateTokenResponse { token, secret } = client.create_token(request).await?;
        let token = TokenJson::new(&token.ok_or_else(|| anyhow!("the server sent no token"))?);
        match self.format.format {
            Format::Json => output::print_json(&CreatedTokenJson { token, secret }),
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is the secret of token {}. It is shown this once: keep it. Void it by: {} token revoke{} {}",
                    token.token_id,
                    output::program(),
                    self.server.address,
                    token.token_id
                ));
                Ok(())
            }
        }
    }
}

fn in_days(days: u32) -> Timestamp {
    (SystemTime::now() + Duration::from_hours(24) * days).into()
}
