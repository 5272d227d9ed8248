//! Who sits where.

use std::collections::BTreeMap;

use zetema_rules::Seat;

use super::*;

fn joined(players: usize, teams: Teams) -> Queue {
    let mut queue = queue(options(players, teams, SameOwner::Apart));
    for bot in 0..players {
        queue.join(entrant(bot.try_into().unwrap()), 0);
    }
    queue
}

fn play(queue: &mut Queue, matches: u64) -> Vec<Pairing> {
    (0..matches)
        .map(|now_ms| {
            let pairing = queue.pair(now_ms).remove(0);
            queue.finish(&pairing, now_ms).unwrap();
            pairing
        })
        .collect()
}

#[test]
fn the_same_bots_take_turns_in_every_seat() {
    for (players, teams, most) in [
        (2, Teams::Individual, 1),
        (3, Teams::Individual, 1),
        (4, Teams::Individual, 1),
        (5, Teams::Individual, 1),
        (6, Teams::Individual, 1),
        (4, Teams::Pairs, 2),
        (6, Teams::Pairs, 2),
        (6, Teams::Trios, 2),
    ] {
        let mut queue = joined(players, teams);
        let players = Players::new(players).unwrap();
        for round in 1..=20 {
            play(&mut queue, 6);
            for bot in 0..players.count() {
                let counts = queue.seat_counts(BotId::new(bot.try_into().unwrap()));
                assert!(counts.spread(players) <= most, "{players} {teams} after {round} rounds: {counts:?}");
            }
        }
    }
}

#[test]
fn nobody_always_follows_the_same_bot() {
    let mut queue = joined(4, Teams::Individual);
    let mut followed: BTreeMap<(u64, u64), u32> = BTreeMap::new();
    for pairing in play(&mut queue, 60) {
        for (index, member) in pairing.members().iter().enumerate() {
            let next = pairing.members()[(index + 1) % 4];
            *followed.entry((member.bot.number(), next.bot.number())).or_default() += 1;
        }
    }
    assert_eq!(followed.len(), 12);
    assert!(followed.values().all(|times| (16..=24).contains(times)), "{followed:?}");
}

#[test]
fn partners_sit_as_the_rules_say() {
    let mut queue = joined(6, Teams::Pairs);
    for pairing in play(&mut queue, 10) {
        let sides: Vec<usize> = pairing.seats().map(|(_, side, _)| side.index()).collect();
        assert_eq!(sides, [0, 1, 2, 0, 1, 2]);
    }
}

#[test]
fn a_seat_counts_beyond_that_which_a_bot_had_least() {
    let mut counts = SeatCounts::default();
    let seat = |index| Seat::new(index).unwrap();
    for index in [0, 0, 0, 1, 2] {
        counts.sat(seat(index));
    }
    let three = Players::new(3).unwrap();
    assert_eq!([0, 1, 2].map(|index| counts.excess(seat(index), three)), [2, 0, 0]);
    assert_eq!(counts.spread(three), 2);
    assert_eq!(counts.spread(Players::new(4).unwrap()), 3);
}
