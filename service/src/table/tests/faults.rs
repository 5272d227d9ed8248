//! Discards out of turn (R28).

use zetema_rules::{Action, Declaration, PlayError, Preset, Rank, Viewer};

use super::harness::*;
use crate::table::{Choice, ClosedBy, Rejection};

fn discard(card: zetema_rules::Card) -> Choice {
    Choice::Action(Action::Discard(card))
}

#[test]
fn a_fault_has_a_receipt_of_its_own_and_leaves_the_decision_open() {
    let mut harness = Harness::dealt(Preset::Victorian.rules(2, None).unwrap(), 1);
    let (turn, other) = (harness.to_act(), 1 - harness.to_act());
    let hand = harness.table.snapshot(Viewer::Seat(seat(other)), at_ms(0)).view.unwrap().hand;
    let mut cards = hand.faces_in_order();
    let (first, second) = (cards.next().unwrap(), cards.next().unwrap());
    let receipt = harness.act(other, 1, discard(first)).unwrap();
    assert_eq!((receipt.decision, harness.table.decision()), (1, Some(1)));
    assert_eq!(harness.act(other, 1, discard(first)), Ok(receipt), "the same fault counts once");
    let exposed = PlayError::AlreadyExposed { card: first };
    assert_eq!(
        harness.act(other, 1, discard(second)),
        Err(Rejection::Illegal { current: 1, error: exposed })
    );
    let to_act = seat(turn);
    let declared = Choice::Action(Action::Declare(Declaration::Assembly(Rank::Ace)));
    assert_eq!(harness.act(other, 1, declared), Err(Rejection::NotYourTurn { current: 1, to_act }));
    harness.act(turn, 1, Choice::LegalIndex(0)).unwrap();
    assert_eq!(harness.act(other, 1, discard(first)), Ok(receipt), "after the decision too");
    let current = harness.table.decision();
    assert_eq!(
        harness.act(other, 1, discard(second)),
        Err(Rejection::DecisionOver { current, closed_by: Some(ClosedBy::Answer) })
    );
    let index = |card| u32::from(card == first);
    assert_eq!(
        harness.act(other, 1, Choice::LegalIndex(index(first))),
        Err(Rejection::DecisionOver { current, closed_by: Some(ClosedBy::Answer) }),
        "a fault is no legal action and has no index"
    );
}

#[test]
fn a_fault_has_an_observation_for_all_and_a_receipt_for_its_seat() {
    let mut harness = Harness::dealt(Preset::Victorian.rules(3, None).unwrap(), 2);
    let other = (harness.to_act() + 1) % 3;
    let hand = harness.table.snapshot(Viewer::Seat(seat(other)), at_ms(0)).view.unwrap().hand;
    let receipt = harness.act(other, 1, discard(hand.faces_in_order().next().unwrap())).unwrap();
    for (viewer, observed) in &harness.observed {
        let last = observed.last().unwrap();
        assert_eq!(last.decision, Some(1));
        assert_eq!(last.view, None, "the decision is the same as before");
        assert_eq!(last.receipt, (*viewer == Viewer::Seat(seat(other))).then_some(receipt));
    }
    harness.play_out(2);
    harness.table.record().unwrap().verify().unwrap();
}
