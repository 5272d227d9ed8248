//! Webhooks over a store and a receiver that do what they are told, in a time that nobody waits for.

mod connecting;
mod delivering;
mod fake;
mod making;
mod resending;

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zetema_rules::Preset;

use self::fake::{Answer, FakeStore, Receiver};
use super::connect::{Net, Network};
use super::{Allowed, Config, Settings, WebhookInfo, WebhookSpec, Webhooks};
use crate::access::Access;
use crate::journal::{
    DeadLetter, DeadLetterState, Owner, Resend, ResultNumber, StoredWebhook, UnixMillis, WebhookId,
    WebhookNumber, WebhookUrl,
};
use crate::matches::tests::fake::FakeJournal;
use crate::matches::tests::harness::{create_one, open, spec};
use crate::matches::{Matches, ResultsFrom, SystemClock};
use crate::table::{DealSpec, MatchSpec};

/// Where all receivers are.
const URL: &str = "http://hooks.example.com/zetema";

fn settings() -> Settings {
    Settings {
        timeout: Duration::from_secs(10),
        first_retry: Duration::from_secs(1),
        last_retry: Duration::from_mins(5),
        give_up: Duration::from_hours(24),
    }
}

/// A way to these addresses over a net, which trusts nobody.
async fn network(allowed: &str, net: impl Net) -> Network {
    // Without addresses no CAs of the system are read.
    let mut network = Network::open(Allowed::default(), None).await.unwrap();
    network.allowed = allowed.parse().unwrap();
    network.over(net)
}

struct Fixture {
    journal: FakeJournal,
    store: FakeStore,
    matches: Matches,
    receiver: Receiver,
    webhooks: Webhooks,
    stop: CancellationToken,
    _folder: TempDir,
}

impl Fixture {
    /// One without webhooks.
    async fn new(answers: impl FnMut(u64) -> Answer + Send + 'static) -> Self {
        let journal = FakeJournal::new();
        let store = FakeStore::new(&journal);
        let matches = open(&journal).await;
        Self::over(journal, store, matches, Receiver::new(answers)).await
    }

    async fn over(journal: FakeJournal, store: FakeStore, matches: Matches, receiver: Receiver) -> Self {
        let net = receiver.clone();
        Self::through(net, journal, store, matches, receiver).await
    }

    async fn through(
        net: impl Net,
        journal: FakeJournal,
        store: FakeStore,
        matches: Matches,
        receiver: Receiver,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SystemClock::new());
        let access =
            Access::open(Arc::new(journal.clone()), Arc::<SystemClock>::clone(&clock), folder.path()).await;
        let stop = CancellationToken::new();
        let config = Config {
            store: Arc::new(store.clone()),
            journal: Arc::new(journal.clone()),
            matches: matches.clone(),
            access: Arc::new(access.unwrap()),
            clock,
            network: Arc::new(network("http://127.0.0.1:*", net).await),
            settings: settings(),
        };
        let webhooks = Webhooks::open(config, TaskTracker::new(), stop.clone()).await.unwrap();
        Self { journal, store, matches, receiver, webhooks, stop, _folder: folder }
    }

    /// The same after the server has stopped and started.
    async fn restart(self) -> Self {
        let net = self.receiver.clone();
        self.restart_over(net).await
    }

    /// The same, in another net.
    async fn restart_over(self, net: impl Net) -> Self {
        self.stop.cancel();
        self.webhooks.shared.tasks.close();
        self.webhooks.shared.tasks.wait().await;
        Self::through(net, self.journal, self.store, self.matches, self.receiver).await
    }

    /// Makes a webhook for all results from the first on.
    async fn webhook(&self) -> WebhookId {
        self.webhook_of(None).await
    }

    async fn webhook_of(&self, owner: Option<&str>) -> WebhookId {
        let owner = owner.map(|name| Owner::new(name).unwrap());
        let spec = WebhookSpec { url: WebhookUrl::new(URL).unwrap(), owner, from: ResultsFrom::First };
        self.webhooks.create(None, spec, None).await.unwrap().0.webhook.id
    }

    /// Makes so many results.
    async fn end(&self, count: usize) {
        end_of(&self.matches, count, None).await;
    }

    fn info(&self, id: WebhookId) -> WebhookInfo {
        self.webhooks.list(None, None, 1_000).into_iter().find(|info| info.webhook.id == id).unwrap()
    }

    async fn dead_letters(&self, id: WebhookId) -> Vec<DeadLetter> {
        self.webhooks.dead_letters(None, id, ResultNumber::ZERO, 1_000).await.unwrap()
    }

    async fn resend(&self, id: WebhookId) -> u64 {
        self.webhooks.resend(None, id, Resend::All).await.unwrap()
    }

    /// Waits until it is so.
    async fn until(&self, what: &str, id: WebhookId, so: impl Fn(&WebhookInfo) -> bool) {
        let wait = async {
            while !so(&self.info(id)) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_hours(24), wait).await;
        assert!(waited.is_ok(), "{what}: {:?}", self.info(id));
    }
}

/// Ends so many matches of an owner.
async fn end_of(matches: &Matches, count: usize, owner: Option<&str>) {
    for _ in 0..count {
        let owner = owner.map(|name| Owner::new(name).unwrap());
        let spec = MatchSpec { owner, ..spec(Preset::Sackson, 2, DealSpec::Joint) };
        matches.cancel(create_one(matches, spec).await.match_id).await.unwrap();
    }
}

fn result(number: u64) -> ResultNumber {
    ResultNumber::new(number)
}

/// A webhook of all matches as it is stored.
fn stored(settled: u64) -> StoredWebhook {
    StoredWebhook {
        number: WebhookNumber::new(1),
        id: WebhookId::from_bytes([1; 16]),
        owner: None,
        url: WebhookUrl::new(URL).unwrap(),
        created_at: UnixMillis::new(0),
        settled: result(settled),
    }
}

fn dead(number: u64, state: DeadLetterState) -> DeadLetter {
    DeadLetter {
        result: result(number),
        attempts: 3,
        error: "HTTP 400".to_owned(),
        died_at: UnixMillis::new(0),
        state,
    }
}
