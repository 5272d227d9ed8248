//! `zetema webhook add`.

use anyhow::{Result, anyhow};
use zetema_proto::v1;
use zetema_proto::v1::create_webhook_request::From;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::{CreatedWebhookJson, WebhookJson};
use crate::output::{self, Format};

/// Have results sent to an address, and print the secret that they are signed by.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The server sends only to addresses that its setting webhook_allow has. stdout has the secret alone. The JSON is one
object: webhook, as `zetema webhook list` gives it, and secret. docs/embedding.md has what is sent.

Examples:
  zetema webhook add https://hooks.example.com/zetema > secret.txt
  zetema webhook add https://hooks.example.com/zetema --owner shop --from-first")]
pub(crate) struct Add {
    /// Where to, as in `https://hooks.example.com/zetema`
    #[arg(value_name = "URL")]
    url: String,
    /// Results of this owner's matches; unless given, of your own, which for the admin are all
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    owner: String,
    /// From the first result that the server has; unless given, from the next one
    #[arg(long)]
    from_first: bool,
    /// From the one after this cursor
    #[arg(long, value_name = "CURSOR", conflicts_with = "from_first")]
    after: Option<String>,
    /// A name for this request, at most 64 characters: sent again it gives the same webhook and secret
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    request_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Add {
    pub(super) async fn run(self) -> Result<()> {
        let first = self.from_first.then_some(From::First(v1::FromFirst {}));
        let request = v1::CreateWebhookRequest {
            request_id: self.request_id,
            url: self.url,
            owner: self.owner,
            from: self.after.map(From::After).or(first),
        };
        let client = Client::connect(&self.server).await?;
        let v1::CreateWebhookResponse { webhook, secret } = client.create_webhook(request).await?;
        let webhook = WebhookJson::new(&webhook.ok_or_else(|| anyhow!("the server sent no webhook"))?);
        match self.format.format {
            Format::Json => output::print_json(&CreatedWebhookJson { webhook, secret }),
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is what the messages of webhook {} are signed by: keep it. End it by: {} webhook remove{} {}",
                    webhook.webhook_id,
                    output::program(),
                    self.server.address,
                    webhook.webhook_id
                ));
                Ok(())
            }
        }
    }
}
