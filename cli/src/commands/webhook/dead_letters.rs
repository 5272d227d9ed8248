//! `zetema webhook dead-letters`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::DeadLetterJson;
use crate::output::{self, Format};
use crate::pages::pages;

/// List the results that a webhook gave up, the lowest number first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The JSON is a list of objects: result_number, attempts, error, create_time, and state (kept, or due: about to be sent
again).

Example:
  zetema webhook dead-letters 0f1e2d3c4b5a69788796a5b4c3d2e1f0")]
pub(crate) struct DeadLetters {
    /// The webhook's id, as `zetema webhook list` shows it
    #[arg(value_name = "ID")]
    webhook_id: String,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl DeadLetters {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let page = async |page_size, page_token| {
            let webhook_id = self.webhook_id.clone();
            let request = v1::ListDeadLettersRequest { webhook_id, page_size, page_token };
            let answer = client.list_dead_letters(request).await?;
            Ok((answer.dead_letters, answer.next_page_token))
        };
        let (dead, more) = pages(self.limit, page).await?;
        let dead: Vec<DeadLetterJson> = dead.iter().map(DeadLetterJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&dead)?,
            Format::Table => {
                let mut table = output::table(["result", "attempts", "given up", "state", "why"]);
                for one in dead {
                    table.add_row([
                        one.result_number.to_string(),
                        one.attempts.to_string(),
                        one.create_time.unwrap_or_default(),
                        one.state.to_owned(),
                        output::plain(&one.error),
                    ]);
                }
                output::align_right(&mut table, [0, 1]);
                output::print(table)?;
            }
        }
        if more {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}
