//! The ratings of ladders, which follow from the results: no changed row of theirs stops a start. Pages that SQLite's own check finds
//! damaged do, as any others do, and a repair is the way out.

use super::opening::without_ladders;
use super::*;
use crate::journal::{
    BotName, ClosedJournal, ClosedLadders, LadderChange, LadderName, LadderStore, LaterRatings, OpenError,
    OtherBots, PageSize, ReadError, ResultNumber, StoredLadder, StoredLater, StoredRating, StoredSettings,
};

const SETTINGS: StoredSettings = StoredSettings {
    mu: 25.0,
    sigma: 25.0 / 3.0,
    beta: 10.0,
    kappa: 0.0001,
    tau: 25.0 / 600.0,
    provisional_sigma: 4.5,
};

fn rated(bot: &str, mu: f64) -> StoredRating {
    StoredRating {
        bot: BotName::new(bot).unwrap(),
        mu,
        sigma: 0.1 + 0.2,
        matches: 4,
        wins: 3,
        draws: 1,
        forfeits: 0,
        opponents: 4,
        margin: -120,
    }
}

fn stored(after: u64, bots: Vec<StoredRating>) -> StoredLadder {
    StoredLadder { after: ResultNumber::new(after), settings: SETTINGS, bots }
}

fn name(ladder: &str) -> LadderName {
    LadderName::new(ladder).unwrap()
}

async fn change(
    f: &Fixture,
    ladder: &str,
    stored: StoredLadder,
    others: OtherBots,
) -> Outcome<(), StoredLater> {
    let change = LadderChange { ladder: name(ladder), stored, others, later: LaterRatings::Stay };
    f.journal.change_ladder(change).await
}

async fn changed(f: &Fixture, ladder: &str, stored: StoredLadder, others: OtherBots) {
    assert_eq!(change(f, ladder, stored, others).await, Outcome::Done(()));
}

async fn read(f: &Fixture, ladder: &str) -> Option<StoredLadder> {
    f.journal.stored_ladder(name(ladder)).await.unwrap()
}

#[tokio::test]
async fn ratings_are_kept_bit_by_bit_each_ladder_for_itself() {
    let f = Fixture::new().await;
    assert_eq!(read(&f, "quick-2").await, None);
    // What no decimal says, the ends of the range, and what SQLite would rather keep as an integer.
    let numbers = [1.0 / 3.0, f64::from_bits(25_f64.to_bits() + 1), -1e6, 1e6, 0.0, 25.0];
    let bots = numbers.iter().zip(["a", "b", "c", "d", "e", "f"]).map(|(mu, bot)| rated(bot, *mu)).collect();
    let first = stored(7, bots);
    changed(&f, "quick-2", first.clone(), OtherBots::Go).await;
    changed(&f, "quick-3", stored(9, vec![rated("a", 3.0)]), OtherBots::Go).await;
    let f = f.reopen().await;
    let found = read(&f, "quick-2").await.unwrap();
    assert_eq!(found, first);
    for (found, number) in found.bots.iter().zip(numbers) {
        assert_eq!(found.mu.to_bits(), number.to_bits());
    }
    // One bot has played, and the others are as they were.
    changed(&f, "quick-2", stored(8, vec![rated("b", 4.0)]), OtherBots::Stay).await;
    let mut wanted = stored(8, first.bots);
    wanted.bots[1] = rated("b", 4.0);
    let f = f.reopen().await;
    assert_eq!(read(&f, "quick-2").await.unwrap(), wanted);
    // All anew.
    changed(&f, "quick-2", stored(9, vec![rated("z", 5.0)]), OtherBots::Go).await;
    assert_eq!(read(&f, "quick-2").await.unwrap(), stored(9, vec![rated("z", 5.0)]));
    assert_eq!(read(&f, "quick-3").await.unwrap(), stored(9, vec![rated("a", 3.0)]));
}

#[tokio::test]
async fn ratings_after_a_later_result_are_not_replaced_unless_it_is_said() {
    let f = Fixture::new().await;
    let later = stored(9, vec![rated("a", 1.0)]);
    changed(&f, "quick-2", later.clone(), OtherBots::Go).await;
    let earlier = stored(8, vec![rated("a", 2.0)]);
    let refused = change(&f, "quick-2", earlier.clone(), OtherBots::Go).await;
    assert_eq!(refused, Outcome::Refused(StoredLater { stored: ResultNumber::new(9) }));
    assert_eq!(read(&f, "quick-2").await.unwrap(), later);
    let (ladder, others) = (name("quick-2"), OtherBots::Go);
    let change = LadderChange { ladder, stored: earlier.clone(), others, later: LaterRatings::Go };
    assert_eq!(f.journal.change_ladder(change).await, Outcome::Done(()));
    assert_eq!(read(&f, "quick-2").await.unwrap(), earlier);
}

#[tokio::test]
async fn a_rating_that_is_not_as_it_was_written_is_told_stops_no_start_and_is_left_out_by_a_repair() {
    let rating = ("ladder_ratings", "\"ann\"");
    let ladder = ("ladders", "\"quick-2\"");
    let cases = [
        ("UPDATE ladder_ratings SET mu = 99.0 WHERE bot = 'ann'", rating, 1),
        ("UPDATE ladder_ratings SET seal = x'00' WHERE bot = 'ann'", rating, 1),
        // Without their ladder the ratings say nothing.
        ("UPDATE ladders SET result_number = 8", ladder, 0),
        ("UPDATE ladders SET beta = 11.0", ladder, 0),
    ];
    for (damage, (table, name_of), left) in cases {
        let f = Fixture::new().await;
        f.created([1]).await;
        let bots = vec![rated("ann", 30.0), rated("bob", 20.0)];
        changed(&f, "quick-2", stored(0, bots), OtherBots::Go).await;
        f.journal.close().await;
        assert_eq!(f.database().execute(damage, []).unwrap(), 1);
        let found = SqliteJournal::check(f.folder.path()).unwrap();
        assert!(!found.is_sound() && found.damage.is_none(), "{damage}: {found:?}");
        let (journal, recovery) = SqliteJournal::open(f.folder.path(), f.options.clone()).await.unwrap();
        assert!(recovery.stray.len() == 1 && recovery.stray[0].contains(table), "{recovery:?}");
        let read = journal.stored_ladder(name("quick-2")).await;
        assert_eq!(matches!(read, Err(ReadError::Damaged(_))), table == "ladders", "{damage}: {read:?}");
        journal.close().await;
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        let is_told = |lost: &String| [table, name_of, "the results"].iter().all(|part| lost.contains(part));
        assert!(repaired.lost.iter().any(is_told), "{:?}", repaired.lost);
        let (journal, recovery) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
        assert_eq!((recovery.unfinished, recovery.stray), (1, Vec::new()));
        let found = journal.stored_ladder(name("quick-2")).await.unwrap();
        assert_eq!(found.map_or(0, |found| found.bots.len()), left, "{damage}");
        journal.close().await;
    }
}

#[tokio::test]
async fn damaged_ratings_are_replaced_as_they_are_stored_anew() {
    let f = Fixture::new().await;
    changed(&f, "quick-2", stored(7, vec![rated("ann", 30.0)]), OtherBots::Go).await;
    let f = f
        .reopen_after(|database| {
            let damage = "UPDATE ladders SET result_number = 1000; UPDATE ladder_ratings SET mu = 0.0";
            database.execute_batch(damage).unwrap();
        })
        .await;
    assert_eq!(f.recovery.stray.len(), 2);
    let anew = stored(8, vec![rated("ann", 31.0)]);
    changed(&f, "quick-2", anew.clone(), OtherBots::Go).await;
    let f = f.reopen().await;
    assert_eq!((read(&f, "quick-2").await.unwrap(), f.recovery.stray.len()), (anew, 0));
}

#[tokio::test]
async fn a_journal_without_ratings_gets_their_tables() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let f = f
        .reopen_after(|database| {
            without_ladders(database);
            put_meta(database, "journal/schema", &7_u64.to_be_bytes());
        })
        .await;
    assert_eq!(f.recovery.unfinished, 1);
    assert_eq!(read(&f, "quick-2").await, None);
    changed(&f, "quick-2", stored(7, vec![rated("ann", 30.0)]), OtherBots::Go).await;
}

#[tokio::test]
async fn a_closed_journal_is_read_without_being_changed_and_one_that_is_open_is_refused() {
    let f = Fixture::new().await;
    f.created([1, 2]).await;
    for number in [1, 2] {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    let ratings = stored(2, vec![rated("ann", 30.0)]);
    changed(&f, "quick-2", ratings.clone(), OtherBots::Go).await;
    let in_use = ClosedJournal::open(f.folder.path());
    assert!(matches!(in_use, Err(OpenError::InUse { .. })), "{in_use:?}");
    f.journal.close().await;
    let files = || {
        let files = std::fs::read_dir(f.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    let before = files();
    {
        let closed = ClosedJournal::open(f.folder.path()).unwrap();
        let ladders = vec![(name("quick-2"), Ok(ratings))];
        assert_eq!(closed.stored_ladders().unwrap(), ClosedLadders { ladders, nameless: 0 });
        assert_eq!(closed.latest_result().unwrap(), ResultNumber::new(2));
        let page = closed.results_after(ResultNumber::new(1), PageSize::new(10).unwrap()).unwrap();
        assert_eq!(page.rows.iter().map(|row| row.match_id).collect::<Vec<_>>(), [id(2)]);
        let page = closed.list_finished(None, PageSize::new(1).unwrap()).unwrap();
        assert_eq!(page.matches.iter().map(|row| row.match_id).collect::<Vec<_>>(), [id(2)]);
        let page = closed.list_finished(page.next, PageSize::new(1).unwrap()).unwrap();
        assert_eq!(page.matches.iter().map(|row| row.match_id).collect::<Vec<_>>(), [id(1)]);
        assert!(page.next.is_none() && page.unreadable.is_empty());
        assert_eq!(closed.finished(id(1)).unwrap().unwrap().result.number, ResultNumber::new(1));
        assert!(closed.finished(id(3)).unwrap().is_none());
        let server = SqliteJournal::open(f.folder.path(), Options::default()).await;
        assert!(matches!(server, Err(OpenError::InUse { .. })));
    }
    assert!(files() == before);
    f.database().execute_batch("UPDATE meta SET value = x'00' WHERE key = 'journal/epoch'").unwrap();
    let damaged = ClosedJournal::open(f.folder.path());
    assert!(matches!(damaged, Err(OpenError::Damaged { .. })), "{damaged:?}");
    let nothing = ClosedJournal::open(&f.folder.path().join("elsewhere"));
    assert!(matches!(nothing, Err(OpenError::NoJournal { .. })), "{nothing:?}");
}

#[tokio::test]
async fn after_a_repair_no_stored_ratings_are_ahead_of_the_results() {
    let f = Fixture::new().await;
    f.created(1..=4).await;
    for number in 1..=3 {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    let ratings = stored(3, vec![rated("ann", 30.0)]);
    changed(&f, "quick-2", ratings.clone(), OtherBots::Go).await;
    changed(&f, "quick-3", stored(3, Vec::new()), OtherBots::Go).await;
    f.journal.close().await;
    let database = f.database();
    database.execute("DELETE FROM records WHERE result_number >= 2", []).unwrap();
    // A row that is not as it was written proves nothing.
    database.execute("UPDATE ladders SET result_number = 9 WHERE ladder = 'quick-3'", []).unwrap();
    drop(database);
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert!(repaired.lost.iter().any(|lost| lost.contains("result 3")), "{:?}", repaired.lost);
    let (journal, recovery) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
    assert_eq!(recovery.results, 3);
    let f = Fixture { journal, recovery, ..f };
    assert_eq!(read(&f, "quick-2").await, Some(ratings));
    assert_eq!(f.finish(4, 1).await, Outcome::Done(ResultNumber::new(4)));
    f.journal.close().await;
}

#[tokio::test]
async fn a_damaged_page_of_ratings_fails_what_is_stored_of_them_alone() {
    for table in ["ladders", "ladder_ratings"] {
        let f = Fixture::new().await;
        f.created([1]).await;
        changed(&f, "quick-2", stored(0, vec![rated("ann", 30.0)]), OtherBots::Go).await;
        writing::break_page(&f, table);
        for version in 1..4 {
            let (of_ladder, appended) = tokio::join!(
                change(&f, "quick-2", stored(0, vec![rated("bob", 20.0)]), OtherBots::Stay),
                f.append(1, version, "goes on"),
            );
            assert!(matches!(of_ladder, Outcome::Damaged(_)), "{table}: {of_ladder:?}");
            assert_eq!(appended, Outcome::Done(Version::new(version + 1)), "{table}");
        }
    }
}

#[tokio::test]
async fn a_stored_ladder_without_a_name_is_left_out_told_of_and_can_be_removed() {
    for name_is in ["X'ff'", "'No Name'"] {
        let f = Fixture::new().await;
        let ratings = stored(0, vec![rated("ann", 30.0)]);
        changed(&f, "quick-2", ratings.clone(), OtherBots::Go).await;
        changed(&f, "quick-3", ratings.clone(), OtherBots::Go).await;
        f.journal.close().await;
        for table in ["ladders", "ladder_ratings"] {
            let sql = format!("UPDATE {table} SET ladder = CAST({name_is} AS TEXT) WHERE ladder = 'quick-3'");
            assert_eq!(f.database().execute(&sql, []).unwrap(), 1);
        }
        let found = ClosedJournal::open(f.folder.path()).unwrap().stored_ladders().unwrap();
        let ladders = vec![(name("quick-2"), Ok(ratings))];
        assert_eq!(found, ClosedLadders { ladders: ladders.clone(), nameless: 1 });
        let f = f.reopen().await;
        assert_eq!(f.recovery.stray.len(), 2, "{:?}", f.recovery.stray);
        assert_eq!(f.journal.forget_nameless_ladders().await, Outcome::Done(()));
        let f = f.reopen().await;
        assert_eq!(f.recovery.stray, Vec::<String>::new());
        f.journal.close().await;
        let found = ClosedJournal::open(f.folder.path()).unwrap().stored_ladders().unwrap();
        assert_eq!(found, ClosedLadders { ladders, nameless: 0 });
    }
}
