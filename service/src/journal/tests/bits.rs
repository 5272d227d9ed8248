//! Each bit of a row, in every format.

use super::*;

/// Three matches with three records each. The rows of match 2 are at 2, 5 and 8; no bit makes one's id another's.
async fn three(format: Format, text: &str) -> Fixture {
    let f = Fixture::in_tables().await;
    f.created_alone([1, 2, 4]).await;
    for version in 1..3 {
        for number in [1, 2, 4] {
            f.appended(number, version, text).await;
        }
    }
    f.reopen_after(|conn| written_as(conn, |_| format)).await
}

/// Each bit of the row at a position flipped, by itself, and what comes of it.
async fn flipped(f: Fixture, position: i64, check: impl Fn(usize, &str, Checked)) {
    f.journal.close().await;
    let row = row_at(&f.database(), position);
    for bit in 0..row.len() * 8 {
        let mut damaged = row.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        put_row(&f.database(), position, &damaged);
        let case = format!("bit {} of byte {} of {}", bit % 8, bit / 8, row.len());
        check(bit / 8, &case, SqliteJournal::check(f.folder.path()).unwrap());
    }
}

async fn quarantines_its_match_alone(format: Format, text: &str, places: std::ops::Range<usize>) {
    let f = three(format, text).await;
    flipped(f, 8, |byte, case, checked| {
        let case = format!("{format:?}, {case}");
        assert!(checked.damage.is_none(), "{case}: {:?}", checked.damage);
        let found = checked.recovery.unwrap();
        let of_two: Vec<_> = found.quarantined.iter().filter(|q| q.match_id == id(2)).collect();
        if places.contains(&byte) {
            assert_eq!((of_two.len(), found.unfinished, found.stray.len()), (0, 3, 1), "{case}");
        } else {
            assert_eq!((of_two.len(), of_two[0].intact, found.unfinished), (1, Version::new(2), 2), "{case}");
        }
    })
    .await;
}

/// However short it is: nothing else is lost, and nothing goes on from an earlier record.
#[tokio::test]
async fn each_bit_of_the_last_record_of_a_match_quarantines_that_match_alone() {
    for length in [0, 1, 9, 64] {
        let text = "x".repeat(length);
        let places = 23 + length + 16;
        quarantines_its_match_alone(Format::Short, &text, places..places + 4).await;
    }
    quarantines_its_match_alone(Format::Placed, "x", 62..70).await;
}

/// A match that is over needs its rows no more.
#[tokio::test]
async fn no_bit_of_the_form_or_kind_of_a_dead_row_stops_the_start() {
    for format in [Format::First, Format::Placed, Format::Short] {
        for text in ["short", "a text that is long enough for a row of any format"] {
            let f = three(format, text).await;
            assert!(matches!(f.finish(2, 3).await, Outcome::Done(_)));
            f.appended(1, 3, text).await;
            flipped(f, 8, |byte, case, checked| {
                if byte < 2 {
                    assert!(checked.damage.is_none(), "{format:?}, {case}: {:?}", checked.damage);
                }
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_match_with_rows_of_all_formats_goes_on() {
    let formats = [Format::Placed, Format::Short, Format::First, Format::Short];
    let f = three(Format::Short, "text").await;
    let mixed =
        |conn: &Connection| written_as(conn, |position| formats[usize::try_from(position % 4).unwrap()]);
    let f = f.reopen_after(mixed).await;
    assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (3, 0));
    for number in [1, 2, 4] {
        f.appended(number, 3, "goes on").await;
    }
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (3, 0));
    for number in [1, 2, 4] {
        assert_eq!(f.texts(number).await, ["created", "text", "text", "goes on"]);
    }
}
