//! Who is preferred, and who is never put together.

use super::*;

/// Bots by number, owner, rating and uncertainty, which join in this order at the same time.
type Field<'a> = &'a [(u64, u64, f64, f64)];

fn check(options: PairingOptions, field: Field<'_>, waited_ms: u64, expected: &[&[u64]]) {
    let mut queue = queue(options);
    for &(bot, owner, rating, uncertainty) in field {
        let strength = Strength::new(rating, uncertainty).unwrap();
        queue.join(Entrant { owner: OwnerId::new(owner), strength, ..entrant(bot) }, 0);
    }
    let pairings = queue.pair(waited_ms);
    assert_eq!(bots(&pairings), expected, "{options:?} {field:?} after {waited_ms} ms");
}

fn two() -> PairingOptions {
    options(2, Teams::Individual, SameOwner::Apart)
}

const PATIENCE_MS: u64 = 30_000;

#[test]
fn the_nearest_in_rating_play() {
    let field = [(1, 1, 25.0, 1.0), (2, 2, 28.0, 1.0), (3, 3, 26.0, 1.0), (4, 4, 27.5, 1.0)];
    check(two(), &field, 0, &[&[1, 3], &[2, 4]]);
}

#[test]
fn the_uncertain_count_as_nearer() {
    check(two(), &[(1, 1, 25.0, 1.0), (2, 2, 25.5, 1.0), (3, 3, 27.0, 8.0)], 0, &[&[1, 3]]);
    check(two(), &[(1, 1, 25.0, 1.0), (2, 2, 25.5, 1.0), (3, 3, 30.0, 8.0)], 0, &[&[1, 2]]);
}

/// Two bots of these ratings wait. Beside each there are so many more, all of this owner if one is given, who are passed over.
fn waiting_two(ratings: [f64; 2], beside_each: u64, of: Option<u64>) -> Queue {
    let mut queue = queue(two());
    for (bot, rating) in (1..).zip(ratings) {
        for number in 0..=beside_each {
            let id = 1_000 * number + bot;
            let owner = OwnerId::new(of.filter(|_| number > 0).unwrap_or(id));
            queue.join(Entrant { owner, strength: Strength::new(rating, 1.0).unwrap(), ..entrant(id) }, 0);
            if number > 0 {
                queue.pass_over(BotId::new(id));
            }
        }
    }
    queue
}

#[test]
fn reach_widens_with_waiting_and_then_has_no_bound() {
    let check = |ratings, waited_ms| {
        assert_eq!(
            waiting_two(ratings, 8, None).pair(waited_ms - 1),
            [],
            "{ratings:?} before {waited_ms} ms"
        );
        assert_eq!(bots(&waiting_two(ratings, 8, None).pair(waited_ms)), [[1, 2]], "after {waited_ms} ms");
    };
    check([20.0, 30.0], 20_000);
    check([-1e6, 1e6], PATIENCE_MS);
}

#[test]
fn neighbours_play_at_once_however_far_their_ratings_are_apart() {
    let pairs = |beside_each, of| waiting_two([-1e6, 1e6], beside_each, of).pair(0).len();
    assert_eq!(pairs(0, None), 1);
    assert_eq!(pairs(7, None), 1);
    assert_eq!(pairs(8, None), 0, "the last of eight is a neighbour, the ninth is none");
    assert_eq!(pairs(8, Some(1)), 1, "whom the one may not meet is no neighbour of it");
    assert_eq!(pairs(8, Some(3)), 0);
}

#[test]
fn a_match_of_more_has_more_neighbours_and_a_ladder_that_lets_them_meet_counts_those_of_one_owner() {
    let check = |options, of: u64, expected| {
        let mut queue = queue(options);
        let mut join = |bot, owner, rating| {
            let strength = Strength::new(rating, 1.0).unwrap();
            queue.join(Entrant { owner: OwnerId::new(owner), strength, ..entrant(bot) }, 0);
        };
        let players = options.players.count() as u64;
        join(1, 1, -1e6);
        (2..=players).for_each(|bot| join(bot, bot, 1e6));
        for number in 0..10 {
            join(100 + number, if of == 0 { 100 + number } else { of }, -1e6);
            join(200 + number, 200 + number, 1e6);
        }
        for number in 0..10 {
            queue.pass_over(BotId::new(100 + number));
            queue.pass_over(BotId::new(200 + number));
        }
        assert_eq!(queue.pair(0).len(), expected, "{options:?}");
    };
    check(options(2, Teams::Individual, SameOwner::Apart), 0, 0);
    check(options(4, Teams::Individual, SameOwner::Apart), 0, 1);
    check(options(2, Teams::Individual, SameOwner::Apart), 1, 1);
    check(options(2, Teams::Individual, SameOwner::Opponents), 1, 0);
    check(options(2, Teams::Individual, SameOwner::Anywhere), 1, 0);
}

#[test]
fn a_bot_at_the_edge_has_those_for_neighbours_who_have_nearer_ones() {
    let mut queue = waiting_two([25.0, 60.0], 0, None);
    for bot in 10..30 {
        queue.join(Entrant { strength: Strength::new(25.0, 1.0).unwrap(), ..entrant(bot) }, 0);
        queue.pass_over(BotId::new(bot));
    }
    assert_eq!(bots(&queue.pair(0)), [[1, 2]]);
}

#[test]
fn bots_of_one_owner_meet_only_where_the_ladder_lets_them() {
    let of_one = [(1, 7, 25.0, 1.0), (2, 7, 25.0, 1.0)];
    check(two(), &of_one, 86_400_000, &[]);
    check(options(2, Teams::Individual, SameOwner::Opponents), &of_one, 0, &[&[1, 2]]);
    check(options(2, Teams::Individual, SameOwner::Anywhere), &of_one, 0, &[&[1, 2]]);
    check(two(), &[(1, 7, 25.0, 1.0), (2, 7, 25.0, 1.0), (3, 8, 28.0, 1.0)], 0, &[&[1, 3]]);
}

#[test]
fn a_side_is_never_of_one_owner_unless_the_ladder_lets_it() {
    let of_two = [(1, 7, 25.0, 1.0), (2, 7, 25.0, 1.0), (3, 8, 25.0, 1.0), (4, 8, 25.0, 1.0)];
    check(options(4, Teams::Pairs, SameOwner::Apart), &of_two, PATIENCE_MS, &[]);
    for same_owner in [SameOwner::Opponents, SameOwner::Anywhere] {
        check(options(4, Teams::Pairs, same_owner), &of_two, 0, &[&[1, 2, 3, 4]]);
    }
    let three = [
        (1, 7, 25.0, 1.0),
        (2, 7, 25.0, 1.0),
        (3, 7, 25.0, 1.0),
        (4, 8, 25.0, 1.0),
        (5, 9, 25.0, 1.0),
        (6, 10, 25.0, 1.0),
    ];
    check(options(6, Teams::Trios, SameOwner::Opponents), &three, PATIENCE_MS, &[]);
    check(options(6, Teams::Pairs, SameOwner::Opponents), &three, 0, &[&[1, 2, 3, 4, 5, 6]]);
}

#[test]
fn a_bot_whose_patience_is_over_finds_the_only_other_owner_among_hundreds() {
    let mut field: Vec<_> = (0_u32..500).map(|bot| (bot.into(), 7, 25.0 + f64::from(bot), 1.0)).collect();
    field.push((1_000, 8, 9_000.0, 1.0));
    check(two(), &field, PATIENCE_MS, &[&[0, 1_000]]);
}

#[test]
fn whoever_waits_longest_chooses_first() {
    let mut queue = duel();
    for (bot, since_ms) in [(1, 5), (2, 0), (3, 3)] {
        queue.join(entrant(bot), since_ms);
    }
    assert_eq!(bots(&queue.pair(10)), [[2, 3]]);
    assert_eq!(waiting(&queue), [(1, 5)]);
}

#[test]
fn those_who_met_lately_wait_for_others_where_there_are_many() {
    let mut queue = duel();
    for bot in 0..100 {
        queue.join(entrant(bot), 0);
    }
    let pairings = queue.pair(0);
    let again = &pairings[7];
    queue.finish(again, 60_000).unwrap();
    assert_eq!(queue.pair(60_000), []);
    queue.finish(&pairings[8], 60_000).unwrap();
    let (before, again) = (bots(&pairings), bots(&queue.pair(60_000)));
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|match_of| !before.contains(match_of)), "{again:?}");
}

#[test]
fn two_who_have_just_played_one_another_wait_for_others_also_where_they_played_before() {
    let mut queue = duel();
    for bot in 0..100 {
        queue.join(entrant(bot), 0);
    }
    let mut now_ms = 0;
    for earlier in 1..8 {
        let pairings = queue.pair(now_ms);
        now_ms += 60_000;
        let mut alone = queue.clone();
        alone.finish(&pairings[0], now_ms).unwrap();
        assert_eq!(alone.pair(now_ms), [], "after {earlier} matches");
        for pairing in &pairings {
            queue.finish(pairing, now_ms).unwrap();
        }
    }
}

#[test]
fn who_has_waited_longer_reaches_no_less_far() {
    let mut queue = duel();
    let join = |queue: &mut Queue, bot, rating| {
        queue.join(Entrant { strength: Strength::new(rating, 1.0).unwrap(), ..entrant(bot) }, 0);
    };
    join(&mut queue, 1, 25.0);
    join(&mut queue, 2, 31.0);
    // They are neighbours, and there are many others, who are busy.
    for bot in 100..200 {
        join(&mut queue, bot, 1e6);
        queue.pass_over(BotId::new(bot));
    }
    let again = queue.pair(0);
    queue.finish(&again[0], 0).unwrap();
    for (waited_ms, pairs) in
        [(0, 0), (4_000, 0), (7_000, 0), (8_000, 1), (10_000, 1), (20_000, 1), (29_999, 1), (30_000, 1)]
    {
        assert_eq!(queue.clone().pair(waited_ms).len(), pairs, "after {waited_ms} ms");
    }
}

#[test]
fn two_alone_play_one_another_again_and_again() {
    let mut queue = duel();
    for bot in [1, 2] {
        queue.join(entrant(bot), 0);
    }
    for now_ms in 0..100 {
        let pairings = queue.pair(now_ms);
        assert_eq!(bots(&pairings), [[1, 2]]);
        queue.finish(&pairings[0], now_ms).unwrap();
    }
}

/// The ratings of each side, lowest first.
fn sides(pairing: &Pairing, ratings: &[f64]) -> Vec<Vec<f64>> {
    let mut sides = vec![Vec::new(); pairing.seats().map(|(_, side, _)| side.index() + 1).max().unwrap()];
    for (_, side, member) in pairing.seats() {
        sides[side.index()].push(ratings[usize::try_from(member.bot.number()).unwrap()]);
    }
    for side in &mut sides {
        side.sort_by(f64::total_cmp);
    }
    sides.sort_by(|a, b| a[0].total_cmp(&b[0]));
    sides
}

#[test]
fn sides_are_as_strong_as_one_another() {
    for (teams, ratings, expected) in [
        (Teams::Pairs, vec![10.0, 20.0, 40.0, 31.0], vec![vec![10.0, 40.0], vec![20.0, 31.0]]),
        (Teams::Pairs, vec![1., 2., 3., 4., 5., 6.], vec![vec![1., 6.], vec![2., 5.], vec![3., 4.]]),
        (Teams::Trios, vec![1., 2., 4., 8., 16., 32.], vec![vec![1., 2., 32.], vec![4., 8., 16.]]),
    ] {
        let mut queue = queue(options(ratings.len(), teams, SameOwner::Apart));
        for (bot, &rating) in (0..).zip(&ratings) {
            queue.join(Entrant { strength: Strength::new(rating, 1.0).unwrap(), ..entrant(bot) }, 0);
        }
        let pairings = queue.pair(PATIENCE_MS);
        assert_eq!(sides(&pairings[0], &ratings), expected, "{teams}");
    }
}

#[test]
fn partners_change() {
    let ratings = [24.0, 24.5, 25.0, 26.0];
    let mut queue = queue(options(4, Teams::Pairs, SameOwner::Apart));
    for (bot, rating) in (0..).zip(ratings) {
        queue.join(Entrant { strength: Strength::new(rating, 1.0).unwrap(), ..entrant(bot) }, 0);
    }
    let mut seen = Vec::new();
    for now_ms in 0..3 {
        let pairings = queue.pair(now_ms);
        seen.push(sides(&pairings[0], &ratings));
        queue.finish(&pairings[0], now_ms).unwrap();
    }
    seen.sort_by(|a, b| a[0][1].total_cmp(&b[0][1]));
    let with_the_weakest: Vec<f64> = seen.iter().map(|sides| sides[0][1]).collect();
    assert_eq!(with_the_weakest, [24.5, 25.0, 26.0]);
}
