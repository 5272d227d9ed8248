//! Finished matches in the order of their numbers, by indexes that hold what is wanted and nothing else.
//!
//! So a page costs what is on it, however many matches are left out; and where it ends tells of none that its reader may not
//! see. These are the lists that can be asked for, and the indexes that are merged for each:
//!
//! | reader | all | with a `client_reference` |
//! |---|---|---|
//! | admin, all results | the numbers themselves | reference |
//! | results of an owner | owner | owner and reference |
//! | owner | public; owner | public and reference; owner and reference |
//! | bot | public; bot | public and reference; bot and reference |
//! | seat | public; its match | public and reference; its match, if it has the reference |
//! | anyone | public | public and reference |
//!
//! What an index gives is held against the match itself before it is shown, as a damaged index may give anything.

#[cfg(test)]
mod tests;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Rows};

use super::commit::clamp;
use super::limits::ROWS_VISITED;
use super::read::is_damage;
use super::records::{RESULT_COLUMNS, sealed_row, visibility_number};
use super::seal::RECORDS;
use crate::journal::{
    BotName, ClientReference, MatchId, Owner, PageSize, ResultNumber, ResultRow, Visibility,
};

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
pub(super) struct By<'a> {
    pub(super) of: Of<'a>,
    /// Only those with this reference.
    pub(super) client_reference: Option<&'a ClientReference>,
}

/// Whose matches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    All,
    Public,
    Owner(&'a Owner),
    Bot(&'a BotName),
    Match(MatchId),
}

impl By<'_> {
    /// What asks for the numbers, in this order, from one on.
    fn sql(self, order: Order) -> String {
        let by_reference = self.client_reference.is_some();
        let from = match (self.of, by_reference) {
            (Of::All, false) | (Of::Match(_), _) => "records",
            (Of::All, true) => "records INDEXED BY records_by_client_reference",
            (Of::Public, false) => "records INDEXED BY records_by_visibility",
            (Of::Public, true) => "records INDEXED BY records_by_visibility_and_client_reference",
            (Of::Owner(_), false) => "records INDEXED BY records_by_owner",
            (Of::Owner(_), true) => "records INDEXED BY records_by_owner_and_client_reference",
            (Of::Bot(_), false) => "bots",
            (Of::Bot(_), true) => "bots INDEXED BY bots_by_client_reference",
        };
        let of = match self.of {
            Of::All => "",
            Of::Public => " AND visibility = ?",
            Of::Owner(_) => " AND owner = ?",
            Of::Bot(_) => " AND bot = ?",
            Of::Match(_) => " AND match_id = ?",
        };
        let reference = if by_reference { " AND client_reference = ?" } else { "" };
        let (on, order) = match order {
            Order::Up => (">=", "ASC"),
            Order::Down => ("<=", "DESC"),
        };
        format!(
            "SELECT result_number FROM {from} WHERE result_number {on} ?{of}{reference}
                ORDER BY result_number {order}"
        )
    }

    /// What stands for each `?`.
    fn values(self, from: ResultNumber) -> Vec<Value> {
        let of = match self.of {
            Of::All => None,
            Of::Public => Some(visibility_number(Visibility::Public).into()),
            Of::Owner(owner) => Some(owner.to_string().into()),
            Of::Bot(bot) => Some(bot.to_string().into()),
            Of::Match(match_id) => Some(match_id.as_bytes().to_vec().into()),
        };
        let reference = self.client_reference.map(|reference| reference.to_string().into());
        std::iter::once(clamp(from.get()).into()).chain(of).chain(reference).collect()
    }
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
    /// Those that a list leaves out, as they are not as they were written, and what is wrong.
    pub(super) unreadable: Vec<(ResultNumber, rusqlite::Error)>,
}

/// Visits the matches that any of these indexes gives, from a number on, and reads those that are wanted: all, unless an index
/// is damaged.
pub(super) fn walk(
    conn: &Connection,
    by: &[By<'_>],
    wants: impl Fn(&ResultRow) -> bool,
    order: Order,
    from: ResultNumber,
    page: PageSize,
) -> rusqlite::Result<Walked> {
    let mut statements: Vec<CachedStatement<'_>> =
        by.iter().map(|by| conn.prepare_cached(&by.sql(order))).collect::<Result<_, _>>()?;
    let mut indexes: Vec<Index<'_>> = Vec::with_capacity(by.len());
    for (statement, by) in statements.iter_mut().zip(by) {
        indexes.push(Index::begin(statement.query(rusqlite::params_from_iter(by.values(from)))?)?);
    }
    let mut rows = Vec::new();
    let mut visited = 0;
    let mut unwanted = None;
    let mut unreadable = Vec::new();
    let next = loop {
        let heads = indexes.iter().filter_map(|index| index.head);
        let number = match order {
            Order::Up => heads.min(),
            Order::Down => heads.max(),
        };
        let Some(number) = number else { break None };
        let next = Some(ResultNumber::new(number.unsigned_abs()));
        if visited == ROWS_VISITED {
            break next;
        }
        visited += 1;
        match read(conn, number) {
            // The page ends before a row that can't be read: who goes on after it meets the error.
            Err(_) if order == Order::Up && !rows.is_empty() => break next,
            // Else nothing that is older could be listed any more.
            Err(error) if order == Order::Down && is_damage(&error) => {
                unreadable.push((ResultNumber::new(number.unsigned_abs()), error));
            }
            found => match found? {
                Some(row) if wants(&row) => {
                    if rows.len() == usize::from(page.get()) {
                        break next;
                    }
                    rows.push(row);
                }
                _ => unwanted = Some(number),
            },
        }
        for index in &mut indexes {
            index.pass(number)?;
        }
    };
    if let Some(number) = unwanted {
        tracing::error!(number, "an index gives finished matches that it should not: check the journal");
    }
    Ok(Walked { rows, next, visited, unreadable })
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

/// A finished match.
fn read(conn: &Connection, number: i64) -> rusqlite::Result<Option<ResultRow>> {
    let sql = format!("SELECT {RESULT_COLUMNS}, {} FROM records WHERE result_number = ?1", RECORDS.holds());
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([number])?;
    rows.next()?.map(sealed_row).transpose()
}
