//! Which server to talk to, and as whom.

use std::path::PathBuf;

use secrecy::SecretString;

/// Where a server listens unless told otherwise.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:4680";

/// Which server to talk to, and as whom.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// The server's address
    #[arg(long, env = "ZETEMA_SERVER", value_name = "URL", default_value = DEFAULT_SERVER)]
    pub(crate) server: String,
    /// The admin token; unless given, it is read from the file in the server's data folder
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<SecretString>,
    /// The server's data folder, whose file has the admin token
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    pub(crate) data: PathBuf,
}
