//! How a server with TLS is checked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Command, FromArgMatches};
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use zetema_sdk::Tls;

use crate::cli::without_empty_variables;

/// How long a handshake may take.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);

/// How a server with an `https://` address is checked.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TlsArgs {
    /// A PEM file of the CAs to trust instead of the system's
    #[arg(long, env = "ZETEMA_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The name that the server's certificate must be for, instead of the host of its address
    #[arg(long, env = "ZETEMA_SERVER_NAME", value_name = "NAME")]
    server_name: Option<String>,
    /// A PEM file of the certificate to show the server
    #[arg(long, env = "ZETEMA_CLIENT_CERT", value_name = "FILE", requires = "client_key")]
    client_cert: Option<PathBuf>,
    /// The PEM file of that certificate's private key
    #[arg(long, env = "ZETEMA_CLIENT_KEY", value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,
}

impl TlsArgs {
    /// What the variables of the environment say, for a command without these flags.
    ///
    /// # Errors
    /// A client's certificate is named without its key, or the key without it.
    pub(crate) fn from_environment() -> Result<Self> {
        let command = without_empty_variables(Self::augment_args(Command::new("zetema")));
        Ok(Self::from_arg_matches(&command.try_get_matches_from(["zetema"])?)?)
    }

    /// As a session takes it.
    pub(crate) fn settings(&self) -> Result<Tls> {
        let mut tls = Tls::default();
        if let Some(path) = &self.ca {
            tls = tls.with_ca_file(path)?;
        }
        if let Some(name) = &self.server_name {
            tls = tls.with_server_name(name)?;
        }
        if let (Some(cert), Some(key)) = (&self.client_cert, &self.client_key) {
            tls = tls.with_client_certificate_files(cert, key)?;
        }
        Ok(tls)
    }

    /// As a connection takes it.
    pub(crate) fn config(&self) -> Result<ClientTlsConfig> {
        // The session's checks of the files say more than those of the connection.
        self.settings()?;
        let config = ClientTlsConfig::new().timeout(HANDSHAKE_WITHIN);
        let mut config = match &self.ca {
            Some(path) => config.ca_certificate(Certificate::from_pem(read(path)?)),
            None => config.with_native_roots(),
        };
        if let Some(name) = &self.server_name {
            config = config.domain_name(name);
        }
        if let (Some(cert), Some(key)) = (&self.client_cert, &self.client_key) {
            config = config.identity(Identity::from_pem(read(cert)?, read(key)?));
        }
        Ok(config)
    }

    /// Whether no flag is given.
    pub(crate) const fn is_default(&self) -> bool {
        let Self { ca, server_name, client_cert, client_key } = self;
        ca.is_none() && server_name.is_none() && client_cert.is_none() && client_key.is_none()
    }
}

impl fmt::Display for TlsArgs {
    /// The flags, each after a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ca, server_name, client_cert, client_key } = self;
        if let Some(name) = server_name {
            write!(f, " --server-name {name}")?;
        }
        for (flag, path) in [("--ca", ca), ("--client-cert", client_cert), ("--client-key", client_key)] {
            if let Some(path) = path {
                write!(f, " {flag} {}", path.display())?;
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} can't be read", path.display()))
}
