//! A journal in memory that does what it is told: fail, refuse, or lose the answer.

mod ladders;
mod told;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::journal::{
    Append, AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, Epoch, Finish,
    FinishOutcome, FinishedFilter, FinishedMatch, FinishedPage, Health, History, Journal, JournalStats,
    LadderName, MatchId, MetaKey, MetaValue, Never, NewMatches, Outcome, PagePosition, PageSize, Payload,
    ReadError, Request, RequestKey, RequestReused, RequestState, Response, ResultFilter, ResultNumber,
    ResultPage, ResultRow, Standing, StoredLadder, StoredMatch, StoredRecord, StoredToken, TokenChange,
    UnixMillis, Version,
};

/// What becomes of the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing is written.
    Fails,
    /// It is written, and the answer is lost.
    WrittenUnknown,
    /// It is not written, and the answer is lost.
    LostUnknown,
    /// A later owner has written.
    Fenced,
}

#[derive(Default)]
struct Inner {
    running: HashMap<MatchId, Vec<Payload>>,
    finished: Vec<FinishedMatch>,
    requests: HashMap<(String, String), (RequestKey, Response)>,
    tokens: Vec<StoredToken>,
    meta: HashMap<MetaKey, MetaValue>,
    fates: Vec<Fate>,
    unreadable: usize,
    first_unreadable: usize,
    reads: usize,
    quarantined: Vec<MatchId>,
    delay: Option<std::time::Duration>,
    page_delay: Option<std::time::Duration>,
    result_pages: usize,
    lost: Vec<ResultNumber>,
    /// What of matches that are over can't be read now.
    hidden: Vec<MatchId>,
    ladders: HashMap<LadderName, StoredLadder>,
    /// How many changes of ladders fail.
    ladders_fail: usize,
    /// How often what is stored of ladders can't be read.
    ladders_blind: usize,
    /// What is stored of ladders can't be changed any more; how often it was tried.
    ladders_damaged: Option<usize>,
    stats: JournalStats,
}

/// A journal in memory. A clone is the same journal.
#[derive(Clone)]
pub(crate) struct FakeJournal {
    inner: Arc<Mutex<Inner>>,
    results: watch::Sender<ResultNumber>,
    health: watch::Sender<Health>,
}

impl FakeJournal {
    pub(crate) fn new() -> Self {
        Self {
            inner: Arc::default(),
            results: watch::Sender::new(ResultNumber::ZERO),
            health: watch::Sender::new(Health::Writing),
        }
    }
}

impl Inner {
    fn check(&self, append: &Append) -> Result<(), AppendRefusal> {
        let finished = self.finished.iter().find(|finished| finished.result.match_id == append.match_id);
        if let Some(finished) = finished {
            return Err(AppendRefusal::Finished(finished.result.number));
        }
        let Some(records) = self.running.get(&append.match_id) else { return Err(AppendRefusal::NoMatch) };
        let actual = Version::new(u32::try_from(records.len()).unwrap());
        if actual == append.expected { Ok(()) } else { Err(AppendRefusal::Version { actual }) }
    }

    /// Does a write, or what its fate is.
    fn write<T>(&mut self, append: &Append, write: impl FnOnce(&mut Self) -> T) -> Outcome<T, AppendRefusal> {
        let fate = if self.fates.is_empty() { None } else { Some(self.fates.remove(0)) };
        let cause = Cause::new("as told");
        match fate {
            Some(Fate::Fails) => return Outcome::Failed(cause),
            Some(Fate::LostUnknown) => return Outcome::Unknown(cause),
            Some(Fate::Fenced) => {
                return Outcome::Refused(AppendRefusal::StaleEpoch { actual: Epoch::new(2) });
            }
            Some(Fate::WrittenUnknown) | None => {}
        }
        if let Err(refusal) = self.check(append) {
            return Outcome::Refused(refusal);
        }
        let done = write(self);
        if fate.is_some() { Outcome::Unknown(cause) } else { Outcome::Done(done) }
    }

    fn append(&mut self, append: &Append) -> Version {
        let records = self.running.get_mut(&append.match_id).unwrap();
        records.extend_from_slice(append.records.as_slice());
        self.stats.commits += 1;
        self.stats.rows += append.records.as_slice().len() as u64;
        Version::new(u32::try_from(records.len()).unwrap())
    }
}

fn record((version, payload): (u32, &Payload)) -> StoredRecord {
    StoredRecord { version: Version::new(version), epoch: Epoch::new(1), payload: payload.clone() }
}

#[async_trait]
impl Journal for FakeJournal {
    fn epoch(&self) -> Epoch {
        Epoch::new(1)
    }

    async fn create(&self, new: NewMatches) -> CreateOutcome {
        let mut inner = self.inner.lock().unwrap();
        if let Some(request) = &new.request {
            let key = (request.key.caller.to_string(), request.key.request_id.to_string());
            match inner.requests.get(&key) {
                Some((before, response)) if before.body_hash == request.key.body_hash => {
                    return Outcome::Done(Created::Before(response.clone()));
                }
                Some(_) => return Outcome::Refused(CreateRefusal::RequestReused),
                None => {}
            }
        }
        let fate = if inner.fates.is_empty() { None } else { Some(inner.fates.remove(0)) };
        if matches!(fate, Some(Fate::Fails | Fate::Fenced)) {
            return Outcome::Failed(Cause::new("as told"));
        }
        if fate != Some(Fate::LostUnknown) {
            inner.stats.commits += 1;
            if let Some(Request { key, response }) = new.request {
                let name = (key.caller.to_string(), key.request_id.to_string());
                inner.requests.insert(name, (key, response));
            }
            for new in new.matches {
                inner.stats.rows += new.records.as_slice().len() as u64;
                inner.running.insert(new.match_id, new.records.as_slice().to_vec());
            }
        }
        if fate.is_some() { Outcome::Unknown(Cause::new("as told")) } else { Outcome::Done(Created::New) }
    }

    async fn append(&self, append: Append) -> AppendOutcome {
        let delay = self.inner.lock().unwrap().delay.take();
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        self.inner.lock().unwrap().write(&append, |inner| inner.append(&append))
    }

    async fn finish(&self, finish: Finish) -> FinishOutcome {
        let Finish { last, listing, finished_at, summary, record } = finish;
        let outcome = self.inner.lock().unwrap().write(&last, |inner| {
            let version = inner.append(&last);
            inner.running.remove(&last.match_id);
            let number = ResultNumber::new(inner.finished.len() as u64 + 1);
            let result = ResultRow { number, match_id: last.match_id, listing, finished_at, summary };
            inner.finished.push(FinishedMatch { result, version, record });
            number
        });
        if let Outcome::Done(number) = &outcome {
            self.results.send_replace(*number);
        }
        outcome
    }

    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.unreadable > 0 {
            inner.unreadable -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        inner.reads += 1;
        if inner.hidden.contains(&match_id) {
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        if let Some(finished) = inner.finished.iter().find(|finished| finished.result.match_id == match_id) {
            return Ok(Some(StoredMatch::Finished(Box::new(finished.clone()))));
        }
        let history = |records: &Vec<Payload>| History { records: (1..).zip(records).map(record).collect() };
        Ok(inner.running.get(&match_id).map(|records| {
            if inner.quarantined.contains(&match_id) {
                StoredMatch::Quarantined { intact: history(records), damage: "as told".into() }
            } else {
                StoredMatch::Running(history(records))
            }
        }))
    }

    async fn standing(&self, match_id: MatchId) -> Result<Option<Standing>, ReadError> {
        let stored = self.read(match_id).await?;
        self.inner.lock().unwrap().reads -= 1;
        Ok(stored.map(Standing::from))
    }

    async fn first(&self, match_id: MatchId) -> Result<Option<StoredRecord>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.first_unreadable > 0 {
            inner.first_unreadable -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        let first = inner.running.get(&match_id).and_then(|records| records.first());
        Ok(first.map(|first| record((1, first))))
    }

    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError> {
        let inner = self.inner.lock().unwrap();
        Ok(inner.running.keys().filter(|id| !inner.quarantined.contains(id)).copied().collect())
    }

    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError> {
        let delay = self.inner.lock().unwrap().page_delay.take();
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        let mut inner = self.inner.lock().unwrap();
        inner.result_pages += 1;
        if inner.unreadable > 0 {
            inner.unreadable -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        let wanted =
            |row: &ResultRow| row.number > after && !inner.lost.contains(&row.number) && filter.wants(row);
        let rows = inner.finished.iter().map(|finished| finished.result.clone());
        let rows: Vec<ResultRow> = rows.filter(wanted).take(page.get().into()).collect();
        let is_full = rows.len() == usize::from(page.get());
        let more_after = rows.last().filter(|_| is_full).map(|last| last.number);
        Ok(ResultPage { rows, more_after })
    }

    async fn list_finished(
        &self,
        filter: FinishedFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<FinishedPage, ReadError> {
        let inner = self.inner.lock().unwrap();
        let from = from.map_or(u64::MAX, PagePosition::get);
        let rows = inner.finished.iter().rev().map(|finished| finished.result.clone());
        let wanted = rows
            .filter(|row| row.number.get() <= from && !inner.lost.contains(&row.number) && filter.wants(row));
        let mut matches: Vec<ResultRow> = wanted.take(usize::from(page.get()) + 1).collect();
        let next = matches.get(usize::from(page.get())).map(|row| PagePosition::from(row.number));
        matches.truncate(page.get().into());
        Ok(FinishedPage { matches, next })
    }

    async fn request(&self, key: RequestKey, _now: UnixMillis) -> Result<RequestState, ReadError> {
        let inner = self.inner.lock().unwrap();
        Ok(match inner.requests.get(&(key.caller.to_string(), key.request_id.to_string())) {
            None => RequestState::New,
            Some((before, response)) if before.body_hash == key.body_hash => {
                RequestState::Answered(response.clone())
            }
            Some(_) => RequestState::Reused,
        })
    }

    async fn remember(&self, request: Request, now: UnixMillis) -> Outcome<Response, RequestReused> {
        match self.request(request.key.clone(), now).await {
            Ok(RequestState::Answered(response)) => Outcome::Done(response),
            Ok(RequestState::Reused) => Outcome::Refused(RequestReused),
            Ok(RequestState::New) => {
                let Request { key, response } = request;
                let name = (key.caller.to_string(), key.request_id.to_string());
                self.inner.lock().unwrap().requests.insert(name, (key, response.clone()));
                Outcome::Done(response)
            }
            Err(error) => Outcome::Failed(Cause::new(error)),
        }
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.unreadable > 0 {
            inner.unreadable -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        Ok(inner.tokens.clone())
    }

    async fn change_tokens(&self, change: TokenChange) -> Outcome<(), RequestReused> {
        let TokenChange { now, made, revoked, rotated, forgotten, request } = change;
        let mut inner = self.inner.lock().unwrap();
        let fate = if inner.fates.is_empty() { None } else { Some(inner.fates.remove(0)) };
        match fate {
            Some(Fate::Fails | Fate::Fenced) => return Outcome::Failed(Cause::new("as told")),
            Some(Fate::LostUnknown) => return Outcome::Unknown(Cause::new("as told")),
            Some(Fate::WrittenUnknown) | None => {}
        }
        if let Some(Request { key, response }) = request {
            let name = (key.caller.to_string(), key.request_id.to_string());
            match inner.requests.get(&name) {
                Some((before, _)) if before.body_hash != key.body_hash => {
                    return Outcome::Refused(RequestReused);
                }
                _ => inner.requests.insert(name, (key, response)),
            };
        }
        for token in &mut inner.tokens {
            if revoked.contains(&token.id) && token.revoked_at.is_none() {
                token.revoked_at = Some(now);
            }
            if rotated.contains(&token.id) {
                token.rotated_at.get_or_insert(now);
            }
        }
        inner.tokens.retain(|token| !forgotten.contains(&token.id));
        inner.tokens.extend(made);
        if fate.is_some() { Outcome::Unknown(Cause::new("as told")) } else { Outcome::Done(()) }
    }

    async fn meta(&self, key: MetaKey) -> Result<Option<MetaValue>, ReadError> {
        Ok(self.inner.lock().unwrap().meta.get(&key).cloned())
    }

    async fn meta_or_insert(&self, key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never> {
        Outcome::Done(self.inner.lock().unwrap().meta.entry(key).or_insert(value).clone())
    }

    async fn replace_meta(&self, key: MetaKey, value: MetaValue) -> Outcome<(), Never> {
        self.inner.lock().unwrap().meta.insert(key, value);
        Outcome::Done(())
    }

    fn latest_result(&self) -> watch::Receiver<ResultNumber> {
        self.results.subscribe()
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    fn stats(&self) -> JournalStats {
        self.inner.lock().unwrap().stats
    }

    async fn close(&self) {}
}
