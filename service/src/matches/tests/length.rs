//! No match is longer than what its server can keep of it.

use zetema_rules::{AbortReason, Outcome, Preset, Record};

use super::fake::FakeJournal;
use super::harness::*;
use crate::encoding::decode_record;
use crate::journal::MatchId;
use crate::matches::{End, Limits, Matches};
use crate::table::{Choice, DealSpec, MatchStage, Receipt, Rejection, TableEvent};

/// As many as a match may have here: the creation, two joins, the deal and as many actions as this.
const ENTRIES: usize = 20;
const ACTIONS: u32 = 16;

fn limits(match_entries: usize) -> Limits {
    Limits { match_entries, ..Limits::default() }
}

fn too_long() -> Outcome {
    Outcome::Aborted { reason: AbortReason::TooLong, seats: Vec::new() }
}

/// A match of two that is dealt.
async fn dealt(journal: &FakeJournal) -> (Matches, MatchId) {
    let matches = open_with(journal.clone(), limits(ENTRIES)).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    (matches, info.match_id)
}

/// The next decision is taken by the seat that has to. Nothing is ever declared.
async fn act(matches: &Matches, id: MatchId, decision: u32) -> Result<(usize, Receipt), Rejection> {
    for index in [0, 1] {
        match matches.act(id, access(index), decision, Choice::LegalIndex(0)).await {
            Err(Rejection::NotYourTurn { .. }) => {}
            done => return done.map(|receipt| (index, receipt)),
        }
    }
    panic!("it is nobody's turn in decision {decision}")
}

/// The record of a match that was aborted for its length after so many actions.
async fn record(matches: &Matches, id: MatchId, actions: u32) -> Record {
    let info = matches.get(id).await.unwrap();
    assert_eq!((info.stage, info.outcome), (MatchStage::Aborted, Some(too_long())));
    let (record, _) = decode_record(&matches.record(id).await.unwrap().record).unwrap();
    record.verify().unwrap();
    assert_eq!(record.outcome, too_long());
    assert_eq!(record.steps.len(), usize::try_from(actions).unwrap());
    assert_eq!(record.to_string().parse::<Record>().as_ref(), Ok(&record));
    record
}

#[tokio::test]
async fn a_match_that_has_no_end_is_aborted_at_its_bound() {
    let journal = FakeJournal::new();
    let (matches, id) = dealt(&journal).await;
    let mut seats = [observe(&matches, id, 0, Some(0)).await, observe(&matches, id, 1, Some(0)).await];
    let mut acted = Vec::new();
    for decision in 1..=ACTIONS {
        acted.push(act(&matches, id, decision).await.unwrap());
    }
    assert_eq!(act(&matches, id, ACTIONS + 1).await, Err(Rejection::MatchOver));
    for seat in &mut seats {
        let (observations, end) = drain(seat).await;
        assert_eq!(end, End::Over(too_long()));
        let last = &observations.last().unwrap().events[..];
        let [TableEvent::Aborted(abort), TableEvent::Revealed { .. }] = last else { panic!("{last:?}") };
        assert_eq!(Outcome::from(abort.clone()), too_long());
    }
    let filed = record(&matches, id, ACTIONS).await;
    matches.stop().await;

    let matches = open_with(journal, limits(ENTRIES)).await;
    assert_eq!((matches.live(), matches.lost()), (0, 0));
    assert_eq!(record(&matches, id, ACTIONS).await, filed);
    for (decision, (index, receipt)) in (1..).zip(acted) {
        assert_eq!(matches.act(id, access(index), decision, Choice::LegalIndex(0)).await, Ok(receipt));
    }
    assert_eq!(matches.cancel(id).await, Err(Rejection::MatchOver));
}

#[tokio::test]
async fn a_match_that_goes_on_after_a_restart_has_the_same_bound() {
    // One entry below the bound; at it; beyond it, as a match of a server that had none.
    for bound in [ENTRIES, ENTRIES - 1, ENTRIES - 5] {
        let journal = FakeJournal::new();
        let (matches, id) = dealt(&journal).await;
        for decision in 1..ACTIONS {
            act(&matches, id, decision).await.unwrap();
        }
        matches.stop().await;
        assert_eq!(journal.records(id).len(), ENTRIES - 1);
        let matches = open_with(journal, limits(bound)).await;
        let mut actions = ACTIONS - 1;
        if bound == ENTRIES {
            actions += 1;
            act(&matches, id, actions).await.unwrap();
        }
        let (_, end) = drain(&mut observe(&matches, id, 0, Some(0)).await).await;
        assert_eq!(end, End::Over(too_long()), "{bound}");
        record(&matches, id, actions).await;
    }
}

#[tokio::test]
async fn a_match_that_ends_by_its_last_entries_has_its_result() {
    let (matches, id) = dealt(&FakeJournal::new()).await;
    for decision in 1..ACTIONS {
        act(&matches, id, decision).await.unwrap();
    }
    matches.resign(id, access(0)).await.unwrap();
    let info = matches.get(id).await.unwrap();
    assert!(matches!(info.outcome, Some(Outcome::Result(_))), "{info:?}");
}

#[tokio::test]
async fn before_the_deal_the_bound_ends_the_matches_of_a_set_together() {
    let matches = open_with(FakeJournal::new(), limits(4)).await;
    let shared = vec![spec(Preset::Sackson, 2, DealSpec::Shared(1)); 2];
    let infos = matches.create(shared, None).await.unwrap();
    for _ in 2..=4 {
        matches.rotate_token(infos[0].match_id, seat(0)).await.unwrap();
    }
    for info in infos {
        let mut watched = observe(&matches, info.match_id, 1, None).await;
        assert_eq!(drain(&mut watched).await.1, End::Over(too_long()));
    }
}
