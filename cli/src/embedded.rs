//! A server inside the program, for the demo and for play without one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tempfile::TempDir;
use zetema_service::config::{Config, ConfigError, Number};
use zetema_service::server::Server;

use crate::args::AddressArgs;
use crate::client::Client;

/// A server of the program's own, on a free loopback port.
pub(crate) struct Embedded {
    server: Server,
    url: String,
    folder: Folder,
}

/// Where its journal is.
enum Folder {
    /// In a folder that goes with it.
    Temporary(TempDir),
    /// In a folder that stays.
    Kept(PathBuf),
}

impl Embedded {
    /// Starts it, with its data in this folder or in a temporary one.
    pub(crate) async fn start(data: Option<&Path>) -> Result<Self> {
        Self::start_with(data, Ok).await
    }

    /// The same with the usual ladders, on which a bot may play as many matches a day as it can.
    pub(crate) async fn start_with_ladders(data: Option<&Path>) -> Result<Self> {
        let (number, ladders) = (Number::BotMatchesADay, Config::default().ladders);
        let change = |config| Config { ladders, ..config }.with(number, *number.range().end());
        Self::start_with(data, change).await
    }

    async fn start_with(
        data: Option<&Path>,
        change: impl FnOnce(Config) -> Result<Config, ConfigError>,
    ) -> Result<Self> {
        let folder = match data {
            Some(path) => Folder::Kept(path.to_owned()),
            None => {
                Folder::Temporary(TempDir::with_prefix("zetema-").context("no temporary folder can be made")?)
            }
        };
        let config = Config { log: "error".to_owned(), ..Config::embedded(folder.path()) };
        let server = Server::start(change(config)?).await?;
        let url = format!("http://{}", server.local_addr());
        Ok(Self { server, url, folder })
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The folder, if it stays.
    pub(crate) fn kept(&self) -> Option<&Path> {
        match &self.folder {
            Folder::Kept(path) => Some(path),
            Folder::Temporary(_) => None,
        }
    }

    /// A client with the admin token.
    pub(crate) async fn client(&self) -> Result<Client> {
        let token = self.server.admin_token().ok_or_else(|| {
            let path = self.folder.path().display();
            anyhow!("the data folder {path} has lost its admin token: give another folder by --data")
        })?;
        Client::connect_with(&AddressArgs::plaintext(&self.url), token.expose()).await
    }

    /// Stops it in order.
    pub(crate) async fn stop(self) {
        self.server.shutdown().await;
    }
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(path) => path,
        }
    }
}
