//! What a server would not start with, though each of its settings by itself is right: what its log lets through, and its files.

use std::path::Path;

use anyhow::{Context, Result};
use tonic::transport::{Identity, Server, ServerTlsConfig};
use zetema_sdk::Tls;
use zetema_service::config::{Config, Setting, TlsFiles};

use crate::log;

/// Reads all of it, and keeps nothing.
pub(super) fn check(config: &Config) -> Result<()> {
    log::parse(&config.log)?;
    if let Some(TlsFiles { cert, key, client_ca }) = &config.tls {
        certificate(cert, key)?;
        client_ca.as_deref().map_or(Ok(()), |file| authorities(Setting::TlsClientCa, file))?;
    }
    config.webhook_ca.as_deref().map_or(Ok(()), |file| authorities(Setting::WebhookCa, file))
}

fn certificate(cert: &Path, key: &Path) -> Result<()> {
    let identity = Identity::from_pem(read(Setting::TlsCert, cert)?, read(Setting::TlsKey, key)?);
    Server::builder().tls_config(ServerTlsConfig::new().identity(identity)).with_context(|| {
        format!(
            "{} is no certificate in PEM form with its key in {}: give the two that were made together",
            cert.display(),
            key.display()
        )
    })?;
    Ok(())
}

fn authorities(setting: Setting, file: &Path) -> Result<()> {
    Tls::default().with_ca_file(file).map(drop).context(setting.key())
}

fn read(setting: Setting, file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("{}: {} can't be read", setting.key(), file.display()))
}
