//! A journal in memory that does what it is told: fail, refuse, or lose the answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::journal::{
    Append, AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, Epoch, Finish,
    FinishOutcome, FinishedFilter, FinishedMatch, FinishedPage, Health, History, Journal, JournalStats,
    LadderChange, LadderName, LadderStore, LaterRatings, MatchId, MetaKey, MetaValue, Never, NewMatches,
    OtherBots, Outcome, PagePosition, PageSize, Payload, ReadError, RecordBytes, Request, RequestKey,
    RequestReused, RequestState, Response, ResultFilter, ResultNumber, ResultPage, ResultRow, Standing,
    StoredLadder, StoredLater, StoredMatch, StoredRating, StoredRecord, StoredToken, Summary, TokenChange,
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

    /// The next appends and ends meet these fates, the first one first.
    pub(crate) fn doom(&self, fates: &[Fate]) {
        self.inner.lock().unwrap().fates = fates.to_vec();
    }

    /// The next append takes so long.
    pub(super) fn delay(&self, time: std::time::Duration) {
        self.inner.lock().unwrap().delay = Some(time);
    }

    /// The next page of results takes so long.
    pub(crate) fn delay_page(&self, time: std::time::Duration) {
        self.inner.lock().unwrap().page_delay = Some(time);
    }

    /// How often all of a match was read.
    pub(super) fn reads(&self) -> usize {
        self.inner.lock().unwrap().reads
    }

    /// Damage was found in this match.
    pub(super) fn quarantine(&self, match_id: MatchId) {
        self.inner.lock().unwrap().quarantined.push(match_id);
    }

    /// The next reads fail.
    pub(crate) fn blind(&self, reads: usize) {
        self.inner.lock().unwrap().unreadable = reads;
    }

    /// The next reads of the first record of a match fail.
    pub(super) fn blind_to_first(&self, reads: usize) {
        self.inner.lock().unwrap().first_unreadable = reads;
    }

    /// The first record of a running match is this.
    pub(super) fn replace_first(&self, match_id: MatchId, payload: Payload) {
        self.inner.lock().unwrap().running.get_mut(&match_id).unwrap()[0] = payload;
    }

    /// What lists and results show of this result can't be read any more.
    pub(crate) fn damage(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let damaged = inner.finished.iter_mut().find(|finished| finished.result.number == number).unwrap();
        damaged.result.summary = Summary::new(vec![0xff; 3]).unwrap();
    }

    /// The record of this result can't be read any more.
    pub(crate) fn damage_record(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let damaged = inner.finished.iter_mut().find(|finished| finished.result.number == number).unwrap();
        damaged.record = RecordBytes::new(vec![0xff; 3]).unwrap();
    }

    /// From now on what is stored of the match of this result can't be read, and may be later.
    pub(crate) fn hide_record(&self, number: ResultNumber) {
        let mut inner = self.inner.lock().unwrap();
        let hidden = inner.finished.iter().find(|finished| finished.result.number == number).unwrap();
        let hidden = hidden.result.match_id;
        inner.hidden.push(hidden);
    }

    /// This result is not there any more.
    pub(crate) fn lose(&self, number: ResultNumber) {
        self.inner.lock().unwrap().lost.push(number);
    }

    /// What is stored of ladders, to look at and to change.
    pub(crate) fn ladders<T>(&self, look: impl FnOnce(&mut HashMap<LadderName, StoredLadder>) -> T) -> T {
        look(&mut self.inner.lock().unwrap().ladders)
    }

    /// So many times what is stored of ladders can't be read.
    pub(crate) fn blind_to_ladders(&self, times: usize) {
        self.inner.lock().unwrap().ladders_blind = times;
    }

    /// From now on what is stored of ladders is damaged.
    pub(crate) fn damage_ladders(&self) {
        self.inner.lock().unwrap().ladders_damaged = Some(0);
    }

    /// How often it was tried to change them since.
    pub(crate) fn damaged_ladders_tried(&self) -> usize {
        self.inner.lock().unwrap().ladders_damaged.unwrap_or(0)
    }

    /// So many changes of ladders fail.
    pub(crate) fn fail_ladders(&self, changes: usize) {
        self.inner.lock().unwrap().ladders_fail = changes;
    }

    /// The keys of all values.
    pub(crate) fn meta_keys(&self) -> Vec<MetaKey> {
        self.inner.lock().unwrap().meta.keys().cloned().collect()
    }

    /// How many pages of results were read.
    pub(crate) fn result_pages(&self) -> usize {
        self.inner.lock().unwrap().result_pages
    }

    /// Another journal that holds what this one does with the last records of a running match cut off.
    pub(crate) fn cut(&self, match_id: MatchId, records: usize) -> Self {
        let other = Self::new();
        let (mut running, meta) = {
            let inner = self.inner.lock().unwrap();
            (inner.running.clone(), inner.meta.clone())
        };
        if let Some(kept) = running.get_mut(&match_id) {
            kept.truncate(records);
        }
        {
            let mut inner = other.inner.lock().unwrap();
            (inner.running, inner.meta) = (running, meta);
        }
        other
    }

    /// Appends a record that no table has asked for.
    pub(crate) fn sneak(&self, match_id: MatchId, payload: Payload) {
        self.inner.lock().unwrap().running.get_mut(&match_id).unwrap().push(payload);
    }

    pub(crate) fn records(&self, match_id: MatchId) -> Vec<Payload> {
        self.inner.lock().unwrap().running.get(&match_id).cloned().unwrap_or_default()
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

#[async_trait]
impl LadderStore for FakeJournal {
    async fn stored_ladder(&self, ladder: LadderName) -> Result<Option<StoredLadder>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.ladders_blind > 0 {
            inner.ladders_blind -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        Ok(inner.ladders.get(&ladder).cloned())
    }

    async fn change_ladder(&self, change: LadderChange) -> Outcome<(), StoredLater> {
        let mut inner = self.inner.lock().unwrap();
        if let Some(tried) = &mut inner.ladders_damaged {
            *tried += 1;
            return Outcome::Damaged(Cause::new("as told"));
        }
        if inner.ladders_fail > 0 {
            inner.ladders_fail -= 1;
            return Outcome::Failed(Cause::new("as told"));
        }
        change_in(&mut inner.ladders, change)
    }
}

/// What a journal makes of such a change.
fn change_in(
    ladders: &mut HashMap<LadderName, StoredLadder>,
    change: LadderChange,
) -> Outcome<(), StoredLater> {
    let LadderChange { ladder, mut stored, others, later } = change;
    if let Some(before) = ladders.remove(&ladder) {
        if later == LaterRatings::Stay && before.after > stored.after {
            let after = before.after;
            ladders.insert(ladder, before);
            return Outcome::Refused(StoredLater { stored: after });
        }
        if others == OtherBots::Stay {
            let is_other = |bot: &StoredRating| stored.bots.iter().all(|changed| changed.bot != bot.bot);
            let others: Vec<StoredRating> = before.bots.into_iter().filter(is_other).collect();
            stored.bots.extend(others);
        }
        stored.bots.sort_by(|one, other| one.bot.cmp(&other.bot));
    }
    ladders.insert(ladder, stored);
    Outcome::Done(())
}
