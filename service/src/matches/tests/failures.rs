//! A journal that fails, a server that is killed: nothing acknowledged is lost, nothing is done twice (I1, I2).

use zetema_rules::{AbortReason, Outcome, Preset};

use super::fake::{FakeJournal, Fate};
use super::harness::*;
use crate::encoding::{decode_record, encode_entry};
use crate::journal::{BodyHash, Caller, MatchId, Owner, Payload, RequestId, RequestKey, UnixMillis};
use crate::matches::{AbortedMatches, CreateError, End, Limits, Matches, Next, Start};
use crate::table::{
    Change, Choice, DealSpec, Entry, MatchSpec, MatchStage, Observation, Rejection, SeatAccess,
};

/// A dealt match of two, and the seat to act.
async fn dealt(journal: &FakeJournal) -> (Matches, MatchId, usize) {
    let matches = open(journal).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let mut to_act = 0;
    for index in 0..2 {
        let subscription = observe(&matches, info.match_id, index, None).await;
        let Start::Snapshot(snapshot) = subscription.start() else { panic!() };
        if snapshot.to_decide.is_some() {
            to_act = index;
        }
    }
    (matches, info.match_id, to_act)
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_an_append_the_action_counts_once() {
    for fate in [Fate::Fails, Fate::WrittenUnknown, Fate::LostUnknown] {
        let journal = FakeJournal::new();
        let (matches, id, to_act) = dealt(&journal).await;
        let before = journal.records(id).len();
        journal.doom(&[fate]);
        journal.blind(2);
        let act = || matches.act(id, access(to_act), 1, Choice::LegalIndex(0));
        assert_eq!(act().await, Err(Rejection::OutcomeUnknown), "{fate:?}");
        let receipt = again(act).await.unwrap();
        assert_eq!(act().await, Ok(receipt), "{fate:?}");
        assert_eq!(journal.records(id).len(), before + 1, "{fate:?}");
        let other = matches.act(id, access(to_act), 1, Choice::LegalIndex(1)).await;
        assert!(matches!(other, Err(Rejection::DecisionOver { .. })), "{fate:?}: {other:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_the_end_it_comes_once() {
    for fate in [Fate::Fails, Fate::WrittenUnknown, Fate::LostUnknown] {
        let journal = FakeJournal::new();
        let (matches, id, _) = dealt(&journal).await;
        let mut subscription = observe(&matches, id, 0, None).await;
        journal.doom(&[fate, fate]);
        assert_eq!(matches.resign(id, access(1)).await, Err(Rejection::OutcomeUnknown), "{fate:?}");
        again(|| matches.resign(id, access(1))).await.unwrap();
        let (observations, end) = drain(&mut subscription).await;
        assert!(matches!(end, End::Over(Outcome::Result(_))), "{fate:?}: {end:?}");
        assert_eq!(observations.len(), 2, "{fate:?}: the resignation and the reveal");
        decode_record(&matches.record(id).await.unwrap().record).unwrap().0.verify().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_goes_through_a_journal_that_fails_every_other_time() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec(Preset::Sackson, 3, DealSpec::Joint)).await;
    let fates = [Fate::Fails, Fate::WrittenUnknown, Fate::LostUnknown, Fate::WrittenUnknown];
    journal.doom(&fates.repeat(10));
    let join = |index| {
        let matches = matches.clone();
        async move { again(|| matches.join(info.match_id, access(index), None)).await.unwrap() }
    };
    for index in 0..3 {
        join(index).await;
    }
    let info = matches.get(info.match_id).await.unwrap();
    let players = [0, 1, 2].map(|index| tokio::spawn(play_joined(matches.clone(), info.match_id, index)));
    for player in players {
        player.await.unwrap();
    }
    decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap().0.verify().unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_stands_in_the_journal_counts_even_if_the_table_did_not_write_it() {
    let journal = FakeJournal::new();
    let (matches, id, to_act) = dealt(&journal).await;
    let mut other = observe(&matches, id, 1 - to_act, None).await;
    let change = Change::SeatTokenRotated { seat: seat(to_act), generation: 2 };
    let entry = Entry { at: UnixMillis::new(1_700_000_000_000), change };
    journal.sneak(id, Payload::new(encode_entry(&entry)).unwrap());
    let act = |generation| {
        let access = SeatAccess { seat: seat(to_act), generation };
        matches.act(id, access, 1, Choice::LegalIndex(0))
    };
    assert_eq!(act(1).await, Err(Rejection::OutcomeUnknown), "the version is refused, and read back");
    assert_eq!(again(|| act(1)).await, Err(Rejection::TokenReplaced));
    let receipt = again(|| act(2)).await.unwrap();
    assert!(matches!(other.next().await, Next::Observation(next) if next.seq == receipt.seq));
}

#[tokio::test]
async fn a_table_that_another_owner_took_stops() {
    let journal = FakeJournal::new();
    let (matches, id, to_act) = dealt(&journal).await;
    let mut subscription = observe(&matches, id, 0, None).await;
    journal.doom(&[Fate::Fenced]);
    assert_eq!(matches.act(id, access(to_act), 1, Choice::LegalIndex(0)).await, Err(Rejection::Damaged));
    assert_eq!(drain(&mut subscription).await, (Vec::new(), End::Stopped));
    let later = again(|| matches.act(id, access(to_act), 1, Choice::LegalIndex(0))).await;
    assert!(matches!(later, Err(Rejection::MatchDamaged(_))), "{later:?}");
}

#[tokio::test]
async fn a_table_that_another_owner_took_decides_nothing_more_before_its_task_knows() {
    let journal = FakeJournal::new();
    let (matches, id, to_act) = dealt(&journal).await;
    let handle = matches.handle(id).unwrap();
    journal.doom(&[Fate::Fenced]);
    // Who waits for the table while the action is written has it next.
    let next = async { handle.table.lock().await.needs_its_task() };
    let (acted, is_left_to_its_task) =
        tokio::join!(matches.act(id, access(to_act), 1, Choice::LegalIndex(0)), next);
    assert_eq!(acted, Err(Rejection::Damaged));
    assert!(is_left_to_its_task);
}

/// A dealt match that the journal takes no more, where one may run.
async fn lost(journal: &FakeJournal) -> (Matches, MatchId) {
    let limits = Limits { live_matches: 1, ..Limits::default() };
    let matches = open_with(journal.clone(), limits).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    journal.doom(&[Fate::Fenced]);
    assert_eq!(matches.resign(info.match_id, access(0)).await, Err(Rejection::Damaged));
    let later = again(|| matches.get(info.match_id)).await;
    assert!(matches!(later, Err(Rejection::MatchDamaged(_))), "{later:?}");
    (matches, info.match_id)
}

async fn create_another(matches: &Matches) -> Result<usize, CreateError> {
    matches.create(vec![spec(Preset::Sackson, 2, DealSpec::Joint)], None).await.map(|created| created.len())
}

#[tokio::test]
async fn who_asks_about_a_match_that_can_not_go_on_has_none_of_its_history_read() {
    let journal = FakeJournal::new();
    let (matches, id) = lost(&journal).await;
    let before = journal.reads();
    let created = matches.as_created(id).await.unwrap();
    assert_eq!((created.match_id, created.stage), (id, MatchStage::WaitingForSeats));
    let asked = matches.get(id).await;
    assert!(matches!(asked, Err(Rejection::MatchDamaged(_))), "{asked:?}");
    assert_eq!(journal.reads(), before);
}

#[tokio::test]
async fn a_match_that_can_not_go_on_keeps_its_place_until_it_is_cancelled() {
    let (matches, id) = lost(&FakeJournal::new()).await;
    assert_eq!((matches.live(), matches.lost()), (0, 1));
    assert_eq!(create_another(&matches).await, Err(CreateError::TooManyMatches { limit: 1 }));
    let cancelled = matches.cancel(id).await.unwrap();
    assert_eq!(
        cancelled.outcome,
        Some(Outcome::Aborted { reason: AbortReason::Cancelled, seats: Vec::new() })
    );
    assert_eq!(matches.cancel(id).await.as_ref(), Ok(&cancelled));
    assert_eq!(matches.get(id).await.as_ref(), Ok(&cancelled));
    let (record, _) = decode_record(&matches.record(id).await.unwrap().record).unwrap();
    record.verify().unwrap();
    assert_eq!(matches.lost(), 0);
    assert_eq!(create_another(&matches).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_its_cancellation_it_comes_once() {
    for fate in [Fate::Fails, Fate::WrittenUnknown, Fate::LostUnknown] {
        let (matches, id) = {
            let journal = FakeJournal::new();
            let lost = lost(&journal).await;
            journal.doom(&[fate]);
            lost
        };
        assert_eq!(matches.cancel(id).await, Err(Rejection::OutcomeUnknown), "{fate:?}");
        let cancelled = again(|| matches.cancel(id)).await.unwrap();
        assert_eq!(cancelled.stage, MatchStage::Aborted, "{fate:?}");
        assert_eq!((matches.lost(), create_another(&matches).await), (0, Ok(1)), "{fate:?}");
    }
    // As long as another server has it, it is not ours to cancel.
    let journal = FakeJournal::new();
    let (matches, id) = lost(&journal).await;
    journal.doom(&[Fate::Fenced]);
    let refused = matches.cancel(id).await;
    assert!(matches!(refused, Err(Rejection::MatchDamaged(_))), "{refused:?}");
    assert_eq!(matches.lost(), 1);
}

#[tokio::test]
async fn a_creation_that_comes_again_is_answered_when_one_of_its_matches_is_damaged() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let key = || RequestKey {
        caller: Caller::new("admin").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([1; 32]),
    };
    let specs = || vec![spec(Preset::Sackson, 2, DealSpec::Joint); 2];
    let create = || matches.create(specs(), Some(key()));
    let created = create().await.unwrap();
    matches.rotate_token(created[1].match_id, seat(1)).await.unwrap();
    journal.doom(&[Fate::Fenced]);
    let joined = matches.join(created[0].match_id, access(0), None).await;
    assert_eq!(joined.map(|_| ()), Err(Rejection::Damaged));
    let gone = again(|| matches.get(created[0].match_id)).await;
    assert!(matches!(gone, Err(Rejection::MatchDamaged(_))), "{gone:?}");
    let answered = create().await.unwrap();
    assert_eq!(answered[0], created[0], "as it was created");
    assert_eq!(answered[1].seats[1].generation, 2, "the other as it is now");
    // What can't be read now can be later.
    matches.cancel(created[0].match_id).await.unwrap();
    journal.blind(1);
    assert_eq!(create().await, Err(CreateError::OutcomeUnknown));
    assert_eq!(create().await.as_ref(), Ok(&answered));
}

#[tokio::test]
async fn of_a_backup_all_matches_are_aborted_but_those_whose_end_the_journal_does_not_take() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let infos = matches.create(vec![spec(Preset::Sackson, 2, DealSpec::Joint); 3], None).await.unwrap();
    join_all(&matches, &infos[0]).await;
    journal.doom(&[Fate::Fenced]);
    let AbortedMatches { aborted, damaged } = matches.abort_restored().await.unwrap();
    assert_eq!((aborted, damaged.len()), (2, 1));
    assert_eq!((matches.live(), matches.lost()), (0, 1));
    for info in infos {
        let after = matches.get(info.match_id).await;
        if damaged.contains(&info.match_id) {
            assert!(matches!(after, Err(Rejection::MatchDamaged(_))), "{after:?}");
        } else {
            let restored = Outcome::Aborted { reason: AbortReason::Restored, seats: Vec::new() };
            assert_eq!(after.unwrap().outcome, Some(restored));
        }
    }
    matches.stop().await;
    // The server of the restored journal lets it go on no more than that.
    let (matches, recovered) = open_damaged(&journal, Limits::default()).await;
    assert_eq!((recovered.running, recovered.damaged.as_slice()), (0, &damaged[..]));
    assert_eq!(matches.cancel(damaged[0]).await.unwrap().stage, MatchStage::Aborted);
    // What is not known may be tried again, and is no damage of one match.
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    journal.doom(&[Fate::Fails]);
    assert_eq!(matches.abort_restored().await, Err(Rejection::OutcomeUnknown));
}

#[tokio::test]
async fn of_a_backup_no_match_goes_on_that_could_not_be_asked_to_end() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let infos = matches.create(vec![spec(Preset::Sackson, 2, DealSpec::Joint); 3], None).await.unwrap();
    matches.stop().await;
    // One does not replay by this release; one halts between the opening and the aborts.
    let [broken, halted, ended] = [0, 1, 2].map(|index| infos[index].match_id);
    journal.sneak(broken, Payload::new(vec![0xff; 3]).unwrap());
    let (matches, recovered) = open_damaged(&journal, Limits::default()).await;
    assert_eq!(recovered.damaged, [broken]);
    journal.doom(&[Fate::Fenced]);
    assert_eq!(matches.join(halted, access(0), None).await.map(|_| ()), Err(Rejection::Damaged));
    let gone = again(|| matches.get(halted)).await;
    assert!(matches!(gone, Err(Rejection::MatchDamaged(_))), "{gone:?}");
    let AbortedMatches { aborted, mut damaged } = matches.abort_restored().await.unwrap();
    let mut not_aborted = [broken, halted];
    damaged.sort();
    not_aborted.sort();
    assert_eq!((aborted, damaged.as_slice()), (1, &not_aborted[..]));
    assert_eq!(matches.get(ended).await.unwrap().stage, MatchStage::Aborted);
    matches.stop().await;
    // Another release, or a journal that was mended, reads what could not be read: neither goes on.
    let mended = journal.cut(broken, 1);
    let (matches, mut recovered) = open_damaged(&mended, Limits::default()).await;
    recovered.damaged.sort();
    assert_eq!((recovered.running, recovered.damaged.as_slice()), (0, &not_aborted[..]));
    for id in not_aborted {
        assert_eq!(matches.cancel(id).await.unwrap().stage, MatchStage::Aborted);
    }
}

#[tokio::test]
async fn a_match_that_does_not_replay_at_the_start_has_a_place_of_its_owner() {
    let journal = FakeJournal::new();
    let owner = Owner::new("shop").unwrap();
    let of_owner = || MatchSpec { owner: Some(owner.clone()), ..spec(Preset::Sackson, 2, DealSpec::Joint) };
    let matches = open(&journal).await;
    let id = create_one(&matches, of_owner()).await.match_id;
    matches.stop().await;
    journal.sneak(id, Payload::new(vec![0xff; 3]).unwrap());
    let limits = Limits { live_matches_of_owner: 1, ..Limits::default() };
    let (matches, recovered) = open_damaged(&journal, limits).await;
    assert_eq!(recovered.damaged, [id]);
    let refused = matches.create(vec![of_owner()], None).await;
    assert_eq!(refused, Err(CreateError::TooManyOfOwner { limit: 1 }));
    // What is not known of it can't be filed.
    let refused = matches.cancel(id).await;
    assert!(matches!(refused, Err(Rejection::MatchDamaged(_))), "{refused:?}");
    assert_eq!((matches.live(), matches.lost()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_creation_whose_answer_was_lost_runs_if_it_is_stored() {
    for (fate, live) in [(Fate::WrittenUnknown, 2), (Fate::LostUnknown, 0), (Fate::Fails, 0)] {
        let journal = FakeJournal::new();
        let matches = open(&journal).await;
        journal.doom(&[fate]);
        journal.blind(2);
        let specs = vec![spec(Preset::Sackson, 2, DealSpec::Joint); 2];
        assert_eq!(matches.create(specs, None).await, Err(CreateError::OutcomeUnknown));
        // Time is paused: it goes on when every task waits, so by then the journal was read back.
        tokio::time::sleep(Limits::default().last_retry * 4).await;
        assert_eq!(matches.live(), live, "{fate:?}");
    }
}

#[tokio::test]
async fn killed_at_any_entry_a_match_goes_on_with_the_same_hidden_state_and_numbers() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec(Preset::Quick, 3, DealSpec::Joint)).await;
    let id = info.match_id;
    for index in 0..3 {
        matches.join(id, access(index), None).await.unwrap();
    }
    // Twenty decisions, each by whoever is to act.
    for decision in 1..=20 {
        for index in 0..3 {
            if matches.act(id, access(index), decision, Choice::LegalIndex(1)).await.is_ok() {
                break;
            }
        }
    }
    let (whole, _) = stop_and_drain(&matches, id).await;
    let records = journal.records(id).len();
    assert_eq!(records, 1 + 3 + 1 + 20);
    for kept in 1..=records {
        let matches = open(&journal.cut(id, kept)).await;
        assert_eq!(matches.live(), 1);
        let (observations, end) = stop_and_drain(&matches, id).await;
        assert_eq!(end, End::Stopped);
        assert_eq!(observations[..], whole[..observations.len()], "{kept} entries");
    }
}

/// What seat 0 observed from the first observation on, as far as the match has come.
async fn stop_and_drain(matches: &Matches, id: MatchId) -> (Vec<Observation>, End) {
    let mut subscription = observe(matches, id, 0, Some(0)).await;
    let last = {
        let now = observe(matches, id, 0, None).await;
        now.last_seq()
    };
    let mut observations = Vec::new();
    while subscription.last_seq() < last {
        let Next::Observation(observation) = subscription.next().await else { panic!() };
        observations.push((*observation).clone());
    }
    matches.stop().await;
    let (more, end) = drain(&mut subscription).await;
    assert_eq!(more, Vec::new());
    (observations, end)
}

#[tokio::test]
async fn after_a_restart_a_match_is_played_to_its_end() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    matches.stop().await;
    assert_eq!(
        matches.act(info.match_id, access(0), 1, Choice::LegalIndex(0)).await,
        Err(Rejection::Stopping)
    );
    let matches = open(&journal).await;
    assert_eq!(matches.get(info.match_id).await.unwrap().stage, MatchStage::Playing);
    let players = [0, 1].map(|index| tokio::spawn(play_joined(matches.clone(), info.match_id, index)));
    for player in players {
        player.await.unwrap();
    }
    decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap().0.verify().unwrap();
}
