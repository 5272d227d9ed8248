//! Accounts of bots and of owners, each changed together with its tokens.

use super::opening::without_accounts;
use super::tokens::{change, request, token};
use super::*;
use crate::journal::{
    Account, AccountChange, AccountStore, Accounts, BotDescription, BotName, BotNumber, BotVersion,
    FaultContact, OpenError, Owner, RequestReused, Scope, StoredBot, StoredOwner, StoredToken, TokenChange,
};

fn bot(number: u64, name: &str) -> StoredBot {
    StoredBot {
        number: BotNumber::new(number),
        name: BotName::new(name).unwrap(),
        owner: Owner::new("kennel").unwrap(),
        description: None,
        version: None,
        fault_contact: None,
        created_at: UnixMillis::new(1_000),
        retired_at: None,
    }
}

fn owner(name: &str) -> StoredOwner {
    StoredOwner { name: Owner::new(name).unwrap(), created_at: UnixMillis::new(2_000) }
}

fn token_of(number: u8, name: &str) -> StoredToken {
    token(number, Scope::Bot(BotName::new(name).unwrap()))
}

async fn changed(f: &Fixture, account: Account, tokens: TokenChange) {
    let outcome = f.journal.change_account(AccountChange { account, tokens }).await;
    assert_eq!(outcome, Outcome::Done(()));
}

#[tokio::test]
async fn accounts_and_their_tokens_are_kept_as_they_are() {
    let f = Fixture::new().await;
    let first = token_of(1, "rex");
    let rex = StoredBot {
        description: Some(BotDescription::new("a careful bot").unwrap()),
        version: Some(BotVersion::new("1.0").unwrap()),
        fault_contact: Some(FaultContact::new("rex@example.com").unwrap()),
        ..bot(1, "rex")
    };
    changed(&f, Account::Bot(rex.clone()), change(1_000, Some(&first))).await;
    changed(&f, Account::Owner(owner("kennel")), change(2_000, None)).await;
    changed(&f, Account::Bot(bot(2, "fido")), change(3_000, None)).await;
    let f = f.reopen().await;
    let mut wanted = Accounts { bots: vec![rex.clone(), bot(2, "fido")], owners: vec![owner("kennel")] };
    assert_eq!(f.journal.accounts().await.unwrap(), wanted);
    assert_eq!(f.journal.tokens().await.unwrap(), std::slice::from_ref(&first));

    let retired = StoredBot { version: None, retired_at: Some(UnixMillis::new(9_000)), ..rex };
    let void = TokenChange { revoked: vec![first.id], ..change(9_000, None) };
    changed(&f, Account::Bot(retired.clone()), void).await;
    let f = f.reopen().await;
    wanted.bots[0] = retired;
    assert_eq!(f.journal.accounts().await.unwrap(), wanted);
    assert_eq!(f.journal.tokens().await.unwrap()[0].revoked_at, Some(UnixMillis::new(9_000)));
}

#[tokio::test]
async fn of_a_change_that_is_refused_or_fails_nothing_is_written() {
    let f = Fixture::new().await;
    let made = token_of(1, "rex");
    let named = |body| TokenChange { request: Some(request(body, "its id")), ..change(0, Some(&made)) };
    changed(&f, Account::Bot(bot(1, "rex")), named(1)).await;
    let before = (f.journal.accounts().await.unwrap(), f.journal.tokens().await.unwrap());

    let other = TokenChange { made: Some(token_of(2, "fido")), ..named(2) };
    let reused = AccountChange { account: Account::Bot(bot(2, "fido")), tokens: other };
    assert_eq!(f.journal.change_account(reused).await, Outcome::Refused(RequestReused));
    // Another bot of the same name, and another owner.
    for account in [Account::Bot(bot(2, "rex")), Account::Owner(owner("kennel"))] {
        if matches!(account, Account::Owner(_)) {
            changed(&f, account.clone(), change(0, None)).await;
        }
        let tokens = change(0, Some(&token_of(3, "rex")));
        let twice = f.journal.change_account(AccountChange { account: account.clone(), tokens }).await;
        assert!(matches!(twice, Outcome::Failed(_)), "{account:?}: {twice:?}");
    }
    let f = f.reopen().await;
    assert_eq!(f.journal.accounts().await.unwrap().bots, before.0.bots);
    assert_eq!(f.journal.tokens().await.unwrap(), before.1);
}

#[tokio::test]
async fn an_account_that_is_not_as_it_was_written_stops_the_start_and_is_left_out_by_a_repair() {
    let bots = ("registered_bots", "rex", "register it again, and to retire it if it was retired");
    let owners = ("registered_owners", "kennel", "does not count any more");
    let cases = [
        ("UPDATE registered_bots SET owner = 'thief' WHERE bot_number = 1", bots),
        ("UPDATE registered_bots SET retired_ms = NULL WHERE bot_number = 1", bots),
        ("UPDATE registered_owners SET created_ms = 1 WHERE owner = 'kennel'", owners),
    ];
    for (damage, (table, name, follows)) in cases {
        let f = Fixture::new().await;
        f.created([1]).await;
        let retired = StoredBot { retired_at: Some(UnixMillis::new(5_000)), ..bot(1, "rex") };
        for account in [retired, bot(2, "fido")] {
            changed(&f, Account::Bot(account), change(0, None)).await;
        }
        for name in ["kennel", "stable"] {
            changed(&f, Account::Owner(owner(name)), change(0, None)).await;
        }
        f.journal.close().await;
        assert_eq!(f.database().execute(damage, []).unwrap(), 1);
        let found = SqliteJournal::check(f.folder.path()).unwrap();
        assert!(
            matches!(found.damage, Some(OpenError::Damaged { what }) if what.contains(table)),
            "{damage}"
        );
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        let told = [table, name, follows];
        let is_told = |lost: &String| told.iter().all(|told| lost.contains(told));
        assert!(repaired.lost.iter().any(is_told), "{:?}", repaired.lost);
        let (journal, recovery) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
        assert_eq!(recovery.unfinished, 1);
        let left = journal.accounts().await.unwrap();
        assert!(left.bots.contains(&bot(2, "fido")) && left.owners.contains(&owner("stable")));
        assert_eq!(left.bots.len() + left.owners.len(), 3, "{damage}");
        journal.close().await;
    }
}

#[tokio::test]
async fn a_journal_without_accounts_gets_them_and_keeps_its_tokens() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let made = token_of(1, "rex");
    assert_eq!(f.journal.change_tokens(change(0, Some(&made))).await, Outcome::Done(()));
    let f = f
        .reopen_after(|database| {
            without_accounts(database);
            put_meta(database, "journal/schema", &6_u64.to_be_bytes());
        })
        .await;
    assert_eq!(f.recovery.unfinished, 1);
    assert_eq!(f.journal.accounts().await.unwrap(), Accounts::default());
    assert_eq!(f.journal.tokens().await.unwrap(), [made]);
    changed(&f, Account::Bot(bot(1, "rex")), change(0, None)).await;
    let f = f.reopen().await;
    assert_eq!(f.journal.accounts().await.unwrap().bots, [bot(1, "rex")]);
}
