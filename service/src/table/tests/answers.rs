//! Exactly once (I2).

use zetema_rules::{Action, PlayError, Preset, Viewer};

use super::harness::*;
use crate::table::{Choice, ClosedBy, Command, Done, Rejection};

#[test]
fn the_same_answer_gets_the_first_receipt_for_ever_and_another_the_current_decision() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 1);
    let mut given = Vec::new();
    while let Some(decision) = harness.table.decision().filter(|&decision| decision <= 30) {
        let index = harness.to_act();
        let snapshot = harness.table.snapshot(Viewer::Seat(seat(index)), at_ms(0));
        let legal = snapshot.to_decide.unwrap();
        let action = legal.get(0).unwrap();
        let receipt = harness.act(index, decision, Choice::Action(action)).unwrap();
        assert_eq!(receipt.seq, snapshot.seq + 1);
        given.push((index, decision, action, receipt));
    }
    let current = harness.table.decision();
    for (index, decision, action, receipt) in given {
        assert_eq!(harness.act(index, decision, Choice::Action(action)), Ok(receipt));
        assert_eq!(harness.act(index, decision, Choice::LegalIndex(0)), Ok(receipt), "by its index");
        let over = Err(Rejection::DecisionOver { current, closed_by: Some(ClosedBy::Answer) });
        assert_eq!(harness.act(index, decision, Choice::LegalIndex(1)), over);
        assert_eq!(harness.act(1 - index, decision, Choice::Action(action)), over, "another seat's decision");
    }
    assert_eq!(harness.table.decision(), current, "nothing changed");
}

#[test]
fn refusals_name_what_is_wrong_and_change_nothing() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 2);
    let (turn, other) = (harness.to_act(), 1 - harness.to_act());
    let before = harness.table.entry_count();
    let count = harness.table.snapshot(Viewer::Seat(seat(turn)), at_ms(0)).to_decide.unwrap().len();
    let hand = harness.table.snapshot(Viewer::Seat(seat(turn)), at_ms(0)).view.unwrap().hand;
    let not_held = zetema_rules::Card::all().find(|&card| !hand.contains(card)).unwrap();
    let index = u32::try_from(count).unwrap();
    let cases = [
        (turn, 2, Choice::LegalIndex(0), Rejection::DecisionAhead { current: Some(1) }),
        (turn, 0, Choice::LegalIndex(0), Rejection::DecisionOver { current: Some(1), closed_by: None }),
        (turn, 1, Choice::LegalIndex(index), Rejection::NoSuchIndex { current: 1, index, count }),
        (other, 1, Choice::LegalIndex(0), Rejection::NotYourTurn { current: 1, to_act: seat(turn) }),
        (
            turn,
            1,
            Choice::Action(Action::Discard(not_held)),
            Rejection::Illegal { current: 1, error: PlayError::CardNotHeld { card: not_held } },
        ),
        (2, 1, Choice::LegalIndex(0), Rejection::NoSuchSeat { seat: seat(2) }),
    ];
    for (index, decision, choice, rejection) in cases {
        assert_eq!(harness.act(index, decision, choice), Err(rejection));
    }
    assert_eq!(harness.table.entry_count(), before);
}

#[test]
fn a_seat_that_has_forfeited_acts_no_more_and_keeps_its_receipts() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(3, None).unwrap(), 3);
    let index = harness.to_act();
    let receipt = harness.act(index, 1, Choice::LegalIndex(0)).unwrap();
    let resign = Command::Resign { access: access(index) };
    let resigned = harness.send(&resign).unwrap();
    assert_eq!(resigned, Done::Resigned { seq: receipt.seq + 1 });
    assert_eq!(harness.send(&resign), Ok(resigned));
    assert_eq!(harness.act(index, 1, Choice::LegalIndex(0)), Ok(receipt));
    let current = harness.table.decision().unwrap();
    assert_eq!(harness.act(index, current, Choice::LegalIndex(0)), Err(Rejection::SeatForfeited));
    // What the server then plays for it is no answer of its own.
    while harness.table.decision().is_some_and(|decision| decision < current + 6) {
        let (turn, decision) = (harness.to_act(), harness.table.decision().unwrap());
        assert_ne!(turn, index);
        harness.act(turn, decision, Choice::LegalIndex(0)).unwrap();
    }
    for decision in current..current + 3 {
        let closed_by = Some(if decision == current + 2 { ClosedBy::Forfeit } else { ClosedBy::Answer });
        let over = Err(Rejection::DecisionOver { current: harness.table.decision(), closed_by });
        assert_eq!(harness.act(index, decision, Choice::LegalIndex(0)), over);
    }
}

#[test]
fn over_is_over() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 4);
    let index = harness.to_act();
    let receipt = harness.act(index, 1, Choice::LegalIndex(2)).unwrap();
    harness.play_out(4);
    assert_eq!(harness.act(index, 1, Choice::LegalIndex(2)), Ok(receipt));
    let over = Err(Rejection::DecisionOver { current: None, closed_by: Some(ClosedBy::Answer) });
    assert_eq!(harness.act(index, 1, Choice::LegalIndex(0)), over);
    assert_eq!(harness.act(index, 100_000, Choice::LegalIndex(0)), Err(Rejection::MatchOver));
    assert_eq!(harness.send(&Command::Cancel), Err(Rejection::MatchOver));
    assert_eq!(harness.send(&Command::Resign { access: access(0) }), Err(Rejection::MatchOver));
    assert_eq!(
        harness.send(&Command::Join { access: access(0), nonce_hash: None }),
        Ok(Done::Joined),
        "whoever comes late may see how it ended"
    );
}

#[test]
fn what_was_logged_of_a_decision_is_found_wherever_in_the_log_it_is() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 3);
    let check = |harness: &Harness| {
        let last = harness.table.decision().unwrap_or_default();
        for decision in 0..last + 2 {
            let found = harness.table.log.at(decision).map(std::ptr::from_ref);
            let of_it = harness.table.log.iter().filter(|logged| logged.decision == decision);
            assert!(found.eq(of_it.map(std::ptr::from_ref)), "{decision}");
        }
    };
    check(&harness);
    for _ in 0..3 {
        let decision = harness.table.decision().unwrap();
        harness.act(harness.to_act(), decision, Choice::LegalIndex(0)).unwrap();
        check(&harness);
    }
    harness.play_out(7);
    check(&harness);
    assert!(harness.table.log.len() > 40);
}
