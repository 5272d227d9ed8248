//! `zetema match cancel`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;

/// Abort a match that is not over. Its seed is revealed and its record kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Cancel {
    /// The match's id
    #[arg(value_name = "ID")]
    match_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Cancel {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let answer = client.cancel_match(v1::CancelMatchRequest { match_id: self.match_id }).await?;
        super::show::print(answer.r#match.as_ref(), self.format.format)
    }
}
