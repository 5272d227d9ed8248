//! What is remembered of what went wrong for players after a restart.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use zetema_proto::v1::{self, player_fault::Kind};
use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::journal::{BotName, MatchId};
use crate::matches::{FaultLimits, FaultsOf, Limits, Matches, SystemEntropy};
use crate::table::{DealSpec, MatchInfo, MatchSpec, SeatSpec};

const LIMITS: FaultLimits =
    FaultLimits { per_seat: 3, seats: 10, seats_of_one: 10, kept: Duration::from_mins(10) };

/// A server that outlasts itself.
struct Place {
    journal: FakeJournal,
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { journal: FakeJournal::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("faults")
    }

    async fn open_with(&self, faults: FaultLimits) -> Matches {
        open_keeping_faults(&self.journal, Limits { faults, ..Limits::default() }, &self.file()).await
    }

    async fn open(&self) -> Matches {
        self.open_with(LIMITS).await
    }

    async fn restart(&self, matches: Matches) -> Matches {
        matches.stop().await;
        self.open().await
    }
}

fn ann() -> FaultsOf {
    FaultsOf::Bot(BotName::new("ann").unwrap())
}

/// Ann plays the first seat, and whoever has its token the other.
async fn create_info(matches: &Matches) -> MatchInfo {
    let seats = vec![SeatSpec::Bot(BotName::new("ann").unwrap()), SeatSpec::Token];
    create_one(matches, MatchSpec { seats, ..spec(Preset::Sackson, 2, DealSpec::Joint) }).await
}

async fn create(matches: &Matches) -> MatchId {
    create_info(matches).await.match_id
}

fn note(matches: &Matches, match_id: MatchId, index: usize, message: &str) {
    let cut = v1::StreamCut { message: message.to_owned(), ..v1::StreamCut::default() };
    matches.note_fault(match_id, seat(index), Kind::Cut(cut));
}

/// What they say, and how often.
fn told(matches: &Matches, of: &FaultsOf) -> Vec<(String, u32)> {
    let faults = matches.faults(of, None, None, 100).faults.into_iter();
    faults
        .map(|fault| match fault.kind {
            Kind::Cut(cut) => (cut.message, fault.count),
            kind => panic!("{kind:?}"),
        })
        .collect()
}

fn once(messages: &[&str]) -> Vec<(String, u32)> {
    messages.iter().map(|message| ((*message).to_owned(), 1)).collect()
}

async fn end(matches: &Matches, match_id: MatchId) {
    matches.cancel(match_id).await.unwrap();
    while matches.live() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn faults_are_the_same_after_a_restart_and_a_page_goes_on_where_it_was() {
    let place = Place::new();
    let matches = place.open().await;
    let (first, second) = (create(&matches).await, create(&matches).await);
    for (match_id, message) in [(first, "a"), (second, "b"), (first, "c"), (first, "c"), (second, "d")] {
        note(&matches, match_id, 0, message);
    }
    note(&matches, first, 1, "not of Ann");
    let before = matches.faults(&ann(), None, None, 100);
    let page = matches.faults(&ann(), None, None, 2);
    let matches = place.restart(matches).await;
    assert_eq!(matches.faults(&ann(), None, None, 100), before);
    assert_eq!(matches.faults(&ann(), None, page.next, 100).faults, before.faults[2..]);
    assert_eq!(told(&matches, &FaultsOf::Seat(first, seat(1))), once(&["not of Ann"]));
    // What comes now is the latest, and what is the same again is counted.
    note(&matches, second, 0, "d");
    note(&matches, first, 0, "e");
    let matches = place.restart(matches).await;
    let expected = [("e", 1), ("d", 2), ("c", 2), ("b", 1), ("a", 1)];
    assert_eq!(told(&matches, &ann()), expected.map(|(message, count)| (message.to_owned(), count)));
}

#[tokio::test(start_paused = true)]
async fn faults_are_written_while_the_server_runs_so_a_crash_loses_the_last_of_them_alone() {
    let place = Place::new();
    let matches = place.open().await;
    let match_id = create(&matches).await;
    note(&matches, match_id, 0, "a");
    note(&matches, match_id, 0, "b");
    tokio::time::sleep(Duration::from_secs(2)).await;
    while !place.file().exists() {
        tokio::task::yield_now().await;
    }
    note(&matches, match_id, 0, "lost");
    let after_crash = place.open().await;
    assert_eq!(told(&after_crash, &ann()), once(&["b", "a"]));
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_no_bots_keeps_what_was_left_of_its_time_and_one_that_plays_on_all_of_it() {
    let place = Place::new();
    let matches = place.open().await;
    let over = create(&matches).await;
    // It is dealt, so it goes on as long as nobody plays.
    let info = create_info(&matches).await;
    join_all(&matches, &info).await;
    let on = info.match_id;
    let (over_seat, on_seat) = (FaultsOf::Seat(over, seat(1)), FaultsOf::Seat(on, seat(1)));
    note(&matches, over, 1, "a");
    note(&matches, on, 1, "b");
    matches.cancel(over).await.unwrap();
    while matches.live() > 1 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_mins(4)).await;
    let matches = place.restart(matches).await;
    tokio::time::advance(Duration::from_mins(5)).await;
    assert_eq!(told(&matches, &over_seat), once(&["a"]));
    tokio::time::advance(Duration::from_mins(2)).await;
    assert_eq!(told(&matches, &over_seat), []);
    // Tables that stop are not over.
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_eq!(told(&matches, &on_seat), once(&["b"]));
    end(&matches, on).await;
    tokio::time::advance(Duration::from_mins(11)).await;
    assert_eq!(told(&matches, &on_seat), []);
}

#[tokio::test]
async fn what_was_kept_has_the_bounds_of_what_is_noted_and_the_latest_stays() {
    let place = Place::new();
    let matches = place.open().await;
    for message in ["a", "b", "c", "d"] {
        let match_id = create(&matches).await;
        note(&matches, match_id, 0, message);
        note(&matches, match_id, 0, &message.to_uppercase());
    }
    matches.stop().await;
    let fewer = FaultLimits { per_seat: 1, seats_of_one: 2, ..LIMITS };
    let matches = place.open_with(fewer).await;
    assert_eq!(told(&matches, &ann()), once(&["D", "C"]));
}

#[tokio::test]
async fn a_file_that_cant_be_read_is_set_aside_and_what_comes_is_kept() {
    for garbage in ["", "something else", "zetema faults 9\n of a later release"] {
        let place = Place::new();
        fs::write(place.file(), garbage).unwrap();
        let matches = place.open().await;
        assert_eq!(told(&matches, &ann()), []);
        let match_id = create(&matches).await;
        note(&matches, match_id, 0, "a");
        let matches = place.restart(matches).await;
        assert_eq!(told(&matches, &ann()), once(&["a"]));
        matches.stop().await;
        let aside = place.file().with_extension("unread");
        assert_eq!(fs::read_to_string(aside).unwrap(), garbage);
    }
}

#[tokio::test]
async fn what_is_left_of_a_damaged_file_is_taken_up_and_written_again() {
    let place = Place::new();
    let matches = place.open().await;
    let (first, second) = (create(&matches).await, create(&matches).await);
    note(&matches, first, 0, "a");
    note(&matches, second, 0, "b");
    matches.stop().await;
    let mut bytes = fs::read(place.file()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(place.file(), bytes).unwrap();
    let matches = place.open().await;
    let left = told(&matches, &ann());
    assert_eq!(left.len(), 1, "{left:?}");
    let matches = place.restart(matches).await;
    assert_eq!(told(&matches, &ann()), left);
}

#[tokio::test]
async fn a_restored_journal_shows_no_faults_of_the_server_before() {
    let place = Place::new();
    let matches = place.open().await;
    let match_id = create(&matches).await;
    note(&matches, match_id, 0, "a");
    matches.stop().await;
    Matches::begin_incarnation(&place.journal, &SystemEntropy).await.unwrap();
    let matches = place.open().await;
    assert_eq!(told(&matches, &ann()), []);
}
