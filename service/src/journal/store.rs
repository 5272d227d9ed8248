//! The trait, and what goes in and out of it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use super::{
    AccountStore, AppendOutcome, BodyHash, Caller, ClientReference, CreateOutcome, Epoch, FinishOutcome,
    FinishedFilter, FinishedPage, Health, JournalQueue, JournalStats, JournalValueError, LadderStore,
    MatchId, MetaKey, MetaValue, NewRecords, Outcome, Owner, PagePosition, PageSize, Payload, ReadError,
    RecordBytes, RequestId, RequestReused, Response, ResultFilter, ResultNumber, ResultPage, StoredToken,
    Summary, TokenChange, UnixMillis, Version, WebhookStore,
};

/// A step of fetching memory that will be needed. Who has one done had those before it done.
///
/// ```
/// use zetema_service::journal::Fetch;
///
/// assert_eq!(Fetch::STEPS, [Fetch::First, Fetch::Next, Fetch::Last]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// What it knows the place of.
    First,
    /// What that leads to, which was fetched by now.
    Next,
    /// What this leads to.
    Last,
}

impl Fetch {
    /// All, in order.
    pub const STEPS: [Self; 3] = [Self::First, Self::Next, Self::Last];
}

/// Who is told what became of an append: a closure, or what can have fetched beforehand the memory that it will need.
///
/// It is told once at most. One that is dropped untold takes it that nobody knows what became of the append.
///
/// ```
/// # use zetema_service::journal::{AppendOutcome, Completion, Fetch, Outcome, Version};
/// let (told, outcome) = std::sync::mpsc::channel();
/// let then: Box<dyn Completion> = Box::new(move |outcome: AppendOutcome| told.send(outcome).unwrap());
/// Fetch::STEPS.into_iter().for_each(|step| then.prefetch(step));
/// then.complete(Outcome::Done(Version::new(2)));
/// assert_eq!(outcome.recv().unwrap(), Outcome::Done(Version::new(2)));
/// ```
pub trait Completion: Send {
    /// Has fetched what [`Self::complete`] will need, and does nothing else: it takes no lock, and does not panic. A journal that answers
    /// many at once may have some of them do this, each step one after the other, before the first is told, so that the processor fetches
    /// the memory of all of them at once.
    fn prefetch(&self, _step: Fetch) {}

    /// The append has come to this. Whoever is told does little, and waits for nothing.
    fn complete(self: Box<Self>, outcome: AppendOutcome);
}

impl<F: FnOnce(AppendOutcome) + Send> Completion for F {
    fn complete(self: Box<Self>, outcome: AppendOutcome) {
        self(outcome);
    }
}

/// Durable memory of every match. See the [module](super) for what it promises.
///
/// A future that is dropped undoes nothing: what it asked for may still be written.
#[async_trait]
pub trait Journal: Send + Sync + 'static {
    /// The epoch of this opening of the journal: greater than any before.
    fn epoch(&self) -> Epoch;

    /// Creates matches, all or none.
    async fn create(&self, new: NewMatches) -> CreateOutcome;

    /// Appends records to a running match.
    async fn append(&self, append: Append) -> AppendOutcome;

    /// Appends records to a running match, and tells someone what became of it: of use where a task for each append costs more than the
    /// append itself. It is dropped untold when the journal goes away.
    fn append_then(self: Arc<Self>, append: Append, then: Box<dyn Completion>) {
        tokio::spawn(async move { then.complete(self.append(append).await) });
    }

    /// Appends the last records of a match, files its record and gives its result a number, all or none.
    async fn finish(&self, finish: Finish) -> FinishOutcome;

    /// What is there of a match, after every write that was handed in before this call; `None` when there is no such match.
    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError>;

    /// The same without the records, however many there are: of a match that has ended no more than lists show. Of its record
    /// [`Journal::read`] alone tells damage.
    async fn standing(&self, match_id: MatchId) -> Result<Option<Standing>, ReadError> {
        Ok(self.read(match_id).await?.map(Standing::from))
    }

    /// The first record of a match that has not ended, under quarantine or not: how it was created. However long the match is, none
    /// of its other records is read. `None` too when it is damaged itself, so that nothing is left of it.
    async fn first(&self, match_id: MatchId) -> Result<Option<StoredRecord>, ReadError> {
        Ok(match self.read(match_id).await? {
            Some(StoredMatch::Running(history) | StoredMatch::Quarantined { intact: history, .. }) => {
                history.records.into_iter().next()
            }
            Some(StoredMatch::Finished(_)) | None => None,
        })
    }

    /// The matches that have not ended, in no order. Those under quarantine are left out.
    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError>;

    /// The results after a number that the filter wants, in order, at most a page of them. How many results are looked at is
    /// bounded, so there may be fewer, and none, even if more follow.
    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError>;

    /// Finished matches, the latest first. As above there may be fewer than a page, and none, even if more follow.
    async fn list_finished(
        &self,
        filter: FinishedFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<FinishedPage, ReadError>;

    /// What is known of a request. [`Journal::create`] decides again, so this only saves work.
    async fn request(&self, key: RequestKey, now: UnixMillis) -> Result<RequestState, ReadError>;

    /// Remembers a request that came at `now`, with its answer, unless it was answered before; the answer is the one that
    /// is there afterwards.
    async fn remember(&self, request: Request, now: UnixMillis) -> Outcome<Response, RequestReused>;

    /// Every token, void ones too, in the order in which they were made.
    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError>;

    /// Changes the tokens, all of the change or none of it.
    async fn change_tokens(&self, change: TokenChange) -> Outcome<(), RequestReused>;

    /// The value under a key, if there is one.
    async fn meta(&self, key: MetaKey) -> Result<Option<MetaValue>, ReadError>;

    /// Stores a value under a key unless one is there; the answer is the one that is there afterwards.
    async fn meta_or_insert(&self, key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never>;

    /// Stores a value under a key, in the place of what is there.
    async fn replace_meta(&self, key: MetaKey, value: MetaValue) -> Outcome<(), Never>;

    /// The number of the latest durable result, as it changes.
    fn latest_result(&self) -> watch::Receiver<ResultNumber>;

    /// Whether writes go through, as it changes.
    fn health(&self) -> watch::Receiver<Health>;

    /// What it has written since it was opened.
    fn stats(&self) -> JournalStats;

    /// Ends what was handed in before, then closes the files. Later writes fail.
    async fn close(&self);
}

/// All that a server keeps: its matches, its webhooks, its accounts and the ratings of its ladders.
pub trait ServerJournal: Journal + WebhookStore + AccountStore + LadderStore + fmt::Debug {
    /// What waits to be written now.
    fn queue(&self) -> JournalQueue;
}

/// What can't be: a write that ends with this refusal is never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Never {}

/// A match to create: its id and its first records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMatch {
    /// Its name, not in use.
    pub match_id: MatchId,
    /// Its first records.
    pub records: NewRecords,
}

/// One to [`Self::MAX`] matches to create together, all or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMatches {
    pub(crate) matches: Vec<NewMatch>,
    pub(crate) epoch: Epoch,
    pub(crate) now: UnixMillis,
    pub(crate) request: Option<Request>,
}

impl NewMatches {
    /// The most matches of one creation.
    pub const MAX: usize = 1000;

    /// Matches to create at `now`, owned by `epoch`, and the request that asks for them, if it named itself.
    ///
    /// # Errors
    /// [`JournalValueError::Count`] for none or more than [`Self::MAX`], [`JournalValueError::Twice`] when two have
    /// the same id.
    pub fn new(
        matches: Vec<NewMatch>,
        epoch: Epoch,
        now: UnixMillis,
        request: Option<Request>,
    ) -> Result<Self, JournalValueError> {
        if matches.is_empty() || matches.len() > Self::MAX {
            let count = matches.len();
            return Err(JournalValueError::Count { what: "matches", count, least: 1, most: Self::MAX });
        }
        let mut ids: Vec<MatchId> = matches.iter().map(|new| new.match_id).collect();
        ids.sort_unstable();
        match ids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(JournalValueError::Twice(pair[0])),
            None => Ok(Self { matches, epoch, now, request }),
        }
    }

    /// The matches, for a journal that stores them.
    pub fn matches(&self) -> &[NewMatch] {
        &self.matches
    }

    /// Who creates them.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// When, by the wall clock.
    pub const fn now(&self) -> UnixMillis {
        self.now
    }

    /// The request that asks for them, if it named itself.
    pub const fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }
}

/// What names a request: a caller's own id for it, and the hash of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// Who asks.
    pub caller: Caller,
    /// The caller's name for the request.
    pub request_id: RequestId,
    /// The hash of what is asked.
    pub body_hash: BodyHash,
}

/// A request to remember, with its answer, for [`Self::KEPT_MS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What names it.
    pub key: RequestKey,
    /// What it is answered, now and when it comes again.
    pub response: Response,
}

impl Request {
    /// How long a request is remembered: 24 hours, in milliseconds.
    pub const KEPT_MS: u64 = 24 * 60 * 60 * 1000;
}

/// What the journal knows of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestState {
    /// It has not come in the last 24 hours.
    New,
    /// It has, and was answered with this.
    Answered(Response),
    /// Another request has come under its id.
    Reused,
}

/// Records to append to a running match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// To which match.
    pub match_id: MatchId,
    /// The version that it has to be at.
    pub expected: Version,
    /// Who writes: not before the epoch of the match's last record. A greater one takes the match over.
    pub epoch: Epoch,
    /// What to append.
    pub records: NewRecords,
}

/// The end of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Its last records.
    pub last: Append,
    /// What lists are filtered by.
    pub listing: Listing,
    /// When it ended.
    pub finished_at: UnixMillis,
    /// What lists and results show of it.
    pub summary: Summary,
    /// Everything about it.
    pub record: RecordBytes,
}

/// What lists of matches are filtered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Whom it belongs to.
    pub owner: Option<Owner>,
    /// Who may see it.
    pub visibility: Visibility,
    /// What its creator calls it.
    pub client_reference: Option<ClientReference>,
}

/// Who may see a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// The admin, its owner and its seats.
    Private,
    /// Everyone.
    Public,
}

/// What is there of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredMatch {
    /// It runs.
    Running(History),
    /// It has ended.
    Finished(Box<FinishedMatch>),
    /// Damage was found in it. The records before the damage are good; it can't be written to.
    Quarantined {
        /// The records before the damage.
        intact: History,
        /// What was found.
        damage: Arc<str>,
    },
}

/// Where a match stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It runs.
    Running,
    /// It has ended.
    Finished {
        /// Its result.
        result: Box<ResultRow>,
        /// How many records its journal had.
        version: Version,
    },
    /// Damage was found in it: it can't be written to.
    Quarantined {
        /// What was found.
        damage: Arc<str>,
    },
}

impl From<StoredMatch> for Standing {
    fn from(stored: StoredMatch) -> Self {
        match stored {
            StoredMatch::Running(_) => Self::Running,
            StoredMatch::Finished(finished) => {
                Self::Finished { result: Box::new(finished.result), version: finished.version }
            }
            StoredMatch::Quarantined { intact: _, damage } => Self::Quarantined { damage },
        }
    }
}

/// The records of a match, in order: the first has version 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The records.
    pub records: Vec<StoredRecord>,
}

impl History {
    /// The version that these records make.
    pub fn version(&self) -> Version {
        self.records.last().map_or(Version::ZERO, |record| record.version)
    }
}

/// One record of a running match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its place in the match.
    pub version: Version,
    /// Who wrote it.
    pub epoch: Epoch,
    /// What it says.
    pub payload: Payload,
}

/// A finished match as results and lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRow {
    /// Its place among all results.
    pub number: ResultNumber,
    /// Which match.
    pub match_id: MatchId,
    /// What lists are filtered by.
    pub listing: Listing,
    /// When it ended.
    pub finished_at: UnixMillis,
    /// What its last append said to show.
    pub summary: Summary,
}

/// A finished match, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedMatch {
    /// Its result.
    pub result: ResultRow,
    /// How many records its journal had.
    pub version: Version,
    /// Everything about it.
    pub record: RecordBytes,
}
