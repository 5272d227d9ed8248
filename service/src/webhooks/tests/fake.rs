//! A store of webhooks in memory, and a receiver without a network, which do what they are told.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::journal::{
    Cause, DeadLetter, DeadLetterFilter, DeadLetterState, Journal, Outcome, PageSize, ReadError,
    RequestReused, Resend, ResultNumber, StoredWebhook, UnixMillis, WebhookChange, WebhookId, WebhookStore,
};
use crate::matches::tests::fake::{FakeJournal, Fate};
use crate::webhooks::connect::{Net, Stream};

/// Whether a change is of a kind.
type Kind = fn(&WebhookChange) -> bool;

/// What becomes of the next change of this kind.
type Doom = (Kind, Fate);

#[derive(Default)]
struct Inner {
    webhooks: Vec<StoredWebhook>,
    dead: BTreeMap<(WebhookId, ResultNumber), DeadLetter>,
    changes: Vec<WebhookChange>,
    doom: Option<Doom>,
    held: Option<(Kind, Arc<Notify>)>,
    unreadable: usize,
}

/// Webhooks in memory. A clone is the same store.
#[derive(Clone)]
pub(super) struct FakeStore {
    journal: FakeJournal,
    inner: Arc<Mutex<Inner>>,
}

impl FakeStore {
    pub(super) fn new(journal: &FakeJournal) -> Self {
        Self { journal: journal.clone(), inner: Arc::default() }
    }

    /// The next change of this kind meets this fate.
    pub(super) fn doom(&self, kind: Kind, fate: Fate) {
        self.inner.lock().unwrap().doom = Some((kind, fate));
    }

    /// The next change of this kind waits until what is returned is notified.
    pub(super) fn hold(&self, kind: Kind) -> Arc<Notify> {
        let go_on = Arc::new(Notify::new());
        self.inner.lock().unwrap().held = Some((kind, Arc::clone(&go_on)));
        go_on
    }

    /// The next readings of all webhooks fail.
    pub(super) fn blind(&self, readings: usize) {
        self.inner.lock().unwrap().unreadable = readings;
    }

    /// The changes that were made, in order.
    pub(super) fn changes(&self) -> Vec<WebhookChange> {
        self.inner.lock().unwrap().changes.clone()
    }

    /// Puts a webhook and its dead letters there.
    pub(super) fn put(&self, webhook: StoredWebhook, dead: impl IntoIterator<Item = DeadLetter>) {
        let mut inner = self.inner.lock().unwrap();
        inner.dead.extend(dead.into_iter().map(|dead| ((webhook.id, dead.result), dead)));
        inner.webhooks.push(webhook);
    }
}

impl Inner {
    fn change(&mut self, change: &WebhookChange) -> u64 {
        let mut count = 0;
        match change.clone() {
            WebhookChange::Made { webhook, request: _ } => {
                self.webhooks.push(webhook);
                count = 1;
            }
            WebhookChange::Deleted(id) => {
                self.dead.retain(|(webhook, _), _| *webhook != id);
                count = self.webhooks.extract_if(.., |webhook| webhook.id == id).count();
            }
            WebhookChange::Settled { webhook: id, to, dead } => {
                if let Some(webhook) = self.webhooks.iter_mut().find(|webhook| webhook.id == id) {
                    webhook.settled = webhook.settled.max(to);
                    self.dead.extend(dead.map(|dead| ((id, dead.result), dead)));
                    count = 1;
                }
            }
            WebhookChange::Due { webhook, which } => {
                for (_, dead) in self.dead.iter_mut().filter(|((id, result), _)| {
                    *id == webhook && matches!(&which, Resend::These(these) if these.contains(result))
                        || which == Resend::All
                }) {
                    dead.state = DeadLetterState::Due;
                    count += 1;
                }
            }
            WebhookChange::Revived { webhook, result } => {
                count = usize::from(self.dead.remove(&(webhook, result)).is_some());
            }
            WebhookChange::DiedAgain { webhook, dead } => {
                if let Some(before) = self.dead.get_mut(&(webhook, dead.result)) {
                    *before = dead;
                    count = 1;
                }
            }
        }
        self.changes.push(change.clone());
        count as u64
    }
}

#[async_trait]
impl WebhookStore for FakeStore {
    async fn webhooks(&self) -> Result<Vec<(StoredWebhook, u32)>, ReadError> {
        let mut inner = self.inner.lock().unwrap();
        if inner.unreadable > 0 {
            inner.unreadable -= 1;
            return Err(ReadError::Unavailable(Cause::new("as told")));
        }
        let dead = |id| inner.dead.keys().filter(|(webhook, _)| *webhook == id).count();
        let all = inner.webhooks.iter();
        Ok(all.map(|webhook| (webhook.clone(), u32::try_from(dead(webhook.id)).unwrap())).collect())
    }

    async fn dead_letters(
        &self,
        filter: DeadLetterFilter,
        page: PageSize,
    ) -> Result<Vec<DeadLetter>, ReadError> {
        let DeadLetterFilter { webhook, state, after } = filter;
        let inner = self.inner.lock().unwrap();
        let wanted = inner.dead.iter().filter(|((id, result), dead)| {
            *id == webhook && *result > after && state.is_none_or(|state| state == dead.state)
        });
        Ok(wanted.map(|(_, dead)| dead.clone()).take(page.get().into()).collect())
    }

    async fn change_webhooks(&self, change: WebhookChange) -> Outcome<u64, RequestReused> {
        if let WebhookChange::Made { request: Some(request), .. } = &change
            && let Outcome::Refused(reused) = self.journal.remember(request.clone(), UnixMillis::new(0)).await
        {
            return Outcome::Refused(reused);
        }
        let held = self.inner.lock().unwrap().held.take_if(|(kind, _)| kind(&change));
        if let Some((_, go_on)) = held {
            go_on.notified().await;
        }
        let mut inner = self.inner.lock().unwrap();
        let fate = inner.doom.take_if(|(kind, _)| kind(&change)).map(|(_, fate)| fate);
        let cause = Cause::new("as told");
        match fate {
            Some(Fate::Fails | Fate::Fenced) => Outcome::Failed(cause),
            Some(Fate::LostUnknown) => Outcome::Unknown(cause),
            Some(Fate::WrittenUnknown) => {
                inner.change(&change);
                Outcome::Unknown(cause)
            }
            None => Outcome::Done(inner.change(&change)),
        }
    }
}

/// How a receiver answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// With this status.
    Says(u16),
    /// With this status, and that it wants to be left alone for so many seconds.
    Asks(u16, u64),
    /// With this status, after this time.
    Late(u16, Duration),
    /// Not at all.
    Never,
}

/// A message that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) result: u64,
    pub(super) id: String,
    pub(super) at: Instant,
}

/// How a receiver answers, by the number of the result.
type Manner = Box<dyn FnMut(u64) -> Answer + Send>;

/// A receiver of all addresses and names. A clone is the same.
#[derive(Clone)]
pub(super) struct Receiver {
    manner: Arc<Mutex<Manner>>,
    heard: watch::Sender<Vec<Heard>>,
}

impl Receiver {
    pub(super) fn new(answers: impl FnMut(u64) -> Answer + Send + 'static) -> Self {
        Self { manner: Arc::new(Mutex::new(Box::new(answers))), heard: watch::Sender::new(Vec::new()) }
    }

    /// From now on it answers like this.
    pub(super) fn behave(&self, answers: impl FnMut(u64) -> Answer + Send + 'static) {
        *self.manner.lock().unwrap() = Box::new(answers);
    }

    /// What it has heard.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.heard.borrow().clone()
    }

    /// The results that it has heard of, in order.
    pub(super) fn results(&self) -> Vec<u64> {
        self.heard.borrow().iter().map(|heard| heard.result).collect()
    }

    /// Waits until what it has heard is enough.
    pub(super) async fn hears(&self, what: &str, enough: impl Fn(&[Heard]) -> bool) {
        let mut heard = self.heard.subscribe();
        let waited = tokio::time::timeout(Duration::from_hours(72), heard.wait_for(|heard| enough(heard)));
        assert!(waited.await.is_ok(), "{what} never came: {:?}", self.results());
    }

    async fn converse(self, mut stream: DuplexStream) -> io::Result<()> {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await?);
            }
            let head = String::from_utf8(head).unwrap();
            let header = |name: &str| {
                let value = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                value.unwrap_or_else(|| panic!("no {name} in {head}")).to_owned()
            };
            let mut body = vec![0; header("content-length").parse().unwrap()];
            stream.read_exact(&mut body).await?;
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let result = body["data"]["result_number"].as_u64().unwrap();
            let answer = (self.manner.lock().unwrap())(result);
            let message = Heard { result, id: header("webhook-id"), at: Instant::now() };
            self.heard.send_modify(|all| all.push(message));
            let (status, headers) = match answer {
                Answer::Says(status) => (status, String::new()),
                Answer::Asks(status, seconds) => (status, format!("retry-after: {seconds}\r\n")),
                Answer::Late(status, time) => {
                    sleep(time).await;
                    (status, String::new())
                }
                Answer::Never => std::future::pending().await,
            };
            let answer = format!("HTTP/1.1 {status} So\r\ncontent-length: 0\r\n{headers}\r\n");
            stream.write_all(answer.as_bytes()).await?;
        }
    }
}

#[async_trait]
impl Net for Receiver {
    async fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), port)])
    }

    async fn connect(&self, _: SocketAddr) -> io::Result<Box<dyn Stream>> {
        let (client, host) = duplex(64 * 1024);
        tokio::spawn(self.clone().converse(host));
        Ok(Box::new(client))
    }
}
