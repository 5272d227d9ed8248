//! A journal that is slowed on purpose, so that it is seen that the benchmark notices. It is in this program alone, in no server that
//! anybody runs.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use clap::ValueEnum;
use tokio::sync::{Mutex, oneshot, watch};
use zetema_service::journal::{
    AccountChange, AccountStore, Accounts, Append, AppendOutcome, BotName, CreateOutcome, DeadLetter,
    DeadLetterFilter, Epoch, Finish, FinishOutcome, FinishedFilter, FinishedPage, Health, Journal,
    JournalQueue, JournalStats, LadderChange, LadderName, LadderStore, MatchId, MetaKey, MetaValue, Never,
    NewMatches, NewRecords, Outcome, Owner, PagePosition, PageSize, ReadError, Request, RequestKey,
    RequestReused, RequestState, Response, ResultFilter, ResultNumber, ResultPage, ServerJournal,
    StoredLadder, StoredLater, StoredMatch, StoredToken, StoredWebhook, TokenChange, UnixMillis,
    WebhookChange, WebhookStore,
};

/// How long the thread of the server is kept by each append.
const SLEEP: Duration = Duration::from_micros(50);

/// What slows a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Planted {
    /// Each append keeps the thread of the server for 50 µs.
    Sleep,
    /// Another thread answers for each record, one after the other, and has the thread of the server run before it answers for the next.
    Wake,
    /// A lock is held while something is appended, so that no two tables append at once.
    Lock,
}

/// A journal that is slowed.
#[derive(Debug)]
pub(super) struct Slowed<J> {
    inner: J,
    means: Means,
}

#[derive(Debug)]
enum Means {
    Sleep,
    Wake(mpsc::Sender<oneshot::Sender<()>>),
    Lock(Mutex<()>),
}

impl<J> Slowed<J> {
    /// This journal, with that planted in it.
    pub(super) fn new(inner: J, planted: Planted) -> Self {
        let means = match planted {
            Planted::Sleep => Means::Sleep,
            Planted::Lock => Means::Lock(Mutex::default()),
            Planted::Wake => {
                let (sender, waiting) = mpsc::channel::<oneshot::Sender<()>>();
                // It ends with the journal. Who does not wait any more needs no answer.
                thread::spawn(move || {
                    for answer in waiting {
                        let _ = answer.send(());
                        thread::yield_now();
                    }
                });
                Means::Wake(sender)
            }
        };
        Self { inner, means }
    }

    /// Has these records written, and slows that.
    async fn slow<T>(&self, records: usize, write: impl Future<Output = T>) -> T {
        match &self.means {
            Means::Sleep => {
                let until = Instant::now() + SLEEP;
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                write.await
            }
            Means::Wake(answering) => {
                let written = write.await;
                for _ in 0..records {
                    let (answer, woken) = oneshot::channel();
                    // Without the other thread nobody wakes this, and it goes on at once.
                    if answering.send(answer).is_ok() {
                        let _ = woken.await;
                    }
                }
                written
            }
            Means::Lock(lock) => {
                let _held = lock.lock().await;
                write.await
            }
        }
    }
}

fn count(records: &NewRecords) -> usize {
    records.as_slice().len()
}

#[async_trait]
impl<J: ServerJournal> Journal for Slowed<J> {
    fn epoch(&self) -> Epoch {
        self.inner.epoch()
    }

    async fn create(&self, new: NewMatches) -> CreateOutcome {
        self.inner.create(new).await
    }

    async fn append(&self, append: Append) -> AppendOutcome {
        self.slow(count(&append.records), self.inner.append(append)).await
    }

    async fn finish(&self, finish: Finish) -> FinishOutcome {
        self.slow(count(&finish.last.records), self.inner.finish(finish)).await
    }

    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError> {
        self.inner.read(match_id).await
    }

    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError> {
        self.inner.unfinished().await
    }

    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError> {
        self.inner.results_after(filter, after, page).await
    }

    async fn list_finished(
        &self,
        filter: FinishedFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<FinishedPage, ReadError> {
        self.inner.list_finished(filter, from, page).await
    }

    async fn request(&self, key: RequestKey, now: UnixMillis) -> Result<RequestState, ReadError> {
        self.inner.request(key, now).await
    }

    async fn remember(&self, request: Request, now: UnixMillis) -> Outcome<Response, RequestReused> {
        self.inner.remember(request, now).await
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError> {
        self.inner.tokens().await
    }

    async fn change_tokens(&self, change: TokenChange) -> Outcome<(), RequestReused> {
        self.inner.change_tokens(change).await
    }

    async fn meta(&self, key: MetaKey) -> Result<Option<MetaValue>, ReadError> {
        self.inner.meta(key).await
    }

    async fn meta_or_insert(&self, key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never> {
        self.inner.meta_or_insert(key, value).await
    }

    async fn replace_meta(&self, key: MetaKey, value: MetaValue) -> Outcome<(), Never> {
        self.inner.replace_meta(key, value).await
    }

    fn latest_result(&self) -> watch::Receiver<ResultNumber> {
        self.inner.latest_result()
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.inner.health()
    }

    fn stats(&self) -> JournalStats {
        self.inner.stats()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[async_trait]
impl<J: ServerJournal> WebhookStore for Slowed<J> {
    async fn webhooks(&self) -> Result<Vec<(StoredWebhook, u32)>, ReadError> {
        self.inner.webhooks().await
    }

    async fn dead_letters(
        &self,
        filter: DeadLetterFilter,
        page: PageSize,
    ) -> Result<Vec<DeadLetter>, ReadError> {
        self.inner.dead_letters(filter, page).await
    }

    async fn change_webhooks(&self, change: WebhookChange) -> Outcome<u64, RequestReused> {
        self.inner.change_webhooks(change).await
    }
}

#[async_trait]
impl<J: ServerJournal> AccountStore for Slowed<J> {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        self.inner.accounts().await
    }

    async fn has_left_traces(&self, owner: Owner) -> Result<bool, ReadError> {
        self.inner.has_left_traces(owner).await
    }

    async fn has_played(&self, bot: BotName) -> Result<bool, ReadError> {
        self.inner.has_played(bot).await
    }

    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused> {
        self.inner.change_account(change).await
    }
}

#[async_trait]
impl<J: ServerJournal> LadderStore for Slowed<J> {
    async fn stored_ladder(&self, ladder: LadderName) -> Result<Option<StoredLadder>, ReadError> {
        self.inner.stored_ladder(ladder).await
    }

    async fn change_ladder(&self, change: LadderChange) -> Outcome<(), StoredLater> {
        self.inner.change_ladder(change).await
    }
}

impl<J: ServerJournal> ServerJournal for Slowed<J> {
    fn queue(&self) -> JournalQueue {
        self.inner.queue()
    }
}
