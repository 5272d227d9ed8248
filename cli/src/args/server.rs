//! Which server to talk to, and as whom.

use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use super::TlsArgs;

/// Where a server listens unless told otherwise.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:4680";

/// Which server to talk to.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AddressArgs {
    /// The server's address, http://HOST:PORT or, with TLS, https://HOST:PORT
    #[arg(long, env = "ZETEMA_SERVER", value_name = "URL", default_value = DEFAULT_SERVER)]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
}

impl AddressArgs {
    /// A server without TLS.
    pub(crate) fn plaintext(server: &str) -> Self {
        Self { server: server.to_owned(), tls: TlsArgs::default() }
    }
}

impl fmt::Display for AddressArgs {
    /// The flags that are not as by default, each after a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, tls } = self;
        if server != DEFAULT_SERVER {
            write!(f, " --server {server}")?;
        }
        tls.fmt(f)
    }
}

/// Which server to talk to, and as whom.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub(crate) address: AddressArgs,
    /// The admin token; unless given, it is read from the file in the server's data folder
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<SecretString>,
    /// The server's data folder, whose file has the admin token
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    pub(crate) data: PathBuf,
}
