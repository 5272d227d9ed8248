//! `zetema token revoke`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;

/// Void a token: what it opened ends at once. Once revoked, revoking again gives the same answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Revoke {
    /// The token's id, as `zetema token list` shows it
    #[arg(value_name = "ID")]
    token_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Revoke {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let answer = client.revoke_token(v1::RevokeTokenRequest { token_id: self.token_id }).await?;
        super::print(answer.token.as_ref(), self.format.format)
    }
}
