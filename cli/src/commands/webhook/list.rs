//! `zetema webhook list`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::WebhookJson;
use crate::output::{self, Format};
use crate::pages::pages;

/// List webhooks, the latest first: how far each is, and what is in its way.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is a list of objects: webhook_id, owner (or null: of all matches), url, create_time, settled_result_number,
results_behind, dead_letters, and trouble: null, or result_number, attempts, error and next_attempt_time.

Example:
  zetema webhook list --format json")]
pub(crate) struct List {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl List {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let page = async |page_size, page_token| {
            let answer = client.list_webhooks(v1::ListWebhooksRequest { page_size, page_token }).await?;
            Ok((answer.webhooks, answer.next_page_token))
        };
        let (webhooks, more) = pages(self.limit, page).await?;
        let webhooks: Vec<WebhookJson> = webhooks.iter().map(WebhookJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&webhooks)?,
            Format::Table => {
                let columns = ["webhook", "results of", "to", "behind", "dead letters", "trouble"];
                let mut table = output::table(columns);
                for webhook in webhooks {
                    let trouble = webhook.trouble.map(|trouble| {
                        format!(
                            "result {}, {} attempts: {}",
                            trouble.result_number, trouble.attempts, trouble.error
                        )
                    });
                    table.add_row([
                        webhook.webhook_id,
                        webhook.owner.unwrap_or_else(|| "all matches".to_owned()),
                        output::plain(&webhook.url),
                        webhook.results_behind.to_string(),
                        webhook.dead_letters.to_string(),
                        output::plain(&trouble.unwrap_or_default()),
                    ]);
                }
                output::align_right(&mut table, [3, 4]);
                output::print(table)?;
            }
        }
        if more {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}
