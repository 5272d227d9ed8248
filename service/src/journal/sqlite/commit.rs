//! One transaction: every request of a batch is checked against the map of the log and written, or refused.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::live::{Head, Live, LiveMatch, SegmentNumber};
use super::read::{self, RecordColumns};
use super::recover::table;
use super::request::{
    AccountOutcome, Answer, RememberOutcome, Spoilt, TokensOutcome, WebhooksOutcome, Write,
};
use super::{bots, ladders, registered, schema, segments, tokens, webhooks};
use crate::journal::pack::Pack;
use crate::journal::row::{Format, RowHeader, RowKind};
use crate::journal::{
    AccountChange, Append, AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, Epoch,
    Finish, FinishOutcome, MatchId, MetaKey, MetaValue, Never, NewMatches, NewRecords, Outcome, Payload,
    Request, RequestReused, RequestState, ResultNumber, TokenChange, UnixMillis, Version, WebhookChange,
};

/// How many forgotten requests are deleted with each new one: more than come in.
const REQUESTS_DELETED: u32 = 4;

/// A transaction in the making.
pub(super) struct Commit<'a> {
    pub(super) conn: &'a Connection,
    pub(super) live: &'a mut Live,
    pub(super) segment_rows: u64,
    /// Buffer of one row.
    pub(super) row: &'a mut Vec<u8>,
    /// The last rows of the current segment, which are not written yet.
    pub(super) pack: &'a mut Pack,
    pub(super) rows_written: u64,
    /// What adds a row to the segment that was written last.
    pub(super) insert: Option<(SegmentNumber, CachedStatement<'a>)>,
    /// The first error: nothing is tried after it.
    pub(super) error: Option<rusqlite::Error>,
}

impl Commit<'_> {
    /// Writes what one request asks for. The answer counts when the transaction goes through.
    pub(super) fn apply(&mut self, write: Write) -> Answer {
        match write {
            Write::Create(new, to) => Answer::Create(to, self.attempt(|c| c.create(&new))),
            Write::Append(append, to) => Answer::Append(to, self.attempt(|c| c.append(&append))),
            Write::Finish(finish, to) => Answer::Finish(to, self.attempt(|c| c.finish(&finish))),
            Write::Remember(request, now, to) => {
                Answer::Remember(to, self.attempt(|c| c.remember_first(&request, now)))
            }
            Write::Tokens(change, to) => Answer::Tokens(to, self.attempt(|c| c.change_tokens(&change))),
            Write::Account(change, to) => Answer::Account(to, self.attempt(|c| c.change_account(&change))),
            Write::Webhooks(change, to) => Answer::Webhooks(to, self.attempt(|c| c.change_webhooks(&change))),
            Write::Ladder(change, to) => Answer::Ladder(to, self.attempt(|c| ladders::put(c.conn, &change))),
            Write::ForgetNameless(to) => {
                Answer::ForgetNameless(to, self.attempt(|c| ladders::forget_nameless(c.conn)))
            }
            Write::ReplaceMeta(key, value, to) => {
                Answer::ReplaceMeta(to, self.attempt(|c| c.replace_meta(&key, &value)))
            }
            Write::Meta(key, value, to) => Answer::Meta(to, self.attempt(|c| c.meta(&key, value))),
        }
    }

    fn attempt<T, R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> rusqlite::Result<Outcome<T, R>>,
    ) -> Outcome<T, R> {
        if self.error.is_none() {
            match write(self) {
                Ok(outcome) => return outcome,
                Err(error) => self.error = Some(error),
            }
        }
        Spoilt::Failed(Cause::new("the transaction was given up")).outcome()
    }

    fn create(&mut self, new: &NewMatches) -> rusqlite::Result<CreateOutcome> {
        let NewMatches { matches, epoch, now, request } = new;
        if let Some(Request { key, .. }) = request {
            match read::request(self.conn, key, *now)? {
                RequestState::New => {}
                RequestState::Answered(response) => {
                    return Ok(Outcome::Done(Created::Before(response)));
                }
                RequestState::Reused => return Ok(Outcome::Refused(CreateRefusal::RequestReused)),
            }
        }
        for new in matches {
            if self.live.get(&new.match_id).is_some() || self.result_of(new.match_id)?.is_some() {
                return Ok(Outcome::Refused(CreateRefusal::MatchExists(new.match_id)));
            }
        }
        for new in matches {
            self.live.created(new.match_id);
            self.append_rows(new.match_id, *epoch, &new.records, RowKind::GoesOn)?;
        }
        if let Some(request) = request {
            self.remember(request, now.get())?;
        }
        Ok(Outcome::Done(Created::New))
    }

    fn append(&mut self, append: &Append) -> rusqlite::Result<AppendOutcome> {
        if let Some(refusal) = self.refusal(append)? {
            return Ok(Outcome::Refused(refusal));
        }
        let Append { match_id, epoch, records, .. } = append;
        Ok(Outcome::Done(self.append_rows(*match_id, *epoch, records, RowKind::GoesOn)?))
    }

    fn finish(&mut self, finish: &Finish) -> rusqlite::Result<FinishOutcome> {
        let Finish { last, listing, finished_at, summary, record } = finish;
        if let Some(refusal) = self.refusal(last)? {
            return Ok(Outcome::Refused(refusal));
        }
        let version = self.append_rows(last.match_id, last.epoch, &last.records, RowKind::Last)?;
        let number = ResultNumber::new(self.live.next_result());
        let columns =
            RecordColumns { number, match_id: last.match_id, version, listing, finished_at: *finished_at };
        columns.insert(self.conn, summary, record)?;
        bots::insert(self.conn, number, summary, listing.client_reference.as_ref())?;
        self.live.ended(last.match_id);
        Ok(Outcome::Done(number))
    }

    fn remember_first(&mut self, request: &Request, now: UnixMillis) -> rusqlite::Result<RememberOutcome> {
        match read::request(self.conn, &request.key, now)? {
            RequestState::New => {
                self.remember(request, now.get())?;
                Ok(Outcome::Done(request.response.clone()))
            }
            RequestState::Answered(response) => Ok(Outcome::Done(response)),
            RequestState::Reused => Ok(Outcome::Refused(RequestReused)),
        }
    }

    fn change_tokens(&mut self, change: &TokenChange) -> rusqlite::Result<TokensOutcome> {
        let TokenChange { now, made, revoked, rotated, forgotten, request } = change;
        if let Some(request) = request {
            if read::request(self.conn, &request.key, *now)? == RequestState::Reused {
                return Ok(Outcome::Refused(RequestReused));
            }
            self.remember(request, now.get())?;
        }
        for id in revoked {
            tokens::revoke(self.conn, *id, *now)?;
        }
        for id in rotated {
            tokens::rotate(self.conn, *id, *now)?;
        }
        for id in forgotten {
            tokens::forget(self.conn, *id)?;
        }
        if let Some(token) = made {
            tokens::insert(self.conn, token)?;
        }
        Ok(Outcome::Done(()))
    }

    fn change_account(&mut self, change: &AccountChange) -> rusqlite::Result<AccountOutcome> {
        let AccountChange { account, tokens } = change;
        let outcome = self.change_tokens(tokens)?;
        if matches!(outcome, Outcome::Done(())) {
            registered::put(self.conn, account)?;
        }
        Ok(outcome)
    }

    fn change_webhooks(&mut self, change: &WebhookChange) -> rusqlite::Result<WebhooksOutcome> {
        let changed = match change {
            WebhookChange::Made { webhook, request } => {
                if let Some(request) = request {
                    let now = webhook.created_at;
                    if read::request(self.conn, &request.key, now)? == RequestState::Reused {
                        return Ok(Outcome::Refused(RequestReused));
                    }
                    self.remember(request, now.get())?;
                }
                webhooks::insert(self.conn, webhook)?
            }
            WebhookChange::Deleted(id) => webhooks::delete(self.conn, *id)?,
            WebhookChange::Settled { webhook, to, dead } => {
                webhooks::settle(self.conn, *webhook, *to, dead.as_ref())?
            }
            WebhookChange::Due { webhook, which } => webhooks::make_due(self.conn, *webhook, which)?,
            WebhookChange::Revived { webhook, result } => webhooks::revive(self.conn, *webhook, *result)?,
            WebhookChange::DiedAgain { webhook, dead } => webhooks::die_again(self.conn, *webhook, dead)?,
        };
        Ok(Outcome::Done(changed))
    }

    fn replace_meta(&mut self, key: &MetaKey, value: &MetaValue) -> rusqlite::Result<Outcome<(), Never>> {
        let sql = "INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?1, ?2, seal_of('meta', ?1, ?2))";
        self.conn.prepare_cached(sql)?.execute(params![key.as_str(), value.as_bytes().as_ref()])?;
        Ok(Outcome::Done(()))
    }

    fn meta(&mut self, key: &MetaKey, value: MetaValue) -> rusqlite::Result<Outcome<MetaValue, Never>> {
        if let Some(there) = read::meta(self.conn, key)? {
            return Ok(Outcome::Done(there));
        }
        let sql = "INSERT INTO meta (key, value, seal) VALUES (?1, ?2, seal_of('meta', ?1, ?2))";
        self.conn.prepare_cached(sql)?.execute(params![key.as_str(), value.as_bytes().as_ref()])?;
        Ok(Outcome::Done(value))
    }

    fn refusal(&self, append: &Append) -> rusqlite::Result<Option<AppendRefusal>> {
        let Some(LiveMatch { head, damage, .. }) = self.live.get(&append.match_id) else {
            let result = self.result_of(append.match_id)?;
            return Ok(Some(result.map_or(AppendRefusal::NoMatch, AppendRefusal::Finished)));
        };
        if let Some(damage) = damage {
            return Ok(Some(AppendRefusal::Quarantined(damage.clone())));
        }
        if append.epoch < head.epoch {
            return Ok(Some(AppendRefusal::StaleEpoch { actual: head.epoch }));
        }
        if append.expected != head.version {
            return Ok(Some(AppendRefusal::Version { actual: head.version }));
        }
        Ok(None)
    }

    fn result_of(&self, match_id: MatchId) -> rusqlite::Result<Option<ResultNumber>> {
        let mut statement =
            self.conn.prepare_cached("SELECT result_number FROM records WHERE match_id = ?1")?;
        let number = statement.query_row([match_id.as_bytes()], |row| row.get::<_, i64>(0)).optional()?;
        Ok(number.map(|number| ResultNumber::new(number.unsigned_abs())))
    }

    /// Appends the records; the last of them gets `kind`.
    fn append_rows(
        &mut self,
        match_id: MatchId,
        epoch: Epoch,
        records: &NewRecords,
        kind: RowKind,
    ) -> rusqlite::Result<Version> {
        let mut version = Version::ZERO;
        let count = records.as_slice().len();
        for (i, payload) in records.as_slice().iter().enumerate() {
            let kind = if i + 1 == count { kind } else { RowKind::GoesOn };
            version = self.append_row(match_id, epoch, payload, kind)?;
        }
        Ok(version)
    }

    fn append_row(
        &mut self,
        match_id: MatchId,
        epoch: Epoch,
        payload: &Payload,
        kind: RowKind,
    ) -> rusqlite::Result<Version> {
        let head = self.live.get(&match_id).map_or(Head::START, |m| m.head);
        let version = head.version.next().ok_or(rusqlite::Error::IntegralValueOutOfRange(0, i64::MAX))?;
        let header = RowHeader { format: Format::Short, kind, match_id, version, epoch };
        let position = self.live.next_position();
        let chain = header.encode(head.chain, payload.as_bytes(), position, self.row);
        self.insert_row()?;
        self.live.appended(match_id, Head { version, epoch, chain });
        Ok(version)
    }

    /// Adds the row in the buffer to the current segment. The map is told by the caller, before the next one.
    pub(super) fn insert_row(&mut self) -> rusqlite::Result<()> {
        match self.live.current() {
            Some(current) if current.rows < self.segment_rows => {
                if !self.pack.has_room_for(self.row) {
                    self.flush()?;
                }
            }
            full => {
                let number = full.map_or(1, |full| full.number + 1);
                self.flush()?;
                self.start_segment(number)?;
            }
        }
        self.pack.push(self.row);
        self.rows_written += 1;
        Ok(())
    }

    /// Writes the rows that are not written yet.
    pub(super) fn flush(&mut self) -> rusqlite::Result<()> {
        let number = match self.live.current() {
            Some(current) if !self.pack.is_empty() => current.number,
            _ => return Ok(()),
        };
        // Under the position of the last: so the page that has a position is the one where SQLite looks for it.
        let row = params![self.live.next_position() - 1, self.pack.encode()];
        match &mut self.insert {
            Some((of, insert)) if *of == number => insert.execute(row)?,
            other => {
                let sql = format!("INSERT INTO {} (position, row) VALUES (?1, ?2)", table(number));
                other.insert((number, self.conn.prepare_cached(&sql)?)).1.execute(row)?
            }
        };
        self.pack.clear();
        Ok(())
    }

    /// Writes what is not written yet, unless something has failed.
    pub(super) fn complete(&mut self) {
        if self.error.is_none() {
            self.error = self.flush().err();
        }
    }

    fn start_segment(&mut self, number: u32) -> rusqlite::Result<u32> {
        self.conn.execute_batch(&schema::segment(number))?;
        self.live.started_segment(number);
        segments::write(self.conn, self.live.segments())?;
        Ok(number)
    }

    fn remember(&self, request: &Request, now: u64) -> rusqlite::Result<()> {
        let Request { key, response } = request;
        let sql = "DELETE FROM requests WHERE (caller, request_id) IN
            (SELECT caller, request_id FROM requests WHERE created_ms <= ?1 ORDER BY created_ms LIMIT ?2)";
        let forgotten = clamp(now.saturating_sub(Request::KEPT_MS));
        if now >= Request::KEPT_MS {
            self.conn.prepare_cached(sql)?.execute(params![forgotten, REQUESTS_DELETED])?;
        }
        let sql =
            "INSERT OR REPLACE INTO requests (caller, request_id, body_hash, response, created_ms, seal)
            VALUES (?1, ?2, ?3, ?4, ?5, seal_of('requests', ?1, ?2, ?3, ?4, ?5))";
        self.conn.prepare_cached(sql)?.execute(params![
            key.caller.as_str(),
            key.request_id.as_str(),
            key.body_hash.0,
            response.as_bytes().as_ref(),
            clamp(now)
        ])?;
        Ok(())
    }
}

/// As SQLite's integer: a time or a number that doesn't fit is the greatest that does.
pub(super) fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
