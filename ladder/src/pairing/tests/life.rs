//! Joining, leaving, places, ends of matches, restarts, and what is refused.

use super::*;

fn joined(numbers: &[u64]) -> Queue {
    let mut queue = duel();
    for &number in numbers {
        queue.join(entrant(number), 0);
    }
    queue
}

#[test]
fn a_bot_has_as_many_matches_as_places_and_one_more_with_each_call() {
    let mut queue = duel();
    for bot in [1, 2] {
        queue.join(Entrant { places: places(2), ..entrant(bot) }, 0);
    }
    assert_eq!(queue.pair(10).len(), 1);
    assert_eq!(waiting(&queue), [(1, 10), (2, 10)]);
    assert_eq!(queue.pair(11).len(), 1);
    assert_eq!(waiting(&queue), []);
    assert_eq!(queue.pair(12), []);
    assert_eq!(queue.playing(BotId::new(1)), 2);
}

#[test]
fn a_bot_that_was_full_waits_from_the_end_of_a_match_on() {
    let mut queue = joined(&[1, 2]);
    let pairings = queue.pair(10);
    queue.finish(&pairings[0], 500).unwrap();
    assert_eq!(waiting(&queue), [(1, 500), (2, 500)]);
}

#[test]
fn joining_again_keeps_the_time_and_changes_the_places() {
    let mut queue = joined(&[1]);
    queue.join(Entrant { places: places(3), ..entrant(1) }, 700);
    assert_eq!(waiting(&queue), [(1, 0)]);
    assert_eq!(queue.waiting().next().unwrap().free, 3);
}

#[test]
fn who_leaves_is_paired_no_more_and_waits_anew_when_it_comes_back() {
    let mut queue = joined(&[1, 2]);
    queue.leave(BotId::new(1));
    assert_eq!(queue.pair(10), []);
    queue.join(entrant(1), 20);
    assert_eq!(waiting(&queue), [(1, 20), (2, 0)]);
}

#[test]
fn matches_go_on_while_a_bot_is_away_and_take_its_places() {
    let mut queue = joined(&[1, 2]);
    let pairings = queue.pair(10);
    queue.leave(BotId::new(1));
    queue.join(entrant(1), 20);
    assert_eq!(waiting(&queue), []);
    queue.finish(&pairings[0], 30).unwrap();
    assert_eq!(waiting(&queue), [(1, 30), (2, 30)]);
}

#[test]
fn a_match_that_was_not_dealt_leaves_no_trace_on_who_came() {
    let mut queue = joined(&[1, 2]);
    let before = queue.clone();
    let pairings = queue.pair(40_000);
    queue.leave(BotId::new(2));
    queue.abandon(&pairings[0], 50_000).unwrap();
    assert_eq!(waiting(&queue), [(1, 0)]);
    assert_eq!(queue.seat_counts(BotId::new(1)), before.seat_counts(BotId::new(1)));
    queue.join(entrant(2), 60_000);
    assert_eq!(bots(&queue.pair(60_000)), [[1, 2]]);
}

#[test]
fn a_queue_made_anew_goes_on_as_the_one_before() {
    let mut queue = joined(&[1, 2, 3, 4, 5, 6]);
    let mut anew = joined(&[1, 2, 3, 4, 5, 6]);
    let first = queue.pair(0);
    for pairing in &first {
        queue.finish(pairing, 1_000).unwrap();
        anew.remember(pairing);
    }
    let second = queue.pair(30_000);
    for pairing in &second {
        anew.resume(pairing);
    }
    assert_eq!(second.len(), 3);
    assert_eq!(anew.pair(30_000), []);
    for pairing in &second {
        queue.finish(pairing, 40_000).unwrap();
        anew.finish(pairing, 40_000).unwrap();
    }
    assert_eq!(queue.pair(90_000), anew.pair(90_000));
}

#[test]
fn a_match_ends_once() {
    let mut queue = joined(&[1, 2]);
    let pairings = queue.pair(0);
    queue.finish(&pairings[0], 10).unwrap();
    let bot = pairings[0].members()[0].bot;
    assert_eq!(queue.finish(&pairings[0], 20), Err(NotPlaying { bot }));
    assert_eq!(queue.abandon(&pairings[0], 20), Err(NotPlaying { bot }));
    assert_eq!(waiting(&queue), [(1, 10), (2, 10)]);
}

#[test]
fn a_bot_that_plays_is_not_forgotten() {
    let mut queue = joined(&[1, 2]);
    let pairings = queue.pair(0);
    let bot = BotId::new(1);
    assert_eq!(queue.forget(bot), Err(StillPlaying { bot, playing: 1 }));
    queue.finish(&pairings[0], 10).unwrap();
    assert_eq!(queue.forget(bot), Ok(()));
    assert_eq!(queue.seat_counts(bot), SeatCounts::default());
    assert_eq!(waiting(&queue), [(2, 10)]);
}

#[test]
fn a_bot_that_changed_hands_meets_the_bots_of_its_former_owner_and_none_of_the_new_one() {
    let mut queue = joined(&[1, 2, 3]);
    queue.leave(BotId::new(3));
    queue.join(Entrant { owner: OwnerId::new(2), ..entrant(1) }, 5);
    assert_eq!(queue.pair(60_000), []);
    queue.join(Entrant { owner: OwnerId::new(1), ..entrant(3) }, 60_000);
    assert_eq!(bots(&queue.pair(120_000)), [[1, 3]]);
}

#[test]
fn who_is_passed_over_is_not_paired_and_has_waited_as_long_when_it_joins_again() {
    let mut queue = joined(&[1, 2]);
    queue.pass_over(BotId::new(1));
    assert_eq!((waiting(&queue), queue.pair(10)), (vec![(2, 0)], vec![]));
    queue.join(entrant(1), 20);
    assert_eq!(waiting(&queue), [(1, 0), (2, 0)]);
    // An end that comes meanwhile counts as ever.
    let pairings = queue.pair(30);
    queue.pass_over(BotId::new(1));
    queue.finish(&pairings[0], 40).unwrap();
    queue.join(entrant(1), 50);
    assert_eq!(waiting(&queue), [(1, 40), (2, 40)]);
}

#[test]
fn matches_that_are_asked_for_in_vain_again_and_again_leave_no_trace() {
    let mut queue =
        queue(PairingOptions { remembered_matches: 3, ..options(2, Teams::Individual, SameOwner::Apart) });
    for bot in [1, 2] {
        queue.join(entrant(bot), 0);
    }
    let mut now_ms = 0;
    for _ in 0..5 {
        let pairings = queue.pair(now_ms);
        queue.finish(&pairings[0], now_ms + 1).unwrap();
        now_ms += 60_000;
    }
    let wanted = queue.clone().pair(now_ms);
    for _ in 0..10 {
        let pairings = queue.pair(now_ms);
        queue.abandon(&pairings[0], now_ms).unwrap();
    }
    let met = |queue: &Queue| queue.bots[&BotId::new(1)].history.with(BotId::new(2)).met;
    assert_eq!(met(&queue), 3);
    assert_eq!(queue.pair(now_ms), wanted);
}

#[test]
fn members_that_no_match_can_have_are_refused() {
    let member = |bot| Member { bot: BotId::new(bot), owner: OwnerId::new(bot), since_ms: 0 };
    let pairing = |teams, bots: &[u64]| Pairing::new(teams, bots.iter().map(|&bot| member(bot)).collect());
    assert_eq!(pairing(Teams::Individual, &[1]), Err(PairingError::Players { given: 1 }));
    assert_eq!(pairing(Teams::Individual, &[1, 2, 1]), Err(PairingError::Twice { bot: BotId::new(1) }));
    let players = Players::new(3).unwrap();
    assert_eq!(pairing(Teams::Pairs, &[1, 2, 3]), Err(PairingError::Teams { teams: Teams::Pairs, players }));
    assert!(pairing(Teams::Pairs, &[1, 2, 3, 4]).is_ok());
}

#[test]
fn each_number_out_of_its_range_is_named() {
    let usual = options(2, Teams::Individual, SameOwner::Apart);
    for (options, field) in [
        (PairingOptions { teams: Teams::Trios, ..usual }, "teams"),
        (PairingOptions { reach_at_start: -1.0, ..usual }, "reach_at_start"),
        (PairingOptions { reach_per_second: f64::NAN, ..usual }, "reach_per_second"),
        (PairingOptions { patience_ms: 86_400_001, ..usual }, "patience_ms"),
        (PairingOptions { nearer_by_uncertainty: 1.1, ..usual }, "nearer_by_uncertainty"),
        (PairingOptions { further_by_repeat: f64::INFINITY, ..usual }, "further_by_repeat"),
        (PairingOptions { remembered_matches: 0, ..usual }, "remembered_matches"),
    ] {
        assert_eq!(PairingSettings::new(options).unwrap_err().field(), field);
    }
    for (rating, uncertainty, field) in
        [(f64::NAN, 1.0, "rating"), (f64::INFINITY, 1.0, "rating"), (25.0, f64::NAN, "uncertainty")]
    {
        assert_eq!(Strength::new(rating, uncertainty).unwrap_err().field(), field);
    }
}

#[test]
fn one_starves_when_its_patience_is_over_and_only_others_hold_it_up() {
    let patience = duel().settings().patience_ms;
    let mut queue = joined(&[1]);
    assert_eq!(queue.starves_since(patience), None, "nobody else is there");
    queue.join(Entrant { owner: OwnerId::new(1), ..entrant(2) }, 0);
    assert_eq!(queue.starves_since(patience), None, "nobody whom it may meet");
    queue.join(entrant(3), 5);
    queue.pass_over(BotId::new(3));
    assert_eq!((queue.starves_since(patience - 1), queue.starves_since(patience)), (None, Some(0)));
    assert!(queue.has_room(BotId::new(3)) && !queue.has_room(BotId::new(4)));
    queue.pass_over(BotId::new(1));
    queue.pass_over(BotId::new(2));
    assert_eq!(queue.starves_since(10 * patience), None, "who is passed over does not wait");
    queue.pass_over_busy(BotId::new(1));
    assert_eq!(queue.starves_since(10 * patience), None, "two are free as soon as a match is over");
    assert!(queue.could_pair());
}
