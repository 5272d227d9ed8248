//! A journal in memory: it answers at once, so that time which stands still stays so.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::watch;
use zetema_service::journal::{
    AccountChange, AccountStore, Accounts, Append, AppendOutcome, AppendRefusal, BotName, Cause, Completion,
    CreateOutcome, CreateRefusal, Created, DeadLetter, DeadLetterFilter, Epoch, Finish, FinishOutcome,
    FinishedFilter, FinishedMatch, FinishedPage, Health, History, Journal, JournalQueue, JournalStats,
    LadderChange, LadderName, LadderStore, MatchId, MetaKey, MetaValue, Never, NewMatches, Outcome, Owner,
    PagePosition, PageSize, Payload, ReadError, Request, RequestKey, RequestReused, RequestState, Response,
    ResultFilter, ResultNumber, ResultPage, ResultRow, ServerJournal, StoredLadder, StoredLater, StoredMatch,
    StoredRecord, StoredToken, StoredWebhook, TokenChange, UnixMillis, Version, WebhookChange, WebhookStore,
};

const EPOCH: Epoch = Epoch::new(1);

/// A journal in memory. A clone is the same journal.
#[derive(Clone)]
pub struct MemoryJournal {
    inner: Arc<Mutex<Inner>>,
    results: watch::Sender<ResultNumber>,
    health: watch::Sender<Health>,
}

#[derive(Default)]
struct Inner {
    running: HashMap<MatchId, Vec<Payload>>,
    finished: Vec<FinishedMatch>,
    /// Where each is among them.
    places: HashMap<MatchId, usize>,
    requests: Vec<(RequestKey, Response)>,
    tokens: Vec<StoredToken>,
    meta: Vec<(MetaKey, MetaValue)>,
    stats: JournalStats,
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryJournal")
    }
}

impl MemoryJournal {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            inner: Arc::default(),
            results: watch::Sender::new(ResultNumber::ZERO),
            health: watch::Sender::new(Health::Writing),
        }
    }

    /// One without matches, with the same keys.
    #[must_use]
    pub fn with_the_keys(&self) -> Self {
        let other = Self::new();
        other.inner.lock().unwrap().meta.clone_from(&self.inner.lock().unwrap().meta);
        other
    }

    /// Forgets the last record of a running match, as a disk does that has lied.
    pub fn forget_last(&self, match_id: MatchId) {
        self.inner.lock().unwrap().running.get_mut(&match_id).and_then(Vec::pop);
    }

    /// How many records a running match has.
    pub fn records(&self, match_id: MatchId) -> usize {
        self.inner.lock().unwrap().running.get(&match_id).map_or(0, Vec::len)
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl Inner {
    fn append(&mut self, append: &Append) -> Result<Version, AppendRefusal> {
        if let Some(finished) = self.finished(append.match_id) {
            return Err(AppendRefusal::Finished(finished.result.number));
        }
        let records = self.running.get_mut(&append.match_id).ok_or(AppendRefusal::NoMatch)?;
        let actual = version(records.len());
        if actual != append.expected {
            return Err(AppendRefusal::Version { actual });
        }
        records.extend_from_slice(append.records.as_slice());
        let version = version(records.len());
        self.committed(append.records.as_slice().len());
        Ok(version)
    }

    fn finished(&self, match_id: MatchId) -> Option<&FinishedMatch> {
        self.finished.get(*self.places.get(&match_id)?)
    }

    /// Counts a write that has gone through, which was alone in its commit.
    const fn committed(&mut self, rows: usize) {
        self.stats.commits += 1;
        self.stats.writes += 1;
        self.stats.rows += rows as u64;
    }

    fn request(&self, key: &RequestKey) -> RequestState {
        let same = |before: &&(RequestKey, Response)| {
            (&before.0.caller, &before.0.request_id) == (&key.caller, &key.request_id)
        };
        match self.requests.iter().find(same) {
            None => RequestState::New,
            Some((before, response)) if before.body_hash == key.body_hash => {
                RequestState::Answered(response.clone())
            }
            Some(_) => RequestState::Reused,
        }
    }
}

fn version(records: usize) -> Version {
    Version::new(u32::try_from(records).unwrap())
}

#[async_trait]
impl Journal for MemoryJournal {
    fn epoch(&self) -> Epoch {
        EPOCH
    }

    async fn create(&self, new: NewMatches) -> CreateOutcome {
        let mut inner = self.inner.lock().unwrap();
        if let Some(request) = new.request() {
            match inner.request(&request.key) {
                RequestState::New => {}
                RequestState::Answered(response) => return Outcome::Done(Created::Before(response)),
                RequestState::Reused => return Outcome::Refused(CreateRefusal::RequestReused),
            }
        }
        if let Some(new) = new.matches().iter().find(|new| inner.running.contains_key(&new.match_id)) {
            return Outcome::Refused(CreateRefusal::MatchExists(new.match_id));
        }
        for new in new.matches() {
            inner.running.insert(new.match_id, new.records.as_slice().to_vec());
        }
        inner.committed(new.matches().iter().map(|new| new.records.as_slice().len()).sum());
        inner.requests.extend(new.request().map(|request| (request.key.clone(), request.response.clone())));
        Outcome::Done(Created::New)
    }

    async fn append(&self, append: Append) -> AppendOutcome {
        match self.inner.lock().unwrap().append(&append) {
            Ok(version) => Outcome::Done(version),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn append_then(self: Arc<Self>, append: Append, then: Box<dyn Completion>) {
        let outcome = self.inner.lock().unwrap().append(&append);
        then.complete(outcome.map_or_else(Outcome::Refused, Outcome::Done));
    }

    async fn finish(&self, finish: Finish) -> FinishOutcome {
        let Finish { last, listing, finished_at, summary, record } = finish;
        let mut inner = self.inner.lock().unwrap();
        let version = match inner.append(&last) {
            Ok(version) => version,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        inner.running.remove(&last.match_id);
        let place = inner.finished.len();
        inner.places.insert(last.match_id, place);
        let number = ResultNumber::new(inner.finished.len() as u64 + 1);
        let result = ResultRow { number, match_id: last.match_id, listing, finished_at, summary };
        inner.finished.push(FinishedMatch { result, version, record });
        self.results.send_replace(number);
        Outcome::Done(number)
    }

    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError> {
        let inner = self.inner.lock().unwrap();
        if let Some(finished) = inner.finished(match_id) {
            return Ok(Some(StoredMatch::Finished(Box::new(finished.clone()))));
        }
        let record = |(number, payload): (usize, &Payload)| StoredRecord {
            version: version(number),
            epoch: EPOCH,
            payload: payload.clone(),
        };
        let history = |records: &Vec<Payload>| History { records: (1..).zip(records).map(record).collect() };
        Ok(inner.running.get(&match_id).map(|records| StoredMatch::Running(history(records))))
    }

    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError> {
        Ok(self.inner.lock().unwrap().running.keys().copied().collect())
    }

    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError> {
        let wanted = |row: &ResultRow| row.number > after && filter.wants(row);
        let inner = self.inner.lock().unwrap();
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
        let from = from.map_or(u64::MAX, PagePosition::get);
        let wanted = |row: &ResultRow| row.number.get() <= from && filter.wants(row);
        let inner = self.inner.lock().unwrap();
        let rows = inner.finished.iter().rev().map(|finished| finished.result.clone());
        let mut matches: Vec<ResultRow> = rows.filter(wanted).take(usize::from(page.get()) + 1).collect();
        let next = matches.get(usize::from(page.get())).map(|row| PagePosition::from(row.number));
        matches.truncate(page.get().into());
        Ok(FinishedPage { matches, next })
    }

    async fn request(&self, key: RequestKey, _now: UnixMillis) -> Result<RequestState, ReadError> {
        Ok(self.inner.lock().unwrap().request(&key))
    }

    async fn remember(&self, request: Request, _now: UnixMillis) -> Outcome<Response, RequestReused> {
        let mut inner = self.inner.lock().unwrap();
        match inner.request(&request.key) {
            RequestState::Answered(response) => Outcome::Done(response),
            RequestState::Reused => Outcome::Refused(RequestReused),
            RequestState::New => {
                inner.requests.push((request.key, request.response.clone()));
                inner.committed(0);
                Outcome::Done(request.response)
            }
        }
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError> {
        Ok(self.inner.lock().unwrap().tokens.clone())
    }

    async fn change_tokens(&self, change: TokenChange) -> Outcome<(), RequestReused> {
        let TokenChange { now, made, revoked, rotated, forgotten, request } = change;
        let mut inner = self.inner.lock().unwrap();
        if let Some(Request { key, response }) = request {
            if inner.request(&key) == RequestState::Reused {
                return Outcome::Refused(RequestReused);
            }
            inner
                .requests
                .retain(|(before, _)| (&before.caller, &before.request_id) != (&key.caller, &key.request_id));
            inner.requests.push((key, response));
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
        inner.committed(0);
        Outcome::Done(())
    }

    async fn meta(&self, key: MetaKey) -> Result<Option<MetaValue>, ReadError> {
        let inner = self.inner.lock().unwrap();
        Ok(inner.meta.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone()))
    }

    async fn meta_or_insert(&self, key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never> {
        let mut inner = self.inner.lock().unwrap();
        if let Some((_, there)) = inner.meta.iter().find(|(name, _)| *name == key) {
            return Outcome::Done(there.clone());
        }
        inner.meta.push((key, value.clone()));
        inner.committed(0);
        Outcome::Done(value)
    }

    async fn replace_meta(&self, key: MetaKey, value: MetaValue) -> Outcome<(), Never> {
        let mut inner = self.inner.lock().unwrap();
        inner.meta.retain(|(name, _)| *name != key);
        inner.meta.push((key, value));
        inner.committed(0);
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

    async fn close(&self) {
        self.health.send_replace(Health::Closed);
    }
}

/// It keeps no webhooks: who asks for one is told so.
#[async_trait]
impl WebhookStore for MemoryJournal {
    async fn webhooks(&self) -> Result<Vec<(StoredWebhook, u32)>, ReadError> {
        Ok(Vec::new())
    }

    async fn dead_letters(
        &self,
        _filter: DeadLetterFilter,
        _page: PageSize,
    ) -> Result<Vec<DeadLetter>, ReadError> {
        Ok(Vec::new())
    }

    async fn change_webhooks(&self, _change: WebhookChange) -> Outcome<u64, RequestReused> {
        Outcome::Failed(Cause::new("a journal in memory keeps no webhooks"))
    }
}

/// It keeps no accounts: who wants one is told so.
#[async_trait]
impl AccountStore for MemoryJournal {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        Ok(Accounts::default())
    }

    async fn has_left_traces(&self, _owner: Owner) -> Result<bool, ReadError> {
        Ok(false)
    }

    async fn has_played(&self, _bot: BotName) -> Result<bool, ReadError> {
        Ok(false)
    }

    async fn change_account(&self, _change: AccountChange) -> Outcome<(), RequestReused> {
        Outcome::Failed(Cause::new("a journal in memory keeps no accounts"))
    }
}

/// It keeps no ratings: who wants to store some is told so.
#[async_trait]
impl LadderStore for MemoryJournal {
    async fn stored_ladder(&self, _ladder: LadderName) -> Result<Option<StoredLadder>, ReadError> {
        Ok(None)
    }

    async fn change_ladder(&self, _change: LadderChange) -> Outcome<(), StoredLater> {
        Outcome::Failed(Cause::new("a journal in memory keeps no ratings"))
    }
}

impl ServerJournal for MemoryJournal {
    fn queue(&self) -> JournalQueue {
        JournalQueue::default()
    }
}
