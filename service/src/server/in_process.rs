//! The server without its port.

use std::{path::Path, sync::Arc, time::Duration};

use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;

use super::{StartError, direct::Direct, health, metrics_page::MetricsPage, routes};
use crate::{
    access::{Access, AdminToken},
    admission::{DiskRoom, Pressure, Rates},
    bots::Bots,
    config::{Config, Number, Numbers},
    executor::Executor,
    grpc::{Backend, Drain},
    journal::AccountStore,
    ladders::Ladders,
    matches::{self, Matches},
    metrics::Rpcs,
};

/// All that knows of matches and answers on the port, without the port, on a journal, clocks, randomness and decks that are given:
/// for tests that put other decks behind the same commitment.
///
/// [`Server::start`](super::Server::start) never makes one, and no setting leads here: a server has the system's
/// randomness and the decks that follow from its seeds.
#[derive(Debug)]
pub struct InProcess {
    access: Arc<Access>,
    matches: Matches,
    router: Router,
    drain: Drain,
}

impl InProcess {
    /// Takes up the unfinished matches of the journal, with the accounts of `accounts`, and then answers. The admin token's file is in `folder`; the
    /// metrics are those of `page`, whose upkeep runs until [`Self::stop`].
    ///
    /// # Errors
    /// A [`StartError`] that says what could not be had.
    pub async fn open(
        config: matches::Config,
        accounts: Arc<dyn AccountStore>,
        folder: &Path,
        ping_interval: Duration,
        page: PrometheusHandle,
    ) -> Result<Self, StartError> {
        let journal = Arc::clone(&config.journal);
        let access = Access::open(Arc::clone(&journal), Arc::clone(&config.clock), folder).await?;
        let access = Arc::new(access);
        let settings = Config::embedded(folder).account_settings()?;
        let bots = Bots::open(accounts, Arc::clone(&access), Arc::clone(&config.clock), settings).await;
        let queued_observations = config.limits.queued_observations;
        let (matches, _) = Matches::open(config).await?;
        let (drain, numbers) = (Drain::default(), Numbers::default());
        let backend = Arc::new(Backend {
            access: Arc::clone(&access),
            bots: bots.map_err(StartError::Accounts)?,
            matches: matches.clone(),
            ping_interval,
            request_timeout: numbers.millis(Number::RequestTimeoutMs),
            max_request_bytes: numbers.count(Number::MaxRequestBytes),
            queued_observations,
            ladders: Ladders::none(),
            drain: drain.clone(),
            // Nobody looks: it is driven by its tests.
            pressure: Arc::new(Pressure::new()),
            disk_room: Arc::new(DiskRoom::new(numbers.get(Number::MinFreeDiskBytes))),
        });
        let rpcs = Rpcs::new().map_err(tonic_reflection::server::Error::from)?;
        // Each page is a new one: it is compared after each step.
        let metrics = MetricsPage::new(page.clone(), Duration::ZERO);
        let direct = Direct::new(&backend, &Executor::start(), &Rates::new(&numbers), &rpcs);
        let router = routes::ours(&backend, &direct, Some(metrics));
        tokio::spawn(health::upkeep(journal, matches.clone(), Some(page), drain.closing().clone()));
        Ok(Self { access, matches, router, drain })
    }

    /// What answers requests of HTTP.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The admin token, when its file still holds it.
    pub fn admin_token(&self) -> Option<&AdminToken> {
        self.access.admin_token()
    }

    /// Ends the streams and stops the matches. Nothing is lost: another opening of the journal goes on.
    pub async fn stop(self) {
        self.drain.close();
        self.matches.stop().await;
    }
}
