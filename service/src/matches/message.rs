//! What comes into a table's inbox.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use zetema_proto::Views;
use zetema_rules::Viewer;
use zetema_rules::fair::NonceHash;

use super::running_table::RunningTable;
use super::subscribers::Live;
use super::subscription::{Past, Running};
use super::{End, Hold};
use crate::journal::BotToken;
use crate::limits;
use crate::metrics::TableMeasures;
use crate::own_task::in_own_task;
use crate::prefetch::Place;
use crate::table::{Arrival, Command, Done, Entries, MatchInfo, Moment, Rejection, SeatAccess, Snapshot};
use crate::traces::{self, Trace};

/// For whom a subscription is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The player who holds the seat since a join. It ends when another joins.
    Player(SeatAccess, Hold),
    /// Someone who reads what the seat sees and takes nothing over.
    Observer(SeatAccess),
    /// Someone who sees what all seats see.
    Spectator,
}

impl Audience {
    /// Whose eyes it has.
    pub const fn viewer(&self) -> Viewer {
        match self {
            Self::Player(access, _) | Self::Observer(access) => Viewer::Seat(access.seat),
            Self::Spectator => Viewer::Spectator,
        }
    }

    /// The seat whose token it has. `None`: a spectator.
    pub(crate) const fn access(&self) -> Option<SeatAccess> {
        match self {
            Self::Player(access, _) | Self::Observer(access) => Some(*access),
            Self::Spectator => None,
        }
    }
}

/// Who joins.
#[derive(Clone, Copy, Debug)]
pub struct JoinSeat {
    /// The seat.
    pub access: SeatAccess,
    /// By which token of the bot whose seat it is; `None`: by the seat's own.
    pub bot_token: Option<BotToken>,
    /// The hash of the nonce that the player promises, if it does.
    pub nonce_hash: Option<NonceHash>,
    /// The hold of the same player, who joins again: it may have promised a nonce, as it knows it.
    pub earlier: Option<Hold>,
}

/// A seat that was taken, or taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// What a player's subscription needs.
    pub hold: Hold,
    /// The match as it stands.
    pub info: MatchInfo,
    /// While this is kept, the player counts as here: keep it until its subscription has begun.
    pub arriving: Arc<()>,
}

/// When something was put into an inbox, and for which trace. Unlike an [`Arrival`] it decides nothing.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    at: Instant,
    whole: Trace,
    /// Open for as long as it waits.
    _inbox: Trace,
}

impl Asked {
    pub(super) fn now() -> Self {
        Self::of(traces::current(), Instant::now())
    }

    /// Then, for what this is the span of.
    pub(super) fn of(whole: Trace, at: Instant) -> Self {
        let inbox = traces::stage!(whole, "inbox");
        Self { at, whole, _inbox: inbox }
    }

    /// It is taken out now: what follows is part of this span.
    pub(super) fn taken(self, measures: &TableMeasures, now: Instant) -> Trace {
        measures.inbox_seconds.record((now - self.at).as_secs_f64());
        self.whole
    }
}

pub(super) type Reply<T> = oneshot::Sender<Result<T, Rejection>>;

/// What a table has answered to a command, if it has taken it.
pub(crate) type Answered = Result<Result<Done, Rejection>, Box<NotTaken>>;

/// A command, and when it came, whose table does not run any more, or had no room for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotTaken {
    pub(crate) command: Command,
    pub(crate) arrival: Arrival,
}

/// A command whose answer somebody is told, whatever becomes of whoever owes it.
pub(crate) struct Promise {
    pub(super) command: Command,
    pub(super) arrival: Arrival,
    told: Option<Box<dyn FnOnce(Answered) + Send>>,
}

impl Promise {
    /// Has fetched what it takes to keep it.
    pub(super) fn prefetch(&self) {
        self.told.as_deref().map(Place::of).into_iter().for_each(Place::fetch);
    }

    pub(crate) fn new(
        command: Command,
        arrival: Arrival,
        told: impl FnOnce(Answered) + Send + 'static,
    ) -> Self {
        Self { command, arrival, told: Some(Box::new(told)) }
    }

    pub(super) fn keep(mut self, answered: Result<Done, Rejection>) {
        if let Some(told) = self.told.take() {
            told(Ok(answered));
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(told) = self.told.take() {
            let Self { command, arrival, .. } = self;
            told(Err(Box::new(NotTaken { command: command.clone(), arrival: *arrival })));
        }
    }
}

/// A command on its way to a table.
pub(super) struct Commanded {
    pub(super) asked: Asked,
    pub(super) promise: Promise,
}

impl From<Commanded> for Box<Message> {
    fn from(asked: Commanded) -> Self {
        Self::new(Message::Command(asked))
    }
}

/// The turn of someone who looks on, which goes with the message: given up when that is taken up, and not before, though who asked may be
/// gone. A player has none, and needs none.
pub(super) type OnlookersTurn = Option<OwnedSemaphorePermit>;

pub(super) enum Message {
    Command(Commanded),
    Join {
        join: JoinSeat,
        arrival: Arrival,
        asked: Asked,
        reply: Reply<Joined>,
    },
    /// Whether a seat has observations after this one.
    HasMissed {
        access: SeatAccess,
        after_seq: u64,
        reply: Reply<bool>,
    },
    Subscribe {
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
        reply: Reply<Subscribed>,
        turn: OnlookersTurn,
    },
    /// The same, unless something would have to be replayed: then the answer is nothing.
    SubscribeAtOnce {
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
        reply: Reply<Option<Subscribed>>,
        turn: OnlookersTurn,
    },
    Follow {
        audience: Audience,
        entries: usize,
        views: Views,
        reply: Reply<Followed>,
        turn: OnlookersTurn,
    },
}

/// How a subscription begins.
pub(super) enum Subscribed {
    /// With what is there now; what follows comes live.
    Snapshot { snapshot: Box<Snapshot>, info: Arc<MatchInfo>, live: Live },
    /// With how the match ended.
    Over { snapshot: Box<Snapshot>, info: Arc<MatchInfo>, end: End },
    /// After a cursor, and nothing was missed.
    Resumed { info: Arc<MatchInfo>, live: Live, running: Option<Running> },
    /// After a cursor that lies in the past.
    Past { info: Arc<MatchInfo>, past: Past, running: Option<Running> },
}

/// How a subscription goes on that has replayed so many entries.
pub(super) enum Followed {
    /// These came meanwhile; replay them and ask again.
    More(Entries),
    /// These came meanwhile, what follows comes live.
    Live { missed: Entries, live: Live },
}

/// A table that does not run any more.
#[derive(Debug)]
pub(super) struct Gone;

/// The way to a running table.
pub(super) struct Handle {
    /// Boxed, for it has room for many from the start.
    pub(super) inbox: mpsc::Sender<Box<Message>>,
    pub(super) info: watch::Receiver<Arc<MatchInfo>>,
    /// Held by what those who begin to look on have put into the inbox: however many come, it has room for players.
    pub(super) onlookers: Arc<Semaphore>,
    /// When the clock brings something if nothing else comes before: as long as the match waits for its deal.
    pub(super) deadline: watch::Receiver<Option<Moment>>,
    pub(super) counts: Arc<Counts>,
    /// The table itself: what can be done at once is, by whoever asks for it.
    pub(super) table: Arc<Mutex<RunningTable>>,
}

/// What is counted of a running table.
#[derive(Debug)]
pub(super) struct Counts {
    /// How many entries the match has.
    pub(super) entries: AtomicUsize,
    /// How many messages its task has yet to take up: what comes after them must not overtake them.
    unheard: AtomicUsize,
    /// Whether the match is over: here, as whoever acts looks here anyway.
    is_over: AtomicBool,
}

impl Counts {
    /// Of a match with so many entries.
    pub(super) const fn new(entries: usize) -> Self {
        let (entries, unheard) = (AtomicUsize::new(entries), AtomicUsize::new(0));
        Self { entries, unheard, is_over: AtomicBool::new(false) }
    }

    /// A message is about to be put into the inbox.
    fn put(&self) {
        self.unheard.fetch_add(1, Ordering::AcqRel);
    }

    /// One was taken up by who has the table's lock, or could not be put there.
    pub(super) fn taken(&self) {
        self.unheard.fetch_sub(1, Ordering::AcqRel);
    }

    /// The match is over.
    pub(super) fn over(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether all were.
    pub(super) fn are_heard(&self) -> bool {
        self.unheard.load(Ordering::Acquire) == 0
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("match_id", &self.info.borrow().match_id).finish_non_exhaustive()
    }
}

impl Handle {
    /// Whether the match is not over. A table is there for a moment longer.
    pub(super) fn runs(&self) -> bool {
        !self.counts.is_over.load(Ordering::Acquire)
    }

    /// Where it has what it takes to act.
    pub(super) fn places(&self) -> [Place; 2] {
        [Place::of(&*self.counts), Place::of(&*self.table)]
    }

    /// How many entries the match has.
    pub(super) fn length(&self) -> usize {
        self.counts.entries.load(Ordering::Relaxed)
    }

    /// Whether a seat that joins only later may be too late.
    pub(super) fn last_joins(&self, now: Moment) -> bool {
        let timeout = Duration::from_millis(self.info.borrow().time_control.join_timeout_ms().into());
        let last = limits::LAST_JOINS.min(timeout / 2);
        self.deadline.borrow().is_some_and(|deadline| deadline.since(now) <= last)
    }

    /// How many messages wait in the inbox.
    pub(super) fn waiting(&self) -> usize {
        self.inbox.max_capacity() - self.inbox.capacity()
    }

    /// Puts a message into the inbox, as soon as there is room for it.
    pub(super) async fn send(&self, message: Box<Message>) -> Result<(), Gone> {
        let room = self.inbox.reserve().await.map_err(|_closed| Gone)?;
        self.counts.put();
        room.send(message);
        Ok(())
    }

    /// Puts a message into the inbox, if there is room for it.
    pub(super) fn try_send(&self, message: Box<Message>) {
        if let Ok(room) = self.inbox.try_reserve() {
            self.counts.put();
            room.send(message);
        }
    }

    /// Asks the table; `None` if it does not run any more.
    pub(super) async fn ask<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> Message,
    ) -> Option<Result<T, Rejection>> {
        let (reply, answer) = oneshot::channel();
        self.send(Box::new(message(reply))).await.ok()?;
        answer.await.ok()
    }

    /// Asks the table for what a subscription needs. Those who look on take turns, and whoever asks may be left waiting by its
    /// reader: that keeps the turn, or a place in the inbox, from nobody.
    pub(super) async fn look<T: Send + 'static>(
        self: Arc<Self>,
        audience: Audience,
        message: impl FnOnce(Reply<T>, OnlookersTurn) -> Message + Send + 'static,
    ) -> Option<Result<T, Rejection>> {
        let handle = self;
        in_own_task(async move {
            let turn = match audience {
                Audience::Player(..) => None,
                Audience::Observer(_) | Audience::Spectator => {
                    Arc::clone(&handle.onlookers).acquire_owned().await.ok()
                }
            };
            handle.ask(|reply| message(reply, turn)).await
        })
        .await
    }

    /// Asks the table whether a seat has observations after this one, for its player: no turn of those who look on is waited for.
    pub(super) async fn has_missed(
        self: Arc<Self>,
        access: SeatAccess,
        after_seq: u64,
    ) -> Option<Result<bool, Rejection>> {
        in_own_task(async move { self.ask(|reply| Message::HasMissed { access, after_seq, reply }).await })
            .await
    }
}
