//! Tokens, and requests that are remembered by themselves.

use super::opening::without_rotations;
use super::*;
use crate::journal::{
    BodyHash, BotName, Caller, MetaKey, MetaValue, Owner, RequestId, RequestKey, RequestReused, Response,
    Scope, SecretHash, StoredToken, TokenChange, TokenId, TokenLabel, TokenNumber,
};

fn at(ms: u64) -> UnixMillis {
    UnixMillis::new(ms)
}

pub(super) fn token(number: u8, scope: Scope) -> StoredToken {
    StoredToken {
        number: TokenNumber::new(number.into()),
        id: TokenId::from_bytes([number; 16]),
        hash: SecretHash([number; 32]),
        scope,
        label: None,
        created_at: at(u64::from(number) * 1_000),
        expires_at: None,
        revoked_at: None,
        rotated_at: None,
    }
}

pub(super) fn change(now: u64, made: Option<&StoredToken>) -> TokenChange {
    TokenChange { made: made.cloned(), ..TokenChange::at(at(now)) }
}

pub(super) fn request(body: u8, response: &'static str) -> Request {
    let key = RequestKey {
        caller: Caller::new("admin").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([body; 32]),
    };
    Request { key, response: Response::new(response).unwrap() }
}

#[tokio::test]
async fn when_a_token_was_rotated_is_kept_until_the_token_is_forgotten() {
    let f = Fixture::new().await;
    let rex = || Scope::Bot(BotName::new("rex").unwrap());
    let made = [token(1, rex()), token(2, rex())];
    for made in &made {
        assert_eq!(f.journal.change_tokens(change(0, Some(made))).await, Outcome::Done(()));
    }
    // The first time counts.
    for now in [4_000, 5_000] {
        let rotated = TokenChange { rotated: vec![made[0].id], ..change(now, None) };
        assert_eq!(f.journal.change_tokens(rotated).await, Outcome::Done(()));
    }
    let f = f.reopen().await;
    let wanted = [StoredToken { rotated_at: Some(at(4_000)), ..made[0].clone() }, made[1].clone()];
    assert_eq!(f.journal.tokens().await.unwrap(), wanted);
    let forgotten = TokenChange { forgotten: vec![made[0].id], ..change(6_000, None) };
    assert_eq!(f.journal.change_tokens(forgotten).await, Outcome::Done(()));
    assert_eq!(f.journal.change_tokens(change(7_000, Some(&made[0]))).await, Outcome::Done(()));
    let f = f.reopen().await;
    assert_eq!(f.journal.tokens().await.unwrap(), made);
}

#[tokio::test]
async fn the_tokens_of_a_journal_that_knows_no_rotation_hold_and_can_be_rotated() {
    let f = Fixture::new().await;
    let made = token(1, Scope::Bot(BotName::new("rex").unwrap()));
    assert_eq!(f.journal.change_tokens(change(0, Some(&made))).await, Outcome::Done(()));
    let f = f
        .reopen_after(|database| {
            without_rotations(database);
            put_meta(database, "journal/schema", &8_u64.to_be_bytes());
        })
        .await;
    assert_eq!(f.journal.tokens().await.unwrap(), std::slice::from_ref(&made));
    let rotated = TokenChange { rotated: vec![made.id], ..change(4_000, None) };
    assert_eq!(f.journal.change_tokens(rotated).await, Outcome::Done(()));
    let f = f.reopen().await;
    assert_eq!(f.journal.tokens().await.unwrap()[0].rotated_at, Some(at(4_000)));
}

#[tokio::test]
async fn tokens_are_kept_as_they_were_made_until_they_are_revoked_or_forgotten() {
    let mut f = Fixture::new().await;
    let mut wanted = vec![
        token(1, Scope::Admin),
        StoredToken {
            label: Some(TokenLabel::new("a shop").unwrap()),
            expires_at: Some(at(9_000)),
            ..token(2, Scope::Owner(Owner::new("shop").unwrap()))
        },
        token(3, Scope::Bot(BotName::new("greedy").unwrap())),
    ];
    for made in &wanted {
        assert_eq!(f.journal.change_tokens(change(0, Some(made))).await, Outcome::Done(()));
    }
    f = f.reopen().await;
    assert_eq!(f.journal.tokens().await.unwrap(), wanted);

    // Revoked once, at the first time.
    for now in [4_000, 5_000] {
        let revoked = vec![wanted[1].id];
        let changed = f.journal.change_tokens(TokenChange { revoked, ..change(now, None) }).await;
        assert_eq!(changed, Outcome::Done(()));
    }
    wanted[1].revoked_at = Some(at(4_000));
    let made = token(4, Scope::Admin);
    let forgotten = vec![wanted.remove(0).id];
    let changed = f.journal.change_tokens(TokenChange { forgotten, ..change(6_000, Some(&made)) }).await;
    assert_eq!(changed, Outcome::Done(()));
    wanted.push(made);
    assert_eq!(f.journal.tokens().await.unwrap(), wanted);
    f = f.reopen().await;
    assert_eq!(f.journal.tokens().await.unwrap(), wanted);
}

#[tokio::test]
async fn a_change_of_tokens_by_a_request_of_another_body_changes_nothing() {
    let f = Fixture::new().await;
    let made = token(1, Scope::Admin);
    let named =
        |body, response| TokenChange { request: Some(request(body, response)), ..change(0, Some(&made)) };
    assert_eq!(f.journal.change_tokens(named(1, "first")).await, Outcome::Done(()));
    let other = token(2, Scope::Admin);
    let reused = TokenChange { made: Some(other), revoked: vec![made.id], ..named(2, "second") };
    assert_eq!(f.journal.change_tokens(reused).await, Outcome::Refused(RequestReused));
    assert_eq!(f.journal.tokens().await.unwrap(), [made]);
}

#[tokio::test]
async fn the_first_answer_to_a_request_is_remembered_for_its_time() {
    let mut f = Fixture::new().await;
    let first = Outcome::Done(Response::new("first").unwrap());
    assert_eq!(f.journal.remember(request(1, "first"), at(0)).await, first);
    assert_eq!(f.journal.remember(request(1, "second"), at(1)).await, first);
    f = f.reopen().await;
    let last = Request::KEPT_MS - 1;
    assert_eq!(f.journal.remember(request(1, "second"), at(last)).await, first);
    assert_eq!(f.journal.remember(request(2, "second"), at(last)).await, Outcome::Refused(RequestReused));
    let third = Outcome::Done(Response::new("third").unwrap());
    assert_eq!(f.journal.remember(request(2, "third"), at(last + 1)).await, third);
}

#[tokio::test]
async fn a_value_of_the_small_store_can_be_replaced() {
    let f = Fixture::new().await;
    let key = MetaKey::new("a key").unwrap();
    let value = |text: &'static str| MetaValue::new(text).unwrap();
    assert_eq!(f.journal.meta_or_insert(key.clone(), value("first")).await, Outcome::Done(value("first")));
    assert_eq!(f.journal.replace_meta(key.clone(), value("second")).await, Outcome::Done(()));
    let f = f.reopen().await;
    assert_eq!(f.journal.meta(key).await.unwrap(), Some(value("second")));
}

/// Takes the last row out of the only page of a table, by the number of rows that its header has.
fn lose_last_row(f: &Fixture, table: &str) {
    let database = f.database();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u64 = database.query_row(sql, [table], |row| row.get::<_, u32>(0)).unwrap().into();
    let bytes: u64 =
        database.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0)).unwrap().into();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(database);
    let mut file = std::fs::read(f.path()).unwrap();
    let rows = usize::try_from((page - 1) * bytes + 4).unwrap();
    file[rows] -= 1;
    std::fs::write(f.path(), file).unwrap();
}

#[tokio::test]
async fn when_a_rotation_is_lost_the_older_tokens_of_each_bot_are_taken_for_rotated_by_a_repair() {
    // The first of two rows is changed, or the page has one row less by its header: the second.
    for (damage, told_of) in
        [(Some("rotated_ms = rotated_ms + 1"), "rex"), (Some("seal = zeroblob(16)"), "rex"), (None, "hare")]
    {
        let f = Fixture::new().await;
        let bot = |name: &str| Scope::Bot(BotName::new(name).unwrap());
        let shop = Scope::Owner(Owner::new("shop").unwrap());
        let made = [
            token(1, bot("rex")),
            token(2, bot("rex")),
            token(3, bot("fido")),
            token(4, bot("hare")),
            token(5, bot("hare")),
            token(6, bot("hare")),
            token(7, shop.clone()),
            token(8, shop),
        ];
        for made in &made {
            assert_eq!(f.journal.change_tokens(change(0, Some(made))).await, Outcome::Done(()));
        }
        for (rotated, now) in [(0, 2_000), (4, 6_000)] {
            let rotated = TokenChange { rotated: vec![made[rotated].id], ..change(now, None) };
            assert_eq!(f.journal.change_tokens(rotated).await, Outcome::Done(()));
        }
        let revoked = TokenChange { revoked: vec![made[3].id], ..change(5_000, None) };
        assert_eq!(f.journal.change_tokens(revoked).await, Outcome::Done(()));
        f.journal.close().await;
        match damage {
            Some(change) => {
                let sql = format!("UPDATE rotated_tokens SET {change} WHERE rotated_ms = 2000");
                assert_eq!(f.database().execute(&sql, []).unwrap(), 1);
            }
            None => lose_last_row(&f, "rotated_tokens"),
        }
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        let told = |text: &str| repaired.lost.iter().filter(|lost| lost.contains(text)).count();
        let of_one = told(&format!("of the bot {told_of}"));
        assert_eq!((of_one, told("of the bot")), (1, 1), "{:?}", repaired.lost);
        let (journal, _) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
        let rotated: Vec<_> = journal
            .tokens()
            .await
            .unwrap()
            .into_iter()
            .map(|token| token.rotated_at.map(UnixMillis::get))
            .collect();
        assert_eq!(rotated, [Some(2_000), None, None, None, Some(6_000), None, None, None]);
        journal.close().await;
    }
}
