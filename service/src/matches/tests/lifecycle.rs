//! From the creation to the record.

use std::time::Duration;

use zetema_rules::fair::{Nonce, NonceHash, ServerSeed};
use zetema_rules::{AbortReason, Outcome, Preset, Step};
use zetema_rules::{NamedTimeControl, TimeControl};

use super::fake::FakeJournal;
use super::harness::*;
use crate::encoding::decode_record;
use crate::journal::{BodyHash, Caller, PageSize, Reader, RequestId, RequestKey};
use crate::matches::{CreateError, Limits, ListCursor, ListFilter};
use crate::table::{Choice, DealSpec, MatchSpec, MatchStage, Rejection, SeatState, TableEvent};

#[tokio::test]
async fn a_joint_match_is_played_to_a_record_that_verifies() {
    for (preset, players) in
        [(Preset::Sackson, 2), (Preset::Victorian, 3), (Preset::Quick, 4), (Preset::Parlett, 6)]
    {
        let journal = FakeJournal::new();
        let matches = open(&journal).await;
        let info = create_one(&matches, spec(preset, players, DealSpec::Joint)).await;
        assert_eq!(info.stage, MatchStage::WaitingForSeats);
        assert_eq!(matches.record(info.match_id).await, Err(Rejection::NotRevealed));
        let observed = play_all(&matches, &info).await;
        let file = matches.record(info.match_id).await.unwrap();
        let (record, header) = decode_record(&file.record).unwrap();
        record.verify().unwrap();
        assert_eq!(header.match_id, info.match_id.to_string());
        assert_eq!(record.dealing.commitment, info.commitment);
        assert!(record.dealing.entrants.iter().all(|entrant| entrant.hash.is_some()));
        let last = observed[0].last().unwrap();
        assert_eq!(last.events, [TableEvent::Revealed { server_seed: record.dealing.server_seed.clone() }]);
        assert_eq!(matches.get(info.match_id).await.unwrap().outcome, Some(record.outcome));
        matches.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_can_wait_for_a_seat_until_its_last_joins() {
    for (timeout_ms, waits_ms) in [(1_000, 500), (20_000, 10_000), (600_000, 590_000)] {
        let matches = open(&FakeJournal::new()).await;
        let decisions = TimeControl::named(NamedTimeControl::None).decisions();
        let time_control = TimeControl::new(timeout_ms, decisions).unwrap();
        let spec = MatchSpec { time_control, ..spec(Preset::Quick, 3, DealSpec::Joint) };
        let info = create_one(&matches, spec).await;
        let id = info.match_id;
        matches.join(id, access(0), None).await.unwrap();
        let can_wait = || [0, 1, 2].map(|index| matches.can_wait_for(id, seat(index)));
        assert_eq!(can_wait(), [false, true, true], "who has joined is let in again");
        // Beside the slack that is left to what is on its way.
        tokio::time::sleep(Duration::from_millis(waits_ms - 10)).await;
        assert_eq!(can_wait(), [false, true, true], "{timeout_ms}");
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(can_wait(), [false, false, false], "{timeout_ms}");
        matches.join(id, access(1), None).await.unwrap();
        matches.join(id, access(2), None).await.unwrap();
        let stage = matches.get(id).await.unwrap().stage;
        assert!(stage != MatchStage::WaitingForSeats && stage != MatchStage::Aborted, "{stage:?}");
        matches.stop().await;
    }
}

#[tokio::test]
async fn a_fixed_match_is_dealt_by_its_seed_without_nonces() {
    let matches = open(&FakeJournal::new()).await;
    let seed = ServerSeed::new(std::array::from_fn(|i| u8::try_from(i).unwrap()));
    let info = create_one(&matches, spec(Preset::Sackson, 3, DealSpec::Fixed(seed.clone()))).await;
    assert_eq!(info.commitment, seed.commitment());
    let observed = play_all(&matches, &info).await;
    assert!(matches!(observed[0][0].events[0], TableEvent::Game(_)), "the first thing is the deal");
    let file = matches.record(info.match_id).await.unwrap();
    decode_record(&file.record).unwrap().0.verify().unwrap();
}

#[tokio::test]
async fn nonces_come_in_when_all_have_joined_and_the_first_one_stands() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let nonce = |text: &str| Nonce::new(text.as_bytes()).unwrap();
    matches.join(id, access(0), Some(nonce("alice").hash())).await.unwrap();
    assert_eq!(matches.send_nonce(id, access(0), nonce("alice")).await, Err(Rejection::NonceNotWanted));
    let other = matches.join(id, access(0), Some(NonceHash([1; 32]))).await;
    assert_eq!(other, Err(Rejection::NonceFixed));
    matches.join(id, access(0), None).await.unwrap();
    matches.join(id, access(1), None).await.unwrap();
    assert_eq!(matches.get(id).await.unwrap().stage, MatchStage::WaitingForNonces);
    assert_eq!(matches.send_nonce(id, access(1), nonce("bob")).await, Err(Rejection::NonceNotWanted));
    assert_eq!(matches.send_nonce(id, access(0), nonce("mallory")).await, Err(Rejection::NonceMismatch));
    assert_eq!(
        matches.act(id, access(0), 1, Choice::LegalIndex(0)).await,
        Err(Rejection::NotStarted),
        "before the deal nobody acts"
    );
    assert_eq!(matches.resign(id, access(0)).await, Err(Rejection::NotStarted));
    matches.send_nonce(id, access(0), nonce("alice")).await.unwrap();
    matches.send_nonce(id, access(0), nonce("alice")).await.unwrap();
    assert_eq!(matches.send_nonce(id, access(0), nonce("mallory")).await, Err(Rejection::NonceFixed));
    assert_eq!(matches.get(id).await.unwrap().stage, MatchStage::Playing);
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_does_not_join_is_a_no_show_and_the_seed_is_revealed() {
    let matches = open(&FakeJournal::new()).await;
    let mut wanted = spec(Preset::Sackson, 3, DealSpec::Joint);
    wanted.time_control = TimeControl::new(1_000, NamedTimeControl::None.decisions()).unwrap();
    let info = create_one(&matches, wanted).await;
    matches.join(info.match_id, access(1), None).await.unwrap();
    let (observations, _) = drain(&mut observe(&matches, info.match_id, 1, None).await).await;
    let outcome = Outcome::Aborted { reason: AbortReason::NoShow, seats: vec![seat(0), seat(2)] };
    assert!(matches!(observations[0].events[1], TableEvent::Revealed { .. }));
    assert_eq!(matches.get(info.match_id).await.unwrap().outcome, Some(outcome));
    let (record, _) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
    record.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_keeps_its_nonce_back_ends_the_match() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    matches.join(info.match_id, access(0), Some(NonceHash([1; 32]))).await.unwrap();
    matches.join(info.match_id, access(1), None).await.unwrap();
    drain(&mut observe(&matches, info.match_id, 1, None).await).await;
    let outcome = Outcome::Aborted { reason: AbortReason::NonceMissing, seats: vec![seat(0)] };
    assert_eq!(matches.get(info.match_id).await.unwrap().outcome, Some(outcome));
}

#[tokio::test(start_paused = true)]
async fn a_match_that_nobody_plays_ends_by_the_idle_limit() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    drain(&mut observe(&matches, info.match_id, 0, None).await).await;
    let outcome = Outcome::Aborted { reason: AbortReason::Idle, seats: Vec::new() };
    assert_eq!(matches.get(info.match_id).await.unwrap().outcome, Some(outcome));
    let (record, _) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
    record.verify().unwrap();
    assert_eq!(record.deals.len(), 1);
}

#[tokio::test]
async fn a_cancelled_match_is_cancelled_once() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let cancelled = matches.cancel(info.match_id).await.unwrap();
    assert_eq!(cancelled.stage, MatchStage::Aborted);
    assert_eq!(matches.cancel(info.match_id).await.unwrap(), cancelled);
    assert_eq!(
        matches.send_nonce(info.match_id, access(0), Nonce::EMPTY).await,
        Err(Rejection::NonceNotWanted)
    );
    assert_eq!(
        matches.act(info.match_id, access(0), 1, Choice::LegalIndex(0)).await,
        Err(Rejection::MatchOver)
    );
}

#[tokio::test]
async fn of_two_a_resignation_ends_the_match_at_once() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let seq = matches.resign(info.match_id, access(0)).await.unwrap();
    assert_eq!(matches.resign(info.match_id, access(0)).await, Ok(seq), "resigning again changes nothing");
    assert_eq!(matches.resign(info.match_id, access(1)).await, Err(Rejection::MatchOver));
    let after = matches.get(info.match_id).await.unwrap();
    let Some(Outcome::Result(result)) = after.outcome else { panic!("{after:?}") };
    assert_eq!(result.ranks[..2], [2, 1]);
    assert_eq!(after.seats[0].state, SeatState::Forfeited);
}

#[tokio::test]
async fn of_three_a_resigned_seat_is_played_on_by_the_server() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 3, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    matches.resign(info.match_id, access(2)).await.unwrap();
    let players = [0, 1].map(|index| tokio::spawn(play_joined(matches.clone(), info.match_id, index)));
    for player in players {
        player.await.unwrap();
    }
    let (record, _) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
    record.verify().unwrap();
    let by_server = record
        .steps
        .iter()
        .filter(|step| matches!(step, Step::Play { by: zetema_rules::PlayedBy::Autoplay, .. }));
    assert!(by_server.clone().count() > 5);
    assert!(by_server.into_iter().all(|step| step.seat() == seat(2)));
}

#[tokio::test]
async fn a_request_that_comes_again_gets_the_same_matches_even_from_a_full_server() {
    let limits = Limits { live_matches: 3, ..Limits::default() };
    let matches = open_with(FakeJournal::new(), limits).await;
    let key = |hash: u8| {
        Some(RequestKey {
            caller: Caller::new("admin").unwrap(),
            request_id: RequestId::new("one").unwrap(),
            body_hash: BodyHash([hash; 32]),
        })
    };
    let specs = || vec![spec(Preset::Sackson, 2, DealSpec::Joint); 3];
    let first = matches.create(specs(), key(1)).await.unwrap();
    join_all(&matches, &first[0]).await;
    assert_eq!(matches.create(specs(), key(1)).await.unwrap(), first);
    assert_eq!(matches.create(specs(), key(2)).await, Err(CreateError::RequestReused));
    assert_eq!(matches.create(specs(), None).await, Err(CreateError::TooManyMatches { limit: 3 }));
    assert_eq!(matches.live(), 3);
}

#[tokio::test]
async fn lists_show_what_runs_and_then_what_is_over_page_by_page() {
    let matches = open(&FakeJournal::new()).await;
    let infos = matches.create(vec![spec(Preset::Sackson, 2, DealSpec::Joint); 5], None).await.unwrap();
    for info in &infos[..2] {
        matches.cancel(info.match_id).await.unwrap();
    }
    let filter = |stages: &[MatchStage]| ListFilter {
        reader: Reader::Anyone,
        stages: stages.to_vec(),
        client_reference: None,
    };
    for (stages, expected) in [
        (&[][..], 5),
        (&[MatchStage::WaitingForSeats], 3),
        (&[MatchStage::Aborted], 2),
        (&[MatchStage::Finished], 0),
    ] {
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = matches.list(&filter(stages), cursor, PageSize::new(2).unwrap()).await.unwrap();
            assert!(page.matches.len() <= 2);
            seen.extend(page.matches.iter().map(|info| info.match_id));
            let Some(next) = page.next else { break };
            assert_eq!(next.to_string().parse::<ListCursor>(), Ok(next));
            cursor = Some(next);
        }
        assert_eq!(seen.len(), expected, "{stages:?}");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), expected, "none twice");
    }
}
