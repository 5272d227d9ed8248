//! What is remembered of what went wrong for players.

use std::time::Duration;

use zetema_proto::v1::{self, player_fault::Kind};
use zetema_rules::fair::Nonce;
use zetema_rules::{NamedTimeControl, Outcome, Preset, TimeControl};

use super::fake::FakeJournal;
use super::harness::*;
use crate::journal::{BotName, MatchId, Owner};
use crate::matches::{End, FaultLimits, FaultPage, FaultsOf, Limits, Matches, PlayerFault};
use crate::table::{DealSpec, MatchSpec, SeatSpec};

fn ann() -> BotName {
    BotName::new("ann").unwrap()
}

/// The bot Ann plays both seats.
fn spec_of_ann() -> MatchSpec {
    MatchSpec { seats: vec![SeatSpec::Bot(ann()); 2], ..spec(Preset::Sackson, 2, DealSpec::Joint) }
}

/// A fault that its message tells from others.
fn note(matches: &Matches, match_id: MatchId, index: usize, message: &str) {
    let cut = v1::StreamCut { message: message.to_owned(), ..v1::StreamCut::default() };
    matches.note_fault(match_id, seat(index), Kind::Cut(cut));
}

fn messages(page: &FaultPage) -> Vec<String> {
    let message = |fault: &PlayerFault| match &fault.kind {
        Kind::Cut(cut) => cut.message.clone(),
        _ => panic!("{fault:?}"),
    };
    page.faults.iter().map(message).collect()
}

fn check(matches: &Matches, of: &FaultsOf, match_id: Option<MatchId>, expected: &[&str]) {
    let page = matches.faults(of, match_id, None, 100);
    assert_eq!(messages(&page), expected, "{of:?} {match_id:?}");
    assert_eq!(page.next, None, "{of:?} {match_id:?}");
}

async fn open_small(per_seat: usize, seats: usize) -> Matches {
    let faults = FaultLimits { per_seat, seats, seats_of_one: seats, kept: Duration::from_mins(10) };
    open_with(FakeJournal::new(), Limits { faults, ..Limits::default() }).await
}

#[tokio::test]
async fn the_same_again_is_counted_and_drives_out_nothing() {
    let matches = open_small(3, 10).await;
    let match_id = matches.create(vec![spec_of_ann()], None).await.unwrap()[0].match_id;
    for message in ["a", "b", "b", "b", "a", "c", "c"] {
        note(&matches, match_id, 0, message);
    }
    for of in [FaultsOf::Bot(ann()), FaultsOf::Seat(match_id, seat(0))] {
        let page = matches.faults(&of, None, None, 10);
        let counts: Vec<u32> = page.faults.iter().map(|fault| fault.count).collect();
        assert_eq!(
            (messages(&page), counts),
            (["c", "a", "b"].map(String::from).to_vec(), vec![2, 1, 3]),
            "{of:?}"
        );
    }
}

#[tokio::test]
async fn a_seat_and_its_bot_see_their_own_the_latest_first_page_by_page() {
    let matches = open_small(10, 10).await;
    let infos = matches.create(vec![spec_of_ann(), spec_of_ann()], None).await.unwrap();
    let tokens = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let (first, second) = (infos[0].match_id, infos[1].match_id);
    for (match_id, index, message) in [
        (first, 0, "a"),
        (second, 0, "b"),
        (tokens.match_id, 0, "not of Ann"),
        (first, 1, "c"),
        (first, 0, "d"),
    ] {
        note(&matches, match_id, index, message);
    }
    check(&matches, &FaultsOf::Seat(first, seat(0)), None, &["d", "a"]);
    check(&matches, &FaultsOf::Seat(first, seat(0)), Some(second), &[]);
    check(&matches, &FaultsOf::Seat(second, seat(1)), None, &[]);
    check(&matches, &FaultsOf::Bot(ann()), None, &["d", "c", "b", "a"]);
    check(&matches, &FaultsOf::Bot(ann()), Some(first), &["d", "c", "a"]);
    check(&matches, &FaultsOf::Bot(ann()), Some(tokens.match_id), &[]);
    check(&matches, &FaultsOf::Bot(BotName::new("bob").unwrap()), None, &[]);

    for (of, match_id, expected) in [
        (FaultsOf::Bot(ann()), None, ["d", "c", "b", "a"].as_slice()),
        (FaultsOf::Bot(ann()), Some(first), &["d", "c", "a"]),
        (FaultsOf::Seat(first, seat(0)), None, &["d", "a"]),
    ] {
        let (mut next, mut all) = (None, Vec::new());
        for _ in expected {
            let page = matches.faults(&of, match_id, next, 1);
            all.extend(messages(&page));
            next = page.next.map(|next| next.to_string().parse().unwrap());
        }
        assert_eq!(all, expected);
        assert_eq!(next, None);
    }
}

#[tokio::test]
async fn the_oldest_of_a_seat_and_the_seats_that_were_quiet_longest_are_forgotten_first() {
    let matches = open_small(2, 2).await;
    let info = create_one(&matches, spec_of_ann()).await;
    let other = create_one(&matches, spec_of_ann()).await;
    for message in ["a", "b", "c"] {
        note(&matches, info.match_id, 0, message);
    }
    check(&matches, &FaultsOf::Seat(info.match_id, seat(0)), None, &["c", "b"]);
    check(&matches, &FaultsOf::Bot(ann()), None, &["c", "b"]);
    note(&matches, info.match_id, 1, "d");
    note(&matches, info.match_id, 0, "e");
    note(&matches, other.match_id, 0, "f");
    check(&matches, &FaultsOf::Seat(info.match_id, seat(1)), None, &[]);
    check(&matches, &FaultsOf::Bot(ann()), None, &["f", "e", "c"]);
}

#[tokio::test(start_paused = true)]
async fn the_faults_of_a_seat_are_kept_for_a_while_after_its_match_and_a_bots_as_long_as_there_is_room() {
    let matches = open_small(2, 3).await;
    let mut of_both = spec_of_ann();
    of_both.seats[1] = SeatSpec::Token;
    let info = create_one(&matches, of_both).await;
    note(&matches, info.match_id, 0, "a");
    note(&matches, info.match_id, 1, "b");
    matches.cancel(info.match_id).await.unwrap();
    while matches.live() > 0 {
        tokio::task::yield_now().await;
    }
    note(&matches, info.match_id, 0, "too late");
    tokio::time::advance(Duration::from_mins(9)).await;
    check(&matches, &FaultsOf::Seat(info.match_id, seat(1)), None, &["b"]);
    tokio::time::advance(Duration::from_mins(2)).await;
    check(&matches, &FaultsOf::Seat(info.match_id, seat(1)), None, &[]);
    check(&matches, &FaultsOf::Bot(ann()), None, &["a"]);
    tokio::time::advance(Duration::from_hours(24 * 30)).await;
    check(&matches, &FaultsOf::Bot(ann()), None, &["a"]);
    check(&matches, &FaultsOf::Bot(ann()), Some(info.match_id), &["a"]);
    for message in ["c", "d", "e"] {
        let match_id = create_one(&matches, spec_of_ann()).await.match_id;
        note(&matches, match_id, 0, message);
    }
    check(&matches, &FaultsOf::Bot(ann()), None, &["e", "d", "c"]);
}

#[tokio::test]
async fn authors_of_many_bots_on_ladders_have_their_own_faults_forgotten_and_not_those_of_others() {
    let faults = FaultLimits { per_seat: 2, seats: 10, seats_of_one: 6, kept: Duration::from_mins(10) };
    let matches = open_with(FakeJournal::new(), Limits { faults, ..Limits::default() }).await;
    // Matches of ladders have no owner.
    let of = |bots: [&str; 2]| MatchSpec {
        seats: bots.map(|bot| SeatSpec::Bot(BotName::new(bot).unwrap())).into(),
        ..spec_of_ann()
    };
    let modest = create_one(&matches, of(["ann", "greedy-1"])).await.match_id;
    note(&matches, modest, 0, "a");
    for round in 0..20 {
        for other in ["greedy-1", "greedy-2", "greedy-3"] {
            let match_id = create_one(&matches, of([other, "ann"])).await.match_id;
            note(&matches, match_id, 0, &format!("{round}"));
            matches.cancel(match_id).await.unwrap();
        }
    }
    check(&matches, &FaultsOf::Bot(ann()), None, &["a"]);
    for other in ["greedy-1", "greedy-2", "greedy-3"] {
        check(&matches, &FaultsOf::Bot(BotName::new(other).unwrap()), None, &["19", "18", "17"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_decided_in_time_is_a_fault_of_the_seat() {
    let matches = open_small(2, 2).await;
    let spec = MatchSpec { time_control: TimeControl::default(), ..spec_of_ann() };
    let info = create_one(&matches, spec).await;
    join_all(&matches, &info).await;
    let mut observed = observe(&matches, info.match_id, 0, None).await;
    drain(&mut observed).await;
    // Both play no more; the third strike of the first is its forfeit. Of each the last two are remembered.
    let first = usize::from(matches.faults(&FaultsOf::Bot(ann()), None, None, 1).faults[0].seat == seat(1));
    for (index, expected) in [(first, [(5, 3), (3, 2)]), (1 - first, [(4, 2), (2, 1)])] {
        let page = matches.faults(&FaultsOf::Seat(info.match_id, seat(index)), None, None, 100);
        let seat = u32::try_from(index).unwrap();
        let timed_out =
            |(decision_number, strikes)| Kind::TimedOut(v1::TimedOut { seat, decision_number, strikes });
        let kinds: Vec<Kind> = page.faults.into_iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, expected.map(timed_out));
    }
}

#[tokio::test]
async fn an_owner_whose_bots_have_many_faults_has_its_own_forgotten_and_nobody_elses() {
    let faults = FaultLimits { per_seat: 2, seats: 10, seats_of_one: 3, kept: Duration::from_mins(10) };
    let matches = open_with(FakeJournal::new(), Limits { faults, ..Limits::default() }).await;
    let of = |name: &str| MatchSpec {
        owner: Some(Owner::new(name).unwrap()),
        ..spec(Preset::Sackson, 2, DealSpec::Joint)
    };
    let modest = create_one(&matches, of("modest")).await.match_id;
    note(&matches, modest, 0, "a");
    let mut greedy = Vec::new();
    for _ in 0..20 {
        let match_id = create_one(&matches, of("greedy")).await.match_id;
        note(&matches, match_id, 0, "b");
        matches.cancel(match_id).await.unwrap();
        greedy.push(match_id);
    }
    check(&matches, &FaultsOf::Seat(modest, seat(0)), None, &["a"]);
    for (age, &match_id) in greedy.iter().rev().enumerate() {
        let expected: &[&str] = if age < 3 { &["b"] } else { &[] };
        check(&matches, &FaultsOf::Seat(match_id, seat(0)), None, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn who_was_not_there_in_time_is_told_with_the_match_and_nobody_else_is() {
    let control = TimeControl::new(1_000, NamedTimeControl::None.decisions()).unwrap();
    let spec = MatchSpec { time_control: control, ..spec_of_ann() };
    let matches = open_small(3, 10).await;
    let created = matches.create(vec![spec; 2], None).await.unwrap();
    let [absent, silent] = [created[0].match_id, created[1].match_id];
    // One seat never joins, one never sends its nonce.
    matches.join(absent, access(0), None).await.unwrap();
    let nonce = Nonce::new(b"never sent").unwrap();
    matches.join(silent, access(0), Some(nonce.hash())).await.unwrap();
    matches.join(silent, access(1), None).await.unwrap();
    for (match_id, gone, reason) in
        [(absent, 1, v1::AbortReason::NoShow), (silent, 0, v1::AbortReason::NonceMissing)]
    {
        let (_, end) = drain(&mut observe(&matches, match_id, 0, Some(0)).await).await;
        assert!(matches!(end, End::Over(Outcome::Aborted { .. })), "{end:?}");
        let page = matches.faults(&FaultsOf::Bot(ann()), Some(match_id), None, 10);
        let no_show = Kind::NoShow(v1::NoShow { reason: reason.into() });
        let told: Vec<_> = page.faults.into_iter().map(|fault| (fault.seat, fault.kind)).collect();
        assert_eq!(told, [(seat(gone), no_show)], "{reason:?}");
    }
}
