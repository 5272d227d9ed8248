//! Lists for those who may not see everything.

use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::journal::{BotName, ClientReference, PagePosition, PageSize, Reader, Visibility};
use crate::limits;
use crate::matches::live_matches::place;
use crate::matches::{ListCursor, ListFilter, MatchPage, Matches, RecordPage};
use crate::table::{DealSpec, MatchSpec, SeatSpec};

/// More than one read of the journal gives.
const OF_OTHERS: usize = PageSize::MAX as usize + 10;

fn bot(name: &str) -> BotName {
    BotName::new(name).unwrap()
}

/// A private match of the bot `name` with a reference that all have.
fn spec_for(name: &str) -> MatchSpec {
    MatchSpec {
        seats: vec![SeatSpec::Token, SeatSpec::Bot(bot(name))],
        visibility: Visibility::Private,
        client_reference: Some(ClientReference::new("season-4").unwrap()),
        ..spec(Preset::Sackson, 2, DealSpec::Joint)
    }
}

/// Ends so many matches without a game.
async fn ended(matches: &Matches, spec: MatchSpec, count: usize) {
    for _ in 0..count {
        let info = create_one(matches, spec.clone()).await;
        matches.cancel(info.match_id).await.unwrap();
    }
}

/// All pages of both lists, each read with the token of the one before.
async fn pages(matches: &Matches, filter: &ListFilter, size: u16) -> (Vec<MatchPage>, Vec<RecordPage>) {
    let size = PageSize::new(size).unwrap();
    let (mut lists, mut records): (Vec<MatchPage>, Vec<RecordPage>) = (Vec::new(), Vec::new());
    while lists.last().is_none_or(|page| page.next.is_some()) {
        let from = lists.last().and_then(|page| page.next);
        lists.push(matches.list(filter, from, size).await.unwrap());
    }
    while records.last().is_none_or(|page| page.next.is_some()) {
        let from = records.last().and_then(|page| page.next);
        records.push(matches.list_records(filter, from, size).await.unwrap());
    }
    (lists, records)
}

#[tokio::test]
async fn the_pages_of_a_bot_tell_nothing_of_private_matches_of_others() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let public = MatchSpec { visibility: Visibility::Public, ..spec_for("bob") };
    ended(&matches, spec_for("bob"), 3).await;
    ended(&matches, spec_for("ann"), 2).await;
    ended(&matches, spec_for("bob"), OF_OTHERS).await;
    ended(&matches, public, 2).await;
    ended(&matches, spec_for("bob"), 5).await;
    ended(&matches, spec_for("ann"), 1).await;
    ended(&matches, spec_for("bob"), 1).await;

    let reference = spec_for("ann").client_reference;
    let filters = [("ann", None), ("ann", reference.clone()), ("eve", None), ("eve", reference)].map(
        |(name, client_reference)| ListFilter {
            reader: Reader::Bot(bot(name)),
            stages: Vec::new(),
            client_reference,
        },
    );
    // A token that no list has given, too.
    let made_up = PagePosition::new(900);
    let mut with = Vec::new();
    for filter in &filters {
        for size in [2, PageSize::MAX] {
            let (lists, records) = pages(&matches, filter, size).await;
            let count: usize = records.iter().map(|page| page.matches.len()).sum();
            let seen: usize = if filter.reader == Reader::Bot(bot("ann")) { 5 } else { 2 };
            assert_eq!((count, records.len()), (seen, seen.div_ceil(size.into())), "{filter:?} by {size}");
            let size = PageSize::new(size).unwrap();
            let from = matches.list(filter, Some(ListCursor::Over(Some(made_up))), size).await.unwrap();
            with.push((lists, records, from));
        }
    }

    let everything = ListFilter { reader: Reader::Admin, stages: Vec::new(), client_reference: None };
    let (_, all) = pages(&matches, &everything, PageSize::MAX).await;
    for ended in all.iter().flat_map(|page| &page.matches) {
        let is_ann = ended.info.seats.iter().any(|seat| seat.bot == Some(bot("ann")));
        if ended.info.visibility == Visibility::Private && !is_ann {
            journal.lose(ended.number);
        }
    }
    let mut with = with.into_iter();
    for filter in &filters {
        for size in [2, PageSize::MAX] {
            let (lists, records) = pages(&matches, filter, size).await;
            let size = PageSize::new(size).unwrap();
            let from = matches.list(filter, Some(ListCursor::Over(Some(made_up))), size).await.unwrap();
            assert_eq!(with.next(), Some((lists, records, from)), "{filter:?} by {}", size.get());
        }
    }
}

#[tokio::test]
async fn more_running_matches_than_one_go_looks_at_are_listed_once_and_in_order() {
    let matches = open(&FakeJournal::new()).await;
    let public = MatchSpec { visibility: Visibility::Public, ..spec_for("bob") };
    for private in [limits::LIVE_MATCHES_VISITED - 1, limits::LIVE_MATCHES_VISITED, 40] {
        matches.create(vec![public.clone()], None).await.unwrap();
        for batch in vec![spec_for("bob"); private].chunks(limits::MAX_BATCH_MATCHES) {
            matches.create(batch.to_vec(), None).await.unwrap();
        }
    }
    let listed = async |reader: Reader, size: u16| {
        let filter = ListFilter { reader, stages: Vec::new(), client_reference: None };
        let (lists, _) = pages(&matches, &filter, size).await;
        let sizes: Vec<usize> = lists.iter().map(|page| page.matches.len()).collect();
        let places = lists.iter().flat_map(|page| &page.matches).map(place).collect::<Vec<_>>();
        assert!(places.is_sorted_by(|before, after| before > after), "the latest first, each once");
        sizes
    };
    let all = matches.live();
    for (reader, seen) in [(Reader::Anyone, 3), (Reader::Bot(bot("bob")), all), (Reader::Admin, all)] {
        for size in [2, 3, PageSize::MAX] {
            let sizes = listed(reader.clone(), size).await;
            assert_eq!(sizes.iter().sum::<usize>(), seen, "{reader:?} by {size}");
            assert_eq!(
                sizes.len(),
                seen.div_ceil(size.into()) + usize::from(seen % usize::from(size) == 0),
                "{reader:?} by {size}: {sizes:?}"
            );
        }
    }
}
