//! `zetema webhook resend`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::ServerArgs;
use crate::client::Client;
use crate::output;

/// Have dead letters sent again, and what waits for its next attempt at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
stdout has how many are sent again. Each is tried a few times; what fails again is a dead letter again.

Examples:
  zetema webhook resend 0f1e2d3c4b5a69788796a5b4c3d2e1f0
  zetema webhook resend 0f1e2d3c4b5a69788796a5b4c3d2e1f0 --result 12 --result 15")]
pub(crate) struct Resend {
    /// The webhook's id, as `zetema webhook list` shows it
    #[arg(value_name = "ID")]
    webhook_id: String,
    /// The dead letter of this result, and of each that is given; unless given, all
    #[arg(long = "result", value_name = "NUMBER")]
    result_numbers: Vec<u64>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Resend {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let Self { webhook_id, result_numbers, .. } = self;
        let request = v1::ResendDeadLettersRequest { webhook_id, result_numbers };
        output::print(client.resend_dead_letters(request).await?.due)
    }
}
