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

/// Who may list, and a journal of which the reader may see all that the other rows leave: this SQL tells which are left out.
fn readers_with_hidden() -> [(Reader, &'static str); 5] {
    let private = "visibility = 1";
    [
        (Reader::Anyone, private),
        (Reader::Owner(owner("eve")), private),
        (Reader::Owner(owner("ann")), "visibility = 1 AND owner IS NOT 'ann'"),
        (Reader::Seat(id(7)), "visibility = 1 AND result_number <> 7"),
        (Reader::Seat(id(2_000)), private),
    ]
}

#[test]
fn no_page_and_no_token_tells_of_the_private_matches_of_others() {
    let matches = 3 * ROWS_VISITED as u64;
    for (reader, hidden) in readers_with_hidden() {
        let with = filled(Connection::open_in_memory().unwrap(), matches);
        let without = filled(Connection::open_in_memory().unwrap(), matches);
        let left_out = without.execute(&format!("DELETE FROM records WHERE {hidden}"), []).unwrap();
        assert!(left_out > ROWS_VISITED, "{reader:?}: {left_out}");
        for filter in
            filters().into_iter().filter(|filter| filter.reader == reader && filter.visibility.is_none())
        {
            // Tokens that no list has given too.
            for from in [None, Some(8), Some(1_025), Some(2_001)] {
                for size in [1, 1_000] {
                    let from = from.map(PagePosition::new);
                    let page = |conn| {
                        let Walked { rows, next, visited } =
                            records::walk_list(conn, &filter, from, page(size)).unwrap();
                        (rows, next, visited)
                    };
                    assert_eq!(page(&with), page(&without), "{filter:?} from {from:?}, pages of {size}");
                }
            }
        }
    }
}

#[test]
fn a_first_page_of_a_hundred_thousand_visits_few() {
    let conn = filled(Connection::open_in_memory().unwrap(), 100_000);
    let (ann, eve) = (Reader::Owner(owner("ann")), Reader::Owner(owner("eve")));
    // The reader, the reference, whose; how many rows, how many visited, and whether it goes on. A hundred are public.
    let cases = [
        (Reader::Admin, None, None, (10, 11, true)),
        (Reader::Admin, Some("often"), None, (10, 11, true)),
        (Reader::Admin, Some("rare"), None, (1, 1, false)),
        (Reader::Admin, Some("none"), None, (0, 0, false)),
        (Reader::Admin, None, Some("bob"), (10, 11, true)),
        (Reader::Admin, Some("rare"), Some("ann"), (0, ROWS_VISITED, true)),
        (Reader::Anyone, None, None, (10, 11, true)),
        (Reader::Anyone, Some("often"), None, (0, 100, false)),
        (Reader::Seat(id(7)), Some("often"), None, (1, 101, false)),
        (ann.clone(), None, None, (10, 11, true)),
        (ann, Some("rare"), None, (0, ROWS_VISITED, true)),
        (eve.clone(), None, None, (10, 11, true)),
        (eve, Some("none"), None, (0, 100, false)),
    ];
    for (reader, text, name, expected) in cases {
        let filter = FinishedFilter {
            reader,
            owner: name.map(owner),
            client_reference: text.map(reference),
            visibility: None,
        };
        let Walked { rows, next, visited } = records::walk_list(&conn, &filter, None, page(10)).unwrap();
        assert_eq!((rows.len(), visited, next.is_some()), expected, "{filter:?}");
    }
}

#[test]
fn every_order_is_that_of_an_index() {
    let conn = filled(Connection::open_in_memory().unwrap(), 1);
    let (name, text) = (owner("ann"), reference("often"));
    let all = [
        (By::All, "INTEGER PRIMARY KEY (rowid<>?)"),
        (By::Owner(&name), "INDEX records_by_owner (owner=? AND rowid<>?)"),
        (By::ClientReference(&text), "INDEX records_by_client_reference (client_reference=? AND rowid<>?)"),
        (By::Visibility(Visibility::Public), "INDEX records_by_visibility (visibility=? AND rowid<>?)"),
        (By::Match(id(1)), "INDEX sqlite_autoindex_records_1 (match_id=?)"),
    ];
    for (by, index) in all {
        for (order, from) in [(Order::Up, ">"), (Order::Down, "<")] {
            let sql = format!("EXPLAIN QUERY PLAN {}", by.sql(order));
            let mut statement = conn.prepare(&sql).unwrap();
            let steps = statement.query_map(rusqlite::params![1, by.value()], |row| row.get("detail"));
            let steps: Vec<String> = steps.unwrap().collect::<Result<_, _>>().unwrap();
            let [step] = steps.as_slice() else { panic!("{by:?}: {steps:?}") };
            let step = step.replace("COVERING INDEX", "INDEX");
            let index = index.replace("<>", from);
            assert_eq!(step, format!("SEARCH records USING {index}"), "{by:?}");
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
