//! A list over many finished matches, whatever is asked for.

use rusqlite::Connection;

use super::*;
use crate::journal::sqlite::{bots, records, schema, seal};
use crate::journal::{FinishedFilter, PagePosition, Reader, ResultFilter};

/// A match as the fixture has it, by its number alone: few are public, a third is one owner's, a fifth a bot's, half have a
/// reference, and one alone has another.
struct Made {
    owner: Option<&'static str>,
    bot: Option<&'static str>,
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
        bot: if number.is_multiple_of(5) { Some("rex") } else { None },
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
fn filled(matches: u64) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    seal::define(&conn).unwrap();
    bots::define(&conn).unwrap();
    schema::make_tables(&conn, 0, schema::SCHEMA).unwrap();
    // The summary of a fifth is a `MatchSummary` of which `seat_bots` is "rex".
    conn.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO records (result_number, match_id, version, owner, visibility, client_reference, finished_ms,
            summary, record, hash)
         SELECT i, unhex(printf('%032x', i)), 1,
            CASE i % 3 WHEN 0 THEN 'ann' WHEN 1 THEN 'bob' END,
            CASE WHEN i % 1000 = 0 THEN 2 ELSE 1 END,
            CASE WHEN i = 10 THEN 'rare' WHEN i % 2 = 1 THEN 'often' END,
            i, CASE i % 5 WHEN 0 THEN x'2203726578' ELSE x'' END, x'00', zeroblob(32) FROM n",
        [i64::try_from(matches).unwrap()],
    )
    .unwrap();
    conn.execute(&RECORDS.seal_where("true"), []).unwrap();
    bots::insert_all(&conn).unwrap();
    conn
}

fn owner(name: &str) -> Owner {
    Owner::new(name).unwrap()
}

fn reference(text: &str) -> ClientReference {
    ClientReference::new(text).unwrap()
}

fn bot(name: &str) -> Reader {
    Reader::Bot(BotName::new(name).unwrap())
}

/// Every reader with every reference.
fn filters() -> Vec<FinishedFilter> {
    let readers = [
        Reader::Admin,
        Reader::Anyone,
        Reader::Seat(id(7)),
        Reader::Seat(id(2_000)),
        Reader::Owner(owner("ann")),
        Reader::Owner(owner("eve")),
        bot("rex"),
        bot("eve"),
    ];
    let references = [None, Some("often"), Some("rare"), Some("none")];
    let with = |reader: Reader| {
        references
            .map(|text| FinishedFilter { reader: reader.clone(), client_reference: text.map(reference) })
    };
    readers.into_iter().flat_map(with).collect()
}

fn wants(filter: &FinishedFilter, number: u64) -> bool {
    let Made { owner: of, bot, public, client_reference: text } = made(number);
    let seen = match &filter.reader {
        Reader::Admin => true,
        Reader::Anyone => public,
        Reader::Seat(match_id) => public || *match_id == id(number),
        Reader::Owner(owner) => public || of == Some(owner.as_str()),
        Reader::Bot(name) => public || bot == Some(name.as_str()),
    };
    seen && filter.client_reference.as_ref().is_none_or(|reference| text == Some(reference.as_str()))
}

fn page(size: u16) -> PageSize {
    PageSize::new(size).unwrap()
}

/// The numbers of a whole list, read page by page.
fn whole(conn: &Connection, filter: &FinishedFilter, size: u16) -> Vec<u64> {
    let (mut numbers, mut from) = (Vec::new(), None);
    loop {
        let Walked { rows, next, visited, .. } = records::walk_list(conn, filter, from, page(size)).unwrap();
        // The first of the next page is looked at too.
        assert_eq!(visited, rows.len() + usize::from(next.is_some()), "{filter:?}");
        assert!(rows.len() == usize::from(size) || next.is_none(), "{filter:?}");
        numbers.extend(rows.iter().map(|row| row.number.get()));
        match next {
            Some(next) => from = Some(PagePosition::new(next.get())),
            None => return numbers,
        }
    }
}

#[test]
fn every_page_is_full_and_visits_what_is_on_it() {
    let matches = 2_500;
    let conn = filled(matches);
    for filter in filters() {
        let expected: Vec<u64> = (1..=matches).rev().filter(|&number| wants(&filter, number)).collect();
        for size in [7, 1_000] {
            assert_eq!(whole(&conn, &filter, size), expected, "{filter:?}");
        }
    }
}

#[test]
fn results_go_on_where_a_read_stopped() {
    let matches = 2_500;
    let conn = filled(matches);
    for name in [None, Some("ann"), Some("eve")] {
        for text in [None, Some("often"), Some("rare"), Some("none")] {
            let filter = ResultFilter { owner: name.map(owner), client_reference: text.map(reference) };
            let is_wanted = |number: &u64| {
                let Made { owner, client_reference, .. } = made(*number);
                (name.is_none() || owner == name) && (text.is_none() || client_reference == text)
            };
            let expected: Vec<u64> = (1..=matches).filter(is_wanted).collect();
            let (mut numbers, mut after) = (Vec::new(), ResultNumber::ZERO);
            loop {
                let read = records::results_after(&conn, &filter, after, page(700)).unwrap();
                numbers.extend(read.rows.iter().map(|row| row.number.get()));
                let Some(more_after) = read.more_after else { break };
                assert!(more_after > after && read.rows.len() == 700, "{filter:?}");
                after = more_after;
            }
            assert_eq!(numbers, expected, "{filter:?}");
        }
    }
}

/// Who may list, and a journal of which the reader may see all that the other rows leave: this SQL tells which are left out.
fn readers_with_hidden() -> [(Reader, &'static str); 7] {
    let private = "visibility = 1";
    [
        (Reader::Anyone, private),
        (Reader::Owner(owner("eve")), private),
        (Reader::Owner(owner("ann")), "visibility = 1 AND owner IS NOT 'ann'"),
        (bot("eve"), private),
        (bot("rex"), "visibility = 1 AND result_number % 5 <> 0"),
        (Reader::Seat(id(7)), "visibility = 1 AND result_number <> 7"),
        (Reader::Seat(id(2_000)), private),
    ]
}

#[test]
fn no_page_and_no_token_tells_of_the_private_matches_of_others() {
    let matches = 3_000;
    for (reader, hidden) in readers_with_hidden() {
        let (with, without) = (filled(matches), filled(matches));
        let left_out = without.execute(&format!("DELETE FROM records WHERE {hidden}"), []).unwrap();
        assert!(left_out > 1_000, "{reader:?}: {left_out}");
        for filter in filters().into_iter().filter(|filter| filter.reader == reader) {
            // Tokens that no list has given too.
            for from in [None, Some(8), Some(1_025), Some(2_001)] {
                for size in [1, 1_000] {
                    let from = from.map(PagePosition::new);
                    let page = |conn| {
                        let Walked { rows, next, visited, .. } =
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
fn what_an_index_should_not_give_is_not_shown() {
    let conn = filled(3_000);
    // As if every match were eve's, to go by the index.
    let changed = "INSERT INTO bots SELECT 'eve', result_number, client_reference FROM records";
    assert_eq!(conn.execute(changed, []).unwrap(), 3_000);
    // And one that is not there at all.
    conn.execute("INSERT INTO bots VALUES ('eve', 4000, NULL)", []).unwrap();
    assert_eq!(bots::strays(&conn).unwrap(), 3_001);
    let filter = FinishedFilter { reader: bot("eve"), client_reference: None };
    let (mut numbers, mut from) = (Vec::new(), None);
    loop {
        let Walked { rows, next, visited, .. } = records::walk_list(&conn, &filter, from, page(10)).unwrap();
        assert!(visited <= ROWS_VISITED, "{visited}");
        numbers.extend(rows.iter().map(|row| row.number.get()));
        let Some(next) = next else { break };
        from = Some(PagePosition::new(next.get()));
    }
    assert_eq!(numbers, [3_000, 2_000, 1_000]);
}

#[test]
fn every_order_is_that_of_an_index() {
    let conn = filled(1);
    let (name, text, rex) = (owner("ann"), reference("often"), BotName::new("rex").unwrap());
    let all = [
        (Of::All, None, "records USING INTEGER PRIMARY KEY (rowid<>?)"),
        (
            Of::All,
            Some(&text),
            "records USING INDEX records_by_client_reference (client_reference=? AND rowid<>?)",
        ),
        (Of::Public, None, "records USING INDEX records_by_visibility (visibility=? AND rowid<>?)"),
        (
            Of::Public,
            Some(&text),
            "records USING INDEX records_by_visibility_and_client_reference \
             (visibility=? AND client_reference=? AND rowid<>?)",
        ),
        (Of::Owner(&name), None, "records USING INDEX records_by_owner (owner=? AND rowid<>?)"),
        (
            Of::Owner(&name),
            Some(&text),
            "records USING INDEX records_by_owner_and_client_reference \
             (owner=? AND client_reference=? AND rowid<>?)",
        ),
        (Of::Bot(&rex), None, "bots USING PRIMARY KEY (bot=? AND result_number<>?)"),
        (
            Of::Bot(&rex),
            Some(&text),
            "bots USING INDEX bots_by_client_reference (bot=? AND client_reference=? AND result_number<>?)",
        ),
        (Of::Match(id(1)), None, "records USING INDEX sqlite_autoindex_records_1 (match_id=?)"),
        (Of::Match(id(1)), Some(&text), "records USING INDEX sqlite_autoindex_records_1 (match_id=?)"),
    ];
    for (of, client_reference, index) in all {
        for (order, from) in [(Order::Up, ">"), (Order::Down, "<")] {
            let by = By { of, client_reference };
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", by.sql(order))).unwrap();
            let values = rusqlite::params_from_iter(by.values(ResultNumber::new(1)));
            let steps = statement.query_map(values, |row| row.get("detail"));
            let steps: Vec<String> = steps.unwrap().collect::<Result<_, _>>().unwrap();
            let [step] = steps.as_slice() else { panic!("{by:?}: {steps:?}") };
            let step = step.replace("COVERING INDEX", "INDEX");
            assert_eq!(step, format!("SEARCH {}", index.replace("<>", from)), "{by:?}");
        }
    }
}

#[test]
fn a_list_goes_on_without_a_row_that_is_not_as_it_was_written_and_results_end_before_it() {
    let conn = filled(20);
    let changed = "UPDATE records SET summary = x'ff' WHERE result_number IN (6, 7, 20)";
    assert_eq!(conn.execute(changed, []).unwrap(), 3);
    let filter = FinishedFilter { reader: Reader::Admin, client_reference: None };
    for size in [1, 5, 1_000] {
        let (mut numbers, mut left_out, mut from) = (Vec::new(), Vec::new(), None);
        loop {
            let Walked { rows, next, unreadable, .. } =
                records::walk_list(&conn, &filter, from, page(size)).unwrap();
            numbers.extend(rows.iter().map(|row| row.number.get()));
            left_out.extend(unreadable.iter().map(|(number, _)| number.get()));
            let Some(next) = next else { break };
            from = Some(PagePosition::new(next.get()));
        }
        let readable: Vec<u64> = (1..=19).rev().filter(|number| ![6, 7].contains(number)).collect();
        assert_eq!((numbers, left_out), (readable, vec![20, 7, 6]), "pages of {size}");
    }
    let after = |number| {
        records::results_after(&conn, &ResultFilter::default(), ResultNumber::new(number), page(1_000))
    };
    let read = after(0).unwrap();
    assert_eq!((read.rows.len(), read.more_after), (5, Some(ResultNumber::new(5))));
    assert!(after(5).is_err());
}
