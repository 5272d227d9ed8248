//! The journal on a simulated disk: what is written outlives every kill, and each write fares as it is told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use zetema_service::journal::{
    Append, AppendOutcome, AppendRefusal, Cause, CreateOutcome, CreateRefusal, Created, Epoch, Finish,
    FinishOutcome, FinishedFilter, FinishedMatch, FinishedPage, Health, History, Journal, JournalStats,
    MatchId, MetaKey, MetaValue, Never, NewMatches, Outcome, PagePosition, PageSize, Payload, ReadError,
    Request, RequestKey, RequestReused, RequestState, Response, ResultFilter, ResultNumber, ResultPage,
    ResultRow, StoredMatch, StoredRecord, StoredToken, TokenChange, UnixMillis, Version,
};

use super::fault::{Fate, Writes};
use super::random::Random;
use super::truth::Truth;

/// Milliseconds that a write takes when nothing is wrong, at most.
const USUAL_MS: u64 = 4;

/// What is stored, whoever runs on it.
#[derive(Clone)]
pub(super) struct Disk {
    stored: Arc<Mutex<Stored>>,
    results: watch::Sender<ResultNumber>,
}

struct Stored {
    truth: Arc<Truth>,
    random: Random,
    running: BTreeMap<MatchId, Vec<StoredRecord>>,
    finished: Vec<FinishedMatch>,
    requests: Vec<(RequestKey, Response)>,
    fates: VecDeque<Fate>,
    unanswered: Option<Writes>,
    unreadable: u8,
    slow: Option<(Instant, u64)>,
    epoch: u64,
    stats: JournalStats,
}

/// How a write is to fare.
enum Course {
    Goes(Option<Fate>),
    HasNoAnswer(Writes),
}

impl Disk {
    pub(super) fn new(truth: Arc<Truth>, random: Random) -> Self {
        let stored = Stored {
            truth,
            random,
            running: BTreeMap::new(),
            finished: Vec::new(),
            requests: Vec::new(),
            fates: VecDeque::new(),
            unanswered: None,
            unreadable: 0,
            slow: None,
            epoch: 0,
            stats: JournalStats::default(),
        };
        Self { stored: Arc::new(Mutex::new(stored)), results: watch::Sender::new(ResultNumber::ZERO) }
    }

    /// Opens the journal for a server.
    pub(super) fn open(&self) -> DiskJournal {
        let mut stored = self.lock();
        stored.epoch += 1;
        DiskJournal {
            disk: self.clone(),
            epoch: Epoch::new(stored.epoch),
            killed: CancellationToken::new(),
            kill: Arc::new(Mutex::new(Writes::Lost)),
            health: watch::Sender::new(Health::Writing),
        }
    }

    pub(super) fn fail_next(&self, fate: Fate, times: u8) {
        self.lock().fates.extend((0..times).map(|_| fate));
    }

    pub(super) fn leave_next_unanswered(&self, writes: Writes) {
        self.lock().unanswered = Some(writes);
    }

    /// The next write is to have an answer after all.
    pub(super) fn answer_next(&self) {
        self.lock().unanswered = None;
    }

    pub(super) fn slow_down(&self, for_ms: u64, up_to_ms: u64) {
        self.lock().slow = Some((Instant::now() + Duration::from_millis(for_ms), up_to_ms));
    }

    pub(super) fn fail_reads(&self, times: u8) {
        self.lock().unreadable = times;
    }

    /// Every match that is stored, over or not.
    pub(super) fn matches(&self) -> BTreeSet<MatchId> {
        let stored = self.lock();
        let finished = stored.finished.iter().map(|finished| finished.result.match_id);
        stored.running.keys().copied().chain(finished).collect()
    }

    /// How many matches are over.
    pub(super) fn finished(&self) -> usize {
        self.lock().finished.len()
    }

    fn lock(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn course(&self) -> (Duration, Course) {
        let mut stored = self.lock();
        let slow = stored.slow.filter(|(until, _)| *until > Instant::now());
        let most_ms = slow.map_or(USUAL_MS, |(_, up_to_ms)| up_to_ms);
        let takes = Duration::from_millis(stored.random.below(most_ms));
        let course = match stored.unanswered.take() {
            Some(writes) => Course::HasNoAnswer(writes),
            None => Course::Goes(stored.fates.pop_front()),
        };
        (takes, course)
    }
}

impl Stored {
    fn readable(&mut self) -> Result<(), ReadError> {
        if self.unreadable == 0 {
            return Ok(());
        }
        self.unreadable -= 1;
        Err(ReadError::Unavailable(Cause::new("as told")))
    }

    fn request(&self, key: &RequestKey) -> RequestState {
        let same = |(before, _): &&(RequestKey, Response)| {
            (&before.caller, &before.request_id) == (&key.caller, &key.request_id)
        };
        match self.requests.iter().find(same) {
            None => RequestState::New,
            Some((before, response)) if before.body_hash == key.body_hash => {
                RequestState::Answered(response.clone())
            }
            Some(_) => RequestState::Reused,
        }
    }

    fn create(&mut self, new: &NewMatches) -> Result<Created, CreateRefusal> {
        if let Some(Request { key, response }) = new.request() {
            match self.request(key) {
                RequestState::Answered(before) => return Ok(Created::Before(before)),
                RequestState::Reused => return Err(CreateRefusal::RequestReused),
                RequestState::New => self.requests.push((key.clone(), response.clone())),
            }
        }
        self.stats.commits += 1;
        for new_match in new.matches() {
            let record = |(version, payload): (u32, &Payload)| StoredRecord {
                version: Version::new(version),
                epoch: new.epoch(),
                payload: payload.clone(),
            };
            let records = new_match.records.as_slice();
            self.stats.rows += records.len() as u64;
            self.running.insert(new_match.match_id, (1..).zip(records).map(record).collect());
            self.truth.stored(new_match.match_id, records);
        }
        Ok(Created::New)
    }

    fn check(&self, append: &Append) -> Result<(), AppendRefusal> {
        let finished = self.finished.iter().find(|finished| finished.result.match_id == append.match_id);
        if let Some(finished) = finished {
            return Err(AppendRefusal::Finished(finished.result.number));
        }
        let Some(records) = self.running.get(&append.match_id) else { return Err(AppendRefusal::NoMatch) };
        if let Some(last) = records.last().filter(|last| last.epoch > append.epoch) {
            return Err(AppendRefusal::StaleEpoch { actual: last.epoch });
        }
        let actual = Version::new(u32::try_from(records.len()).unwrap());
        if actual == append.expected { Ok(()) } else { Err(AppendRefusal::Version { actual }) }
    }

    fn append(&mut self, append: &Append) -> Result<Version, AppendRefusal> {
        self.check(append)?;
        let records = self.running.entry(append.match_id).or_default();
        for payload in append.records.as_slice() {
            let version = Version::new(u32::try_from(records.len() + 1).unwrap());
            records.push(StoredRecord { version, epoch: append.epoch, payload: payload.clone() });
        }
        let version = Version::new(u32::try_from(records.len()).unwrap());
        self.stats.commits += 1;
        self.stats.rows += append.records.as_slice().len() as u64;
        self.truth.stored(append.match_id, append.records.as_slice());
        Ok(version)
    }

    fn finish(&mut self, finish: Finish) -> Result<ResultNumber, AppendRefusal> {
        let Finish { last, listing, finished_at, summary, record } = finish;
        let version = self.append(&last)?;
        self.running.remove(&last.match_id);
        let number = ResultNumber::new(self.finished.len() as u64 + 1);
        let result = ResultRow { number, match_id: last.match_id, listing, finished_at, summary };
        self.finished.push(FinishedMatch { result, version, record });
        Ok(number)
    }
}

/// The journal as one server has it open.
#[derive(Clone)]
pub(super) struct DiskJournal {
    disk: Disk,
    epoch: Epoch,
    killed: CancellationToken,
    kill: Arc<Mutex<Writes>>,
    health: watch::Sender<Health>,
}

impl DiskJournal {
    /// The server that has it open is killed: nothing that it asks for is answered from here on.
    pub(super) fn kill(&self, writes: Writes) {
        *self.kill.lock().unwrap_or_else(PoisonError::into_inner) = writes;
        self.killed.cancel();
    }

    /// Writes, unless the server is killed before.
    async fn write<T, R>(&self, write: impl FnOnce(&mut Stored) -> Result<T, R> + Send) -> Outcome<T, R> {
        if self.killed.is_cancelled() {
            return std::future::pending().await;
        }
        let (takes, course) = self.disk.course();
        if self.killed.run_until_cancelled(sleep(takes)).await.is_none() {
            if *self.kill.lock().unwrap_or_else(PoisonError::into_inner) == Writes::Stored {
                let _ = write(&mut self.disk.lock());
            }
            return std::future::pending().await;
        }
        let cause = Cause::new("as told");
        let fate = match course {
            Course::Goes(fate) => fate,
            Course::HasNoAnswer(writes) => {
                if writes == Writes::Stored {
                    let _ = write(&mut self.disk.lock());
                }
                return std::future::pending().await;
            }
        };
        match fate {
            Some(Fate::Fails) => return Outcome::Failed(cause),
            Some(Fate::UnknownAndIsLost) => return Outcome::Unknown(cause),
            Some(Fate::FailsAndIsStored | Fate::UnknownAndIsStored) | None => {}
        }
        match (write(&mut self.disk.lock()), fate) {
            (Err(refusal), _) => Outcome::Refused(refusal),
            (Ok(_), Some(Fate::FailsAndIsStored)) => Outcome::Failed(cause),
            (Ok(_), Some(_)) => Outcome::Unknown(cause),
            (Ok(done), None) => Outcome::Done(done),
        }
    }
}

#[async_trait]
impl Journal for DiskJournal {
    fn epoch(&self) -> Epoch {
        self.epoch
    }

    async fn create(&self, new: NewMatches) -> CreateOutcome {
        self.write(move |stored| stored.create(&new)).await
    }

    async fn append(&self, append: Append) -> AppendOutcome {
        let match_id = append.match_id;
        let outcome = self.write(move |stored| stored.append(&append)).await;
        if !matches!(outcome, Outcome::Done(_)) {
            self.disk.lock().truth.away(match_id);
        }
        outcome
    }

    async fn finish(&self, finish: Finish) -> FinishOutcome {
        let match_id = finish.last.match_id;
        let outcome = self.write(move |stored| stored.finish(finish)).await;
        match &outcome {
            Outcome::Done(number) => {
                self.disk.results.send_replace(*number);
            }
            _ => self.disk.lock().truth.away(match_id),
        }
        outcome
    }

    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError> {
        if self.killed.is_cancelled() {
            return std::future::pending().await;
        }
        let mut stored = self.disk.lock();
        stored.readable()?;
        stored.truth.back(match_id);
        if let Some(finished) = stored.finished.iter().find(|finished| finished.result.match_id == match_id) {
            return Ok(Some(StoredMatch::Finished(Box::new(finished.clone()))));
        }
        let records = stored.running.get(&match_id).cloned();
        Ok(records.map(|records| StoredMatch::Running(History { records })))
    }

    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError> {
        let mut stored = self.disk.lock();
        stored.readable()?;
        Ok(stored.running.keys().copied().collect())
    }

    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError> {
        let mut stored = self.disk.lock();
        stored.readable()?;
        let rows = stored.finished.iter().map(|finished| finished.result.clone());
        let wanted = |row: &ResultRow| row.number > after && filter.wants(row);
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
        let mut stored = self.disk.lock();
        stored.readable()?;
        let rows = stored.finished.iter().rev().map(|finished| finished.result.clone());
        let from = from.map_or(u64::MAX, PagePosition::get);
        let wanted = |row: &ResultRow| row.number.get() <= from && filter.wants(row);
        let mut matches: Vec<ResultRow> = rows.filter(wanted).take(usize::from(page.get()) + 1).collect();
        let next = matches.get(usize::from(page.get())).map(|row| PagePosition::from(row.number));
        matches.truncate(page.get().into());
        Ok(FinishedPage { matches, next })
    }

    async fn request(&self, key: RequestKey, _now: UnixMillis) -> Result<RequestState, ReadError> {
        let mut stored = self.disk.lock();
        stored.readable()?;
        Ok(stored.request(&key))
    }

    async fn remember(&self, request: Request, _now: UnixMillis) -> Outcome<Response, RequestReused> {
        Outcome::Done(request.response)
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError> {
        Ok(Vec::new())
    }

    async fn change_tokens(&self, _change: TokenChange) -> Outcome<(), RequestReused> {
        Outcome::Failed(Cause::new("a simulation has no tokens but those of seats"))
    }

    async fn meta(&self, _key: MetaKey) -> Result<Option<MetaValue>, ReadError> {
        Ok(None)
    }

    async fn meta_or_insert(&self, _key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never> {
        Outcome::Done(value)
    }

    async fn replace_meta(&self, _key: MetaKey, _value: MetaValue) -> Outcome<(), Never> {
        Outcome::Done(())
    }

    fn latest_result(&self) -> watch::Receiver<ResultNumber> {
        self.disk.results.subscribe()
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    fn stats(&self) -> JournalStats {
        self.disk.lock().stats
    }

    async fn close(&self) {}
}
