//! Results by cursor: in order, each once, without a gap, whoever reads and however slowly.

use std::pin::pin;
use std::time::Duration;

use futures::poll;
use tokio::time::{Instant, timeout};
use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::{create_one, open, spec};
use crate::journal::{ClientReference, MatchId, Owner, ResultFilter, ResultNumber};
use crate::limits::{RECENT_RESULTS, RESULTS_PAGE, RESULTS_SILENCE};
use crate::matches::{
    Incarnation, Matches, ResultCursor, ResultCursorAhead, ResultNews, Results, ResultsFrom,
};
use crate::table::{DealSpec, MatchSpec, Rejection};

/// Whose a match is, and what it is called.
type Listing = (Option<&'static str>, Option<&'static str>);

/// Ends so many matches, the first listing's first, and gives their ids in the order of their ends.
async fn end(matches: &Matches, count: usize, listings: &[Listing]) -> Vec<MatchId> {
    let mut ended = Vec::new();
    for (owner, reference) in listings.iter().copied().cycle().take(count) {
        let info = create_one(
            matches,
            MatchSpec {
                owner: owner.map(|name| Owner::new(name).unwrap()),
                client_reference: reference.map(|text| ClientReference::new(text).unwrap()),
                ..spec(Preset::Sackson, 2, DealSpec::Joint)
            },
        )
        .await;
        matches.cancel(info.match_id).await.unwrap();
        ended.push(info.match_id);
    }
    ended
}

/// What is told until nothing more is there: numbers and matches.
async fn until_caught_up(results: &mut Results) -> Vec<(u64, MatchId)> {
    let mut told = Vec::new();
    loop {
        match results.next().await.unwrap() {
            ResultNews::Ended(ended) => {
                assert_eq!(results.cursor(), ResultCursor::new(ended.number, Incarnation::FIRST));
                told.push((ended.number.get(), ended.info.match_id));
            }
            ResultNews::CaughtUp => return told,
        }
    }
}

fn after(number: u64) -> ResultsFrom {
    ResultsFrom::After(ResultCursor::new(ResultNumber::new(number), Incarnation::FIRST))
}

fn all(matches: &Matches, from: ResultsFrom) -> Results {
    matches.results(ResultFilter::default(), from).unwrap()
}

#[tokio::test(start_paused = true)]
async fn results_are_told_in_order_from_wherever_a_reader_begins() {
    let matches = open(&FakeJournal::new()).await;
    let count = usize::from(RECENT_RESULTS) + usize::from(RESULTS_PAGE) + 50;
    let ended: Vec<(u64, MatchId)> = (1..).zip(end(&matches, count, &[(None, None)]).await).collect();
    let last = ended.len() as u64;
    assert_eq!(until_caught_up(&mut all(&matches, ResultsFrom::First)).await, ended);
    for begin in [0, 1, 99, 100, 101, 149, 150, 151, last - 100, last - 1, last] {
        let mut results = all(&matches, after(begin));
        let skipped = usize::try_from(begin).unwrap();
        assert_eq!(until_caught_up(&mut results).await, ended[skipped..], "after {begin}");
        assert_eq!(results.cursor(), ResultCursor::new(ResultNumber::new(last), Incarnation::FIRST));
    }

    let mut now = all(&matches, ResultsFrom::Now);
    assert_eq!(until_caught_up(&mut now).await, []);
    let next = end(&matches, 1, &[(None, None)]).await[0];
    assert_eq!(until_caught_up(&mut now).await, [(last + 1, next)]);
}

#[tokio::test(start_paused = true)]
async fn a_filter_wants_its_own_and_its_cursor_passes_over_the_others() {
    let matches = open(&FakeJournal::new()).await;
    let listings: [Listing; 4] =
        [(Some("ann"), Some("x")), (Some("ann"), None), (Some("bob"), Some("x")), (None, None)];
    let far = usize::from(RECENT_RESULTS) + 2 * usize::from(RESULTS_PAGE);
    let ended: Vec<(u64, MatchId)> = (1..).zip(end(&matches, far, &listings).await).collect();
    let filter = |owner: Option<&str>, reference: Option<&str>| ResultFilter {
        owner: owner.map(|name| Owner::new(name).unwrap()),
        client_reference: reference.map(|text| ClientReference::new(text).unwrap()),
    };
    for (owner, reference) in [
        (Some("ann"), None),
        (Some("ann"), Some("x")),
        (None, Some("x")),
        (Some("bob"), Some("y")),
        (None, None),
    ] {
        let wanted: Vec<_> = ended
            .iter()
            .zip(listings.iter().cycle())
            .filter(|(_, listing)| {
                (owner.is_none() || owner == listing.0) && (reference.is_none() || reference == listing.1)
            })
            .map(|(ended, _)| *ended)
            .collect();
        let mut results = matches.results(filter(owner, reference), ResultsFrom::First).unwrap();
        assert_eq!(until_caught_up(&mut results).await, wanted, "{owner:?} {reference:?}");
        assert_eq!(results.cursor().number.get(), ended.len() as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_beyond_the_last_result_is_refused() {
    let matches = open(&FakeJournal::new()).await;
    end(&matches, 2, &[(None, None)]).await;
    let refused = matches.results(ResultFilter::default(), after(3)).unwrap_err();
    assert_eq!(refused, ResultCursorAhead { after: ResultNumber::new(3), last: ResultNumber::new(2) });
}

#[tokio::test(start_paused = true)]
async fn many_who_follow_cost_the_journal_one_reading_of_each_result() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    end(&matches, 10, &[(None, None)]).await;
    let mut readers: Vec<Results> = (0..100).map(|_| all(&matches, ResultsFrom::First)).collect();
    for reader in &mut readers {
        assert_eq!(until_caught_up(reader).await.len(), 10);
    }
    assert_eq!(journal.result_pages(), 1);
    for round in 1..=20 {
        let ended = end(&matches, 1, &[(None, None)]).await[0];
        let told = futures::future::join_all(readers.iter_mut().map(until_caught_up)).await;
        assert!(told.iter().all(|told| *told == [(10 + round, ended)]));
        assert_eq!(journal.result_pages(), 1 + usize::try_from(round).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_left_while_it_reads_keeps_nothing_from_the_others() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let ended = end(&matches, 1, &[(None, None)]).await[0];
    journal.delay_page(Duration::from_secs(1));
    let mut left = all(&matches, ResultsFrom::First);
    let mut next = pin!(left.next());
    assert!(poll!(&mut next).is_pending());
    let mut other = all(&matches, ResultsFrom::First);
    let told = timeout(Duration::from_secs(10), until_caught_up(&mut other)).await;
    assert_eq!(told, Ok(vec![(1, ended)]));
    assert!(matches!(next.await, Ok(ResultNews::Ended(first)) if first.info.match_id == ended));
    assert_eq!(journal.result_pages(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_gone_while_it_reads_keeps_nothing_from_the_others() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let ended = end(&matches, 1, &[(None, None)]).await[0];
    journal.delay_page(RESULTS_SILENCE * 1000);
    let mut gone = Box::pin(async { all(&matches, ResultsFrom::First).next().await });
    // The reading has begun.
    let begun = timeout(Duration::from_secs(1), &mut gone).await;
    assert!(begun.is_err());
    drop(gone);
    let mut other = all(&matches, ResultsFrom::First);
    let told = timeout(Duration::from_secs(10), until_caught_up(&mut other)).await;
    assert_eq!(told, Ok(vec![(1, ended)]));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_is_told_again_that_this_was_all() {
    let matches = open(&FakeJournal::new()).await;
    let ann = ResultFilter { owner: Some(Owner::new("ann").unwrap()), client_reference: None };
    let mut results = matches.results(ann, ResultsFrom::First).unwrap();
    assert_eq!(results.next().await, Ok(ResultNews::CaughtUp));
    // What is not wanted is passed over, and does not put off the sign of life.
    let others = matches.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(900)).await;
            end(&others, 1, &[(None, None)]).await;
        }
    });
    for passed in [11, 22, 33] {
        let begun = Instant::now();
        assert_eq!(results.next().await, Ok(ResultNews::CaughtUp));
        assert!(begun.elapsed() <= RESULTS_SILENCE + Duration::from_millis(2), "{:?}", begun.elapsed());
        assert_eq!(results.cursor().number.get(), passed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_can_not_be_read_for_a_while_makes_no_gap() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let ended = end(&matches, 3, &[(None, None)]).await;
    let mut results = all(&matches, ResultsFrom::First);
    journal.blind(2);
    for _ in 0..2 {
        assert_eq!(results.next().await, Err(Rejection::OutcomeUnknown));
        assert_eq!(results.cursor(), ResultCursor::new(ResultNumber::ZERO, Incarnation::FIRST));
    }
    let told: Vec<MatchId> =
        until_caught_up(&mut results).await.into_iter().map(|(_, match_id)| match_id).collect();
    assert_eq!(told, ended);
}
