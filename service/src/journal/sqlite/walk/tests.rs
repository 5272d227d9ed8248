//! A list over many finished matches, whatever is asked for.

use std::time::Instant;

use rusqlite::Connection;

use super::*;
use crate::journal::sqlite::{records, schema, seal};
use crate::journal::{FinishedFilter, PagePosition, Reader, ResultFilter};

/// A match as the fixture has it, by its number alone: few are public, a third is one owner's, half have a reference, and
/// one alone has another.
struct Made {
    owner: Option<&'static str>,
    public: bool,
    client_reference: Option<&'static str>,
}

const RARE: u64 = 10;

const fn made(number: u64) -> Made {
    Made {
        owner: match number % 3 {
            0 => Some("ann"),
            1 => Some("bob"),
            _ => None,
        },
        public: number.is_multiple_of(1_000),
        client_reference: match number {
            RARE => Some("rare"),
            _ if number % 2 == 1 => Some("often"),
            _ => None,
        },
    }
}

fn id(number: u64) -> MatchId {
    MatchId::from_bytes(u128::from(number).to_be_bytes())
}

/// A database with so many finished matches, sealed.
fn filled(conn: Connection, matches: u64) -> Connection {
    seal::define(&conn).unwrap();
    schema::make_tables(&conn, 0, schema::SCHEMA).unwrap();
    conn.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO records (result_number, match_id, version, owner, visibility, client_reference, finished_ms,
            summary, record, hash)
         SELECT i, unhex(printf('%032x', i)), 1,
            CASE i % 3 WHEN 0 THEN 'ann' WHEN 1 THEN 'bob' END,
            CASE WHEN i % 1000 = 0 THEN 2 ELSE 1 END,
            CASE WHEN i = 10 THEN 'rare' WHEN i % 2 = 1 THEN 'often' END,
            i, x'01', zeroblob(1500), zeroblob(32) FROM n",
        [i64::try_from(matches).unwrap()],
    )
    .unwrap();
    conn.execute(&RECORDS.seal_where("true"), []).unwrap();
    conn
}

fn owner(name: &str) -> Owner {
    Owner::new(name).unwrap()
}

fn reference(text: &str) -> ClientReference {
    ClientReference::new(text).unwrap()
}

/// Every reader with every filter.
fn filters() -> Vec<FinishedFilter> {
    let readers = [
        Reader::Admin,
        Reader::Anyone,
        Reader::Seat(id(7)),
        Reader::Seat(id(2_000)),
        Reader::Owner(owner("ann")),
        Reader::Owner(owner("eve")),
    ];
    let references = [None, Some("often"), Some("rare"), Some("none")];
    let owners = [None, Some("bob"), Some("eve")];
    let visibilities = [None, Some(Visibility::Private), Some(Visibility::Public)];
    let mut filters = Vec::new();
    for reader in readers {
        for text in references {
            for name in owners {
                for visibility in visibilities {
                    filters.push(FinishedFilter {
                        reader: reader.clone(),
                        owner: name.map(owner),
                        client_reference: text.map(reference),
                        visibility,
                    });
                }
            }
        }
    }
    filters
}

fn wants(filter: &FinishedFilter, number: u64) -> bool {
    let Made { owner: of, public, client_reference: text } = made(number);
    let seen = match &filter.reader {
        Reader::Admin => true,
        Reader::Anyone => public,
        Reader::Seat(match_id) => public || *match_id == id(number),
        Reader::Owner(owner) => public || of == Some(owner.as_str()),
    };
    seen && filter.owner.as_ref().is_none_or(|owner| of == Some(owner.as_str()))
        && filter.client_reference.as_ref().is_none_or(|reference| text == Some(reference.as_str()))
        && filter.visibility.is_none_or(|visibility| public == (visibility == Visibility::Public))
}

fn page(size: u16) -> PageSize {
    PageSize::new(size).unwrap()
}

/// The numbers of a whole list, read page by page, and how many reads it took.
fn whole(conn: &Connection, filter: &FinishedFilter, size: u16) -> (Vec<u64>, usize) {
    let (mut numbers, mut from, mut reads) = (Vec::new(), None, 0);
    loop {
        let Walked { rows, next, visited } = records::walk_list(conn, filter, from, page(size)).unwrap();
        reads += 1;
        assert!(visited <= ROWS_VISITED && rows.len() <= size.into(), "{filter:?}: {visited}");
        numbers.extend(rows.iter().map(|row| row.number.get()));
        match next {
            Some(next) => from = Some(PagePosition::new(next.get())),
            None => return (numbers, reads),
        }
    }
}

#[test]
fn every_filter_lists_what_it_wants_and_no_read_visits_more_than_its_bound() {
    let matches = 2 * ROWS_VISITED as u64 + 500;
    let conn = filled(Connection::open_in_memory().unwrap(), matches);
    for filter in filters() {
        let expected: Vec<u64> = (1..=matches).rev().filter(|&number| wants(&filter, number)).collect();
        let (numbers, reads) = whole(&conn, &filter, 1_000);
        assert_eq!(numbers, expected, "{filter:?}");
        assert!(reads <= 6, "{filter:?} took {reads} reads");
    }
}

#[test]
fn results_go_on_where_a_read_stopped() {
    let matches = 2 * ROWS_VISITED as u64 + 500;
    let conn = filled(Connection::open_in_memory().unwrap(), matches);
    for name in [None, Some("ann"), Some("eve")] {
        for text in [None, Some("often"), Some("rare"), Some("none")] {
            let filter = ResultFilter { owner: name.map(owner), client_reference: text.map(reference) };
            let of_all = FinishedFilter {
                reader: Reader::Admin,
                owner: filter.owner.clone(),
                client_reference: filter.client_reference.clone(),
                visibility: None,
            };
            let expected: Vec<u64> = (1..=matches).filter(|&number| wants(&of_all, number)).collect();
            let (mut numbers, mut after) = (Vec::new(), ResultNumber::ZERO);
            loop {
                let read = records::results_after(&conn, &filter, after, page(700)).unwrap();
                numbers.extend(read.rows.iter().map(|row| row.number.get()));
                let Some(more_after) = read.more_after else { break };
                assert!(more_after > after, "{filter:?}");
                after = more_after;
            }
            assert_eq!(numbers, expected, "{filter:?}");
        }
    }
}

#[test]
fn a_first_page_of_a_hundred_thousand_visits_few() {
    let conn = filled(Connection::open_in_memory().unwrap(), 100_000);
    for filter in filters() {
        let Walked { rows, next, visited } = records::walk_list(&conn, &filter, None, page(10)).unwrap();
        assert!(visited <= ROWS_VISITED, "{filter:?}: {visited}");
        assert!(rows.len() == 10 || visited == ROWS_VISITED || next.is_none(), "{filter:?}");
    }
    // What nobody has ends at once, and what is left out for another reason goes on later.
    let nobody = FinishedFilter {
        reader: Reader::Owner(owner("eve")),
        owner: None,
        client_reference: Some(reference("none")),
        visibility: None,
    };
    let Walked { rows, next, visited } = records::walk_list(&conn, &nobody, None, page(10)).unwrap();
    assert_eq!((rows.len(), next, visited), (0, None, 0));
    let others =
        FinishedFilter { reader: Reader::Seat(id(1)), client_reference: Some(reference("often")), ..nobody };
    let Walked { rows, next, visited } = records::walk_list(&conn, &others, None, page(10)).unwrap();
    assert_eq!((rows.len(), visited), (0, ROWS_VISITED));
    assert!(next.is_some());
}

#[test]
fn every_order_is_that_of_an_index() {
    let conn = filled(Connection::open_in_memory().unwrap(), 1);
    let (name, text) = (owner("ann"), reference("often"));
    let all = [
        By::All,
        By::Owner(&name),
        By::ClientReference(&text),
        By::Visibility(Visibility::Public),
        By::Match(id(1)),
    ];
    for by in all {
        for order in [Order::Up, Order::Down] {
            let sql = format!("EXPLAIN QUERY PLAN {}", by.sql(order));
            let mut statement = conn.prepare(&sql).unwrap();
            let steps = statement.query_map(rusqlite::params![1, by.value()], |row| row.get("detail"));
            let steps: Vec<String> = steps.unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(steps.len(), 1, "{by:?}: {steps:?}");
            assert!(steps[0].starts_with("SEARCH records USING "), "{by:?}: {steps:?}");
        }
    }
}

#[test]
#[ignore = "measures: run it in a release build with --ignored --nocapture"]
#[allow(clippy::print_stdout, reason = "it is what it is for")]
fn how_long_a_page_of_a_million_takes() {
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(folder.path().join("million")).unwrap();
    conn.pragma_update(None, "synchronous", "off").unwrap();
    let conn = filled(conn, 1_000_000);
    for filter in filters() {
        let begun = Instant::now();
        let Walked { rows, visited, .. } = records::walk_list(&conn, &filter, None, page(100)).unwrap();
        let took = begun.elapsed();
        println!("{took:>10.1?} {:>4} rows, {visited:>5} visited: {filter:?}", rows.len());
    }
}
