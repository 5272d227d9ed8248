#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::ladders::tests::bot;
use crate::limits;

const NOW: Duration = Duration::from_secs(100_000);

fn accepting(ways: &[(u64, u16)]) -> Arc<Challenges> {
    let challenges = Arc::<Challenges>::default();
    for &(number, places) in ways {
        challenges.accept(number, &bot("ann"), NonZeroU16::new(places));
    }
    challenges
}

fn owner(name: &str) -> Owner {
    Owner::new(name).unwrap()
}

/// One match of this owner with so many seats for the bot, all of whose other matches are others'.
fn take(
    challenges: &Arc<Challenges>,
    by: &str,
    seats: u32,
    playing: usize,
    quota: Option<Quota>,
) -> Option<Taken> {
    let wanted = [BTreeMap::from([(bot("ann"), Challenge { seats, quota })])];
    let playing = |_: &BotName| Playing { all: playing, of_challenger: 0 };
    challenges.take(&owner(by), &wanted, NOW, playing).ok().and_then(|mut taken| taken.pop())
}

/// How many seats a bot is given at most that plays so many, each by another owner.
fn most(challenges: &Arc<Challenges>, playing: usize, quota: Option<Quota>) -> usize {
    let taken = (0..100).map_while(|n| take(challenges, &format!("o{n}"), 1, playing, quota));
    taken.collect::<Vec<_>>().len()
}

/// Nothing was played, and these bots did not come.
fn idle(absent: &[&str]) -> ChallengeOver {
    ChallengeOver::Idle { absent: absent.iter().map(|name| bot(name)).collect() }
}

/// Its match runs.
fn run(mut taken: Taken) -> Taken {
    taken.begun();
    taken
}

#[test]
fn a_bot_is_given_as_many_seats_as_it_accepts_and_its_quota_has_and_no_more() {
    let quota = |at_once, a_day| Some(Quota::new(at_once, a_day).unwrap());
    for (ways, playing, quota, expected) in [
        (&[][..], 0, None, 0),
        (&[(1, 3)], 0, None, 3),
        (&[(1, 3)], 2, None, 1),
        (&[(1, 3)], 5, None, 0),
        // All its programs together.
        (&[(1, 3), (2, 4)], 1, None, 6),
        (&[(1, 3)], 0, quota(2, 100), 2),
        (&[(1, 3)], 1, quota(2, 100), 1),
        (&[(1, 9)], 0, quota(9, 4), 4),
    ] {
        assert_eq!(most(&accepting(ways), playing, quota), expected, "{ways:?} {playing} {quota:?}");
    }
}

#[test]
fn one_owner_has_half_of_a_bots_places_at_most_and_one_at_least() {
    for (places, quota, expected) in
        [(1, None, 1), (2, None, 1), (3, None, 2), (10, None, 5), (10, Some(Quota::new(4, 9).unwrap()), 2)]
    {
        let challenges = accepting(&[(1, places)]);
        let taken: Vec<Taken> = (0..100).map_while(|_| take(&challenges, "bob", 1, 0, quota)).collect();
        assert_eq!(taken.len(), expected, "{places}");
        assert!(take(&challenges, "bob", 1, 0, quota).is_none());
        assert_eq!(take(&challenges, "cat", 1, 0, quota).is_some(), places > 1, "{places}");
    }
    // Its matches that run are counted among those that the bot plays.
    let challenges = accepting(&[(1, 4)]);
    let one = [BTreeMap::from([(bot("ann"), Challenge { seats: 1, quota: None })])];
    let playing = |of_challenger| move |_: &BotName| Playing { all: 2, of_challenger };
    assert!(challenges.take(&owner("bob"), &one, NOW, playing(2)).is_err());
    assert!(challenges.take(&owner("bob"), &one, NOW, playing(1)).is_ok());
}

#[test]
fn seats_that_are_being_created_count_until_their_match_runs_or_never_will() {
    let challenges = accepting(&[(1, 4)]);
    let first = take(&challenges, "bob", 2, 0, None).unwrap();
    assert_eq!(most(&challenges, 0, None), 2);
    let first = run(first);
    assert_eq!(most(&challenges, 2, None), 2, "the match has them now");
    drop(first);
    drop(take(&challenges, "bob", 2, 0, None).unwrap());
    assert_eq!(most(&challenges, 0, None), 4);
}

#[test]
fn what_the_bot_plays_is_asked_for_under_the_lock() {
    let challenges = accepting(&[(1, 1)]);
    let one = [BTreeMap::from([(bot("ann"), Challenge { seats: 1, quota: None })])];
    let playing = |_: &BotName| {
        assert!(challenges.0.try_lock().is_err(), "another could take the same place");
        Playing::default()
    };
    assert!(challenges.take(&owner("bob"), &one, NOW, playing).is_ok());
}

#[test]
fn what_was_never_dealt_is_no_part_of_the_day_and_what_was_played_is() {
    let (challenges, quota) = (accepting(&[(1, 50)]), Some(Quota::new(50, 5).unwrap()));
    let take = |seats| take(&challenges, "bob", seats, 0, quota).unwrap();
    drop(take(5));
    run(take(5)).over(&ChallengeOver::NotDealt);
    take(5).over(&idle(&[]));
    run(take(5)).over(&idle(&["ann"]));
    run(take(2)).over(&ChallengeOver::Dealt);
    // One that goes on no more here.
    drop(run(take(1)));
    assert_eq!(most(&challenges, 0, quota), 2);
}

/// Bob's challenges that nobody comes to, each of the time to join that it may have at most.
async fn nobody_comes(challenges: &Arc<Challenges>, by: &str) {
    let taken = run(take(challenges, by, 1, 0, None).unwrap());
    tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
    taken.over(&idle(&[]));
}

#[tokio::test(start_paused = true)]
async fn who_holds_a_place_without_playing_has_it_ever_less() {
    let challenges = accepting(&[(1, 1)]);
    for cool_down_s in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
        nobody_comes(&challenges, "bob").await;
        let began = Instant::now();
        while take(&challenges, "bob", 1, 0, None).is_none() {
            assert!(take(&challenges, "cat", 1, 0, None).is_some(), "it is there for the others");
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(began.elapsed().as_secs(), cool_down_s);
    }
    // What is played makes it less again, and a day without forgets it.
    run(take(&challenges, "bob", 1, 0, None).unwrap()).over(&ChallengeOver::Dealt);
    tokio::time::advance(limits::IDLE_CHALLENGES_LAST).await;
    nobody_comes(&challenges, "bob").await;
    tokio::time::advance(limits::IDLE_CHALLENGES_COOL_DOWN).await;
    assert!(take(&challenges, "bob", 1, 0, None).is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_soon_or_missed_by_the_bot_costs_nobody_anything_until_it_comes_to_much() {
    let challenges = accepting(&[(1, 1)]);
    for second in 0..60 {
        let taken = run(take(&challenges, "bob", 1, 0, None).unwrap_or_else(|| panic!("after {second} s")));
        tokio::time::advance(Duration::from_secs(1)).await;
        taken.over(&idle(&[]));
    }
    assert!(take(&challenges, "bob", 1, 0, None).is_none(), "a minute in all");
    for _ in 0..10 {
        let taken = run(take(&challenges, "cat", 1, 0, None).unwrap());
        tokio::time::advance(Duration::from_mins(1)).await;
        taken.over(&idle(&["ann"]));
    }
    assert!(take(&challenges, "cat", 1, 0, None).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_does_not_come_clears_its_challenger_of_no_other_bot() {
    let challenges = accepting(&[(1, 2)]);
    challenges.accept(2, &bot("own"), NonZeroU16::new(2));
    let one = Challenge { seats: 1, quota: None };
    let both = [BTreeMap::from([(bot("ann"), one), (bot("own"), one)])];
    let taken = challenges.take(&owner("bob"), &both, NOW, |_| Playing::default()).unwrap().remove(0);
    let taken = run(taken);
    tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
    taken.over(&idle(&["own"]));
    assert!(take(&challenges, "bob", 1, 0, None).is_none(), "it came, and its place was held for nothing");
    let own = [BTreeMap::from([(bot("own"), one)])];
    assert!(challenges.take(&owner("bob"), &own, NOW, |_| Playing::default()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn challenges_that_are_left_at_once_are_one_offence() {
    let challenges = accepting(&[(1, 20)]);
    let taken: Vec<Taken> = (0..10).map(|_| run(take(&challenges, "bob", 1, 0, None).unwrap())).collect();
    tokio::time::advance(limits::MAX_CHALLENGE_JOIN_TIMEOUT).await;
    for taken in taken {
        taken.over(&idle(&[]));
    }
    tokio::time::advance(limits::IDLE_CHALLENGES_COOL_DOWN).await;
    assert!(take(&challenges, "bob", 1, 0, None).is_some());
}

#[test]
fn of_several_bots_all_accept_or_none_is_taken() {
    let challenges = accepting(&[(1, 2)]);
    let one = Challenge { seats: 1, quota: None };
    let wanted = [BTreeMap::from([(bot("ann"), one)]), BTreeMap::from([(bot("bob"), one)])];
    let taken = challenges.take(&owner("cat"), &wanted, NOW, |_| Playing::default());
    assert_eq!(taken.unwrap_err(), bot("bob"));
    assert_eq!(most(&challenges, 0, None), 2);
}

#[test]
fn who_goes_accepts_nothing_more_and_leaves_the_others_theirs() {
    let challenges = accepting(&[(1, 2), (2, 3)]);
    challenges.accept(1, &bot("ann"), None);
    assert_eq!(most(&challenges, 0, None), 3);
    challenges.accept(2, &bot("ann"), None);
    assert_eq!(most(&challenges, 0, None), 0);
    assert!(challenges.all().open.is_empty());
}
