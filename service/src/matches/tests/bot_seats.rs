//! Seats that matches have for bots.

use std::time::Duration;

use futures::FutureExt;
use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::encoding::decode_record;
use crate::journal::{BotName, BotToken, Made, Owner, Rotation, TokenNumber, UnixMillis};
use crate::limits;
use crate::matches::{InLiveMatches, JoinSeat, LiveSeat, Matches};
use crate::table::{DealSpec, MatchInfo, MatchSpec, Rejection, SeatSpec};

fn bot(name: &str) -> BotName {
    BotName::new(name).unwrap()
}

/// A match in which the bot `name` plays seat 1.
fn spec_for(name: &str) -> MatchSpec {
    let seats = vec![SeatSpec::Token, SeatSpec::Bot(bot(name))];
    MatchSpec { seats, ..spec(Preset::Sackson, 2, DealSpec::Joint) }
}

fn live(matches: &Matches, name: &str) -> Vec<LiveSeat> {
    let listed = matches.bot_seats(&bot(name), BotToken::FIRST, None, 100);
    assert_eq!((listed.seats.len(), listed.next), (listed.count, None));
    listed.seats
}

fn expected(matches: &Matches, info: &MatchInfo) -> LiveSeat {
    matches.live_seat(info.match_id, seat(1)).unwrap()
}

#[tokio::test]
async fn a_bot_has_its_live_seats_alone_the_oldest_first_after_a_restart_too() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let mut infos =
        matches.create(vec![spec_for("ann"), spec_for("bob"), spec_for("ann")], None).await.unwrap();
    infos.push(create_one(&matches, spec_for("ann")).await);
    let of_ann = |matches: &Matches| [0, 2, 3].map(|i: usize| expected(matches, &infos[i])).to_vec();
    assert_eq!(live(&matches, "ann"), of_ann(&matches));
    assert_eq!(live(&matches, "bob"), [expected(&matches, &infos[1])]);
    assert_eq!(live(&matches, "nobody"), []);

    let page = matches.bot_seats(&bot("ann"), BotToken::FIRST, None, 2);
    assert_eq!((page.seats.as_slice(), page.count), (&of_ann(&matches)[..2], 3));
    let next = page.next.unwrap().to_string().parse().unwrap();
    let page = matches.bot_seats(&bot("ann"), BotToken::FIRST, Some(next), 2);
    assert_eq!((page.seats.as_slice(), page.count, page.next), (&of_ann(&matches)[2..], 3, None));

    matches.stop().await;
    let matches = open(&journal).await;
    assert_eq!(live(&matches, "ann"), of_ann(&matches));
    matches.cancel(infos[0].match_id).await.unwrap();
    // The task of a match that is over leaves a moment after its end.
    while matches.live() > 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(live(&matches, "ann"), of_ann_without_first(&matches, &infos));
}

fn of_ann_without_first(matches: &Matches, infos: &[MatchInfo]) -> Vec<LiveSeat> {
    [2, 3].map(|i: usize| expected(matches, &infos[i])).to_vec()
}

#[tokio::test]
async fn a_bot_is_told_of_each_new_seat_once_and_of_none_that_is_over_by_then() {
    let matches = open(&FakeJournal::new()).await;
    let before = create_one(&matches, spec_for("ann")).await;
    let mut ann = matches.bot_seats(&bot("ann"), BotToken::FIRST, None, 100);
    assert_eq!(ann.seats, [expected(&matches, &before)]);
    create_one(&matches, spec_for("bob")).await;
    let over = create_one(&matches, spec_for("ann")).await;
    matches.cancel(over.match_id).await.unwrap();
    let first = create_one(&matches, spec_for("ann")).await;
    assert_eq!(ann.assignments.next().await, expected(&matches, &first));

    // It waits for the next one.
    let mut assignments = ann.assignments;
    let waiting = tokio::spawn(async move { assignments.next().await });
    tokio::task::yield_now().await;
    let second = create_one(&matches, spec_for("ann")).await;
    assert_eq!(waiting.await.unwrap(), expected(&matches, &second));
}

#[tokio::test]
async fn a_bot_may_play_its_own_seats_alone() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec_for("ann")).await;
    let id = info.match_id;
    assert_eq!(matches.bot_access(id, seat(1), &bot("ann"), BotToken::FIRST).await, Ok(access(1)));
    for (index, name) in [(1, "bob"), (0, "ann"), (5, "ann")] {
        assert_eq!(
            matches.bot_access(id, seat(index), &bot(name), BotToken::FIRST).await,
            Err(Rejection::NotFound)
        );
    }
}

#[tokio::test]
async fn a_rotated_token_takes_no_seat_back_from_a_later_one_and_plays_those_that_were_made_before_alone() {
    let matches = open(&FakeJournal::new()).await;
    let ann = bot("ann");
    let made = [create_one(&matches, spec_for("ann")).await, create_one(&matches, spec_for("ann")).await];
    let ids = made.map(|info| info.match_id);
    let token = |number, last_match_at| {
        let rotation = |at: UnixMillis| Rotation {
            at,
            until: UnixMillis::new(u64::MAX),
            last_match_at: at,
            last_match: Some(Duration::from_millis(at.get())),
        };
        BotToken { number: TokenNumber::new(number), rotation: Option::map(last_match_at, rotation) }
    };
    let ever = Some(UnixMillis::new(u64::MAX - 1));
    let join = |at: usize, token| {
        let join = JoinSeat { access: access(1), bot_token: Some(token), nonce_hash: None, earlier: None };
        let (matches, id) = (matches.clone(), ids[at]);
        async move { matches.take_seat(id, join).await.map(|joined| joined.hold) }
    };
    let listed = |token| {
        let listed = matches.bot_seats(&bot("ann"), token, None, 100);
        assert_eq!(listed.seats.len(), listed.count);
        listed.seats.into_iter().map(|seat| seat.match_id).collect::<Vec<_>>()
    };
    let (old, rotated, new) = (token(7, None), token(7, ever), token(8, None));
    // While no later one plays, the one that was rotated does.
    let first = join(0, old).await.unwrap();
    let again = join(0, rotated).await.unwrap();
    assert_ne!(first, again);
    assert_eq!(matches.bot_access(ids[0], seat(1), &ann, rotated).await, Ok(access(1)));
    join(0, new).await.unwrap();
    assert_eq!(join(0, rotated).await, Err(Rejection::NewerTokenPlays));
    assert_eq!(matches.bot_access(ids[0], seat(1), &ann, rotated).await, Err(Rejection::NewerTokenPlays));
    assert_eq!((listed(rotated), listed(new)), (vec![ids[1]], ids.to_vec()));
    // The other seat is its own still; another token that holds takes any, and a third rotation makes the second old.
    join(1, rotated).await.unwrap();
    join(0, old).await.unwrap();
    join(0, token(8, ever)).await.unwrap();
    join(0, token(9, None)).await.unwrap();
    assert_eq!(join(0, token(8, ever)).await, Err(Rejection::NewerTokenPlays));
    // What was made after the rotation was never its own.
    let early = token(7, Some(UnixMillis::new(0)));
    let refused = matches.bot_access(ids[1], seat(1), &ann, early).await;
    assert_eq!(refused, Err(Rejection::MadeAfterRotation(early.rotation.unwrap())));
    assert_eq!(listed(early), []);
}

#[tokio::test(start_paused = true)]
async fn which_matches_are_of_before_a_rotation_is_told_without_the_wall_clock_within_a_run_of_the_server() {
    // The wall clock stands still here, as one that is set back all the time.
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let ann = bot("ann");
    let at = matches.wall();
    let stored = Rotation { at, until: UnixMillis::new(u64::MAX), last_match_at: at, last_match: None };
    let token = |rotation| BotToken { number: TokenNumber::new(7), rotation: Some(rotation) };
    let plays = async |matches: &Matches, info: &MatchInfo, rotation| {
        matches.bot_access(info.match_id, seat(1), &ann, token(rotation)).await.is_ok()
    };
    let before = create_one(&matches, spec_for("ann")).await;
    let told = stored.told(at, matches.since_start());
    let mut assigned = matches.bot_seats(&ann, token(told), None, 100).assignments;
    let meanwhile = create_one(&matches, spec_for("ann")).await;
    tokio::time::advance(limits::ROTATION_SETTLES + Duration::from_millis(1)).await;
    let after = create_one(&matches, spec_for("ann")).await;
    assert_eq!([before.created_at, after.created_at], [at; 2]);
    for (info, own) in [(&before, true), (&meanwhile, true), (&after, false)] {
        assert_eq!(plays(&matches, info, told).await, own);
    }
    let listed = matches.bot_seats(&ann, token(told), None, 100);
    assert_eq!((listed.count, listed.seats.len()), (2, 2));
    assert_eq!(assigned.next().now_or_never().map(|seat| seat.match_id), Some(meanwhile.match_id));
    assert_eq!(assigned.next().now_or_never(), None);

    // What an earlier run has made is of before each rotation of this one, and else goes by the time of its creation.
    matches.stop().await;
    let matches = open(&journal).await;
    let earlier = Rotation { last_match_at: UnixMillis::new(0), ..stored };
    let told = earlier.told(UnixMillis::new(0), matches.since_start());
    assert!(plays(&matches, &before, stored).await && plays(&matches, &before, told).await);
    assert!(!plays(&matches, &before, earlier).await);
    // And what this one makes is after each rotation of an earlier one.
    assert!(!stored.has(at, Some(Made::Now(matches.since_start()))));
}

#[tokio::test]
async fn the_record_and_what_is_kept_of_a_match_name_its_bots() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec_for("ann")).await;
    let names = |info: &MatchInfo| info.seats.iter().map(|seat| seat.bot.clone()).collect::<Vec<_>>();
    let expected = vec![None, Some(bot("ann"))];
    assert_eq!(names(&info), expected);
    play_all(&matches, &info).await;
    let file = matches.record(info.match_id).await.unwrap();
    assert_eq!(names(&file.info), expected);
    let (_, header) = decode_record(&file.record).unwrap();
    assert_eq!(header.bots, [None, Some("ann".to_owned())]);
    assert_eq!(names(&matches.get(info.match_id).await.unwrap()), expected);
    assert_eq!(matches.bot_access(info.match_id, seat(1), &bot("ann"), BotToken::FIRST).await, Ok(access(1)));
}

#[tokio::test]
async fn the_names_of_a_match_are_live_until_it_is_over_after_a_restart_too() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let shop = Owner::new("shop").unwrap();
    let of_shop = MatchSpec { owner: Some(shop.clone()), ..spec_for("ann") };
    let live = |matches: &Matches, name| {
        (matches.has_live_bot(&bot(name)), matches.has_live_owner(&Owner::new(name).unwrap()))
    };
    assert_eq!(live(&matches, "ann"), (InLiveMatches::No, InLiveMatches::No));
    let created = create_one(&matches, of_shop).await;
    assert_eq!(live(&matches, "ann"), (InLiveMatches::Yes, InLiveMatches::No));
    matches.stop().await;
    let matches = open(&journal).await;
    assert_eq!(live(&matches, "shop"), (InLiveMatches::No, InLiveMatches::Yes));
    assert_eq!(live(&matches, "ann"), (InLiveMatches::Yes, InLiveMatches::No));
    matches.cancel(created.match_id).await.unwrap();
    // The task of a match that is over leaves a moment after its end.
    while matches.live() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(matches.has_live_bot(&bot("ann")), InLiveMatches::No);
    assert_eq!(matches.has_live_owner(&shop), InLiveMatches::No);
}
