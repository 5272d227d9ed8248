//! The table of finished matches.

use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use super::bots;
use super::commit::clamp;
use super::read::{read_error, sealed, stored_value};
use super::schema::{INDEXED, SEALED};
use super::seal::RECORDS;
use super::walk::{By, Of, Order, Walked, walk};
use crate::journal::{
    Cause, ClientReference, FinishedFilter, FinishedMatch, FinishedPage, Listing, MatchId, Owner,
    PagePosition, PageSize, ReadError, Reader, RecordBytes, ResultFilter, ResultNumber, ResultPage,
    ResultRow, Summary, UnixMillis, Version, Visibility,
};

/// The columns of a finished match but the large ones.
pub(super) struct RecordColumns<'a> {
    pub(super) number: ResultNumber,
    pub(super) match_id: MatchId,
    pub(super) version: Version,
    pub(super) listing: &'a Listing,
    pub(super) finished_at: UnixMillis,
}

pub(super) const RESULT_COLUMNS: &str =
    "result_number, match_id, owner, visibility, client_reference, finished_ms, summary";

impl RecordColumns<'_> {
    pub(super) fn insert(
        &self,
        conn: &Connection,
        summary: &Summary,
        record: &RecordBytes,
    ) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO records (result_number, match_id, version, owner, visibility, client_reference,
                finished_ms, summary, record, hash, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                seal_of('records', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))";
        let Listing { owner, visibility, client_reference } = self.listing;
        conn.prepare_cached(sql)?.execute(params![
            clamp(self.number.get()),
            self.match_id.as_bytes(),
            self.version.get(),
            owner.as_ref().map(Owner::as_str),
            visibility_number(*visibility),
            client_reference.as_ref().map(ClientReference::as_str),
            clamp(self.finished_at.get()),
            summary.as_bytes().as_ref(),
            record.as_bytes().as_ref(),
            self.hash(summary, record),
        ])?;
        Ok(())
    }

    /// SHA-256 over every column: numbers as 8 bytes, big-endian, everything else after its length as such a number; an
    /// absent text is one byte 0, a present one follows a byte 1.
    fn hash(&self, summary: &Summary, record: &RecordBytes) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut bytes = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        bytes(&clamp(self.number.get()).to_be_bytes());
        bytes(self.match_id.as_bytes());
        bytes(&u64::from(self.version.get()).to_be_bytes());
        for text in [
            self.listing.owner.as_ref().map(Owner::as_str),
            self.listing.client_reference.as_ref().map(ClientReference::as_str),
        ] {
            bytes(&[u8::from(text.is_some())]);
            bytes(text.unwrap_or_default().as_bytes());
        }
        bytes(&visibility_number(self.listing.visibility).to_be_bytes());
        bytes(&clamp(self.finished_at.get()).to_be_bytes());
        bytes(summary.as_bytes());
        bytes(record.as_bytes());
        hash.finalize().into()
    }
}

/// A finished match, whole, its hash checked.
pub(super) fn finished(conn: &Connection, match_id: MatchId) -> Result<Option<FinishedMatch>, ReadError> {
    let sql = format!("SELECT {RESULT_COLUMNS}, version, record, hash FROM records WHERE match_id = ?1");
    let mut statement = conn.prepare_cached(&sql).map_err(read_error)?;
    let stored = statement.query_row([match_id.as_bytes()], whole).optional().map_err(read_error)?;
    match stored {
        Some((finished, hash)) if hash_of(&finished) == hash => Ok(Some(finished)),
        Some(_) => Err(ReadError::Damaged(Cause::new(format!("the finished record of match {match_id}")))),
        None => Ok(None),
    }
}

/// The result of a finished match and its version, without its record, its seal checked.
pub(super) fn result(conn: &Connection, match_id: MatchId) -> rusqlite::Result<Option<(ResultRow, Version)>> {
    let holds = RECORDS.holds();
    let sql = format!("SELECT {RESULT_COLUMNS}, {holds}, version FROM records WHERE match_id = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let stored = |row: &Row<'_>| Ok((sealed_row(row)?, Version::new(row.get("version")?)));
    statement.query_row([match_id.as_bytes()], stored).optional()
}

/// A finished match and the hash that is stored with it.
fn whole(row: &Row<'_>) -> rusqlite::Result<(FinishedMatch, [u8; 32])> {
    let version = Version::new(row.get("version")?);
    let record = stored_value(8, RecordBytes::new(row.get::<_, Vec<u8>>("record")?))?;
    let result = result_row(row)?;
    Ok((FinishedMatch { result, version, record }, row.get("hash")?))
}

fn hash_of(finished: &FinishedMatch) -> [u8; 32] {
    let FinishedMatch { result, version, record } = finished;
    let columns = RecordColumns {
        number: result.number,
        match_id: result.match_id,
        version: *version,
        listing: &result.listing,
        finished_at: result.finished_at,
    };
    columns.hash(&result.summary, record)
}

/// Whether a result is there, or known to be lost, and is what was written.
pub(super) fn check(conn: &Connection, schema: u64, number: u64) -> Result<(), ReadError> {
    let sealed = schema >= SEALED;
    let sql = format!(
        "SELECT match_id, {} FROM records WHERE result_number = ?1",
        if sealed { RECORDS.holds() } else { "1".to_owned() }
    );
    let mut statement = conn.prepare_cached(&sql).map_err(read_error)?;
    let found = statement.query_row([clamp(number)], |row| Ok((row.get::<_, [u8; 16]>(0)?, row.get(1)?)));
    let Some((match_id, holds)) = found.optional().map_err(read_error)? else {
        let known = "SELECT count(*) > 0 FROM quarantine WHERE result_number = ?1";
        let is_known =
            sealed && conn.query_row(known, [clamp(number)], |row| row.get(0)).map_err(read_error)?;
        let missing = || ReadError::Unavailable(Cause::new("it is missing"));
        return if is_known { Ok(()) } else { Err(missing()) };
    };
    let match_id = MatchId::from_bytes(match_id);
    let is_there = finished(conn, match_id)?.is_some_and(|finished| finished.result.number.get() == number);
    let unlisted =
        || ReadError::Damaged(Cause::new(format!("match {match_id} is not in the lists of its bots")));
    match (is_there, holds) {
        (true, true) if schema >= INDEXED && !bots::are_noted(conn, number).map_err(read_error)? => {
            Err(unlisted())
        }
        (true, true) => Ok(()),
        (true, false) => Err(ReadError::Damaged(Cause::new(format!("what lists show of match {match_id}")))),
        (false, _) => Err(ReadError::Damaged(Cause::new(format!("match {match_id} is not found by its id")))),
    }
}

/// Whether a result is known to be lost.
pub(super) fn is_known_lost(conn: &Connection, schema: u64, number: i64) -> bool {
    let sql = "SELECT count(*) > 0 FROM quarantine WHERE result_number = ?1";
    schema >= SEALED && conn.query_row(sql, [number], |row| row.get(0)).unwrap_or(false)
}

/// Whether a result has its hash, whatever its seal and the indexes say.
pub(super) fn is_intact(conn: &Connection, number: i64) -> bool {
    let sql = format!("SELECT {RESULT_COLUMNS}, version, record, hash FROM records WHERE result_number = ?1");
    conn.query_row(&sql, [number], whole).is_ok_and(|(finished, hash)| hash_of(&finished) == hash)
}

/// Seals the results of a journal that had no seals. What is damaged stays without.
pub(super) fn seal_all(conn: &Connection) -> rusqlite::Result<()> {
    let mut ids = conn.prepare("SELECT match_id FROM records")?;
    let ids: Vec<[u8; 16]> = ids.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in ids {
        if finished(conn, MatchId::from_bytes(id)).is_ok() {
            conn.prepare_cached(&RECORDS.seal_where("match_id = ?1"))?.execute([id])?;
        }
    }
    Ok(())
}

/// The results after a number that the filter wants, in order.
pub(super) fn results_after(
    conn: &Connection,
    filter: &ResultFilter,
    after: ResultNumber,
    page: PageSize,
) -> rusqlite::Result<ResultPage> {
    let of = filter.owner.as_ref().map_or(Of::All, Of::Owner);
    let by = By { of, client_reference: filter.client_reference.as_ref() };
    let from = ResultNumber::new(after.get().saturating_add(1));
    let Walked { rows, next, visited, .. } =
        walk(conn, &[by], |row| filter.wants(row), Order::Up, from, page)?;
    tracing::trace!(visited, "results were read");
    let more_after = next.map(|next| ResultNumber::new(next.get().saturating_sub(1)));
    Ok(ResultPage { rows, more_after })
}

/// Finished matches, the latest first.
pub(super) fn list(
    conn: &Connection,
    filter: &FinishedFilter,
    from: Option<PagePosition>,
    page: PageSize,
) -> rusqlite::Result<FinishedPage> {
    let Walked { rows, next, visited, unreadable } = walk_list(conn, filter, from, page)?;
    if let Some((number, error)) = unreadable.first() {
        let (number, left_out) = (number.get(), unreadable.len());
        tracing::error!(number, left_out, %error, "a list leaves out what is not as it was written: check the journal");
    }
    tracing::trace!(visited, "finished matches were listed");
    Ok(FinishedPage { matches: rows, next: next.map(PagePosition::from) })
}

/// The same, with how many matches were visited.
pub(super) fn walk_list(
    conn: &Connection,
    filter: &FinishedFilter,
    from: Option<PagePosition>,
    page: PageSize,
) -> rusqlite::Result<Walked> {
    let FinishedFilter { reader, client_reference } = filter;
    let seen = match reader {
        Reader::Admin => vec![Of::All],
        Reader::Owner(owner) => vec![Of::Public, Of::Owner(owner)],
        Reader::Bot(bot) => vec![Of::Public, Of::Bot(bot)],
        Reader::Seat(match_id) => vec![Of::Public, Of::Match(*match_id)],
        Reader::Anyone => vec![Of::Public],
    };
    let by = |of| By { of, client_reference: client_reference.as_ref() };
    let by: Vec<By<'_>> = seen.into_iter().map(by).collect();
    let from = ResultNumber::new(from.map_or(u64::MAX, PagePosition::get));
    walk(conn, &by, |row| filter.wants(row), Order::Down, from, page)
}

/// A row whose seal is checked, and not the hash over its record too.
pub(super) fn sealed_row(row: &Row<'_>) -> rusqlite::Result<ResultRow> {
    sealed(row, 7)?;
    result_row(row)
}

fn result_row(row: &Row<'_>) -> rusqlite::Result<ResultRow> {
    let number: i64 = row.get(0)?;
    let owner: Option<String> = row.get(2)?;
    let client_reference: Option<String> = row.get(4)?;
    Ok(ResultRow {
        number: ResultNumber::new(number.unsigned_abs()),
        match_id: MatchId::from_bytes(row.get(1)?),
        listing: Listing {
            owner: owner.map(|owner| stored_value(2, Owner::new(owner))).transpose()?,
            visibility: visibility(row.get(3)?)?,
            client_reference: client_reference
                .map(|reference| stored_value(4, ClientReference::new(reference)))
                .transpose()?,
        },
        finished_at: UnixMillis::new(row.get::<_, i64>(5)?.unsigned_abs()),
        summary: stored_value(6, Summary::new(row.get::<_, Vec<u8>>(6)?))?,
    })
}

pub(super) const fn visibility_number(visibility: Visibility) -> i64 {
    match visibility {
        Visibility::Private => 1,
        Visibility::Public => 2,
    }
}

fn visibility(number: i64) -> rusqlite::Result<Visibility> {
    match number {
        1 => Ok(Visibility::Private),
        2 => Ok(Visibility::Public),
        other => Err(rusqlite::Error::IntegralValueOutOfRange(3, other)),
    }
}
