//! Finished matches in the order of their numbers, by an index, and no more of them in one go than are bounded.
//!
//! A filter may leave out all of a million matches. Each read visits so many rows at most and says where it stopped, so that
//! a list of nothing is no longer than any other, and other reads get their turn in between.

#[cfg(test)]
mod tests;

use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, Rows};

use super::commit::clamp;
use super::limits::ROWS_VISITED;
use super::records::{RESULT_COLUMNS, sealed_row, visibility_number};
use super::seal::RECORDS;
use crate::journal::{ClientReference, MatchId, Owner, PageSize, ResultNumber, ResultRow, Visibility};

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The earliest first.
    Up,
    /// The latest first.
    Down,
}

/// An index that gives the numbers of matches in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'a> {
    All,
    Owner(&'a Owner),
    ClientReference(&'a ClientReference),
    Visibility(Visibility),
    Match(MatchId),
}

impl By<'_> {
    /// What asks for the numbers, in this order, from one on.
    pub(super) fn sql(self, order: Order) -> String {
        let (index, which) = match self {
            Self::All => ("", "?2 IS NULL"),
            Self::Owner(_) => (" INDEXED BY records_by_owner", "owner = ?2"),
            Self::ClientReference(_) => (" INDEXED BY records_by_client_reference", "client_reference = ?2"),
            Self::Visibility(_) => (" INDEXED BY records_by_visibility", "visibility = ?2"),
            Self::Match(_) => ("", "match_id = ?2"),
        };
        let (from, order) = match order {
            Order::Up => ("result_number >= ?1", "ASC"),
            Order::Down => ("result_number <= ?1", "DESC"),
        };
        format!(
            "SELECT result_number FROM records{index} WHERE {which} AND {from} ORDER BY result_number {order}"
        )
    }

    fn value(self) -> Box<dyn ToSql> {
        match self {
            Self::All => Box::new(rusqlite::types::Null),
            Self::Owner(owner) => Box::new(owner.as_str().to_owned()),
            Self::ClientReference(reference) => Box::new(reference.as_str().to_owned()),
            Self::Visibility(visibility) => Box::new(visibility_number(visibility)),
            Self::Match(match_id) => Box::new(*match_id.as_bytes()),
        }
    }
}

/// What is wanted of the matches that the indexes give.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted<'a> {
    pub(super) owner: Option<&'a Owner>,
    pub(super) client_reference: Option<&'a ClientReference>,
    pub(super) visibility: Option<Visibility>,
    /// Of the private ones, those of this owner or this match alone.
    pub(super) private: Private<'a>,
}

impl<'a> Wanted<'a> {
    /// The index by what is asked for. Of an owner's matches none of others are visited, whatever reference they have.
    pub(super) fn index(self) -> Option<By<'a>> {
        self.owner.map(By::Owner).or(self.client_reference.map(By::ClientReference))
    }
}

/// Which private matches may be seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Private<'a> {
    #[default]
    All,
    Of(&'a Owner),
    This(MatchId),
    None,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Walked {
    /// At most a page.
    pub(super) rows: Vec<ResultRow>,
    /// The number of the match with which to go on, if there may be more.
    pub(super) next: Option<ResultNumber>,
    /// How many matches were visited.
    pub(super) visited: usize,
}

/// Visits the matches that any of these indexes gives, from a number on, and reads those that are wanted.
pub(super) fn walk(
    conn: &Connection,
    by: &[By<'_>],
    wanted: Wanted<'_>,
    order: Order,
    from: ResultNumber,
    page: PageSize,
) -> rusqlite::Result<Walked> {
    let mut statements: Vec<CachedStatement<'_>> =
        by.iter().map(|by| conn.prepare_cached(&by.sql(order))).collect::<Result<_, _>>()?;
    let mut indexes: Vec<Index<'_>> = Vec::with_capacity(by.len());
    for (statement, by) in statements.iter_mut().zip(by) {
        let from = Box::new(clamp(from.get()));
        let values: [Box<dyn ToSql>; 2] = [from, by.value()];
        indexes.push(Index::begin(statement.query(rusqlite::params_from_iter(values))?)?);
    }
    let mut rows = Vec::new();
    let mut visited = 0;
    loop {
        let heads = indexes.iter().filter_map(|index| index.head);
        let number = match order {
            Order::Up => heads.min(),
            Order::Down => heads.max(),
        };
        let Some(number) = number else { return Ok(Walked { rows, next: None, visited }) };
        let next = Some(ResultNumber::new(number.unsigned_abs()));
        if visited == ROWS_VISITED {
            return Ok(Walked { rows, next, visited });
        }
        visited += 1;
        if let Some(row) = read(conn, number, wanted)? {
            if rows.len() == usize::from(page.get()) {
                return Ok(Walked { rows, next, visited });
            }
            rows.push(row);
        }
        for index in &mut indexes {
            index.pass(number)?;
        }
    }
}

/// A place in an index.
struct Index<'a> {
    rows: Rows<'a>,
    head: Option<i64>,
}

impl<'a> Index<'a> {
    fn begin(rows: Rows<'a>) -> rusqlite::Result<Self> {
        let mut index = Self { rows, head: None };
        index.step()?;
        Ok(index)
    }

    fn step(&mut self) -> rusqlite::Result<()> {
        self.head = self.rows.next()?.map(|row| row.get(0)).transpose()?;
        Ok(())
    }

    fn pass(&mut self, number: i64) -> rusqlite::Result<()> {
        if self.head == Some(number) { self.step() } else { Ok(()) }
    }
}

/// A match, if it is wanted. One that is not costs no look at its summary.
fn read(conn: &Connection, number: i64, wanted: Wanted<'_>) -> rusqlite::Result<Option<ResultRow>> {
    let Wanted { owner, client_reference, visibility, private } = wanted;
    let (all, of, this) = match private {
        Private::All => (true, None, None),
        Private::Of(owner) => (false, Some(owner.as_str()), None),
        Private::This(match_id) => (false, None, Some(*match_id.as_bytes())),
        Private::None => (false, None, None),
    };
    let sql = format!(
        "SELECT {RESULT_COLUMNS}, {} FROM records WHERE result_number = ?1
            AND (?2 IS NULL OR owner = ?2) AND (?3 IS NULL OR client_reference = ?3)
            AND (?4 IS NULL OR visibility = ?4)
            AND (?5 OR visibility = ?6 OR owner = ?7 OR match_id = ?8)",
        RECORDS.holds()
    );
    let values = rusqlite::params![
        number,
        owner.map(Owner::as_str),
        client_reference.map(ClientReference::as_str),
        visibility.map(visibility_number),
        all,
        visibility_number(Visibility::Public),
        of,
        this,
    ];
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(values)?;
    rows.next()?.map(sealed_row).transpose()
}
