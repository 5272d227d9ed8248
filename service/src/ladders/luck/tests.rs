//! What is kept on the disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use zetema_ladder::{
    AdjustedScore, Baseline, MatchTimes, Played, RatingSettings, Reference, ReferenceVersion,
};
use zetema_rules::fair::{MatchSeed, ServerSeed};
use zetema_rules::{EndReason, MatchResult, Preset, Seats, Side, Teams};

use super::cache::{Cache, first_result};
use super::compute::finish;
use super::entry::{KnownBaseline, ResultLuck, read, write};
use super::key::LuckKey;
use super::{Luck, OlderLuck};
use crate::admission::Pressure;
use crate::journal::{BotName, MatchId, ResultNumber, UnixMillis};
use crate::ladders::query::Reason;
use crate::ladders::results::{LoggedResult, LoggedSeat, SeatEnd};
use crate::limits;

fn luck(number: u64, sides: u8) -> ResultLuck {
    let of_number = f64::from(u32::try_from(number).unwrap()) / 7.0;
    let score = |side: u8| AdjustedScore { raw: f64::from(side) - 1.5, luck: of_number };
    let scores: Vec<AdjustedScore> = (0..sides).map(score).collect();
    let [.., last] = number.to_be_bytes();
    ResultLuck { number: ResultNumber::new(number), key: LuckKey([last; 16]), scores: scores.into() }
}

async fn open(at: &Path, first: ResultNumber) -> Cache {
    Cache::open(at.to_owned(), first, Arc::new(OlderLuck::new(at.to_owned()))).await
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept");
    assert_eq!(read::<ResultLuck>(&file, 10).unwrap().entries, [], "there is no file");
    let kept = [luck(1, 2), luck(2, 3), luck(9, 6)];
    write(&file, kept.iter()).unwrap();
    let found = read::<ResultLuck>(&file, 10).unwrap();
    assert_eq!((&found.entries[..], found.damaged), (&kept[..], 0));
    assert_eq!(read::<ResultLuck>(&file, 2).unwrap().entries, kept[..2], "no more than is asked for");
    assert_eq!(read::<KnownBaseline>(&file, 10).unwrap().damaged, 1, "it is a file of another kind");
    let baselines = [KnownBaseline { key: [7; 32], sums: vec![4_864_150, 4_585_470] }];
    write(&file, baselines.iter()).unwrap();
    assert_eq!(read::<KnownBaseline>(&file, 10).unwrap().entries, baselines);
}

proptest! {
    /// One entry is lost and told, or all of them where the file is no file of luck any more; none is read as another.
    #[test]
    fn every_flipped_bit_is_found(byte in 0usize..400, bit in 0u8..8, cut in 0usize..400) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept");
        let kept = [luck(1, 2), luck(2, 3), luck(9, 6)];
        write(&file, kept.iter()).unwrap();
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        let byte = byte % whole.len();
        flipped[byte] ^= 1 << bit;
        for (bytes, most) in [(&flipped[..], 2), (&whole[..cut % whole.len()], 3)] {
            fs::write(&file, bytes).unwrap();
            let found = read::<ResultLuck>(&file, 10).unwrap();
            prop_assert!(found.entries.len() <= most && found.entries.iter().all(|entry| kept.contains(entry)));
            prop_assert!(found.damaged > 0 || bytes.len() < whole.len());
        }
    }
}

#[tokio::test]
async fn a_block_is_written_when_it_is_left_and_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let blocks = limits::LUCK_RESULTS / limits::LUCK_BLOCK_RESULTS;
    let mut cache = open(&at, ResultNumber::new(1)).await;
    let numbers: Vec<u64> = (0..blocks + 2).map(|block| block * limits::LUCK_BLOCK_RESULTS + 5).collect();
    for &number in &numbers {
        let luck = luck(number, 2);
        assert_eq!(cache.scores(luck.number, luck.key).await, None);
        cache.keep_scores(luck).await;
    }
    cache.save().await;
    assert_eq!(fs::read_dir(&at).unwrap().count() as u64, blocks);
    // At a start nothing is looked up that is not kept any more.
    let first = first_result(ResultNumber::new(*numbers.last().unwrap()));
    assert_eq!(first.get(), 2 * limits::LUCK_BLOCK_RESULTS);
    let mut cache = open(&at, first).await;
    for &number in &numbers[2..] {
        let luck = luck(number, 2);
        assert_eq!(cache.scores(luck.number, luck.key).await, Some(luck.scores));
    }
    let last = luck(*numbers.last().unwrap(), 2);
    assert_eq!(
        cache.scores(last.number, LuckKey([0xff; 16])).await,
        None,
        "another match, or another end of it"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let mut cache = open(&at, ResultNumber::new(1)).await;
    // What a write that was cut short has left is not added to, and gets no other mode by it.
    let file = at.join("0000000000000000.luck");
    let part = file.with_extension("part");
    fs::write(&part, [0xff; 10_000]).unwrap();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o644)).unwrap();
    let kept = luck(1, 2);
    cache.keep_scores(kept.clone()).await;
    cache.save().await;
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&at), mode(&file)), (0o700, 0o600));
    let found = read::<ResultLuck>(&file, 10).unwrap();
    assert_eq!((found.entries, found.damaged), (vec![kept], 0));
}

#[tokio::test]
async fn a_baseline_that_was_computed_is_known_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let of = |preset: Preset| Reference::new(&preset.rules(2, None).unwrap(), ReferenceVersion::CURRENT);
    // Sums that could be: to compute them takes a while.
    let baseline = Baseline::from_sums(of(Preset::Victorian), &[5_000_000, 4_000_000]).unwrap();
    let mut cache = open(&at, ResultNumber::new(1)).await;
    assert_eq!(cache.baseline(of(Preset::Victorian)), None);
    cache.keep_baseline(&baseline).await;
    let cache = open(&at, ResultNumber::new(1)).await;
    assert_eq!(cache.baseline(of(Preset::Victorian)), Some(baseline));
    assert_eq!(cache.baseline(of(Preset::Fosdick)), None);
}

#[tokio::test]
async fn steps_on_idle_threads_give_what_they_give_at_once() {
    let reference = Reference::new(&Preset::Sackson.rules(2, None).unwrap(), ReferenceVersion::CURRENT);
    let seed = MatchSeed::derive(&ServerSeed::new([7; 32]), &[]);
    let deal = reference.deal(&seed.deck(0, reference.rules().imperial_suit)).unwrap();
    assert_eq!(finish(deal.clone(), &Pressure::new()).await.unwrap(), deal.finish());
}

#[test]
fn a_server_that_begins_looks_at_its_latest_results() {
    let block = limits::LUCK_BLOCK_RESULTS;
    for (latest, first) in [
        (0, 1),
        (7, 1),
        (limits::LUCK_RESULTS - 1, 1),
        (limits::LUCK_RESULTS, block),
        (limits::LUCK_RESULTS + block, 2 * block),
    ] {
        assert_eq!(first_result(ResultNumber::new(latest)).get(), first, "{latest}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_kept_all_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    fs::write(&at, "a file, where the folder should be").unwrap();
    let mut cache = open(&at, ResultNumber::new(1)).await;
    let luck = luck(1, 2);
    cache.keep_scores(luck.clone()).await;
    cache.save().await;
    assert_eq!(cache.scores(luck.number, luck.key).await, Some(luck.scores));
}

/// A rated match of two.
fn rated(number: u64) -> LoggedResult {
    let rating = RatingSettings::default().first();
    let seat = |at| LoggedSeat {
        bot: BotName::new("ann").unwrap(),
        side: Side::new(at).unwrap(),
        rank: 1,
        total: 0,
        end: SeatEnd::Played,
        rating: Some((rating, rating)),
    };
    LoggedResult {
        number: ResultNumber::new(number),
        match_id: MatchId::from_bytes([0; 16]),
        ended_at: UnixMillis::new(number),
        reason: Reason::Target,
        seats: vec![seat(0), seat(1)],
    }
}

#[tokio::test]
async fn the_luck_of_results_that_are_not_in_memory_is_read_back_from_the_files_that_are_done_with() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let older = Arc::new(OlderLuck::new(at.clone()));
    let shown = Luck::new(1_000, RatingSettings::default(), Arc::clone(&older));
    let mut cache = Cache::open(at.clone(), ResultNumber::new(1), Arc::clone(&older)).await;
    let [first, another, next] = [7, 8, limits::LUCK_BLOCK_RESULTS + 7].map(|number| luck(number, 2));
    for luck in [&first, &another] {
        assert_eq!(cache.scores(luck.number, luck.key).await, None);
        cache.keep_scores(luck.clone()).await;
    }
    cache.save().await;
    assert_eq!(shown.scores(&rated(7)).await, None, "more may come into that file");
    // In the place of the other there is another match now, of which nothing can be computed.
    assert_eq!(cache.scores(another.number, LuckKey([0xff; 16])).await, None);
    assert_eq!(cache.scores(next.number, next.key).await, None);
    assert_eq!(shown.scores(&rated(7)).await, Some(Arc::clone(&first.scores)));
    assert_eq!(shown.scores(&rated(8)).await, None);
    assert_eq!(shown.scores(&rated(next.number.get())).await, None);
    let aborted = LoggedResult { seats: Vec::new(), ..rated(7) };
    assert_eq!(shown.scores(&aborted).await, None);
    // A task that begins anew looks at all of it again first.
    let mut cache = Cache::open(at, ResultNumber::new(1), older).await;
    assert_eq!(shown.scores(&rated(7)).await, None);
    cache.scores(next.number, next.key).await;
    assert_eq!(shown.scores(&rated(7)).await, Some(first.scores));
}

#[tokio::test]
async fn however_few_results_of_a_ladder_are_in_memory_none_lacks_its_luck_while_its_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let older = Arc::new(OlderLuck::new(at.clone()));
    let shown = Luck::new(1, RatingSettings::default(), Arc::clone(&older));
    let mut cache = Cache::open(at, ResultNumber::new(1), older).await;
    let bots = ["ann", "bob"].map(|name| BotName::new(name).unwrap());
    let played =
        MatchResult { reason: EndReason::Target, ranks: [1, 2, 0, 0, 0, 0], totals: [2, 1, 0, 0, 0, 0] };
    let played = Played::new(bots.into(), Teams::Individual, played, Seats::EMPTY).unwrap();
    // Up to the last of a file, of the first of the next, and some more.
    for number in 1..=limits::LUCK_BLOCK_RESULTS + 3 {
        let luck = luck(number, 2);
        assert_eq!(cache.scores(luck.number, luck.key).await, None);
        let times = MatchTimes { created_ms: number, ended_ms: number + 1 };
        shown.count(luck.number, times, &played, Arc::clone(&luck.scores));
        cache.keep_scores(luck).await;
        let looked_at: &[u64] = match number {
            number if number < limits::LUCK_BLOCK_RESULTS - 1 => &[number],
            _ => &[1, 2, 1_000, limits::LUCK_BLOCK_RESULTS - 1, number],
        };
        for &earlier in looked_at {
            let scores = shown.scores(&rated(earlier)).await;
            assert_eq!(scores, Some(self::luck(earlier, 2).scores), "{earlier} when {number} are computed");
        }
    }
}

#[tokio::test]
async fn a_bounded_number_of_files_of_luck_is_in_memory_those_that_were_read_last() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("luck");
    let older = Arc::new(OlderLuck::new(at.clone()));
    let mut cache = Cache::open(at.clone(), ResultNumber::new(1), Arc::clone(&older)).await;
    let count = limits::LUCK_BLOCKS_READ as u64 + 2;
    let numbers: Vec<u64> = (0..count).map(|block| block * limits::LUCK_BLOCK_RESULTS + 5).collect();
    for &number in &numbers {
        let luck = luck(number, 2);
        assert_eq!(cache.scores(luck.number, luck.key).await, None);
        cache.keep_scores(luck).await;
    }
    let done = &numbers[..numbers.len() - 1];
    for &number in done {
        assert_eq!(older.scores(ResultNumber::new(number)).await, Some(luck(number, 2).scores));
    }
    fs::remove_dir_all(&at).unwrap();
    for &number in done.iter().rev() {
        let read = older.scores(ResultNumber::new(number)).await;
        assert_eq!(read.is_some(), number != done[0], "{number}");
    }
}
