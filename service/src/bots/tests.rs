//! Accounts over a journal in a folder: whose bots are whose, names, bounds, tokens, and what a restart finds.

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

use super::{
    BotAccount, BotChanges, BotError, BotFilter, BotSpec, BotState, Bots, ListedState, OldTokens, Rotated,
    Said, Settings,
};
use crate::access::{
    Access, AccessError, Bearer, BearerToken, Pass, TokenError, TokenFilter, TokenSpec, VoidTokens,
};
use crate::config::OpenRegistration;
use crate::journal::{
    AccountChange, AccountStore, Accounts, BodyHash, BotDescription, BotName, BotVersion, Caller,
    FaultContact, Journal, Options, Outcome, Owner, ReadError, RequestId, RequestKey, RequestReused,
    Rotation, Scope, SqliteJournal, TokenId,
};
use crate::limits;
use crate::matches::{InLiveMatches, SystemClock};

/// How long a test waits for what must come.
const SOON: Duration = Duration::from_mins(5);

/// Whoever asks gets an account; two owners of two bots each.
fn open() -> Settings {
    Settings {
        open_registration: OpenRegistration::On,
        max_registered_owners: 2,
        max_bots_per_owner: 2,
        named_owners: BTreeSet::from([named("invited")]),
        quota: Quota::new(3, 500).unwrap(),
    }
}

struct World {
    folder: TempDir,
    journal: Arc<SqliteJournal>,
    access: Arc<Access>,
    clock: Arc<SystemClock>,
    bots: Bots,
}

impl World {
    async fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap(), open()).await
    }

    async fn on(folder: TempDir, settings: Settings) -> Self {
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
    async fn slowly(&self) -> (Arc<SlowPast>, Bots) {
        let journal = Arc::clone(&self.journal);
        let (begun, let_go) = (watch::Sender::new(0), Semaphore::new(0));
        let past = Arc::new(SlowPast { journal, begun, let_go });
        let (store, clock) = (Arc::<SlowPast>::clone(&past), Arc::<SystemClock>::clone(&self.clock));
        let bots = Bots::open(store, Arc::clone(&self.access), clock, open()).await.unwrap();
        (past, bots)
    }

    async fn restart(self) -> Self {
        self.journal.close().await;
        Self::on(self.folder, open()).await
    }

    fn pass(&self, token: &BearerToken) -> Result<Pass, AccessError> {
        self.access.pass(Some(token.expose()))
    }

    async fn register(&self, owner: &str, bot: &str) -> Result<(Arc<BotAccount>, BearerToken), BotError> {
        self.register_by(Some(&named(owner)), spec(bot), None).await
    }

    /// Registers a bot by a name that no match has which is not over.
    async fn register_by(
        &self,
        caller: Option<&Owner>,
        spec: BotSpec,
        request: Option<RequestKey>,
    ) -> Result<(Arc<BotAccount>, BearerToken), BotError> {
        self.bots.register(caller, spec, InLiveMatches::No, request).await
    }

    async fn register_owner(&self, owner: &str) -> Result<BearerToken, BotError> {
        self.bots.register_owner(named(owner), InLiveMatches::No).await
    }

    async fn token(&self, scope: Scope) -> Result<BearerToken, TokenError> {
        let spec = TokenSpec { scope: Some(scope), label: None, expires_at: None, replaces: None };
        Ok(self.bots.create_token(spec, None).await?.1)
    }

    /// The tokens that hold.
    fn held(&self) -> Vec<TokenId> {
        let filter = TokenFilter { scope: None, void: VoidTokens::LeftOut };
        self.access.tokens().list(&filter, None, 100).into_iter().map(|token| token.id).collect()
    }
}

/// Accounts in a journal, of which what is asked about the past is answered when the test lets it.
struct SlowPast {
    journal: Arc<SqliteJournal>,
    /// How often it was asked.
    begun: watch::Sender<usize>,
    /// One permit for each answer.
    let_go: Semaphore,
}

impl SlowPast {
    async fn wait(&self) {
        self.begun.send_modify(|begun| *begun += 1);
        self.let_go.acquire().await.unwrap().forget();
    }

    /// When it was asked so often.
    async fn is_asked(&self, times: usize) {
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

fn named(owner: &str) -> Owner {
    Owner::new(owner).unwrap()
}

fn name(bot: &str) -> BotName {
    BotName::new(bot).unwrap()
}

fn spec(bot: &str) -> BotSpec {
    BotSpec { name: name(bot), owner: None, description: None, version: None, fault_contact: None }
}

fn key(body: u8) -> RequestKey {
    RequestKey {
        caller: Caller::new("owner:kennel").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([body; 32]),
    }
}

fn is_cut(pass: &Pass) -> bool {
    pass.clone().voided().now_or_never().is_some()
}

fn names(bots: &Bots, filter: &BotFilter) -> Vec<String> {
    bots.list(filter, None, 100).iter().map(|bot| bot.name.to_string()).collect()
}

#[tokio::test]
async fn a_bot_is_as_it_was_registered_and_changed_after_a_restart_too() {
    let world = World::new().await;
    let rex = BotSpec {
        description: Some(BotDescription::new("a careful bot").unwrap()),
        fault_contact: Some(FaultContact::new("rex@example.com").unwrap()),
        ..spec("rex")
    };
    let (bot, secret) = world.register_by(Some(&named("kennel")), rex, None).await.unwrap();
    assert_eq!((bot.number, bot.state, bot.quota), (1, BotState::Active, open().quota));
    assert_eq!(world.pass(&secret).unwrap().bearer(), &Bearer::Bot(name("rex")));
    world.register("kennel", "fido").await.unwrap();

    let changes = BotChanges {
        version: Said::Now(Some(BotVersion::new("1.1").unwrap())),
        description: Said::Now(None),
        ..BotChanges::default()
    };
    let updated = world.bots.update(Some(&named("kennel")), &name("rex"), changes).await.unwrap();
    assert_eq!(updated.description, None);
    assert_eq!(updated.version, Some(BotVersion::new("1.1").unwrap()));
    assert_eq!((&updated.fault_contact, updated.created_at), (&bot.fault_contact, bot.created_at));
    let world = world.restart().await;
    assert_eq!(world.bots.get(&name("rex")), Some(updated));
    assert!(world.pass(&secret).is_ok());
    assert_eq!(names(&world.bots, &BotFilter::default()), ["fido", "rex"]);
}

#[tokio::test]
async fn a_bot_is_changed_by_its_owner_and_the_admin_alone() {
    let world = World::new().await;
    world.register("kennel", "rex").await.unwrap();
    let (rival, rex) = (named("rival"), name("rex"));
    let caller = Some(&rival);
    assert!(matches!(world.bots.rotate(caller, &rex, OldTokens::PlayOn).await, Err(BotError::NotFound)));
    assert!(matches!(world.bots.retire(caller, &rex).await, Err(BotError::NotFound)));
    let changes = BotChanges::default();
    assert!(matches!(world.bots.update(caller, &rex, changes).await, Err(BotError::NotFound)));
    assert!(world.bots.own(caller, &rex).is_none() && world.bots.own(None, &rex).is_some());
    world.bots.rotate(None, &rex, OldTokens::PlayOn).await.unwrap();
    let anothers = BotSpec { owner: Some(rival.clone()), ..spec("tom") };
    let refused = world.register_by(Some(&named("kennel")), anothers.clone(), None).await;
    assert!(matches!(refused, Err(BotError::OtherOwner)));
    assert!(matches!(world.register_by(None, spec("tom"), None).await, Err(BotError::NoOwner)));
    let (tom, _) = world.register_by(None, anothers, None).await.unwrap();
    assert_eq!(tom.owner, rival);
}

#[tokio::test]
async fn a_rotation_says_until_when_the_old_token_plays_on_and_that_it_does_not() {
    let world = World::new().await;
    let (rex, owner) = (name("rex"), named("kennel"));
    let (_, first) = world.register("kennel", "rex").await.unwrap();
    let until =
        |world: &World, token| world.pass(token).unwrap().bot_token().unwrap().rotation.unwrap().until;
    let rotated = world.bots.rotate(Some(&owner), &rex, OldTokens::PlayOn).await.unwrap();
    assert_eq!(rotated.plays_on_until, Some(until(&world, &first)));
    let voided = world.bots.rotate(Some(&owner), &rex, OldTokens::Void).await.unwrap();
    assert_eq!(voided.plays_on_until, None);
}

#[tokio::test]
async fn a_rotation_can_void_every_token_of_the_bot_at_once_and_no_other() {
    let world = World::new().await;
    let (_, first) = world.register("kennel", "rex").await.unwrap();
    let (_, other) = world.register("kennel", "fido").await.unwrap();
    let second = world.token(Scope::Bot(name("rex"))).await.unwrap();
    let passes = [world.pass(&first).unwrap(), world.pass(&second).unwrap()];
    let Rotated { secret: third, .. } =
        world.bots.rotate(Some(&named("kennel")), &name("rex"), OldTokens::Void).await.unwrap();
    assert!(passes.iter().all(is_cut));
    assert!(world.pass(&first).is_err() && world.pass(&second).is_err());
    let world = world.restart().await;
    assert!(world.pass(&first).is_err() && world.pass(&third).is_ok() && world.pass(&other).is_ok());
}

#[tokio::test]
async fn a_rotated_token_plays_on_after_a_restart_too_until_the_next_rotation_or_the_end_of_its_bot() {
    let world = World::new().await;
    let (rex, owner) = (name("rex"), named("kennel"));
    let (_, first) = world.register("kennel", "rex").await.unwrap();
    let (_, other) = world.register("kennel", "fido").await.unwrap();
    let Rotated { secret: second, .. } =
        world.bots.rotate(Some(&owner), &rex, OldTokens::PlayOn).await.unwrap();
    let rotation = |world: &World, token| {
        let rotation = world.pass(token).unwrap().bot_token().unwrap().rotation;
        rotation.map(|Rotation { at, until, .. }| (at, until))
    };
    let told = rotation(&world, &first).unwrap();
    let world = world.restart().await;
    assert_eq!(rotation(&world, &first), Some(told));
    assert_eq!([rotation(&world, &second), rotation(&world, &other)], [None; 2]);

    let passes = [world.pass(&first).unwrap(), world.pass(&second).unwrap()];
    let Rotated { secret: third, .. } =
        world.bots.rotate(Some(&owner), &rex, OldTokens::PlayOn).await.unwrap();
    assert!(is_cut(&passes[0]) && world.pass(&first).is_err(), "it played on by the rotation before");
    assert!(!is_cut(&passes[1]) && rotation(&world, &second).is_some());

    world.bots.retire(Some(&owner), &rex).await.unwrap();
    let world = world.restart().await;
    for (token, is_void) in [(&first, true), (&second, true), (&third, true), (&other, false)] {
        assert_eq!(world.pass(token).is_err(), is_void);
    }
}

#[tokio::test]
async fn a_registration_that_comes_again_after_a_rotation_makes_no_other_token() {
    let world = World::new().await;
    let owner = named("kennel");
    let register = || world.register_by(Some(&owner), spec("rex"), Some(key(1)));
    let (_, first) = register().await.unwrap();
    world.bots.rotate(Some(&owner), &name("rex"), OldTokens::PlayOn).await.unwrap();
    assert!(is_taken(&register().await));
    assert!(world.pass(&first).unwrap().bot_token().unwrap().rotation.is_some(), "it plays on");
}

#[tokio::test]
async fn a_retired_bot_has_no_token_and_its_name_is_nobodys_for_ever() {
    let world = World::new().await;
    let (_, secret) = world.register("kennel", "rex").await.unwrap();
    let owner = named("kennel");
    let pass = world.pass(&secret).unwrap();
    let retired = world.bots.retire(Some(&owner), &name("rex")).await.unwrap();
    assert!(matches!(retired.state, BotState::Retired(_)) && is_cut(&pass));
    let mut world = world;
    for _ in 0..2 {
        assert!(world.pass(&secret).is_err());
        assert_eq!(world.bots.retire(Some(&owner), &name("rex")).await.unwrap(), retired);
        for caller in [Some(&owner), Some(&named("rival")), None] {
            let spec = BotSpec { owner: caller.is_none().then(|| owner.clone()), ..spec("rex") };
            let again = world.register_by(caller, spec, None).await;
            assert!(matches!(again, Err(BotError::NameTaken { .. })), "{caller:?}");
        }
        assert!(matches!(
            world.bots.rotate(None, &name("rex"), OldTokens::PlayOn).await,
            Err(BotError::Retired(_))
        ));
        let changes = BotChanges::default();
        assert!(matches!(world.bots.update(None, &name("rex"), changes).await, Err(BotError::Retired(_))));
        let token = world.token(Scope::Bot(name("rex"))).await;
        assert!(matches!(token, Err(TokenError::BotRetired(_))));
        world = world.restart().await;
    }
    let state = Some(ListedState::Retired);
    assert_eq!(names(&world.bots, &BotFilter { owner: Some(owner), state }), ["rex"]);
    assert!(names(&world.bots, &BotFilter { owner: None, state: Some(ListedState::Active) }).is_empty());
}

#[tokio::test]
async fn a_token_of_a_retired_bot_is_replaced_by_none() {
    let world = World::new().await;
    world.register("kennel", "rex").await.unwrap();
    let spec = |scope, replaces| TokenSpec { scope, label: None, expires_at: None, replaces };
    let (token, _) = world.bots.create_token(spec(Some(Scope::Bot(name("rex"))), None), None).await.unwrap();
    world.bots.retire(None, &name("rex")).await.unwrap();
    let refused = world.bots.create_token(spec(None, Some(token.id)), None).await;
    assert!(matches!(refused, Err(TokenError::BotRetired(_))));
}

#[tokio::test]
async fn of_a_request_that_comes_again_only_the_last_token_holds() {
    let world = World::new().await;
    let owner = named("kennel");
    let register = |body| world.register_by(Some(&owner), spec("rex"), Some(key(body)));
    let (bot, first) = register(1).await.unwrap();
    let (again, second) = register(1).await.unwrap();
    assert_eq!(bot, again);
    assert!(world.pass(&first).is_err() && world.pass(&second).is_ok());
    assert!(matches!(register(2).await, Err(BotError::Token(TokenError::RequestReused))));
    assert!(matches!(world.register("kennel", "rex").await, Err(BotError::NameTaken { .. })));
    world.bots.retire(None, &name("rex")).await.unwrap();
    assert!(matches!(register(1).await, Err(BotError::Retired(_))));
}

#[tokio::test]
async fn a_name_that_tokens_were_made_for_is_registered_by_the_admin_alone() {
    let world = World::new().await;
    let token = world.token(Scope::Bot(name("rex"))).await.unwrap();
    assert!(matches!(world.register("kennel", "rex").await, Err(BotError::NameTaken { .. })));
    let spec = BotSpec { owner: Some(named("kennel")), ..spec("rex") };
    let (_, secret) = world.register_by(None, spec, None).await.unwrap();
    assert!(world.pass(&token).is_ok() && world.pass(&secret).is_ok());
}

#[tokio::test]
async fn an_owner_has_so_many_bots_and_no_more() {
    let world = World::new().await;
    for bot in ["rex", "fido"] {
        world.register("kennel", bot).await.unwrap();
    }
    let refused = world.register("kennel", "tom").await;
    assert!(matches!(refused, Err(BotError::TooMany { limit: 2, .. })), "{refused:?}");
    world.register("rival", "tom").await.unwrap();
    world.bots.retire(None, &name("rex")).await.unwrap();
    world.register("kennel", "max").await.unwrap();
}

#[tokio::test]
async fn names_that_an_owner_has_retired_count_in_the_end() {
    let world = World::new().await;
    for number in 0..limits::MAX_BOTS_EVER_PER_OWNER {
        let bot = format!("bot-{number}");
        world.register("kennel", &bot).await.unwrap();
        world.bots.retire(None, &name(&bot)).await.unwrap();
    }
    let refused = world.register("kennel", "one-more").await;
    let limit = limits::MAX_BOTS_EVER_PER_OWNER;
    assert!(matches!(refused, Err(BotError::TooMany { limit: most, .. }) if most == limit), "{refused:?}");
    world.register("rival", "one-more").await.unwrap();
}

#[tokio::test]
async fn owners_register_themselves_only_where_that_is_open() {
    let closed = Settings { open_registration: OpenRegistration::Off, ..open() };
    let world = World::on(tempfile::tempdir().unwrap(), closed).await;
    assert!(matches!(world.register_owner("kennel").await, Err(BotError::Closed)));

    let world = World::new().await;
    let secret = world.register_owner("kennel").await.unwrap();
    assert_eq!(world.pass(&secret).unwrap().bearer(), &Bearer::Owner(named("kennel")));
    world.register_owner("stable").await.unwrap();
    let world = world.restart().await;
    assert!(world.pass(&secret).is_ok());
    let refused = world.register_owner("barn").await;
    assert!(matches!(refused, Err(BotError::TooMany { limit: 2, .. })), "{refused:?}");
}

#[tokio::test]
async fn nobody_registers_by_the_name_of_an_owner_that_there_is() {
    let world = World::new().await;
    world.token(Scope::Owner(named("shop"))).await.unwrap();
    let spec = BotSpec { owner: Some(named("kennel")), ..spec("rex") };
    world.register_by(None, spec, None).await.unwrap();
    world.register_owner("stable").await.unwrap();
    for taken in ["shop", "kennel", "stable"] {
        let refused = world.register_owner(taken).await;
        assert!(matches!(refused, Err(BotError::NameTaken { .. })), "{taken}");
    }
}

#[tokio::test]
async fn nobody_registers_by_a_name_that_the_configuration_means_somebody_by() {
    let world = World::new().await;
    let refused = world.register_owner("invited").await;
    assert!(matches!(&refused, Err(BotError::NameKept(name)) if name.as_str() == "invited"), "{refused:?}");
    // The admin makes that owner.
    world.token(Scope::Owner(named("invited"))).await.unwrap();
    assert!(matches!(world.register_owner("invited").await, Err(BotError::NameKept(_))));
    world.register("invited", "rex").await.unwrap();
    world.register_owner("stable").await.unwrap();
}

#[tokio::test]
async fn nobody_registers_as_an_owner_of_house_bots_whichever_there_are() {
    let world = World::new().await;
    for name in ["house", "house-greedy", "house-of-tomorrow"] {
        let refused = world.register_owner(name).await;
        assert!(matches!(&refused, Err(BotError::NameKept(kept)) if kept.as_str() == name), "{refused:?}");
    }
    world.register_owner("housemate").await.unwrap();
    world.register("house-greedy", "greedy").await.unwrap();
}

#[tokio::test]
async fn bots_are_listed_by_page_the_latest_first() {
    let world = World::new().await;
    for (owner, bot) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")] {
        world.register(owner, bot).await.unwrap();
    }
    let page = |owner: Option<&str>, before, most| -> Vec<u64> {
        let filter = BotFilter { owner: owner.map(named), state: None };
        world.bots.list(&filter, before, most).iter().map(|bot| bot.number).collect()
    };
    assert_eq!(page(None, None, 2), [4, 3, 2], "one more tells that there is more");
    assert_eq!(page(None, Some(3), 2), [2, 1]);
    assert_eq!(page(Some("a"), None, 2), [3, 1]);
    assert_eq!(page(Some("a"), Some(3), 2), [1]);
    assert_eq!(page(Some("nobody"), None, 2), [0; 0]);
}

fn is_taken<T>(answer: &Result<T, BotError>) -> bool {
    matches!(answer, Err(BotError::NameTaken { .. }))
}

#[tokio::test]
async fn a_registration_that_comes_again_after_its_token_is_void_makes_no_other() {
    let world = World::new().await;
    let owner = named("kennel");
    let register = |bot, body| world.register_by(Some(&owner), spec(bot), Some(key(body)));
    register("rex", 1).await.unwrap();
    let Rotated { secret: rotated, .. } =
        world.bots.rotate(Some(&owner), &name("rex"), OldTokens::Void).await.unwrap();
    let held = world.held();
    let again = register("rex", 1).await;
    assert!(is_taken(&again), "{again:?}");
    assert!(world.pass(&rotated).is_ok() && world.held() == held);

    // Nor is a token that the admin has revoked given anew.
    world.access.tokens().revoke(held[0]).await.unwrap();
    assert!(is_taken(&register("rex", 1).await) && world.held().is_empty());
}

#[tokio::test]
async fn a_name_in_a_match_that_runs_is_given_to_nobody_who_asks() {
    let world = World::new().await;
    let owner = named("kennel");
    let register = |caller, spec, request| world.bots.register(caller, spec, InLiveMatches::Yes, request);
    assert!(is_taken(&register(Some(&owner), spec("rex"), None).await));
    assert!(is_taken(&world.bots.register_owner(named("shop"), InLiveMatches::Yes).await));
    let by_admin = BotSpec { owner: Some(owner.clone()), ..spec("rex") };
    register(None, by_admin, None).await.unwrap();

    // One's own bot may play before the answer to its registration is heard.
    let first = world.register_by(Some(&owner), spec("fido"), Some(key(1))).await.unwrap();
    let again = register(Some(&owner), spec("fido"), Some(key(1))).await.unwrap();
    assert_eq!(again.0, first.0);
}

#[tokio::test]
async fn nobody_waits_while_the_past_of_a_name_is_read() {
    let world = World::new().await;
    let (past, bots) = world.slowly().await;
    let owners = bots.clone();
    let stable = tokio::spawn(async move { owners.register_owner(named("stable"), InLiveMatches::No).await });
    past.is_asked(1).await;
    let others = bots.clone();
    let kennel = named("kennel");
    let rex = async move { others.register(Some(&kennel), spec("rex"), InLiveMatches::No, None).await };
    let rex = tokio::spawn(rex);
    past.is_asked(2).await;
    let fido = BotSpec { owner: Some(named("barn")), ..spec("fido") };
    let registered = bots.register(None, fido, InLiveMatches::No, None);
    timeout(SOON, registered).await.expect("it waits for no other").unwrap();
    past.let_go.add_permits(2);
    stable.await.unwrap().unwrap();
    rex.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_memory_refuses_is_looked_up_nowhere() {
    let world = World::new().await;
    world.token(Scope::Owner(named("shop"))).await.unwrap();
    world.token(Scope::Bot(name("rex"))).await.unwrap();
    let (past, bots) = world.slowly().await;
    past.let_go.add_permits(10);
    let owner = async |name| bots.register_owner(named(name), InLiveMatches::No).await;
    assert!(is_taken(&owner("shop").await));
    let rex = bots.register(Some(&named("kennel")), spec("rex"), InLiveMatches::No, None).await;
    assert!(is_taken(&rex), "{rex:?}");
    assert_eq!(*past.begun.borrow(), 0);
    owner("stable").await.unwrap();
    owner("barn").await.unwrap();
    assert_eq!(*past.begun.borrow(), 2);
    assert!(matches!(owner("loft").await, Err(BotError::TooMany { limit: 2, .. })));
    assert_eq!(*past.begun.borrow(), 2);
}

#[tokio::test]
async fn of_those_who_register_by_one_name_at_once_one_has_it() {
    let world = World::new().await;
    let (past, bots) = world.slowly().await;
    let ask = || {
        let bots = bots.clone();
        tokio::spawn(async move { bots.register_owner(named("stable"), InLiveMatches::No).await })
    };
    let asked = [ask(), ask()];
    past.is_asked(2).await;
    past.let_go.add_permits(2);
    let mut answers = Vec::new();
    for asked in asked {
        answers.push(asked.await.unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(answers.iter().filter(|answer| is_taken(answer)).count(), 1);
}
