//! Matches that were stored before there were clocks: they had two timeouts, and no ledger (I6).

use std::sync::Arc;

use prost::Message as _;
use zetema_proto::journal::v1 as wire;
use zetema_proto::journal::v1::entry::Kind;
use zetema_proto::v1;
use zetema_rules::{DecisionTime, Preset, TimeControl, Viewer};

use super::fake::FakeJournal;
use super::harness::*;
use crate::encoding::{decode_record, decode_summary, record_entries};
use crate::journal::{Journal as _, Payload, StoredMatch};
use crate::table::{Choice, DealSpec, FairShuffler, Moment, Table};

fn old_control(control: &mut Option<v1::TimeControl>) {
    control.as_mut().unwrap().decisions = None;
}

/// An entry as it was stored then.
fn old_entry(payload: &Payload) -> Payload {
    let mut entry = wire::Entry::decode(payload.as_bytes().clone()).unwrap();
    match entry.kind.as_mut().unwrap() {
        Kind::Created(created) => old_control(&mut created.time_control),
        Kind::Acted(acted) => acted.ledger = None,
        _ => {}
    }
    Payload::new(entry.encode_to_vec()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_match_that_runs_since_then_goes_on() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let mut receipts = Vec::new();
    for decision in 1..=10 {
        for index in 0..2 {
            let act = matches.act(info.match_id, access(index), decision, Choice::LegalIndex(0)).await;
            receipts.extend(act.map(|receipt| (index, receipt)));
        }
    }
    assert_eq!(receipts.len(), 10);
    matches.stop().await;
    let old = journal.cut(info.match_id, 0);
    journal.records(info.match_id).iter().for_each(|payload| old.sneak(info.match_id, old_entry(payload)));

    let matches = open(&old).await;
    let control = DecisionTime::Unlimited { idle_timeout_ms: TimeControl::DEFAULT_IDLE_TIMEOUT_MS };
    assert_eq!(matches.get(info.match_id).await.unwrap().time_control.decisions(), control);
    for when in ["while it runs", "when it is over"] {
        for (index, receipt) in &receipts {
            let again =
                matches.act(info.match_id, access(*index), receipt.decision, Choice::LegalIndex(0)).await;
            assert_eq!(again, Ok(*receipt), "{when}");
        }
        let players = [0, 1].map(|index| tokio::spawn(play_joined(matches.clone(), info.match_id, index)));
        for player in players {
            player.await.unwrap();
        }
    }
    let (record, _) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
    assert_eq!((record.verify(), record.clocks), (Ok(()), None));
}

#[tokio::test(start_paused = true)]
async fn a_match_that_was_over_then_is_read() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec(Preset::Sackson, 3, DealSpec::Joint)).await;
    let observed = play_all(&matches, &info).await;
    let Some(StoredMatch::Finished(finished)) = journal.read(info.match_id).await.unwrap() else { panic!() };
    let mut summary = wire::MatchSummary::decode(finished.result.summary.as_bytes().clone()).unwrap();
    old_control(&mut summary.r#match.as_mut().unwrap().time_control);
    let mut record = v1::Record::decode(finished.record.as_bytes().clone()).unwrap();
    old_control(&mut record.time_control);
    record.ledger.clear();

    let info = decode_summary(&summary.encode_to_vec()).unwrap();
    let (record, header) = decode_record(&record.encode_to_vec()).unwrap();
    assert_eq!(record.verify(), Ok(()));
    let entries = record_entries(&record, &header, &info).unwrap();
    let table = Table::replay(entries, Arc::new(FairShuffler)).unwrap();
    let now = Moment::since_start(std::time::Duration::ZERO);
    assert_eq!(table.snapshot(Viewer::Seat(seat(0)), now).outcome, info.outcome);
    assert_eq!(table.seq(Viewer::Seat(seat(0))), observed[0].len() as u64);
}
