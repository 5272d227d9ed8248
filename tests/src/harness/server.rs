//! A server in this process, with its data in a folder of its own.

use std::net::SocketAddr;
use std::path::PathBuf;

use tempfile::TempDir;
use zetema_rules::TimeControl;
use zetema_service::config::Config;
use zetema_service::ladders::{LadderSpec, LadderSpecs};
use zetema_service::server::Server;

use super::{Clients, soon};

/// A server in this process.
pub struct TestServer {
    server: Server,
    folder: TempDir,
}

impl TestServer {
    /// A server with an empty folder, and a connection to it.
    pub async fn start() -> (Self, Clients) {
        Self::start_in(tempfile::tempdir().unwrap()).await
    }

    /// A server whose webhooks may send to these addresses.
    pub async fn start_allowing(webhook_allow: &str) -> (Self, Clients) {
        Self::start_allowing_in(tempfile::tempdir().unwrap(), webhook_allow).await
    }

    /// The same with the data of this folder.
    pub async fn start_allowing_in(folder: TempDir, webhook_allow: &str) -> (Self, Clients) {
        let mut config =
            Config { ladders: patient_ladders(), ..Config::embedded(folder.path().join("data")) };
        config.webhook_allow = webhook_allow.parse().unwrap();
        Self::start_as(config, folder).await
    }

    /// Stops the server in order, starts it again on the same data, and connects.
    pub async fn restart(self) -> (Self, Clients) {
        let Self { server, folder } = self;
        soon("the server to stop", server.shutdown()).await;
        Self::start_in(folder).await
    }

    /// Stops the server in order.
    pub async fn stop(self) {
        soon("the server to stop", self.server.shutdown()).await;
    }

    /// Stops the server in order, and leaves its folder.
    pub async fn stop_and_keep(self) -> TempDir {
        let Self { server, folder } = self;
        soon("the server to stop", server.shutdown()).await;
        folder
    }

    /// A server whose data is in the folder `data` of this one, and a connection to it.
    pub async fn start_in(folder: TempDir) -> (Self, Clients) {
        let config = Config { ladders: patient_ladders(), ..Config::embedded(folder.path().join("data")) };
        Self::start_as(config, folder).await
    }

    async fn start_as(config: Config, folder: TempDir) -> (Self, Clients) {
        let server = Server::start(config).await.unwrap();
        let token = server.admin_token().expect("its file is there").expose().to_owned();
        let clients = Clients::connect(server.local_addr(), &token).await;
        (Self { server, folder }, clients)
    }

    /// Its data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Another connection.
    pub async fn connect(&self) -> Clients {
        let token = self.server.admin_token().unwrap().expose().to_owned();
        Clients::connect(self.server.local_addr(), &token).await
    }
}

/// The usual ladders, with an hour to come to a match: no machine is so slow that it is a no-show.
fn patient_ladders() -> LadderSpecs {
    let usual = Config::default().ladders;
    let patient = usual.iter().map(|spec| {
        let time_control = TimeControl::new(3_600_000, spec.time_control.decisions()).unwrap();
        LadderSpec { time_control, ..(**spec).clone() }
    });
    LadderSpecs::new(patient.collect()).unwrap()
}
