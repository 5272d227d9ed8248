//! Accounts to test with, and a journal that tells of the past when the test lets it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use zetema_ladder::quota::Quota;

use crate::access::{Access, AccessError, BearerToken, Pass, TokenError, TokenFilter, TokenSpec, VoidTokens};
use crate::bots::{BotAccount, BotError, BotSpec, Bots, Settings};
use crate::config::OpenRegistration;
use crate::journal::{
    AccountChange, AccountStore, Accounts, BodyHash, BotName, Caller, Journal, Options, Outcome, Owner,
    ReadError, RequestId, RequestKey, RequestReused, Scope, SqliteJournal, TokenId,
};
use crate::matches::{InLiveMatches, SystemClock};

/// How long a test waits for what must come.
pub(super) const SOON: Duration = Duration::from_mins(5);

/// Whoever asks gets an account; two owners of two bots each.
pub(super) fn open() -> Settings {
    Settings {
        open_registration: OpenRegistration::On,
        max_registered_owners: 2,
        max_bots_per_owner: 2,
        named_owners: BTreeSet::from([named("invited")]),
        quota: Quota::new(3, 500).unwrap(),
    }
}

pub(super) struct World {
    folder: TempDir,
    journal: Arc<SqliteJournal>,
    pub(super) access: Arc<Access>,
    clock: Arc<SystemClock>,
    pub(super) bots: Bots,
}

impl World {
    pub(super) async fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap(), open()).await
    }

    pub(super) async fn on(folder: TempDir, settings: Settings) -> Self {
        let path: &Path = folder.path();
        let journal = Arc::new(SqliteJournal::open(path, Options::default()).await.unwrap().0);
        let clock = Arc::new(SystemClock::new());
        let access =
            Access::open(Arc::<SqliteJournal>::clone(&journal), Arc::<SystemClock>::clone(&clock), path);
        let access = Arc::new(access.await.unwrap());
        let store = Arc::<SqliteJournal>::clone(&journal);
        let bots = Bots::open(store, Arc::clone(&access), Arc::<SystemClock>::clone(&clock), settings).await;
        Self { journal, access, clock, bots: bots.unwrap(), folder }
    }

    /// The same accounts, of which the past is read when the test lets it.
    pub(super) async fn slowly(&self) -> (Arc<SlowPast>, Bots) {
        let journal = Arc::clone(&self.journal);
        let (begun, let_go) = (watch::Sender::new(0), Semaphore::new(0));
        let past = Arc::new(SlowPast { journal, begun, let_go });
        let (store, clock) = (Arc::<SlowPast>::clone(&past), Arc::<SystemClock>::clone(&self.clock));
        let bots = Bots::open(store, Arc::clone(&self.access), clock, open()).await.unwrap();
        (past, bots)
    }

    pub(super) async fn restart(self) -> Self {
        self.journal.close().await;
        Self::on(self.folder, open()).await
    }

    pub(super) fn pass(&self, token: &BearerToken) -> Result<Pass, AccessError> {
        self.access.pass(Some(token.expose()))
    }

    pub(super) async fn register(
        &self,
        owner: &str,
        bot: &str,
    ) -> Result<(Arc<BotAccount>, BearerToken), BotError> {
        self.register_by(Some(&named(owner)), spec(bot), None).await
    }

    /// Registers a bot by a name that no match has which is not over.
    pub(super) async fn register_by(
        &self,
        caller: Option<&Owner>,
        spec: BotSpec,
        request: Option<RequestKey>,
    ) -> Result<(Arc<BotAccount>, BearerToken), BotError> {
        self.bots.register(caller, spec, InLiveMatches::No, request).await
    }

    pub(super) async fn register_owner(&self, owner: &str) -> Result<BearerToken, BotError> {
        self.bots.register_owner(named(owner), InLiveMatches::No).await
    }

    pub(super) async fn token(&self, scope: Scope) -> Result<BearerToken, TokenError> {
        let spec = TokenSpec { scope: Some(scope), label: None, expires_at: None, replaces: None };
        Ok(self.bots.create_token(spec, None).await?.1)
    }

    /// The tokens that hold.
    pub(super) fn held(&self) -> Vec<TokenId> {
        let filter = TokenFilter { scope: None, void: VoidTokens::LeftOut };
        self.access.tokens().list(&filter, None, 100).into_iter().map(|token| token.id).collect()
    }
}

/// Accounts in a journal, of which what is asked about the past is answered when the test lets it.
pub(super) struct SlowPast {
    journal: Arc<SqliteJournal>,
    /// How often it was asked.
    pub(super) begun: watch::Sender<usize>,
    /// One permit for each answer.
    pub(super) let_go: Semaphore,
}

impl SlowPast {
    async fn wait(&self) {
        self.begun.send_modify(|begun| *begun += 1);
        self.let_go.acquire().await.unwrap().forget();
    }

    /// When it was asked so often.
    pub(super) async fn is_asked(&self, times: usize) {
        let mut begun = self.begun.subscribe();
        timeout(SOON, begun.wait_for(|&begun| begun == times)).await.expect("it is asked soon").unwrap();
    }
}

#[async_trait]
impl AccountStore for SlowPast {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        self.journal.accounts().await
    }

    async fn has_left_traces(&self, owner: Owner) -> Result<bool, ReadError> {
        self.wait().await;
        self.journal.has_left_traces(owner).await
    }

    async fn has_played(&self, bot: BotName) -> Result<bool, ReadError> {
        self.wait().await;
        self.journal.has_played(bot).await
    }

    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused> {
        self.journal.change_account(change).await
    }
}

pub(super) fn named(owner: &str) -> Owner {
    Owner::new(owner).unwrap()
}

pub(super) fn name(bot: &str) -> BotName {
    BotName::new(bot).unwrap()
}

pub(super) fn spec(bot: &str) -> BotSpec {
    BotSpec { name: name(bot), owner: None, description: None, version: None, fault_contact: None }
}

pub(super) fn key(body: u8) -> RequestKey {
    RequestKey {
        caller: Caller::new("owner:kennel").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([body; 32]),
    }
}

pub(super) fn is_cut(pass: &Pass) -> bool {
    pass.clone().voided().now_or_never().is_some()
}

pub(super) fn is_taken<T>(answer: &Result<T, BotError>) -> bool {
    matches!(answer, Err(BotError::NameTaken { .. }))
}
