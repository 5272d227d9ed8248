//! Results that are not in memory any more.

use std::fs;
use std::path::Path;
use std::pin::pin;

use futures::poll;
use zetema_ladder::{Mu, Rating, Sigma};

use super::*;
use crate::ladders::archive::{FilesRead, RatedResults};
use crate::ladders::query::Reason;

const COUNT: u64 = 100;

/// Of three bots, of which two have played each time. Every fifth is not rated, and the clock is put back once.
fn result(number: u64) -> LoggedResult {
    let rating = |mu: u64| {
        let mu = Mu::new(f64::from(u32::try_from(mu).unwrap()) / 3.0).unwrap();
        Rating { mu, sigma: Sigma::new(1.0 / 7.0).unwrap() }
    };
    let is_rated = !number.is_multiple_of(5);
    let seat = |at: u64| LoggedSeat {
        bot: bot(["ann", "bob", "cyd"][usize::try_from((number + at) % 3).unwrap()]),
        side: zetema_rules::Side::new(usize::try_from(at).unwrap()).unwrap(),
        rank: 1 + u8::try_from(at).unwrap(),
        total: 70_000 + u32::try_from(number).unwrap(),
        end: [SeatEnd::Played, SeatEnd::Forfeited, SeatEnd::NoShow][usize::try_from(number % 3).unwrap()],
        rating: is_rated.then(|| (rating(number), rating(number + at))),
    };
    let clock = if number > 60 { number - 20 } else { number };
    LoggedResult {
        number: ResultNumber::new(10 * number),
        match_id: MatchId::from_bytes([u8::try_from(number).unwrap(); 16]),
        ended_at: UnixMillis::new(1_000 * clock),
        reason: [Reason::Target, Reason::DealOver, Reason::Forfeit, Reason::Aborted]
            [usize::try_from(number % 4).unwrap()],
        seats: vec![seat(0), seat(1)],
    }
}

/// All results, of which 10 to 16 are in memory.
async fn in_files(folder: &Path) -> Archive {
    in_files_of(folder, Arc::default()).await
}

/// The same, with these files in memory.
async fn in_files_of(folder: &Path, files_read: Arc<FilesRead>) -> Archive {
    let archive = Archive::new(Room { memory: 10, block: 7, unwritten: 0 }, folder.to_owned(), files_read);
    fill(&archive).await;
    archive
}

async fn fill(archive: &Archive) {
    for number in 1..=COUNT {
        archive.keep(result(number));
        if archive.is_full() {
            archive.make_room().await;
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// All that a filter wants, the latest first, page by page.
async fn latest_first(archive: &Archive, filter: &ResultsFilter, most: usize) -> Vec<Arc<LoggedResult>> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let Page { items, next } = archive.results(filter, &PageFrom { after, most }).await.unwrap();
        assert!(items.len() <= most);
        all.extend(items);
        match next {
            Some(next) => after = Some(next.parse().unwrap()),
            None => return all,
        }
    }
}

/// The same the oldest first, after a result, and up to which some are left out at first.
async fn oldest_first(
    archive: &Archive,
    filter: &ResultsFilter,
    after: u64,
    most: usize,
) -> (Vec<Arc<LoggedResult>>, Option<u64>) {
    let first = archive.results_after(filter, ResultNumber::new(after), most).await.unwrap();
    let (mut all, mut next) = (first.items, first.next);
    while let Some(after) = next {
        let onward = archive.results_after(filter, after, most).await.unwrap();
        all.extend(onward.items);
        next = onward.next;
    }
    (all, first.left_out_to.map(ResultNumber::get))
}

fn numbers(results: &[Arc<LoggedResult>]) -> Vec<u64> {
    results.iter().map(|result| result.number.get()).collect()
}

#[tokio::test]
async fn results_in_files_are_looked_up_as_those_in_memory_are() {
    check_looked_up(10, 12).await;
}

#[tokio::test]
async fn results_are_looked_up_where_none_stays_in_memory_that_is_in_a_file() {
    check_looked_up(0, 14).await;
}

/// So many results stay in memory at least, and the others are in so many files.
async fn check_looked_up(memory: usize, in_files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let room = Room { memory, block: 7, unwritten: 0 };
    let split = Archive::new(room, folder.path().to_owned(), Arc::default());
    fill(&split).await;
    let whole = in_memory(usize::MAX);
    (1..=COUNT).for_each(|number| whole.keep(result(number)));
    assert_eq!(files(folder.path()).len(), in_files);
    let of = |name: &str| ResultsFilter { bot: Some(bot(name)), ..ResultsFilter::default() };
    let since = |ended| ResultsFilter { since: Some(UnixMillis::new(ended)), ..ResultsFilter::default() };
    for filter in [ResultsFilter::default(), of("ann"), of("nobody"), since(41_500), since(75_000)] {
        for most in [1, 6, 7, 8, 1_000] {
            let latest = latest_first(&split, &filter, most).await;
            assert_eq!(latest, latest_first(&whole, &filter, most).await);
            for after in [0, 69, 70, 71, 695, 830, 840, 999, 1_000] {
                let onward = oldest_first(&split, &filter, after, most).await;
                assert_eq!(onward, oldest_first(&whole, &filter, after, most).await, "after {after}");
            }
        }
    }
    for since in [None, Some(0), Some(20_000), Some(41_500), Some(79_000), Some(90_000)] {
        for before in [None, Some(1), Some(10), Some(11), Some(350), Some(700), Some(701), Some(5_000)] {
            for most in [0, 3, 50, 1_000] {
                let span =
                    SeasonSpan { since: since.map(UnixMillis::new), before: before.map(ResultNumber::new) };
                let RatedResults { results, left_out_to } = split.rated_of(span, most).await.unwrap();
                let known = whole.rated_of(span, most).await.unwrap();
                assert_eq!((results, left_out_to), (known.results, known.left_out_to), "{span:?}, {most}");
            }
        }
    }
}

#[tokio::test]
async fn one_answer_looks_through_as_many_files_as_its_results_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let archive = in_files(folder.path()).await;
    let filter = |name: &str| ResultsFilter { bot: Some(bot(name)), ..ResultsFilter::default() };
    for (name, count) in [("ann", 66), ("nobody", 0)] {
        let filter = filter(name);
        let latest = archive.results(&filter, &PageFrom { after: None, most: 1_000 }).await.unwrap();
        assert_eq!((latest.items.len(), latest.next), (count, None), "{name}, the latest first");
        let onward = archive.results_after(&filter, ResultNumber::ZERO, 1_000).await.unwrap();
        let looked_to = ResultNumber::new(10 * COUNT);
        assert_eq!((onward.items.len(), onward.looked_to, onward.next), (count, looked_to, None), "{name}");
    }
}

#[tokio::test]
async fn an_answer_ends_before_a_file_that_it_finds_damaged_and_the_next_says_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let archive = in_files(folder.path()).await;
    // They have the results 1 to 7 and 29 to 35.
    let files = files(folder.path());
    for at in [0, 4] {
        fs::remove_file(&files[at]).unwrap();
    }
    let onward = async |after: u64| {
        archive.results_after(&ResultsFilter::default(), ResultNumber::new(after), 1_000).await.unwrap()
    };
    let (first, second) = (onward(0).await, onward(280).await);
    let number = |number| Some(ResultNumber::new(number));
    assert_eq!((first.items.len(), first.next, first.left_out_to), (21, number(280), number(70)));
    assert_eq!((second.items.len(), second.next, second.left_out_to), (65, None, number(350)));
}

#[tokio::test]
async fn one_answer_looks_at_a_bounded_number_of_results_also_where_they_are_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let room = Room { memory: 3_000, block: 1_024, unwritten: 0 };
    let archive = Archive::new(room, folder.path().to_owned(), Arc::default());
    let count = 13_000;
    for number in 1..=count {
        archive.keep(aborted(number, "ann"));
        if archive.is_full() {
            archive.make_room().await;
        }
    }
    let of_bob = ResultsFilter { bot: Some(bot("bob")), ..ResultsFilter::default() };
    let (mut looked_to, mut after) = (Vec::new(), None);
    loop {
        let page = archive.results(&of_bob, &PageFrom { after, most: 10 }).await.unwrap();
        let Some(next) = page.next else { break };
        after = Some(next.parse::<u64>().unwrap());
        looked_to.extend(after);
    }
    let most = limits::LADDER_RESULTS_LOOKED_AT as u64;
    assert_eq!(looked_to, [count + 1 - most, count + 1 - 2 * most]);
    let (mut looked_to, mut after) = (Vec::new(), Some(ResultNumber::ZERO));
    while let Some(from) = after {
        let onward = archive.results_after(&of_bob, from, 10).await.unwrap();
        looked_to.push(onward.looked_to.get());
        after = onward.next;
    }
    assert_eq!(looked_to, [most, 2 * most, count]);
}

#[cfg(unix)]
#[tokio::test]
async fn an_answer_ends_before_a_file_that_cannot_be_read_and_the_next_says_so() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let archive = in_files(folder.path()).await;
    // It has the results 29 to 35.
    let file = &files(folder.path())[4];
    fs::remove_file(file).unwrap();
    symlink(file, file).unwrap();
    let all = ResultsFilter::default();
    let onward = archive.results_after(&all, ResultNumber::ZERO, 1_000).await.unwrap();
    assert_eq!((onward.items.len(), onward.next), (28, Some(ResultNumber::new(280))));
    let unread = archive.results_after(&all, ResultNumber::new(280), 1_000).await;
    assert!(matches!(unread, Err(LadderFault::Unread(_))), "{:?}", unread.map(|onward| onward.items.len()));
    let page = async |after| archive.results(&all, &PageFrom { after, most: 1_000 }).await;
    let latest = page(None).await.unwrap();
    assert_eq!((latest.items.len(), latest.next.as_deref()), (65, Some("360")));
    assert!(matches!(page(Some(360)).await, Err(LadderFault::Unread(_))));
}

#[cfg(unix)]
#[tokio::test]
async fn a_start_writes_the_files_that_are_not_as_they_should_be_and_no_other() {
    use std::os::unix::fs::MetadataExt;

    let folder = tempfile::tempdir().unwrap();
    let archive = in_files(folder.path()).await;
    let before = files(folder.path());
    let written = |path: &PathBuf| (fs::metadata(path).unwrap().ino(), fs::read(path).unwrap());
    let first: Vec<_> = before.iter().map(written).collect();
    fs::write(&before[3], b"something else").unwrap();
    fs::remove_file(&before[5]).unwrap();
    archive.clear();
    fill(&archive).await;
    assert_eq!(files(folder.path()), before);
    for (at, (path, (inode, bytes))) in before.iter().zip(first).enumerate() {
        let now = written(path);
        assert_eq!(now.1, bytes, "{at}");
        assert!(now.0 == inode || [3, 5].contains(&at), "{at} is written again");
    }
}

#[tokio::test]
async fn what_is_in_a_damaged_file_and_before_it_is_not_looked_up_and_that_is_said() {
    let all = ResultsFilter::default();
    for damage in [0, 1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let archive = in_files(folder.path()).await;
        // It has the results 29 to 35.
        let path = &files(folder.path())[4];
        let mut bytes = fs::read(path).unwrap();
        match damage {
            0 => fs::remove_file(path).unwrap(),
            1 => {
                bytes[100] ^= 1;
                fs::write(path, bytes).unwrap();
            }
            _ => fs::write(path, fs::read(&files(folder.path())[5]).unwrap()).unwrap(),
        }
        let right: Vec<u64> = (36..=COUNT).map(|number| 10 * number).collect();
        let mut latest = numbers(&latest_first(&archive, &all, 10).await);
        latest.reverse();
        assert_eq!(latest, right);
        let (onward, left_out_to) = oldest_first(&archive, &all, 0, 10).await;
        assert_eq!((numbers(&onward), left_out_to), (right, Some(350)));
        assert_eq!(oldest_first(&archive, &all, 350, 10).await.1, None);
        let RatedResults { results, left_out_to } =
            archive.rated_of(SeasonSpan::default(), 1_000).await.unwrap();
        assert_eq!((results.len(), left_out_to), (52, Some(ResultNumber::new(350))));
        // The next start has them again.
        archive.clear();
        fill(&archive).await;
        assert_eq!(latest_first(&archive, &all, 10).await.len(), 100);
    }
}

#[tokio::test]
async fn the_oldest_of_results_that_cannot_be_written_are_left_out_when_there_is_no_room_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, b"no folder").unwrap();
    let archive = in_files(&taken).await;
    let (onward, left_out_to) = oldest_first(&archive, &ResultsFilter::default(), 0, 10).await;
    assert_eq!((onward.len(), left_out_to), (16, Some(840)), "as many as a file has go together");
    // Nor where nobody makes room.
    let archive = Archive::new(Room { memory: 10, block: 7, unwritten: 3 }, taken, Arc::default());
    (1..=COUNT).for_each(|number| archive.keep(result(number)));
    let (onward, left_out_to) = oldest_first(&archive, &ResultsFilter::default(), 0, 10).await;
    assert_eq!((onward.len(), left_out_to), (16, Some(840)));
}

#[tokio::test]
async fn results_that_could_not_be_written_for_a_while_are_written_later_and_none_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, b"no folder").unwrap();
    let archive = Archive::new(Room { memory: 10, block: 7, unwritten: 50 }, taken.clone(), Arc::default());
    let all = ResultsFilter::default();
    for number in 1..=COUNT {
        if number == 40 {
            fs::remove_file(&taken).unwrap();
        }
        archive.keep(result(number));
        if archive.is_full() {
            archive.make_room().await;
        }
        let (onward, left_out_to) = oldest_first(&archive, &all, 0, 1_000).await;
        assert_eq!((numbers(&onward), left_out_to), ((1..=number).map(|number| 10 * number).collect(), None));
    }
    assert_eq!(files(&taken).len(), 12);
}

#[tokio::test]
async fn a_file_is_read_once_for_all_of_its_pages() {
    let folder = tempfile::tempdir().unwrap();
    let archive = in_files_of(folder.path(), Arc::new(FilesRead::of(1))).await;
    let before = async |number| {
        let of = PageFrom { after: Some(number), most: 2 };
        numbers(&archive.results(&ResultsFilter::default(), &of).await.unwrap().items)
    };
    assert_eq!(before(351).await, [350, 340]);
    // It has the results 29 to 35.
    fs::remove_file(&files(folder.path())[4]).unwrap();
    assert_eq!(before(340).await, [330, 320]);
    assert_eq!(before(360).await, [350, 340]);
    // When another was read it is seen that it is gone.
    assert_eq!(before(430).await, [420, 410]);
    assert_eq!(before(340).await, [0_u64; 0]);
}

#[tokio::test]
async fn who_goes_through_all_of_a_ladder_takes_no_file_from_memory_that_another_ladder_is_read_by() {
    let folder = tempfile::tempdir().unwrap();
    let files_read = Arc::new(FilesRead::of(3));
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    let archives = [
        in_files_of(&one, Arc::clone(&files_read)).await,
        in_files_of(&other, Arc::clone(&files_read)).await,
    ];
    let before = async |archive: &Archive, number| {
        let of = PageFrom { after: Some(number), most: 2 };
        numbers(&archive.results(&ResultsFilter::default(), &of).await.unwrap().items)
    };
    // They have the results 29 to 35 of the one, and 1 to 14 of the other.
    assert_eq!(before(&archives[0], 351).await, [350, 340]);
    assert_eq!(latest_first(&archives[1], &ResultsFilter::default(), 3).await.len(), 100);
    for path in [&files(&one)[4], &files(&other)[0], &files(&other)[1]] {
        fs::remove_file(path).unwrap();
    }
    // By turns, as two who read page by page.
    for (of_one, of_other) in [(340, 141), (320, 71), (310, 120), (351, 51)] {
        assert_eq!(before(&archives[0], of_one).await.len(), 2);
        assert_eq!(before(&archives[1], of_other).await.len(), 2);
    }
}

#[tokio::test]
async fn what_is_left_out_while_a_file_is_written_leaves_no_file_that_the_next_start_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let [right, at] = ["right", "at"].map(|name| folder.path().join(name));
    in_files(&right).await;
    let archive = Archive::new(Room { memory: 10, block: 7, unwritten: 3 }, at.clone(), Arc::default());
    let all = ResultsFilter::default();
    (1..=17).for_each(|number| archive.keep(result(number)));
    let mut writing = pin!(archive.make_room());
    let _ = poll!(&mut writing);
    assert_eq!(latest_first(&archive, &all, 5).await.len(), 17, "those that are on their way too");
    (18..=30).for_each(|number| archive.keep(result(number)));
    writing.await;
    for number in 31..=COUNT {
        archive.keep(result(number));
        archive.make_room().await;
    }
    let names =
        |folder| files(folder).iter().map(|path| path.file_name().unwrap().to_owned()).collect::<Vec<_>>();
    let (written, wanted) = (names(&at), names(&right));
    assert!(written.iter().all(|name| wanted.contains(name)), "{written:?}");
    let (onward, left_out_to) = oldest_first(&archive, &all, 0, 10).await;
    let first = onward[0].number.get();
    assert_eq!((onward.len() as u64, left_out_to), ((1_010 - first) / 10, Some(first - 10)));
}

#[tokio::test]
async fn files_of_results_that_nothing_uses_are_removed_once_all_results_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let archive = in_files(folder.path()).await;
    let before = files(folder.path());
    let stray = [folder.path().join("0000000000000015.results"), folder.path().join("notes")];
    for path in &stray {
        fs::write(path, b"of another time").unwrap();
    }
    archive.tidy().await;
    assert!(!stray[0].exists() && stray[1].exists());
    fs::remove_file(&stray[1]).unwrap();
    assert_eq!(files(folder.path()), before);
    // Where some can't be looked up the next start finds what it can.
    fs::remove_file(&before[4]).unwrap();
    latest_first(&archive, &ResultsFilter::default(), 10).await;
    archive.tidy().await;
    assert_eq!(files(folder.path()).len(), before.len() - 1);
}

#[tokio::test]
async fn what_is_left_out_of_a_time_is_said_also_where_the_clock_was_set_back_since() {
    let archive = in_memory(37);
    (1..=COUNT).for_each(|number| archive.keep(result(number)));
    // Up to result 60 it went on to 60 seconds, and result 64, the first that is left, ended after 44.
    let left_out_to = async |since| {
        let span = SeasonSpan { since: Some(UnixMillis::new(since)), before: None };
        archive.rated_of(span, 1_000).await.unwrap().left_out_to
    };
    assert_eq!(left_out_to(60_000).await, Some(ResultNumber::new(630)));
    assert_eq!(left_out_to(60_001).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_ladder_shows_all_of_its_results_with_their_ratings_after_a_restart_too() {
    let scene = honesty::patient_with(Room { memory: 2, block: 3, unwritten: 3 }).await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let read = async |scene: &Scene| {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let of = PageFrom { after, most: 1_000 };
            let Page { items, next } = scene.ladders.history(LADDER, &bot("ann"), &of).await.unwrap();
            all.extend(items);
            match next {
                Some(next) => after = Some(next.parse().unwrap()),
                None => return all,
            }
        }
    };
    for match_number in 1..=11 {
        let (winner, loser) = if match_number % 2 == 0 { ("ann", "bob") } else { ("bob", "ann") };
        scene.play(winner, loser).await;
        scene.shows(|picture| picture.rated_matches == match_number).await;
    }
    let before = read(&scene).await;
    let numbers: Vec<u64> = before.iter().map(|at| at.number.get()).collect();
    assert_eq!(numbers, (1..=11).rev().collect::<Vec<_>>());
    drop(waiting);
    let scene = scene.restart().await;
    assert_eq!(read(&scene).await, before);
    assert!(scene.folder.path().join("results").join(format!("of-{LADDER}")).is_dir());
}
