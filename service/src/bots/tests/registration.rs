//! Who registers by which name, how many there may be, and what is looked up in the past.

use tokio::time::timeout;

use super::harness::*;
use crate::access::Bearer;
use crate::bots::{BotError, BotSpec, Settings};
use crate::config::OpenRegistration;
use crate::journal::Scope;
use crate::limits;
use crate::matches::InLiveMatches;

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
