//! What is told of a bad bot, by what it saw.

use zetema_proto::v1::{LadderResultReason as Reason, LadderSeatEnd as End};

use super::*;

fn evidence(kind: Kind, seen: Seen, results: Vec<v1::LadderResult>) -> Evidence {
    let (requests, connections) = (Rate { per_second: 100, burst: 50 }, Rate { per_second: 10, burst: 5 });
    Evidence {
        kind,
        seen: vec![seen],
        results,
        faults: Vec::new(),
        lasted: Duration::from_secs(10),
        bars: Bars::Held,
        join_timeout: Duration::from_secs(20),
        requests,
        connections,
        closed_by_rate: 0,
        closed_by_number: 0,
    }
}

fn result(
    kind: Kind,
    reason: v1::LadderResultReason,
    end: v1::LadderSeatEnd,
    rank: u32,
    rating: Option<v1::Rating>,
) -> Vec<v1::LadderResult> {
    let seat = v1::LadderSeat {
        bot_name: kind.name().to_owned(),
        rank,
        end: end.into(),
        before: rating,
        after: rating,
        ..v1::LadderSeat::default()
    };
    vec![v1::LadderResult { seats: vec![seat], reason: reason.into(), ..v1::LadderResult::default() }]
}

#[test]
fn what_no_server_may_give_a_bad_bot_is_undue() {
    let check = |evidence: &Evidence, said: &str| {
        let undue = evidence.undue();
        assert!(
            if said.is_empty() { undue.is_empty() } else { undue.iter().any(|text| text.contains(said)) },
            "{undue:?}"
        );
    };
    let rejected = |reason: v1::ErrorReason, many| [(reason.name(), many)].into();
    let illegal = |sent, rejections| {
        let rejected = rejected(v1::ErrorReason::IllegalAction, rejections);
        let seen = Seen { illegal: sent, rejected, streams: 1, ..Seen::default() };
        evidence(Kind::Illegal, seen, Vec::new())
    };
    check(&illegal(9, 9), "");
    check(&illegal(9, 8), "");
    check(&illegal(9, 7), "1 illegal actions without a rejection");
    check(&illegal(9, 10), "that it has not sent");
    let reconnecting =
        |streams| evidence(Kind::Reconnecting, Seen { streams, ..Seen::default() }, Vec::new());
    check(&reconnecting(105), "");
    check(&reconnecting(106), "1 streams more");
    let closed = |closed, closed_by_rate, closed_by_number| {
        let seen = Seen { closed, ..Seen::default() };
        let evidence = evidence(Kind::Reconnecting, seen, Vec::new());
        Evidence { closed_by_rate, closed_by_number, ..evidence }
    };
    check(&closed(1_200, 1_000, 0), "");
    check(&closed(1_200, 500, 500), "");
    check(&closed(1_201, 1_000, 0), "1 connections closed that the server has not counted");
    let flooding = |flooded, rejections, out_of_turn| {
        let rejected = rejected(v1::ErrorReason::UnknownHandle, rejections);
        let seen = Seen { rejected, streams: 1, flooded, out_of_turn, ..Seen::default() };
        evidence(Kind::Flooding, seen, Vec::new())
    };
    check(&flooding(5_000, 1_051, 0), "");
    check(&flooding(5_000, 1_052, 0), "1 requests that are read beyond");
    check(&flooding(5_000, 1_051, 3), "3 answers that left a message out");
    check(&flooding(21_051, 1_051, 0), "");
    check(&flooding(21_053, 1_051, 0), "2 messages sent that were never answered");
    let never_reading = |unread_for: &[f64], unread_and_open| {
        let seen = Seen { unread_for: unread_for.to_vec(), unread_and_open, ..Seen::default() };
        evidence(Kind::NeverReading, seen, Vec::new())
    };
    check(&never_reading(&[3.0, 3.9], 0), "");
    check(&never_reading(&[3.0, 2.8], 0), "1 streams ended before three ping intervals");
    check(&never_reading(&[3.0], 2), "2 streams open after four ping intervals");
    check(&Evidence { bars: Bars::TooShort, ..never_reading(&[3.0], 2) }, "");

    let rated = Some(v1::Rating::default());
    let of = |kind, reason, end, rank, rating| {
        evidence(kind, Seen::default(), result(kind, reason, end, rank, rating))
    };
    check(&of(Kind::Silent, Reason::Aborted, End::NoShow, 0, None), "");
    check(&of(Kind::Silent, Reason::Aborted, End::NoShow, 0, rated), "no-shows that are rated");
    check(&of(Kind::Silent, Reason::Target, End::NoShow, 2, None), "no-shows that are rated");
    check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 2, rated), "");
    check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 2, None), "not rated as lost");
    check(&of(Kind::Slow, Reason::Forfeit, End::Forfeited, 1, rated), "not rated as lost");
    let twice = |superseded, overtaken, matches| {
        let rejected = rejected(v1::ErrorReason::Superseded, overtaken);
        let seen = Seen { superseded, rejected, streams: 2, ..Seen::default() };
        let results = (0..matches).flat_map(|_| {
            result(Kind::TwoProcesses, Reason::Target, End::Played, 1, Some(v1::Rating::default()))
        });
        evidence(Kind::TwoProcesses, seen, results.collect()).missing().is_empty()
    };
    assert!(twice(3, 5, 10) && !twice(3, 4, 10) && !twice(0, 0, 1));
    let at_rest = Seen { given_at_rest: 1, ..Seen::default() };
    check(&evidence(Kind::Flooding, at_rest, Vec::new()), "1 matches that it was given while");
}

#[test]
fn cool_downs_double_and_the_bench_comes_with_the_third_forfeit() {
    let times = |end, rank, rating, many| -> Vec<v1::LadderResult> {
        let (kind, reason) = match end {
            End::NoShow => (Kind::Silent, Reason::Aborted),
            _ => (Kind::Slow, Reason::Forfeit),
        };
        (0..many).flat_map(|_| result(kind, reason, end, rank, rating)).collect()
    };
    let check = |evidence: &Evidence, expected: &[&str]| {
        let undue = evidence.undue();
        let is_told = undue.len() == expected.len()
            && undue.iter().zip(expected).all(|(text, expected)| text.contains(expected));
        assert!(is_told, "{undue:?}");
    };
    let silent = |cool_downs: &[u64], no_shows| {
        let cool_downs = cool_downs.iter().map(|seconds| Duration::from_secs(*seconds)).collect();
        let seen = Seen { cool_downs, ..Seen::default() };
        let evidence = evidence(Kind::Silent, seen, times(End::NoShow, 0, None, no_shows));
        Evidence { lasted: Duration::from_mins(10), ..evidence }
    };
    check(&silent(&[30, 59, 120, 237, 480], 5), &[]);
    check(&silent(&[30, 30, 30], 3), &["2 cool-downs that are not twice as long"]);
    check(&silent(&[30, 61], 2), &["1 cool-downs that are not twice as long"]);
    check(&silent(&[30], 3), &["1 no-shows without a notice"]);
    // 30 s at most until each no-show, and 30, 60, 120 and 240 s after the first four.
    assert_eq!(silent(&[], 0).cool_downs_due(), 5);
    let too_few = |evidence: &Evidence| evidence.missing().iter().any(|what| what.contains("as fit into"));
    let (four, five) = ([30, 60, 120, 240], [30, 60, 120, 240, 480]);
    assert!(too_few(&silent(&four, 4)) && !too_few(&silent(&five, 5)));
    let short = |cool_downs| Evidence { bars: Bars::TooShort, ..silent(cool_downs, 1) };
    assert!(too_few(&short(&[])) && !too_few(&short(&[30])));

    let slow = |benches: &[Option<u64>], forfeits| {
        let benches = benches.iter().map(|left| left.map(Duration::from_secs)).collect();
        let seen = Seen { benches, ..Seen::default() };
        let rated = Some(v1::Rating::default());
        evidence(Kind::Slow, seen, times(End::Forfeited, 2, rated, forfeits))
    };
    check(&slow(&[], 2), &[]);
    check(&slow(&[Some(600)], 3), &[]);
    check(&slow(&[Some(600)], 2), &["1 forfeits too few for its benches"]);
    check(&slow(&[], 3), &["1 forfeits without a bench after the third"]);
    check(&slow(&[Some(600)], 7), &["2 forfeits without a bench after the third"]);
    check(&slow(&[Some(60)], 3), &["1 first benches of another length"]);
    check(&slow(&[None], 3), &["1 first benches of another length"]);
}
