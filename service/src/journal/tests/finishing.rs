//! Ending matches, and what users read of them.

use futures::future::join_all;

use super::*;
use crate::journal::{
    AppendRefusal, BotName, ClientReference, FinishedFilter, Owner, PagePosition, PageSize, Reader,
    ResultFilter, ResultNumber,
};

#[tokio::test]
async fn a_finished_match_is_read_whole_and_takes_no_more() {
    let mut f = Fixture::new().await;
    f.created([1, 2]).await;
    let one = ResultNumber::new(1);
    assert_eq!(f.finish(1, 1).await, Outcome::Done(one));
    let sent = f.to_finish(1, 1);
    for _ in 0..2 {
        let Some(StoredMatch::Finished(read)) = f.journal.read(id(1)).await.unwrap() else { panic!() };
        assert_eq!((read.version, read.result.number), (Version::new(2), one));
        assert_eq!((read.record, read.result.summary), (sent.record.clone(), sent.summary.clone()));
        assert_eq!((read.result.listing, read.result.finished_at), (sent.listing.clone(), sent.finished_at));
        assert_eq!(f.append(1, 2, "late").await, Outcome::Refused(AppendRefusal::Finished(one)));
        assert_eq!(f.finish(1, 2).await, Outcome::Refused(AppendRefusal::Finished(one)));
        assert_eq!(f.journal.unfinished().await.unwrap(), [id(2)]);
        assert_eq!(*f.journal.latest_result().borrow(), one);
        f = f.reopen().await;
    }
}

#[tokio::test]
async fn a_refused_end_writes_nothing() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let refused = Outcome::Refused(AppendRefusal::Version { actual: Version::new(1) });
    assert_eq!(f.finish(1, 5).await, refused);
    assert_eq!(f.texts(1).await, ["created"]);
    assert_eq!(f.finish(1, 1).await, Outcome::Done(ResultNumber::new(1)));
}

#[tokio::test]
async fn an_end_that_fails_leaves_the_match_running_and_its_number_to_the_next() {
    let f = Fixture::with(Options { max_file_bytes: Some(512 * 1024), ..Options::default() }).await;
    f.created([1, 2]).await;
    let record = RecordBytes::new(vec![7; 1024 * 1024]).unwrap();
    let big = Finish { record, ..f.to_finish(1, 1) };
    assert!(matches!(f.journal.finish(big).await, Outcome::Failed(_)));
    assert_eq!(f.texts(1).await, ["created"]);
    assert_eq!(*f.journal.latest_result().borrow(), ResultNumber::ZERO);
    assert_eq!(f.finish(2, 1).await, Outcome::Done(ResultNumber::new(1)));
    let f = f.reopen().await;
    assert_eq!(f.texts(1).await, ["created"]);
    assert_eq!(f.finish(1, 1).await, Outcome::Done(ResultNumber::new(2)));
}

#[tokio::test]
async fn result_numbers_have_no_gap_over_many_ends_at_once() {
    let mut f = Fixture::new().await;
    for round in 0..4 {
        let numbers = round * 250..(round + 1) * 250;
        f.created(numbers.clone()).await;
        // Every fifth end is refused, and takes no number.
        let expected = |number: u32| if number.is_multiple_of(5) { 7 } else { 1 };
        let outcomes = join_all(numbers.map(|number| f.finish(number, expected(number)))).await;
        let mut got: Vec<u64> = outcomes
            .iter()
            .filter_map(|outcome| if let Outcome::Done(number) = outcome { Some(number.get()) } else { None })
            .collect();
        got.sort_unstable();
        let first = u64::from(round) * 200 + 1;
        assert_eq!(got, (first..first + 200).collect::<Vec<_>>());
        f = f.reopen().await;
    }
    let rows = f
        .journal
        .results_after(ResultFilter::default(), ResultNumber::ZERO, PageSize::new(1000).unwrap())
        .await
        .unwrap();
    assert_eq!(
        rows.rows.iter().map(|row| row.number.get()).collect::<Vec<_>>(),
        (1..=800).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn results_are_read_on_from_a_cursor() {
    let f = Fixture::new().await;
    f.created(1..=5).await;
    let mut latest = f.journal.latest_result();
    for number in 1..=5 {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    latest.wait_for(|latest| *latest == ResultNumber::new(5)).await.unwrap();
    for (after, page, want) in [(0, 2, 1..3), (2, 2, 3..5), (4, 2, 5..6), (5, 2, 6..6), (99, 2, 6..6)] {
        let rows = f
            .journal
            .results_after(ResultFilter::default(), ResultNumber::new(after), PageSize::new(page).unwrap())
            .await
            .unwrap()
            .rows;
        let got: Vec<MatchId> = rows.iter().map(|row| row.match_id).collect();
        assert_eq!(got, want.map(id).collect::<Vec<_>>(), "after {after}");
    }
}

fn bot(name: &str) -> Reader {
    Reader::Bot(BotName::new(name).unwrap())
}

fn owner(name: &str) -> Owner {
    Owner::new(name).unwrap()
}

#[tokio::test]
async fn finished_matches_are_listed_by_what_was_asked_for_and_may_be_seen() {
    let f = Fixture::new().await;
    let (public, private) = (Visibility::Public, Visibility::Private);
    let listings = [
        (1, Some("ann"), public, Some("x"), &["rex", ""][..]),
        (2, Some("ann"), private, None, &[]),
        (3, Some("bob"), private, Some("x"), &["rex", "rex"]),
        (4, None, private, Some("y"), &["fido", "rex"]),
        (5, None, public, None, &[]),
    ];
    for (number, name, visibility, reference, bots) in listings {
        f.created([number]).await;
        let listing = Listing {
            owner: name.map(owner),
            visibility,
            client_reference: reference.map(|reference| ClientReference::new(reference).unwrap()),
        };
        let summary = summary_of(bots);
        let outcome = f.journal.finish(Finish { listing, summary, ..f.to_finish(number, 1) }).await;
        assert!(matches!(outcome, Outcome::Done(_)));
    }
    let ann = Reader::Owner(owner("ann"));
    let x = Some(ClientReference::new("x").unwrap());
    let results: [(Option<&str>, Option<&ClientReference>, &[u32]); 5] = [
        (None, None, &[1, 2, 3, 4, 5]),
        (Some("ann"), None, &[1, 2]),
        (None, x.as_ref(), &[1, 3]),
        (Some("ann"), x.as_ref(), &[1]),
        (Some("eve"), None, &[]),
    ];
    for (name, reference, want) in results {
        let filter = ResultFilter { owner: name.map(owner), client_reference: reference.cloned() };
        let page = PageSize::new(10).unwrap();
        let rows = f.journal.results_after(filter, ResultNumber::ZERO, page).await.unwrap().rows;
        let got: Vec<MatchId> = rows.iter().map(|row| row.match_id).collect();
        assert_eq!(got, want.iter().copied().map(id).collect::<Vec<_>>(), "{name:?} {reference:?}");
    }
    let of = |reader| FinishedFilter { reader, client_reference: None };
    let with_x = |reader| FinishedFilter { reader, client_reference: x.clone() };
    let readers: [(Reader, &[u32], &[u32]); 7] = [
        (Reader::Admin, &[5, 4, 3, 2, 1], &[3, 1]),
        (Reader::Anyone, &[5, 1], &[1]),
        (Reader::Seat(id(3)), &[5, 3, 1], &[3, 1]),
        (Reader::Seat(id(4)), &[5, 4, 1], &[1]),
        (ann, &[5, 2, 1], &[1]),
        (bot("rex"), &[5, 4, 3, 1], &[3, 1]),
        (bot("fido"), &[5, 4, 1], &[1]),
    ];
    let cases = readers
        .into_iter()
        .flat_map(|(reader, all, having_x)| [(of(reader.clone()), all), (with_x(reader), having_x)]);
    for (filter, want) in cases {
        let want: Vec<MatchId> = want.iter().copied().map(id).collect();
        for size in [1, 2, 1000] {
            let got = pages(&f, &filter, size).await;
            assert_eq!(got, want, "{filter:?}, pages of {size}");
        }
    }
}

/// The list, read page by page.
async fn pages(f: &Fixture, filter: &FinishedFilter, size: u16) -> Vec<MatchId> {
    let mut got = Vec::new();
    let mut from = None;
    loop {
        let page = f.journal.list_finished(filter.clone(), from, PageSize::new(size).unwrap()).await.unwrap();
        assert!(page.matches.len() <= size.into());
        got.extend(page.matches.iter().map(|row| row.match_id));
        match page.next {
            Some(next) => from = Some(PagePosition::new(next.get())),
            None => return got,
        }
    }
}
