//! `zetema webhook remove`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::ServerArgs;
use crate::client::Client;
use crate::output;

/// End a webhook, with its dead letters.
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The webhook's id, as `zetema webhook list` shows it
    #[arg(value_name = "ID")]
    webhook_id: String,
    #[command(flatten)]
    server: ServerArgs,
}

impl Remove {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        client.delete_webhook(v1::DeleteWebhookRequest { webhook_id: self.webhook_id.clone() }).await?;
        output::note(format!("Webhook {} has ended.", self.webhook_id));
        Ok(())
    }
}
