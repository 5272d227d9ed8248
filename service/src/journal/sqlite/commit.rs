//! One commit: every request of a batch is checked against the map of the log and written, or refused.

use rusqlite::{Connection, params};

use super::adding::Adding;
use super::live::{Head, Live, LiveMatch};
use super::pending::{Pending, put, remember};
use super::read;
use super::request::{
    AccountOutcome, Answer, RememberOutcome, Spoilt, TokensOutcome, WebhooksOutcome, Write,
};
use super::{ladders, registered, tokens, webhooks};
use crate::journal::redo::{Entry, FrameBuilder, Kind};
use crate::journal::row::{Format, RowHeader, RowKind};
use crate::journal::{
    AccountChange, Append, AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, Epoch,
    Finish, FinishOutcome, MatchId, MetaKey, MetaValue, Never, NewMatches, NewRecords, Outcome, Payload,
    Request, RequestKey, RequestReused, RequestState, ResultNumber, TokenChange, UnixMillis, Version,
    WebhookChange,
};

/// Where the rows of a commit go, and what of it is for the database.
pub(super) enum Rows<'a> {
    /// Into a frame of the redo log.
    Redo(&'a mut FrameBuilder),
    /// Into the tables, in a transaction that has begun.
    Tables { add: Adding<'a>, segment_rows: u32 },
}

/// A commit in the making.
pub(super) struct Commit<'a> {
    pub(super) conn: &'a Connection,
    pub(super) live: &'a mut Live,
    pub(super) pending: &'a mut Pending,
    /// Where its rows go.
    pub(super) rows: Rows<'a>,
    /// Buffer of one row.
    pub(super) row: &'a mut Vec<u8>,
    /// The first error: nothing is tried after it.
    pub(super) error: Option<rusqlite::Error>,
}

impl Commit<'_> {
    /// Writes what one request asks for. The answer counts when the transaction goes through.
    pub(super) fn apply(&mut self, write: Write) -> Answer {
        match write {
            Write::Create(new, to) => Answer::Create(to, self.attempt(|c| c.create(&new))),
            Write::Append(append, to) => Answer::Append(to, self.attempt(|c| c.append(&append))),
            Write::Finish(finish, to) => Answer::Finish(to, self.attempt(|c| c.finish(*finish))),
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
            Write::Trial(to) => {
                if let Rows::Redo(frame) = &mut self.rows {
                    frame.push(Kind::Trial, &[]);
                }
                Answer::ReplaceMeta(to, Outcome::Done(()))
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
            match self.request(key, *now)? {
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
            self.enter(Entry::Request { request: request.clone(), now: *now })?;
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

    fn finish(&mut self, finish: Finish) -> rusqlite::Result<FinishOutcome> {
        let Finish { last, listing, finished_at, summary, record } = finish;
        if let Some(refusal) = self.refusal(&last)? {
            return Ok(Outcome::Refused(refusal));
        }
        let match_id = last.match_id;
        let version = self.append_rows(match_id, last.epoch, &last.records, RowKind::Last)?;
        let number = ResultNumber::new(self.live.next_result());
        let entry = Entry::Finish { number, match_id, version, listing, finished_at, summary, record };
        self.enter(entry)?;
        self.live.ended(match_id);
        Ok(Outcome::Done(number))
    }

    fn remember_first(&mut self, request: &Request, now: UnixMillis) -> rusqlite::Result<RememberOutcome> {
        match self.request(&request.key, now)? {
            RequestState::New => {
                self.enter(Entry::Request { request: request.clone(), now })?;
                Ok(Outcome::Done(request.response.clone()))
            }
            RequestState::Answered(response) => Ok(Outcome::Done(response)),
            RequestState::Reused => Ok(Outcome::Refused(RequestReused)),
        }
    }

    /// What is known of a request, in the database or on its way there.
    fn request(&self, key: &RequestKey, now: UnixMillis) -> rusqlite::Result<RequestState> {
        match self.pending.request(key, now) {
            Some(known) => Ok(known),
            None => read::request(self.conn, key, now),
        }
    }

    /// What is for the database goes there, by way of the redo log or at once.
    fn enter(&mut self, entry: Entry) -> rusqlite::Result<()> {
        match &mut self.rows {
            Rows::Redo(frame) => self.pending.add(entry, frame),
            Rows::Tables { .. } => put(self.conn, &entry)?,
        }
        Ok(())
    }

    fn change_tokens(&mut self, change: &TokenChange) -> rusqlite::Result<TokensOutcome> {
        let TokenChange { now, made, revoked, rotated, forgotten, request } = change;
        if let Some(request) = request {
            if self.request(&request.key, *now)? == RequestState::Reused {
                return Ok(Outcome::Refused(RequestReused));
            }
            remember(self.conn, request, *now)?;
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
                    if self.request(&request.key, now)? == RequestState::Reused {
                        return Ok(Outcome::Refused(RequestReused));
                    }
                    remember(self.conn, request, now)?;
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
        match self.pending.result_of(match_id) {
            Some(number) => Ok(Some(number)),
            None => read::result_of(self.conn, match_id),
        }
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
        let position = match self.rows {
            Rows::Redo(_) => self.live.young().next_position(),
            Rows::Tables { .. } => self.live.next_position(),
        };
        let chain = header.encode(head.chain, payload.as_bytes(), position, self.row);
        let head = Head { version, epoch, chain };
        match &mut self.rows {
            Rows::Redo(frame) => {
                frame.push(Kind::Row, self.row);
                self.live.appended_young(match_id, head);
            }
            Rows::Tables { add, segment_rows } => {
                add.add(self.conn, self.live, *segment_rows, self.row)?;
                self.live.appended(match_id, head);
            }
        }
        Ok(version)
    }

    /// Writes what is not written yet, unless something has failed.
    pub(super) fn complete(&mut self) {
        if let (Rows::Tables { add, .. }, None) = (&mut self.rows, &self.error) {
            self.error = add.flush(self.conn, self.live).err();
        }
    }

    /// How many rows it has.
    pub(super) fn rows_written(&self) -> u64 {
        match &self.rows {
            Rows::Redo(frame) => frame.rows().into(),
            Rows::Tables { add, .. } => add.rows_written,
        }
    }
}

/// As SQLite's integer: a time or a number that doesn't fit is the greatest that does.
pub(super) fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
