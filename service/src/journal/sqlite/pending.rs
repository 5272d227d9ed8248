//! What is durable in the redo log, and not yet in the database.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use super::commit::clamp;
use super::records::RecordColumns;
use super::{bots, limits, read};
use crate::journal::redo::{Entry, FrameBuilder};
use crate::journal::{
    BodyHash, Caller, FinishedMatch, MatchId, Request, RequestId, RequestKey, RequestState, Response,
    ResultNumber, ResultRow, UnixMillis,
};

/// How many forgotten requests are deleted with each new one: more than come in.
const REQUESTS_DELETED: u32 = 4;

/// Entries in the order in which they came. A change is kept by [`Pending::keep`] or taken back by [`Pending::take_back`].
#[derive(Debug, Default)]
pub(super) struct Pending {
    entries: Vec<Entry>,
    ended: FxHashMap<MatchId, ResultNumber>,
    requests: HashMap<(Caller, RequestId), Remembered>,
    bytes: usize,
    /// How many entries are durable.
    kept: usize,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Remembered {
    body_hash: BodyHash,
    response: Response,
    now: UnixMillis,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is so much that it has to go into the database.
    pub(super) fn is_much(&self) -> bool {
        self.bytes >= limits::PENDING_BYTES || self.entries.len() >= limits::PENDING_ENTRIES
    }

    pub(super) fn result_of(&self, match_id: MatchId) -> Option<ResultNumber> {
        self.ended.get(&match_id).copied()
    }

    /// A match that has ended and is not in the database yet.
    pub(super) fn finished(&self, match_id: MatchId) -> Option<FinishedMatch> {
        self.ended.get(&match_id)?;
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Finish { number, match_id: id, version, listing, finished_at, summary, record }
                if *id == match_id =>
            {
                let result = ResultRow {
                    number: *number,
                    match_id,
                    listing: listing.clone(),
                    finished_at: *finished_at,
                    summary: summary.clone(),
                };
                Some(FinishedMatch { result, version: *version, record: record.clone() })
            }
            _ => None,
        })
    }

    /// What is known of a request here; `None` if that is in the database.
    pub(super) fn request(&self, key: &RequestKey, now: UnixMillis) -> Option<RequestState> {
        if self.requests.is_empty() {
            return None;
        }
        let found = self.requests.get(&(key.caller.clone(), key.request_id.clone()))?;
        Some(if found.now.get().saturating_add(Request::KEPT_MS) <= now.get() {
            RequestState::New
        } else if found.body_hash != key.body_hash {
            RequestState::Reused
        } else {
            RequestState::Answered(found.response.clone())
        })
    }

    /// Adds an entry, and writes it into the frame.
    pub(super) fn add(&mut self, entry: Entry, frame: &mut FrameBuilder) {
        entry.encode(&mut self.buffer);
        frame.push(entry.kind(), &self.buffer);
        self.bytes += entry.bytes();
        match &entry {
            Entry::Finish { match_id, number, .. } => {
                self.ended.insert(*match_id, *number);
            }
            Entry::Request { request: Request { key, response }, now } => {
                let remembered =
                    Remembered { body_hash: key.body_hash, response: response.clone(), now: *now };
                self.requests.insert((key.caller.clone(), key.request_id.clone()), remembered);
            }
        }
        self.entries.push(entry);
    }

    /// What was added is durable.
    pub(super) fn keep(&mut self) {
        self.kept = self.entries.len();
    }

    /// What was added since [`Pending::keep`] did not happen.
    pub(super) fn take_back(&mut self) {
        for entry in self.entries.split_off(self.kept) {
            self.bytes -= entry.bytes();
            match entry {
                Entry::Finish { match_id, .. } => drop(self.ended.remove(&match_id)),
                // One that was there before it had been forgotten.
                Entry::Request { request: Request { key, .. }, .. } => {
                    drop(self.requests.remove(&(key.caller, key.request_id)));
                }
            }
        }
    }

    /// Puts all into the database, in a transaction that has begun.
    pub(super) fn put(&self, conn: &Connection) -> rusqlite::Result<()> {
        self.entries.iter().try_for_each(|entry| put(conn, entry))
    }

    /// All of it is in the database.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.ended.clear();
        self.requests.clear();
        (self.bytes, self.kept) = (0, 0);
    }
}

/// Puts an entry into the database, if it is not there.
pub(super) fn put(conn: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    match entry {
        Entry::Finish { number, match_id, version, listing, finished_at, summary, record } => {
            if read::result_of(conn, *match_id)?.is_some() {
                return Ok(());
            }
            let columns = RecordColumns {
                number: *number,
                match_id: *match_id,
                version: *version,
                listing,
                finished_at: *finished_at,
            };
            columns.insert(conn, summary, record)?;
            bots::insert(conn, *number, summary, listing.client_reference.as_ref())
        }
        Entry::Request { request, now } => remember(conn, request, *now),
    }
}

/// Whether it is the end of a match whose number is that of another one.
pub(super) fn is_displaced(conn: &Connection, entry: &Entry) -> rusqlite::Result<bool> {
    let Entry::Finish { number, match_id, .. } = entry else { return Ok(false) };
    let sql = "SELECT count(*) > 0 FROM records WHERE result_number = ?1 AND match_id <> ?2";
    conn.prepare_cached(sql)?.query_row(params![clamp(number.get()), match_id.as_bytes()], |row| row.get(0))
}

/// Remembers a request, and forgets some that are older than they are kept.
pub(super) fn remember(conn: &Connection, request: &Request, now: UnixMillis) -> rusqlite::Result<()> {
    let Request { key, response } = request;
    let sql = "DELETE FROM requests WHERE (caller, request_id) IN
        (SELECT caller, request_id FROM requests WHERE created_ms <= ?1 ORDER BY created_ms LIMIT ?2)";
    let forgotten = clamp(now.get().saturating_sub(Request::KEPT_MS));
    if now.get() >= Request::KEPT_MS {
        conn.prepare_cached(sql)?.execute(params![forgotten, REQUESTS_DELETED])?;
    }
    // What is put there anew after a crash or by a repair may be older than what is there.
    let sql = "INSERT INTO requests (caller, request_id, body_hash, response, created_ms, seal)
        VALUES (?1, ?2, ?3, ?4, ?5, seal_of('requests', ?1, ?2, ?3, ?4, ?5))
        ON CONFLICT (caller, request_id) DO UPDATE SET body_hash = excluded.body_hash,
            response = excluded.response, created_ms = excluded.created_ms, seal = excluded.seal
        WHERE excluded.created_ms >= created_ms";
    conn.prepare_cached(sql)?.execute(params![
        key.caller.as_str(),
        key.request_id.as_str(),
        key.body_hash.0,
        response.as_bytes().as_ref(),
        clamp(now.get())
    ])?;
    Ok(())
}
