//! No match waits for ever.

use std::sync::Arc;

use zetema_rules::{AbortReason, Preset};

use super::harness::*;
use crate::table::{Abort, Change, Choice, Command, Deals, FairShuffler};

#[test]
fn every_seat_has_the_same_time_to_join_and_then_again_to_send_its_nonce() {
    let rules = Preset::Sackson.rules(3, None).unwrap();
    let mut harness = Harness::new(rules, Deals::Joint, 1, Arc::new(FairShuffler));
    let join = |index: usize| Command::Join { access: access(index), nonce_hash: Some(nonce(index).hash()) };
    assert_eq!(harness.table.deadline(), Some(at_ms(600_000)));
    for (ms, index) in [(1_000, 0), (2_000, 1)] {
        harness.now = at_ms(ms);
        harness.send(&join(index)).unwrap();
        assert_eq!(harness.table.deadline(), Some(at_ms(600_000)), "a join gives nobody more time");
    }
    assert_eq!(harness.table.expired(at_ms(599_999), |_| true), None);
    let no_show = Abort { reason: AbortReason::NoShow, seats: vec![seat(2)] };
    assert_eq!(harness.table.expired(at_ms(600_000), |_| true), Some(vec![Change::Aborted(no_show)]));
    harness.now = at_ms(3_000);
    harness.send(&join(2)).unwrap();
    assert_eq!(harness.table.deadline(), Some(at_ms(603_000)));
    harness.now = at_ms(4_000);
    harness.send(&Command::GiveNonce { access: access(1), nonce: nonce(1) }).unwrap();
    assert_eq!(harness.table.deadline(), Some(at_ms(603_000)));
    let missing = Abort { reason: AbortReason::NonceMissing, seats: vec![seat(0), seat(2)] };
    assert_eq!(harness.table.expired(at_ms(603_000), |_| true), Some(vec![Change::Aborted(missing)]));
}

#[test]
fn the_idle_limit_counts_from_the_decision_on() {
    let mut harness = Harness::dealt(Preset::Victorian.rules(2, None).unwrap(), 2);
    let (turn, other) = (harness.to_act(), 1 - harness.to_act());
    let idle = u64::from(zetema_rules::TimeControl::DEFAULT_IDLE_TIMEOUT_MS);
    assert_eq!(harness.table.deadline(), Some(at_ms(idle)));
    harness.now = at_ms(5_000);
    let hand = harness.table.snapshot(zetema_rules::Viewer::Seat(seat(other)), at_ms(0)).view.unwrap().hand;
    let card = hand.faces_in_order().next().unwrap();
    harness.act(other, 1, Choice::Action(zetema_rules::Action::Discard(card))).unwrap();
    assert_eq!(harness.table.deadline(), Some(at_ms(idle)), "a fault gives nobody more time");
    harness.act(turn, 1, Choice::LegalIndex(0)).unwrap();
    assert_eq!(harness.table.deadline(), Some(at_ms(5_000 + idle)));
    let abort = Abort { reason: AbortReason::Idle, seats: Vec::new() };
    assert_eq!(harness.table.expired(at_ms(5_000 + idle), |_| true), Some(vec![Change::Aborted(abort)]));
    harness.send(&Command::Cancel).unwrap();
    assert_eq!((harness.table.deadline(), harness.table.expired(at_ms(u64::MAX), |_| true)), (None, None));
}
