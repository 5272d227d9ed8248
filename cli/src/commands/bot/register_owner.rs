//! `zetema bot register-owner`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{AddressArgs, FormatArgs};
use crate::client::Client;
use crate::json::RegisteredOwnerJson;
use crate::output::{self, Format};

/// Register as an owner of bots where a server lets everybody, and print the token, once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It takes no token, and a server whose setting open_registration is on; on others the admin makes owners, by
`zetema token create --owner NAME`. stdout has the token alone, and the server does not keep it. The JSON is one
object: owner and secret.

Example:
  zetema bot register-owner kennel > kennel.token")]
pub(crate) struct RegisterOwner {
    /// Your name, at most 64 characters of a-z, 0-9, '-', '_' and '.'
    #[arg(value_name = "NAME")]
    owner: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl RegisterOwner {
    pub(super) async fn run(self) -> Result<()> {
        let Self { owner, format, address } = self;
        let client = Client::connect_as_anyone(&address).await?;
        let v1::RegisterOwnerResponse { owner, secret } =
            client.register_owner(v1::RegisterOwnerRequest { owner }).await?;
        match format.format {
            Format::Json => output::print_json(&RegisteredOwnerJson { owner, secret }),
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is the token of the owner {owner}. It is shown this once: keep it. Register a bot by: {} bot \
                     register{address} NAME",
                    output::program()
                ));
                Ok(())
            }
        }
    }
}
