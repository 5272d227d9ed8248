//! Servers that would choose the deal, and what the seats say of it.

use zetema_proto::{Wire, v1};
use zetema_rules::fair::{Nonce, NonceHash, ServerSeed};
use zetema_rules::{AbortReason, DealingKind, Outcome, Seat};

use v1::play_response::Kind as Response;

use super::broken::about_to_say;
use super::server::Server;
use super::world::World;
use super::{played, rules};
use crate::deal_check::{DealCheck, DealError, Unchecked};
use crate::end::End;
use crate::error::Error;
use crate::session::{Key, Records};
use crate::token::SeatToken;

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

/// The hash that the session's seat joins with.
fn sent(world: &World, index: usize) -> NonceHash {
    let claim = SeatToken::from(Server::token(seat(index))).into();
    world.settings.nonce_secret.nonce(&claim).hash()
}

/// A nonce that the operator has chosen.
fn chosen() -> Nonce {
    Nonce::new(b"the operator's").unwrap()
}

/// The operator sends its nonce in the name of a seat.
fn give_chosen_nonce(world: &mut World, index: u32) {
    let nonce = v1::GiveNonce { nonce: chosen().to_wire() };
    let kind = Some(v1::play_request::Kind::Nonce(nonce));
    world.server.receive(v1::PlayRequest { tag: 0, handle: index + 1, kind });
}

/// Seat 0 joins with its hash, and the server shows this one in its place, or none, to everybody.
fn seat_0_shown_with(hash: Option<NonceHash>, records: Records) -> World {
    let mut world = World::new(rules(2), records);
    world.play(seat(0));
    world.run();
    world.server.first_mut().replace_hash(0, hash);
    world.play(seat(1));
    world
}

fn check_replaced(hash: Option<NonceHash>, records: Records) {
    let mut world = seat_0_shown_with(hash, records);
    world.run();
    if hash.is_some() {
        give_chosen_nonce(&mut world, 0);
        world.run();
    }
    let outcome = &world.outcomes[&Key(1)];
    assert!(matches!(outcome.end, End::Result(_)), "the match goes on: {outcome}");
    let own = DealError::OwnHash { sent: sent(&world, 0), shown: hash };
    assert_eq!(outcome.deal, DealCheck::Failed(own));
    assert_eq!(outcome.faults, []);
    assert_eq!(world.outcomes[&Key(2)].deal, DealCheck::Verified, "its own nonce is there");
}

#[test]
fn a_server_that_shows_no_hash_or_its_own_for_a_seat_that_sent_one_is_found_out() {
    for records in [Records::Checked, Records::Ignored] {
        check_replaced(None, records);
        check_replaced(Some(chosen().hash()), records);
    }
}

#[test]
fn a_seat_that_is_stopped_before_the_reveal_has_found_it_out_too() {
    let mut world = seat_0_shown_with(None, Records::Checked);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.core.stop();
    world.run();
    let outcome = &world.outcomes[&Key(1)];
    assert_eq!(outcome.end, End::Stopped);
    let own = DealError::OwnHash { sent: sent(&world, 0), shown: None };
    assert_eq!(outcome.deal, DealCheck::Failed(own));
}

/// A match of three whose seat 2 is a friend of the operator's, and joins with this hash. When the others have sent their nonces the server says
/// that what they saw is lost, and changes something; then the friend sends its nonce.
fn check_loss(friends_hash: NonceHash, change: impl FnOnce(&mut World), expected: &DealCheck) {
    let mut world = World::new(rules(3), Records::Checked);
    world.server.tables.clear();
    world.server.create(|table| table.with_house(seat(2)));
    world.server.first_mut().replace_hash(2, Some(friends_hash));
    world.play(seat(0));
    world.play(seat(1));
    world.run();
    for index in 0..2 {
        let table = world.server.first_mut();
        assert_eq!(table.observations(index).len(), 1, "the nonces are wanted");
        table.lose_observations(index, 1);
    }
    change(&mut world);
    world.cut();
    world.run();
    give_chosen_nonce(&mut world, 2);
    world.run();
    for key in [Key(1), Key(2)] {
        let outcome = &world.outcomes[&key];
        assert!(matches!(outcome.end, End::Result(_)), "the match goes on: {outcome}");
        assert_eq!(outcome.deal, *expected);
    }
}

#[test]
fn a_loss_before_the_deal_is_no_fraud() {
    check_loss(chosen().hash(), |_| {}, &DealCheck::Verified);
}

#[test]
fn a_server_that_takes_another_seed_when_it_knows_the_nonces_is_found_out() {
    let (first, later) = (ServerSeed::new([9; 32]), ServerSeed::new([8; 32]));
    let error = DealError::OtherCommitment { first: first.commitment(), later: later.commitment() };
    check_loss(chosen().hash(), |world| world.server.first_mut().seed = later, &DealCheck::Failed(error));
}

#[test]
fn a_friend_of_the_server_that_changes_its_hash_when_it_knows_the_nonces_is_found_out() {
    let error = DealError::OtherSetup { what: "set of nonce hashes" };
    let another = Nonce::new(b"the friend's").unwrap().hash();
    let change = |world: &mut World| world.server.first_mut().replace_hash(2, Some(chosen().hash()));
    check_loss(another, change, &DealCheck::Failed(error));
}

#[test]
fn a_match_that_goes_on_after_its_end_was_shown_is_no_match() {
    let mut world = World::new(rules(2), Records::Checked);
    world.server.first_mut().claim_to_be_over();
    world.play_all(rules(2));
    world.run();
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Failed(Error::Protocol { .. })), "{outcome}");
    }
    assert_eq!(world.outcomes.len(), 2);
}

/// In the place of what the seats saw, which would be compared with no record then.
#[test]
fn a_server_that_begins_anew_for_who_asks_for_what_is_after_a_cursor_is_none() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    world.run_some(60);
    world.server.first_mut().begin_anew();
    world.cut();
    world.run();
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Failed(Error::Protocol { .. })), "{outcome}");
    }
    assert_eq!(world.outcomes.len(), 2);
}

#[test]
fn a_server_that_chooses_the_cards_and_says_so_is_not_verified() {
    let world = played(2, |world| world.server.first_mut().fix_deals());
    assert_eq!(world.outcomes.len(), 2);
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        assert_eq!(outcome.deal, DealCheck::Unchecked(Unchecked::Fixed));
        assert_eq!(outcome.info.as_ref().unwrap().deals, DealingKind::Fixed, "its bot could know");
    }
}

#[test]
fn a_server_that_tells_a_seat_another_end_than_it_saw_is_found_out() {
    let told = Outcome::Aborted { reason: AbortReason::Cancelled, seats: Vec::new() };
    for records in [Records::Checked, Records::Ignored] {
        let mut world = World::new(rules(2), records);
        world.play_all(rules(2));
        about_to_say(&mut world, |response| {
            let Some(Response::End(end)) = &mut response.kind else { return None };
            (response.handle == 1).then(|| end.outcome = Some(told.to_wire()))
        });
        world.run();
        let End::Result(result) = world.outcomes[&Key(2)].end else { panic!("{}", world.outcomes[&Key(2)]) };
        assert_eq!(world.outcomes[&Key(2)].deal, DealCheck::Verified);
        let other = DealError::OtherEnd { seen: Some(Outcome::Result(result)), told: told.clone() };
        assert_eq!(world.outcomes[&Key(1)].deal, DealCheck::Failed(other));
    }
}
