//! The house bots of `zetema serve`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::sleep;
use zetema_bots::House;
use zetema_proto::v1;
use zetema_sdk::{NonceSecret, Records};
use zetema_service::config::{Config, Setting};
use zetema_service::server::Server;

use super::{Account, Challenged, Crew, Open, Opening};
use crate::args::{AddressArgs, TlsArgs};
use crate::client::{Client, passes, patiently};
use crate::failure::Usage;

/// The file in the data folder from which their nonces follow, so that a match that is not dealt outlives the process.
const NONCE_SECRET_FILE: &str = "house-bots.nonce-secret";
/// How long after what passes they try to come again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The house bots of a server, in its process and beside it: clients as any others.
pub(crate) struct HouseBots {
    /// Each with its places on each ladder.
    wanted: Vec<(House, NonZeroU16)>,
    scheme: &'static str,
    data: PathBuf,
    crew: Crew,
}

impl HouseBots {
    /// Those that are configured, if any are. None plays yet.
    ///
    /// # Errors
    /// [`Usage`] if there is none of a name.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>> {
        let wanted = Self::wanted(config)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        Ok(Some(Self { wanted, scheme, data: config.data.clone(), crew: Crew::new()? }))
    }

    /// The configured bots by their names.
    ///
    /// # Errors
    /// [`Usage`], which lists the names.
    pub(crate) fn wanted(config: &Config) -> Result<Vec<(House, NonZeroU16)>, Usage> {
        let setting = Setting::HouseBots;
        let of_name = |bot: &zetema_service::config::HouseBot| match bot.name.parse() {
            Ok(house) => Ok((house, bot.places)),
            Err(unknown) => {
                Err(Usage::new(format!("{} ({}): {unknown}", setting.flag(), setting.variable())))
            }
        };
        config.house_bots.iter().map(of_name).collect()
    }

    /// Has them play on this server. What is in the way of it is in the log, and the server serves on; what passes is tried again.
    pub(crate) async fn come(&self, server: &Server) {
        let mut missing = self.wanted.clone();
        let mut wait = FIRST_WAIT;
        while let Err(error) = self.all_come(server, &mut missing).await {
            let error_text = format!("{error:#}");
            if !passes(&error) {
                tracing::error!(error = error_text, "the house bots can't play");
                return;
            }
            tracing::warn!(error = error_text, again_in = ?wait, "the house bots can't play yet");
            sleep(wait).await;
            wait = LONGEST_WAIT.min(wait.saturating_mul(2));
        }
    }

    /// Has those come that are missing, and then all of them wait on the ladders. Those that came play what they have meanwhile.
    ///
    /// # Errors
    /// What was in the way, the last of it. Those that are still to come are in `missing`.
    async fn all_come(&self, server: &Server, missing: &mut Vec<(House, NonZeroU16)>) -> Result<()> {
        let admin = server.admin_token().with_context(|| {
            format!(
                "the house bots have accounts, and the admin token, which makes them, is not in {}: make another by `zetema \
                 token reset-admin`, and start the server again",
                self.data.display()
            )
        })?;
        let tls = if self.scheme == "https" { TlsArgs::from_environment()? } else { TlsArgs::default() };
        let address =
            AddressArgs { server: format!("{}://{}", self.scheme, reachable(server.local_addr())), tls };
        let client = Client::connect_with(&address, admin.expose()).await?;
        let opening = Opening {
            tls: address.tls.settings()?,
            server: address.server,
            // The server is this process: there is nothing to hold it to.
            records: Records::Ignored,
            nonce_secret: Some(NonceSecret::from_file(self.data.join(NONCE_SECRET_FILE))?),
            challenged: Challenged::ByEveryone,
        };
        let mut passing = None;
        for (house, places) in std::mem::take(missing) {
            let mut account = Account::usual(house);
            let come = async {
                let token = account.token(&client).await?;
                self.crew.add(&opening, &account, token, places)
            };
            match come.await {
                Ok(()) => {}
                Err(error) if passes(&error) => {
                    passing = Some(error.context(account.name));
                    missing.push((house, places));
                }
                Err(error) => {
                    tracing::error!(
                        bot = account.name,
                        error = format!("{error:#}"),
                        "a house bot can't play"
                    );
                }
            }
        }
        // Only now, as ladders may first have to count what was played before, and what runs is to be played on meanwhile.
        let listed = patiently(async || client.list_ladders(v1::ListLaddersRequest {}).await).await?;
        self.crew.wait_on(listed.ladders.iter().filter_map(Open::of).collect());
        passing.map_or(Ok(()), Err)
    }

    /// Has them leave their ladders and accept no challenge, and play on what they have.
    pub(crate) async fn leave(&self) {
        self.crew.leave().await;
    }
}

/// Where a server that listens on an address is reached from this machine.
fn reachable(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listens.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_reached_where_it_listens_or_by_loopback() {
        for (listens, expected) in [
            ("0.0.0.0:4680", "127.0.0.1:4680"),
            ("[::]:4680", "[::1]:4680"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:9", "192.0.2.1:9"),
        ] {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), expected, "{listens}");
        }
    }
}
