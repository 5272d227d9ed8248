//! Stored tokens: what becomes of them when the journal fails, when they expire, and when there are too many.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;

use super::{Bearer, Pass, TokenError, TokenFilter, TokenSpec, Tokens, VoidTokens};
use crate::journal::{
    BodyHash, Caller, Journal, Owner, RequestId, RequestKey, Scope, SecretHash, StoredToken, TokenChange,
    TokenId, TokenNumber, UnixMillis,
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

async fn open(journal: &FakeJournal) -> Arc<Tokens> {
    Tokens::open(Arc::new(journal.clone()), Arc::new(TestClock(Instant::now()))).await.unwrap()
}

fn shop() -> Scope {
    Scope::Owner(Owner::new("shop").unwrap())
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
async fn the_oldest_void_tokens_make_room_and_no_others() {
    let journal = FakeJournal::new();
    let most = u64::try_from(limits::MAX_TOKENS).unwrap();
    let id = |number: u64| TokenId::from_bytes(u128::from(number).to_be_bytes());
    let revoked = [7, 5_000];
    for number in 1..=most {
        let made = StoredToken {
            number: TokenNumber::new(number),
            id: id(number),
            hash: SecretHash([0; 32]),
            scope: shop(),
            label: None,
            created_at: UnixMillis::new(BEGIN),
            expires_at: None,
            revoked_at: revoked.contains(&number).then_some(UnixMillis::new(BEGIN)),
        };
        let change = TokenChange {
            now: UnixMillis::new(BEGIN),
            made: Some(made),
            revoked: Vec::new(),
            forgotten: Vec::new(),
            request: None,
        };
        assert_eq!(journal.change_tokens(change).await, crate::journal::Outcome::Done(()));
    }
    let tokens = open(&journal).await;
    for number in revoked {
        tokens.create(spec(), None).await.unwrap();
        assert!(matches!(tokens.revoke(id(number)).await, Err(TokenError::NotFound)), "token {number}");
    }
    assert!(matches!(
        tokens.create(spec(), None).await,
        Err(TokenError::TooMany { limit: limits::MAX_TOKENS })
    ));
    tokens.revoke(id(1)).await.unwrap();
    tokens.create(spec(), None).await.unwrap();
}
