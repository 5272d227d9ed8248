//! The tokens of bots: which hold after a rotation, and when a request comes again.

use super::harness::*;
use crate::access::{TokenError, TokenSpec};
use crate::bots::{BotError, OldTokens, Rotated};
use crate::journal::{Rotation, Scope};

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
