//! Whatever is asked, in whatever order: what is decided can be applied, and what was applied replays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use zetema_rules::{Action, PlayedBy};

use super::harness::*;
use crate::table::{
    Arrival, Change, Choice, ClosedBy, Command, Deals, Decided, Done, Entry, FairShuffler, SeatAccess, Table,
};

#[derive(Clone, Debug)]
enum Ask {
    Join { index: usize, with_hash: bool },
    Nonce { index: usize, right: bool },
    Act { index: usize, back: u32, choice: u32 },
    Fault { index: usize, card: usize },
    Resign { index: usize },
    Rotate { index: usize },
    Cancel,
}

fn ask() -> impl Strategy<Value = Ask> {
    let index = 0..4_usize;
    prop_oneof![
        4 => (index.clone(), any::<bool>()).prop_map(|(index, with_hash)| Ask::Join { index, with_hash }),
        4 => (index.clone(), any::<bool>()).prop_map(|(index, right)| Ask::Nonce { index, right }),
        60 => (index.clone(), 0..3_u32, 0..9_u32).prop_map(|(index, back, choice)| Ask::Act { index, back, choice }),
        4 => (index.clone(), 0..52_usize).prop_map(|(index, card)| Ask::Fault { index, card }),
        1 => index.clone().prop_map(|index| Ask::Resign { index }),
        1 => index.prop_map(|index| Ask::Rotate { index }),
        1 => Just(Ask::Cancel),
    ]
}

fn command(ask: &Ask, table: &Table) -> Command {
    let access = |index: usize| {
        let seat = seat(index);
        SeatAccess { seat, generation: table.generation(seat).unwrap_or(1) }
    };
    let current = table.decision().unwrap_or(1);
    match *ask {
        Ask::Join { index, with_hash } => {
            Command::Join { access: access(index), nonce_hash: with_hash.then(|| nonce(index).hash()) }
        }
        Ask::Nonce { index, right } => {
            Command::GiveNonce { access: access(index), nonce: nonce(if right { index } else { index + 1 }) }
        }
        Ask::Act { index, back, choice } => {
            let decision = (current + 1).saturating_sub(back);
            Command::Act { access: access(index), decision, choice: Choice::LegalIndex(choice) }
        }
        Ask::Fault { index, card } => {
            let card = zetema_rules::Card::from_index(card).unwrap();
            let choice = Choice::Action(Action::Discard(card));
            Command::Act { access: access(index), decision: current, choice }
        }
        Ask::Resign { index } => Command::Resign { access: access(index) },
        Ask::Rotate { index } => Command::RotateToken { seat: seat(index) },
        Ask::Cancel => Command::Cancel,
    }
}

/// Every decision is found as it is by going through all entries, and so is every forfeit.
pub(super) fn check_found(table: &Table) -> Result<(), TestCaseError> {
    let (mut answers, mut closed) = (BTreeMap::new(), BTreeMap::new());
    let mut forfeited = BTreeSet::new();
    let mut last = 0;
    for entry in table.entries_from(0) {
        match entry.change {
            Change::Acted { seat, decision, action, by, ledger } => {
                last = decision;
                if by == PlayedBy::Player {
                    answers.insert((decision, seat), action);
                }
                let closed_by = match (by, ledger) {
                    (PlayedBy::Player, _) => ClosedBy::Answer,
                    (PlayedBy::Autoplay, Some(_)) => ClosedBy::Clock,
                    (PlayedBy::Autoplay, None) => ClosedBy::Forfeit,
                };
                closed.entry(decision).or_insert((seat, closed_by));
            }
            Change::Faulted { seat, decision, card } => {
                answers.insert((decision, seat), Action::Discard(card));
            }
            Change::SeatForfeited { seat, ledger, .. } => {
                forfeited.insert(seat);
                if let Some(ledger) = ledger {
                    closed.insert(ledger.decision, (seat, ClosedBy::Clock));
                }
            }
            _ => {}
        }
    }
    let seats = table.info().seats;
    for decision in 0..last + 3 {
        prop_assert_eq!(table.closed(decision), closed.get(&decision).copied(), "{}", decision);
        for seat in seats.iter().map(|info| info.seat) {
            let found = table.answer(seat, decision).map(|(_, action)| action);
            prop_assert_eq!(found, answers.get(&(decision, seat)).copied(), "{} {}", decision, seat);
        }
    }
    for info in &seats {
        let access = SeatAccess { seat: info.seat, generation: info.generation };
        let resigned = table.done(&Command::Resign { access }, Arrival { at: at_ms(0), round_trip_ms: None });
        prop_assert_eq!(matches!(resigned, Some(Done::Resigned { .. })), forfeited.contains(&info.seat));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_asking_leaves_a_match_that_replays(
        seed in 0..200_u8,
        joined in any::<bool>(),
        asks in proptest::collection::vec(ask(), 1..300),
    ) {
        let rules = all_rules().nth(usize::from(seed) % all_rules().count()).unwrap();
        let mut harness = Harness::new(rules, Deals::Joint, seed, Arc::new(FairShuffler));
        if joined {
            harness.join_all();
        }
        for ask in &asks {
            let command = command(ask, &harness.table);
            let before = harness.table.entry_count();
            let decided = harness.table.decide(&command, Arrival { at: harness.now, round_trip_ms: None });
            let sent = harness.send(&command);
            match decided {
                Ok(Decided::Write(_) | Decided::TimedOut(_)) => prop_assert!(sent.is_ok() && harness.table.entry_count() > before),
                Ok(Decided::Already(done)) => {
                    prop_assert_eq!(sent, Ok(done));
                    prop_assert_eq!(harness.table.entry_count(), before);
                }
                Err(rejection) => {
                    prop_assert_eq!(sent, Err(rejection));
                    prop_assert_eq!(harness.table.entry_count(), before);
                }
            }
        }
        check_found(&harness.table)?;
        let entries: Vec<Entry> = harness.table.entries_from(0).cloned().collect();
        let again = Table::replay(entries, Arc::new(FairShuffler)).unwrap();
        for (viewer, observed) in &harness.observed {
            prop_assert_eq!(again.snapshot(*viewer, at_ms(0)), harness.table.snapshot(*viewer, at_ms(0)));
            prop_assert_eq!(again.seq(*viewer), observed.len() as u64);
        }
        prop_assert_eq!(harness.table.outcome().is_some(), harness.table.deadline().is_none());
        if let Some(record) = harness.table.record() {
            prop_assert!(record.verify().is_ok(), "{:?}", record.verify());
        }
    }
}
