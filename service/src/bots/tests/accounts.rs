//! What a bot's account shows and whom it obeys, while it is there and when it is retired.

use super::harness::*;
use crate::access::{Bearer, TokenError};
use crate::bots::{BotChanges, BotError, BotFilter, BotSpec, BotState, Bots, ListedState, OldTokens, Said};
use crate::journal::{BotDescription, BotVersion, FaultContact, Scope};

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
