//! Stored tokens: what becomes of them when the journal fails, when they expire, and when there are too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use tokio::time::Instant;

use super::{
    AccountTokens, Bearer, MadeBefore, Pass, TokenError, TokenFilter, TokenSpec, Tokens, VoidTokens,
};
use crate::journal::{
    Account, AccountChange, AccountStore, Accounts, BodyHash, BotName, Caller, Journal, Outcome, Owner,
    ReadError, RequestId, RequestKey, RequestReused, Scope, SecretHash, StoredOwner, StoredToken,
    TokenChange, TokenId, TokenNumber, UnixMillis,
};
use crate::limits;
use crate::matches::Clock;
use crate::matches::tests::fake::{FakeJournal, Fate};
use crate::table::Moment;

const BEGIN: u64 = 1_700_000_000_000;

/// A wall clock that goes with tokio's time, which a test may pause.
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Moment {
        Moment::since_start(self.0.elapsed())
    }

    fn wall(&self) -> UnixMillis {
        UnixMillis::new(BEGIN + u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

/// A wall clock that a test sets.
struct SetClock(AtomicU64);

impl SetClock {
    fn set(&self, ms: u64) {
        self.0.store(BEGIN + ms, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Moment {
        Moment::since_start(Duration::ZERO)
    }

    fn wall(&self) -> UnixMillis {
        UnixMillis::new(self.0.load(Ordering::SeqCst))
    }
}

/// Accounts of which only the tokens are kept.
struct TokensOfAccounts(FakeJournal);

#[async_trait]
impl AccountStore for TokensOfAccounts {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        Ok(Accounts::default())
    }

    async fn has_left_traces(&self, _: Owner) -> Result<bool, ReadError> {
        Ok(false)
    }

    async fn has_played(&self, _: BotName) -> Result<bool, ReadError> {
        Ok(false)
    }

    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused> {
        self.0.change_tokens(change.tokens).await
    }
}

fn an_account() -> Account {
    let created_at = UnixMillis::new(BEGIN);
    Account::Owner(StoredOwner { name: Owner::new("kennel").unwrap(), created_at })
}

async fn open(journal: &FakeJournal) -> Arc<Tokens> {
    Tokens::open(Arc::new(journal.clone()), Arc::new(TestClock(Instant::now()))).await.unwrap()
}

fn shop() -> Scope {
    Scope::Owner(Owner::new("shop").unwrap())
}

fn bot(name: &str) -> Scope {
    Scope::Bot(BotName::new(name).unwrap())
}

fn spec() -> TokenSpec {
    TokenSpec { scope: Some(shop()), label: None, expires_at: None, replaces: None }
}

fn is_cut(pass: &Pass) -> bool {
    pass.clone().voided().now_or_never().is_some()
}

fn listed(tokens: &Arc<Tokens>) -> Vec<TokenId> {
    let filter = TokenFilter { scope: None, void: VoidTokens::LeftOut };
    tokens.list(&filter, None, 100).into_iter().map(|token| token.id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_revocation_counts_when_it_is_durable_whatever_the_journal_answers() {
    let cases = [(Fate::Fails, false), (Fate::LostUnknown, false), (Fate::WrittenUnknown, true)];
    for (fate, is_durable) in cases {
        let journal = FakeJournal::new();
        let tokens = open(&journal).await;
        let (token, secret) = tokens.create(spec(), None).await.unwrap();
        let pass = tokens.pass(secret.expose()).unwrap();
        assert_eq!(pass.bearer(), &Bearer::Owner(Owner::new("shop").unwrap()));
        journal.doom(&[fate]);
        assert!(matches!(tokens.revoke(token.id).await, Err(TokenError::OutcomeUnknown)), "{fate:?}");
        assert_eq!(is_cut(&pass), is_durable, "{fate:?}");
        assert_eq!(tokens.pass(secret.expose()).is_none(), is_durable, "{fate:?}");
        let revoked = tokens.revoke(token.id).await.unwrap();
        assert!(revoked.revoked_at.is_some() && is_cut(&pass), "{fate:?}");
        assert!(tokens.pass(secret.expose()).is_none() && listed(&tokens).is_empty(), "{fate:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_revocation_that_can_not_be_read_back_is_found_by_the_next_change() {
    let journal = FakeJournal::new();
    let tokens = open(&journal).await;
    let (token, secret) = tokens.create(spec(), None).await.unwrap();
    let pass = tokens.pass(secret.expose()).unwrap();
    journal.doom(&[Fate::WrittenUnknown]);
    journal.blind(2);
    assert!(matches!(tokens.revoke(token.id).await, Err(TokenError::OutcomeUnknown)));
    assert!(matches!(tokens.create(spec(), None).await, Err(TokenError::OutcomeUnknown)));
    let (other, _) = tokens.create(spec(), None).await.unwrap();
    assert!(is_cut(&pass));
    assert_eq!(listed(&tokens), [other.id]);
}

#[tokio::test(start_paused = true)]
async fn of_a_request_that_comes_again_only_the_last_token_holds() {
    for fate in [None, Some(Fate::Fails), Some(Fate::LostUnknown), Some(Fate::WrittenUnknown)] {
        let journal = FakeJournal::new();
        let tokens = open(&journal).await;
        let key = RequestKey {
            caller: Caller::new("admin").unwrap(),
            request_id: RequestId::new("one").unwrap(),
            body_hash: BodyHash([1; 32]),
        };
        let (_, first) = tokens.create(spec(), Some(key.clone())).await.unwrap();
        if let Some(fate) = fate {
            journal.doom(&[fate]);
            let again = tokens.create(spec(), Some(key.clone())).await;
            assert!(matches!(again, Err(TokenError::OutcomeUnknown)), "{fate:?}");
        }
        let (last, secret) = tokens.create(spec(), Some(key.clone())).await.unwrap();
        assert!(tokens.pass(first.expose()).is_none(), "{fate:?}");
        assert!(tokens.pass(secret.expose()).is_some(), "{fate:?}");
        assert_eq!(listed(&tokens), [last.id], "{fate:?}");
        let other = RequestKey { body_hash: BodyHash([2; 32]), ..key };
        assert!(matches!(tokens.create(spec(), Some(other)).await, Err(TokenError::RequestReused)));
        // What was read back is what another opening finds.
        assert_eq!(listed(&open(&journal).await), [last.id], "{fate:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_request_made_is_known_after_its_answer_was_lost_too() {
    let journal = FakeJournal::new();
    let tokens = open(&journal).await;
    let key = RequestKey {
        caller: Caller::new("owner:kennel").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([1; 32]),
    };
    assert_eq!(tokens.before(&key).await.unwrap(), MadeBefore::Nothing);
    journal.doom(&[Fate::WrittenUnknown]);
    journal.blind(1);
    let store = TokensOfAccounts(journal.clone());
    let given = AccountTokens::Given(bot("rex"));
    let lost = tokens.change_account(&store, an_account(), given, Some(key.clone())).await;
    assert!(matches!(lost, Err(TokenError::OutcomeUnknown)));
    assert_eq!(tokens.before(&key).await.unwrap(), MadeBefore::Held);
    let [made] = listed(&tokens)[..] else { panic!("one token was made") };
    tokens.revoke(made).await.unwrap();
    assert_eq!(tokens.before(&key).await.unwrap(), MadeBefore::Revoked);
}

#[tokio::test(start_paused = true)]
async fn a_token_holds_until_its_expiry_and_not_a_moment_longer() {
    let tokens = open(&FakeJournal::new()).await;
    let expiring = |ms| TokenSpec { expires_at: Some(UnixMillis::new(BEGIN + ms)), ..spec() };
    assert!(matches!(tokens.create(expiring(0), None).await, Err(TokenError::Expired)));
    // Longer than one look at the wall clock.
    let life = 3_600_000;
    let (token, secret) = tokens.create(expiring(life), None).await.unwrap();
    let begun = Instant::now();
    let pass = tokens.pass(secret.expose()).unwrap();
    tokio::time::advance(Duration::from_millis(life - 1)).await;
    assert!(!is_cut(&pass) && tokens.pass(secret.expose()).is_some());
    pass.clone().voided().await;
    assert_eq!(begun.elapsed(), Duration::from_millis(life));
    assert!(tokens.pass(secret.expose()).is_none() && listed(&tokens).is_empty());
    // One that has expired may be replaced: the new one has the same scope.
    let replacing = TokenSpec { scope: None, replaces: Some(token.id), ..spec() };
    assert_eq!(tokens.create(replacing, None).await.unwrap().0.scope, shop());
}

#[tokio::test(start_paused = true)]
async fn a_rotated_token_plays_on_for_a_day_and_not_a_moment_longer() {
    let journal = FakeJournal::new();
    let (tokens, store) = (open(&journal).await, TokensOfAccounts(journal.clone()));
    let change = async |of_account| {
        tokens.change_account(&store, an_account(), of_account, None).await.unwrap().secret.unwrap()
    };
    let first = change(AccountTokens::Given(bot("rex"))).await;
    let pass = tokens.pass(first.expose()).unwrap();
    assert_eq!((pass.bot_token().unwrap().rotation, pass.clone().rotated().now_or_never()), (None, None));
    let begun = Instant::now();
    let second = change(AccountTokens::Rotated(bot("rex"))).await;
    let rotation = tokens.pass(first.expose()).unwrap().bot_token().unwrap().rotation;
    assert!(rotation.is_some() && pass.bot_token().unwrap().rotation == rotation);
    assert_eq!(pass.clone().rotated().now_or_never(), rotation);
    tokio::time::advance(limits::ROTATED_TOKEN_PLAYS_ON.saturating_sub(Duration::from_millis(1))).await;
    assert!(!is_cut(&pass) && tokens.pass(first.expose()).is_some());
    // Another server on the same journal gives it as long.
    let reopened = open(&journal).await;
    assert!(listed(&reopened).len() == listed(&tokens).len() && listed(&tokens).len() == 2);
    pass.clone().voided().await;
    assert_eq!(begun.elapsed(), limits::ROTATED_TOKEN_PLAYS_ON);
    assert!(tokens.pass(first.expose()).is_none() && tokens.pass(second.expose()).is_some());
}

/// The clocks of a machine, of which the wall clock is set back by so many milliseconds.
struct SetBack(Instant, AtomicU64);

impl Clock for SetBack {
    fn now(&self) -> Moment {
        Moment::since_start(self.0.elapsed())
    }

    fn wall(&self) -> UnixMillis {
        let shown = BEGIN + u64::try_from(self.0.elapsed().as_millis()).unwrap();
        UnixMillis::new(shown - self.1.load(Ordering::SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn a_rotated_token_is_void_after_a_day_also_where_the_clock_was_set_back() {
    let (journal, clock) = (FakeJournal::new(), Arc::new(SetBack(Instant::now(), AtomicU64::new(0))));
    let tokens = Tokens::open(Arc::new(journal.clone()), Arc::<SetBack>::clone(&clock)).await.unwrap();
    let store = TokensOfAccounts(journal.clone());
    let change = async |of_account| {
        tokens.change_account(&store, an_account(), of_account, None).await.unwrap().secret.unwrap()
    };
    tokio::time::advance(Duration::from_mins(5)).await;
    let first = change(AccountTokens::Given(bot("rex"))).await;
    let pass = tokens.pass(first.expose()).unwrap();
    change(AccountTokens::Rotated(bot("rex"))).await;
    clock.1.store(3_600_000, Ordering::SeqCst);
    let begun = Instant::now();
    tokio::time::advance(limits::ROTATED_TOKEN_PLAYS_ON.saturating_sub(Duration::from_millis(1))).await;
    assert!(!is_cut(&pass) && tokens.pass(first.expose()).is_some());
    pass.voided().await;
    assert_eq!(begun.elapsed(), limits::ROTATED_TOKEN_PLAYS_ON);
    assert!(tokens.pass(first.expose()).is_none());
}

/// The same, and each change takes its time.
struct Slow(TokensOfAccounts, Duration);

#[async_trait]
impl AccountStore for Slow {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        self.0.accounts().await
    }

    async fn has_left_traces(&self, owner: Owner) -> Result<bool, ReadError> {
        self.0.has_left_traces(owner).await
    }

    async fn has_played(&self, bot: BotName) -> Result<bool, ReadError> {
        self.0.has_played(bot).await
    }

    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused> {
        tokio::time::sleep(self.1).await;
        self.0.change_account(change).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_gets_while_its_rotation_is_on_its_way_to_the_disk_is_the_old_tokens() {
    let journal = FakeJournal::new();
    let slow = Duration::from_secs(3);
    let (tokens, store) = (open(&journal).await, Slow(TokensOfAccounts(journal.clone()), slow));
    let change = async |of_account| {
        tokens.change_account(&store, an_account(), of_account, None).await.unwrap().secret.unwrap()
    };
    let first = change(AccountTokens::Given(bot("rex"))).await;
    change(AccountTokens::Rotated(bot("rex"))).await;
    let margin = |tokens: &Tokens| {
        let rotation = tokens.pass(first.expose()).unwrap().bot_token().unwrap().rotation.unwrap();
        Duration::from_millis(rotation.last_match_at.get() - rotation.at.get())
    };
    assert_eq!(margin(&tokens), slow + limits::ROTATION_SETTLES);
    // Another change tells nothing anew, and a restart knows when the bot was rotated, not when it heard of it.
    tokio::time::advance(slow).await;
    change(AccountTokens::Given(bot("fido"))).await;
    assert_eq!(margin(&tokens), slow + limits::ROTATION_SETTLES);
    assert_eq!(margin(&*open(&journal).await), limits::ROTATION_SETTLES);
}

#[tokio::test(start_paused = true)]
async fn a_rotated_token_that_expires_earlier_is_void_then() {
    let journal = FakeJournal::new();
    let (tokens, store) = (open(&journal).await, TokensOfAccounts(journal.clone()));
    let expires_at = Some(UnixMillis::new(BEGIN + 60_000));
    let (_, first) =
        tokens.create(TokenSpec { scope: Some(bot("rex")), expires_at, ..spec() }, None).await.unwrap();
    let pass = tokens.pass(first.expose()).unwrap();
    let rotated = AccountTokens::Rotated(bot("rex"));
    tokens.change_account(&store, an_account(), rotated, None).await.unwrap();
    assert_eq!(pass.bot_token().unwrap().rotation.map(|rotation| rotation.until), expires_at);
    let begun = Instant::now();
    pass.voided().await;
    assert_eq!(begun.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn what_voids_the_tokens_of_an_account_voids_those_that_have_expired_too() {
    for of_account in [AccountTokens::Renewed, AccountTokens::Voided] {
        let (journal, clock) = (FakeJournal::new(), Arc::new(SetClock(AtomicU64::new(BEGIN))));
        let tokens = Tokens::open(Arc::new(journal.clone()), Arc::<SetClock>::clone(&clock)).await.unwrap();
        let expires_at = Some(UnixMillis::new(BEGIN + 10));
        let expiring = TokenSpec { scope: Some(bot("rex")), expires_at, ..spec() };
        let (_, secret) = tokens.create(expiring, None).await.unwrap();
        clock.set(20);
        let store = TokensOfAccounts(journal.clone());
        tokens.change_account(&store, an_account(), of_account(bot("rex")), None).await.unwrap();
        // The machine was ahead, and is set right.
        clock.set(5);
        assert!(tokens.pass(secret.expose()).is_none());
    }
}

fn id(number: u64) -> TokenId {
    TokenId::from_bytes(u128::from(number).to_be_bytes())
}

/// As many tokens as may be: for whom each is, by its number from 1, and which are revoked.
async fn full(scope: impl Fn(u64) -> Scope, is_revoked: impl Fn(u64) -> bool) -> FakeJournal {
    let journal = FakeJournal::new();
    for number in 1..=u64::try_from(limits::MAX_TOKENS).unwrap() {
        let made = StoredToken {
            number: TokenNumber::new(number),
            id: id(number),
            hash: SecretHash([0; 32]),
            scope: scope(number),
            label: None,
            created_at: UnixMillis::new(BEGIN),
            expires_at: None,
            revoked_at: is_revoked(number).then_some(UnixMillis::new(BEGIN)),
            rotated_at: None,
        };
        let change = TokenChange { made: Some(made), ..TokenChange::at(UnixMillis::new(BEGIN)) };
        assert_eq!(journal.change_tokens(change).await, Outcome::Done(()));
    }
    journal
}

fn is_full<T>(made: &Result<T, TokenError>) -> bool {
    matches!(made, Err(TokenError::TooMany { limit: limits::MAX_TOKENS }))
}

#[tokio::test(start_paused = true)]
async fn the_oldest_void_tokens_make_room_and_no_others() {
    let revoked = [7, 5_000];
    let tokens = open(&full(|_| shop(), |number| revoked.contains(&number)).await).await;
    for number in revoked {
        tokens.create(spec(), None).await.unwrap();
        assert!(matches!(tokens.revoke(id(number)).await, Err(TokenError::NotFound)), "token {number}");
    }
    assert!(is_full(&tokens.create(spec(), None).await));
    tokens.revoke(id(1)).await.unwrap();
    tokens.create(spec(), None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_last_token_of_a_name_is_never_forgotten() {
    // The names of another are the oldest, and void; all others are of a bot whose token is changed again and again.
    let scope = |number| match number {
        1 => bot("rex"),
        2 => shop(),
        3 | 5 => Scope::Admin,
        _ => bot("hare"),
    };
    let journal = full(scope, |number| number <= 6).await;
    let tokens = open(&journal).await;
    let made = |scope| tokens.create(TokenSpec { scope: Some(scope), ..spec() }, None);
    for gone in [3, 4, 5, 6] {
        made(bot("hare")).await.unwrap();
        assert!(tokens.scope(&id(gone)).is_none(), "token {gone}");
    }
    assert!(is_full(&made(bot("hare")).await));
    assert!(tokens.know_bot(&BotName::new("rex").unwrap()));
    assert!(tokens.know_owner(&Owner::new("shop").unwrap()));
    // Another of the same name takes its place.
    made(bot("rex")).await.unwrap();
    assert!(tokens.scope(&id(1)).is_none() && tokens.know_bot(&BotName::new("rex").unwrap()));
    assert_eq!(journal.tokens().await.unwrap().len(), limits::MAX_TOKENS);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_replaced_also_when_no_other_is_void() {
    let journal = full(|number| if number == 1 { bot("rex") } else { shop() }, |_| false).await;
    let tokens = open(&journal).await;
    assert!(is_full(&tokens.create(spec(), None).await));
    let replacing = TokenSpec { scope: None, replaces: Some(id(2)), ..spec() };
    tokens.create(replacing, None).await.unwrap();
    assert!(tokens.scope(&id(2)).is_none());
    let store = TokensOfAccounts(journal.clone());
    let changed = async |of_account| {
        tokens.change_account(&store, an_account(), of_account, None).await.unwrap().secret.unwrap()
    };
    let first = changed(AccountTokens::Renewed(bot("rex"))).await;
    let pass = tokens.pass(first.expose()).unwrap();
    assert!(tokens.scope(&id(1)).is_none());
    // One that would play on makes room too, and is void then.
    let second = changed(AccountTokens::Rotated(bot("rex"))).await;
    assert!(is_cut(&pass) && tokens.pass(first.expose()).is_none() && tokens.pass(second.expose()).is_some());
    assert_eq!(journal.tokens().await.unwrap().len(), limits::MAX_TOKENS);
}

#[tokio::test(start_paused = true)]
async fn void_tokens_take_no_place_from_one_that_plays_on_but_the_last_of_a_name() {
    let check = async |scope: fn(u64) -> Scope, plays_on| {
        let journal = full(scope, |number| number > 1).await;
        let (tokens, store) = (open(&journal).await, TokensOfAccounts(journal.clone()));
        let rotated = AccountTokens::Rotated(bot("rex"));
        // The last of the void ones of a name can't make room: whoever needs it has the old token void.
        let changed = tokens.change_account(&store, an_account(), rotated, None).await.unwrap();
        assert_eq!((tokens.scope(&id(1)).is_some(), changed.plays_on_until.is_some()), (plays_on, plays_on));
    };
    check(|number| if number == 1 { bot("rex") } else { bot("hare") }, true).await;
    check(|number| if number == 1 { bot("rex") } else { bot(&format!("hare-{number}")) }, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_token_plays_on_whoever_else_needs_a_place_for_theirs() {
    let scope = |number| match number {
        1 => bot("rex"),
        2 => bot("hare"),
        _ => shop(),
    };
    let journal = full(scope, |_| false).await;
    let rotation = TokenChange { rotated: vec![id(1)], ..TokenChange::at(UnixMillis::new(BEGIN)) };
    assert_eq!(journal.change_tokens(rotation).await, Outcome::Done(()));
    let (tokens, store) = (open(&journal).await, TokensOfAccounts(journal.clone()));
    assert!(is_full(&tokens.create(spec(), None).await));
    // There is no place for the old token of the next that is rotated.
    let rotated = AccountTokens::Rotated(bot("hare"));
    tokens.change_account(&store, an_account(), rotated, None).await.unwrap();
    assert!(tokens.scope(&id(1)).is_some() && tokens.scope(&id(2)).is_none());
    assert_eq!(journal.tokens().await.unwrap().len(), limits::MAX_TOKENS);
}
