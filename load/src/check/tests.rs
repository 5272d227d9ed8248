//! What is right and what is a fault.

use tokio::time::Instant;

use super::*;
use crate::fault::Fault;

const MATCH: &str = "m";

fn observation(seq: u64, answered_decision_number: Option<u32>) -> v1::Observation {
    v1::Observation { seq, answered_decision_number, decision_number: Some(3), ..v1::Observation::default() }
}

fn receipt_of(match_id: &str, decision_number: u32, seq: u64) -> v1::Receipt {
    v1::Receipt { match_id: match_id.to_owned(), decision_number, seq }
}

fn outcome(totals: [u32; 2]) -> v1::Outcome {
    let sides = totals.map(|total| v1::SideResult { rank: 1, total }).to_vec();
    let result = v1::MatchResult { reason: v1::EndReason::Target.into(), sides };
    v1::Outcome { kind: Some(v1::outcome::Kind::Result(result)) }
}

/// What comes with a number is as of decision 3, but for what shows an action or advances.
enum Step {
    Start(u64),
    Send(u32),
    Cut,
    Refuse,
    Observe(u64, Option<u32>),
    Advance(u64),
    TimeOut(u64),
    Acknowledge(u32, u64),
    Return(u32, u64),
    End,
}
use Step::{Acknowledge, Advance, Cut, End, Observe, Refuse, Return, Send, Start, TimeOut};

/// The steps are all right but for the last, which is wrong in this way.
fn check(steps: impl IntoIterator<Item = Step>, expected: impl Into<Option<Wrong>>) {
    let mut seat = SeatCheck::default();
    let told = |step, seat: &mut SeatCheck| match step {
        Start(seq) => seat.started(seq),
        Observe(seq, answered) => seat.observed(&observation(seq, answered)),
        Advance(seq) => {
            let advanced = v1::Observation { decision_number: Some(4), ..observation(seq, None) };
            seat.observed(&advanced)
        }
        TimeOut(seq) => {
            let timed_out = v1::event::Kind::TimedOut(v1::TimedOut::default());
            let events = vec![v1::Event { kind: Some(timed_out) }];
            let advanced = v1::Observation { decision_number: Some(4), events, ..observation(seq, None) };
            seat.observed(&advanced)
        }
        Acknowledge(decision, seq) => seat.acknowledged(MATCH, &receipt_of(MATCH, decision, seq)),
        Return(decision, seq) => seat.returned(MATCH, 1, &receipt_of(MATCH, decision, seq)),
        End => seat.ended(),
        Send(decision) => {
            seat.sent(decision);
            Ok(())
        }
        Cut => {
            seat.cut();
            Ok(())
        }
        Refuse => {
            seat.refused(4);
            Ok(())
        }
    };
    let mut found: Vec<Result<(), Wrong>> = steps.into_iter().map(|step| told(step, &mut seat)).collect();
    let last = found.pop().unwrap();
    assert_eq!(found.iter().find(|found| found.is_err()), None);
    assert_eq!(last.err(), expected.into());
}

#[test]
fn what_a_right_server_sends_is_no_fault() {
    check([Start(0), Observe(1, None), Send(1), Observe(2, Some(1)), Observe(3, None), End], None);
    check([Start(7), Send(4), Refuse, Observe(8, None), End], None);
    // Out of time before the answer came there.
    check([Start(0), Send(3), TimeOut(1), End], None);
    check([Start(0), Send(3), Cut, Start(1), Advance(2), End], None);
    // Cut before the action came there, and after.
    check([Start(0), Send(1), Cut, Start(1), Send(1), Observe(2, Some(1)), End], None);
    check([Start(0), Send(1), Cut, Start(2), Send(1), Acknowledge(1, 2), Observe(3, None), End], None);
    // Cut after the action came there, and the seat is to act again before the receipt comes.
    check(
        [Start(0), Send(1), Cut, Start(2), Send(1), Send(3), Acknowledge(1, 2), Observe(3, Some(3)), End],
        None,
    );
    // Sent again on the same stream: the one is shown, the other acknowledged.
    check([Start(0), Send(1), Send(1), Observe(1, Some(1)), Acknowledge(1, 1), End], None);
    check([Start(0), Send(1), Observe(1, Some(1)), Return(1, 1)], None);
    check([Start(0), Send(1), Return(1, 1), Observe(1, Some(1)), End], None);
    // The receipt of the call comes after the seat has acted again.
    check([Start(0), Send(1), Observe(1, Some(1)), Send(3), Observe(2, Some(3)), Return(1, 1)], None);
}

#[test]
fn a_gap_or_an_observation_that_comes_twice_is_found() {
    let wrong = |expected, found| Some(Wrong::Sequence { expected, found });
    check([Start(0), Observe(1, None), Observe(3, None)], wrong(2, 3));
    check([Start(5), Observe(6, None), Observe(6, None)], wrong(7, 6));
    check([Observe(2, None)], wrong(1, 2));
    check([Start(0), Observe(1, None), Cut, Start(0)], Some(Wrong::OldSnapshot { seen: 1, found: 0 }));
}

#[test]
fn a_receipt_that_comes_twice_or_is_another_s_or_does_not_come_is_found() {
    let extra = |decision| Some(Wrong::ExtraReceipt { decision });
    check([Start(0), Send(1), Observe(1, Some(1)), Observe(2, Some(1))], extra(1));
    check([Start(0), Send(1), Observe(1, Some(1)), Acknowledge(1, 1)], extra(1));
    check([Start(0), Send(1), Acknowledge(1, 1)], extra(1));
    check([Start(0), Send(1), Cut, Send(1), Acknowledge(1, 1), Acknowledge(1, 1)], extra(1));
    check([Start(0), Observe(1, Some(1))], extra(1));
    check([Start(0), Send(1), Observe(1, Some(2))], extra(2));
    check([Start(0), Send(1), Return(2, 1)], extra(2));
    check([Start(0), Send(3), Observe(1, None), End], Some(Wrong::MissingReceipt { decision: 3 }));
    check([Start(0), Send(3), Advance(1)], Some(Wrong::MissingReceipt { decision: 3 }));
    let elsewhere = |named, shown| Some(Wrong::ReceiptElsewhere { decision: 1, named, shown });
    check([Start(0), Send(1), Observe(1, Some(1)), Return(1, 2)], elsewhere(2, 1));
    check([Start(0), Send(1), Return(1, 2), Observe(1, Some(1))], elsewhere(2, 1));
    check([Start(0), Send(1), Send(1), Observe(1, Some(1)), Acknowledge(1, 3)], elsewhere(3, 1));
    check(
        [Start(0), Send(1), Observe(1, Some(1)), Send(3), Observe(2, Some(3)), Return(1, 2)],
        elsewhere(2, 1),
    );
    let mut seat = SeatCheck::default();
    seat.sent(1);
    let wrong = seat.returned(MATCH, 1, &receipt_of("other", 1, 1)).unwrap_err();
    assert_eq!(wrong, Wrong::OtherMatch { found: "other".to_owned() });
}

#[test]
fn two_that_say_differently_how_a_match_ended_are_found() {
    let mut ending = Ending::default();
    ending.told(Source::Seat(0), outcome([120, 80])).unwrap();
    ending.told(Source::Seat(1), outcome([120, 80])).unwrap();
    let fault = ending.told(Source::Record, outcome([120, 81])).unwrap_err().to_string();
    for told in ["points 120, 80", "what seat 0 was told", "points 120, 81", "its record"] {
        assert!(fault.contains(told), "{fault}");
    }
}

#[test]
fn each_result_comes_once_and_says_what_the_seats_were_told() {
    let now = Instant::now();
    let ended = |totals| {
        let mut ending = Ending::default();
        ending.told(Source::Seat(0), outcome(totals)).unwrap();
        ending
    };
    let mut results = Results::default();
    // The one before its seats are told, the other after.
    results.came(now, 3, "a", outcome([1, 2])).unwrap();
    results.over(now, "a", ended([1, 2])).unwrap();
    results.over(now, "b", ended([3, 4])).unwrap();
    results.came(now, 4, "b", outcome([3, 4])).unwrap();
    assert_eq!(results.awaited(), 0);
    let wrong = |result: Result<(), Fault>| result.unwrap_err().wrong;
    assert_eq!(wrong(results.came(now, 9, "a", outcome([1, 2]))), Wrong::ResultTwice { first: 3, again: 9 });
    assert_eq!(wrong(results.came(now, 9, "c", outcome([1, 2]))), Wrong::ResultOrder { before: 9, found: 9 });
    results.came(now, 10, "d", outcome([5, 6])).unwrap();
    assert!(matches!(wrong(results.over(now, "d", ended([5, 7]))), Wrong::Outcome { .. }));
    results.over(now, "e", ended([5, 7])).unwrap();
    assert!(matches!(wrong(results.came(now, 11, "e", outcome([5, 6]))), Wrong::Outcome { .. }));
    // One that nobody plays any more is waited for by nobody.
    results.came(now, 12, "g", outcome([1, 1])).unwrap();
    results.came(now, 13, "h", outcome([1, 1])).unwrap();
    results.given_up("g");
    assert_eq!(results.untold().collect::<Vec<_>>(), [("h", now)]);
    results.over(now, "f", ended([5, 7])).unwrap();
    let given_up: Vec<Fault> = results.give_up(now).collect();
    assert_eq!(given_up.len(), 1);
    assert_eq!(given_up[0].to_string(), "match f: its result has not come within 0 s after its end");
}

#[test]
fn a_match_that_the_server_does_not_know_is_lost_unless_it_has_a_result() {
    let now = Instant::now();
    let mut results = Results::default();
    results.came(now, 1, "before", outcome([1, 2])).unwrap();
    for match_id in ["before", "after", "never"] {
        results.unknown(match_id, "no such seat".to_owned());
    }
    results.came(now, 2, "after", outcome([1, 2])).unwrap();
    let lost: Vec<String> = results.give_up(now).map(|fault| fault.to_string()).collect();
    let said = "match never: it was created, has no result, and the server does not know it: no such seat";
    assert_eq!(lost, [said]);
}

#[test]
fn what_a_spectator_is_told_of_an_end_is_the_result_whichever_comes_first() {
    let now = Instant::now();
    let wrong = |result: Result<(), Fault>| result.unwrap_err().wrong;
    let mut results = Results::default();
    let watched =
        |results: &mut Results, name: &str, totals| results.watched(name.to_owned(), outcome(totals));
    watched(&mut results, "a", [1, 2]).unwrap();
    watched(&mut results, "a", [1, 2]).unwrap();
    results.came(now, 1, "a", outcome([1, 2])).unwrap();
    watched(&mut results, "a", [1, 2]).unwrap();
    let said = Wrong::SpectatorOutcome { told: "points 1, 3 (END_REASON_TARGET)".to_owned() };
    assert_eq!(wrong(watched(&mut results, "a", [1, 3])), said);
    watched(&mut results, "b", [1, 3]).unwrap();
    assert!(matches!(wrong(watched(&mut results, "b", [3, 1])), Wrong::SpectatorOutcome { .. }));
    assert_eq!(wrong(results.came(now, 2, "b", outcome([1, 2]))), said);
}
