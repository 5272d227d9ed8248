//! What was observed follows from the entries alone.

use std::sync::Arc;

use zetema_rules::{Outcome, Preset, Viewer};

use super::harness::*;
use crate::encoding::{
    decode_entry, decode_record, decode_summary, encode_entry, encode_record, encode_summary, record_entries,
};
use crate::journal::MatchId;
use crate::table::{Command, DealSet, DealSetId, Deals, Entry, FairShuffler, Table};

#[test]
fn every_kind_of_match_plays_out_and_replays_from_entries_and_from_its_record() {
    for (number, rules) in (1..).zip(all_rules()) {
        let deals = if number % 3 == 0 { Deals::Fixed } else { Deals::Joint };
        let mut harness = Harness::new(rules, deals.clone(), number, Arc::new(FairShuffler));
        if deals == Deals::Fixed {
            for index in 0..rules.player_count().count() {
                let command = Command::Join { access: access(index), nonce_hash: None };
                harness.send(&command).unwrap();
            }
        } else {
            harness.join_all();
        }
        harness.play_out(number.into());
        let table = &harness.table;
        let record = table.record().unwrap();
        record.verify().unwrap();
        assert!(matches!(record.outcome, Outcome::Result(_)));

        let entries: Vec<Entry> = table.entries_from(0).cloned().collect();
        let stored: Vec<Entry> = entries
            .iter()
            .map(|entry| decode_entry(&encode_entry(entry), rules.imperial_suit).unwrap())
            .collect();
        assert_eq!(stored, entries);
        let info = decode_summary(&encode_summary(&table.info())).unwrap();
        assert_eq!(info, table.info());
        let (read, header) = decode_record(&encode_record(table).unwrap()).unwrap();
        assert_eq!(read, record);
        let filed = record_entries(&read, &header, &info).unwrap();
        for (viewer, observed) in &harness.observed {
            for source in [&stored, &filed] {
                let (again, table) = replayed(source, *viewer);
                assert!(again == *observed, "{viewer:?} of {rules:?}");
                assert_eq!(table.snapshot(*viewer, at_ms(0)), harness.table.snapshot(*viewer, at_ms(0)));
                assert_eq!(table.info(), harness.table.info());
            }
            assert!((1..).zip(observed).all(|(seq, observation)| observation.seq == seq));
        }
    }
}

#[test]
fn an_abort_before_the_deal_replays_from_its_record_with_the_same_numbers() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let set =
        DealSet { id: DealSetId::from_bytes([5; 16]), matches: [MatchId::from_bytes([0xFE; 16])].into() };
    for deals in [Deals::Joint, Deals::Fixed, Deals::Shared(set)] {
        // None, one, or both have joined; both, and the deal set too; the first nonce is in.
        for steps in 0..5 {
            let mut harness = Harness::new(rules, deals.clone(), 1, Arc::new(FairShuffler));
            let join = |index| Command::Join { access: access(index), nonce_hash: Some(nonce(index).hash()) };
            let first_nonce = Command::GiveNonce { access: access(0), nonce: nonce(0) };
            for command in [join(0), join(1), Command::DealSetJoined, first_nonce].iter().take(steps) {
                // Deals that are not shared wait for no deal set, fixed ones for no nonce.
                let _ = harness.send(command);
            }
            harness.send(&Command::Cancel).unwrap();
            let table = &harness.table;
            let info = table.info();
            let (record, header) = decode_record(&encode_record(table).unwrap()).unwrap();
            record.verify().unwrap();
            assert_eq!(record.to_string().parse::<zetema_rules::Record>().unwrap(), record);
            let filed = record_entries(&record, &header, &info).unwrap();
            for (viewer, observed) in &harness.observed {
                let (again, replayed) = replayed(&filed, *viewer);
                assert!(again == *observed, "{deals:?}, {steps} steps, {viewer:?}: {observed:?}, {again:?}");
                assert_eq!(
                    replayed.snapshot(*viewer, at_ms(0)),
                    table.snapshot(*viewer, at_ms(0)),
                    "{deals:?}, {steps} steps"
                );
            }
        }
    }
}

#[test]
fn a_snapshot_says_what_the_observations_before_it_said() {
    let mut harness = Harness::dealt(Preset::Quick.rules(3, None).unwrap(), 5);
    harness.play_out(5);
    let entries: Vec<Entry> = harness.table.entries_from(0).cloned().collect();
    let viewer = Viewer::Seat(seat(1));
    let mut table = Table::new(entries[0].clone(), Arc::new(FairShuffler)).unwrap();
    let mut view = None;
    for entry in &entries[1..] {
        let effect = table.apply(entry.clone(), at_ms(0)).unwrap();
        let Some(observation) = table.observe(&effect, viewer) else { continue };
        view = observation.view.or(view);
        let snapshot = table.snapshot(viewer, at_ms(0));
        assert_eq!((snapshot.seq, snapshot.decision), (observation.seq, observation.decision));
        assert_eq!(snapshot.to_decide, observation.to_decide);
        assert_eq!(snapshot.view, view);
    }
}

#[test]
fn entries_that_do_not_follow_are_refused() {
    let harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 6);
    let entries: Vec<Entry> = harness.table.entries_from(0).cloned().collect();
    let shuffler = || Arc::new(FairShuffler);
    assert!(Table::replay(entries.clone(), shuffler()).is_ok());
    assert!(Table::replay(Vec::new(), shuffler()).is_err(), "none");
    for missing in 0..entries.len() - 1 {
        let mut some = entries.clone();
        some.remove(missing);
        assert!(Table::replay(some, shuffler()).is_err(), "without entry {missing}");
    }
    for twice in 0..entries.len() {
        let mut more = entries.clone();
        more.insert(twice, entries[twice].clone());
        assert!(Table::replay(more, shuffler()).is_err(), "entry {twice} twice");
    }
}
