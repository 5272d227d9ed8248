//! A subscription as its reader has it.

use std::any::Any;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::yield_now;
use zetema_proto::Views;
use zetema_rules::Rules;

use super::message::{Followed, Message, Subscribed};
use super::observed::{Observed, Shown, observe};
use super::subscribers::{CALLED_BY, Live};
use super::{Audience, End, Matches};
use crate::journal::MatchId;
use crate::limits;
use crate::prefetch::Place;
use crate::table::{Entries, MatchInfo, Moment, Observation, Rejection, Snapshot, Table};

/// How a subscription begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// From here: the snapshot says what came before.
    Snapshot(Box<Snapshot>),
    /// After the observation with this number.
    Resumed {
        /// The number that was asked for.
        after_seq: u64,
        /// The current decision, if a clock runs.
        running: Option<Running>,
    },
}

/// A decision whose clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its number.
    pub decision: u32,
    /// How much of its time is over, in milliseconds.
    pub elapsed_ms: u64,
}

/// What comes next in a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// An observation: its number is one more than that of the one before.
    Observation(Observed),
    /// Nothing more.
    End(End),
}

/// What one viewer may see of one match, from a snapshot or an earlier observation on, without a gap (I4).
///
/// What lies in the past is replayed as [`Subscription::next`] asks for it. Only what is live waits in a queue, and
/// a reader that lets it fill up is cut with [`End::Lagging`].
pub struct Subscription {
    matches: Matches,
    match_id: MatchId,
    audience: Audience,
    views: Views,
    info: Arc<MatchInfo>,
    /// Those of the match: by them each observation is encoded.
    rules: Rules,
    start: Start,
    last_seq: u64,
    feed: Feed,
}

enum Feed {
    Past(Box<Behind>),
    Live(Live),
    Ended(End),
}

/// What is replayed for a reader who has missed something.
struct Behind {
    past: Past,
    /// What is live behind it, once that is near enough.
    live: Option<Live>,
    /// Given up with it.
    kept: Option<Kept>,
}

/// What is kept as long as something has to be replayed, and for how many entries of the match it is.
pub(crate) struct Kept {
    pub(crate) entries: usize,
    pub(crate) _held: Box<dyn Any + Send + Sync>,
}

/// A match has grown by more than what was to be kept for its replay is for. Whoever asks again asks for what it takes now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outgrown;

/// Entries that are replayed, one by one, at a table of their own.
pub(super) struct Past {
    table: Box<Table>,
    entries: Entries,
    /// How the match ended, if these are all its entries.
    end: Option<End>,
}

impl Past {
    pub(super) fn new(table: Box<Table>, entries: Entries, end: Option<End>) -> Self {
        Self { table, entries, end }
    }

    /// How many entries it holds, those that were replayed included.
    fn length(&self) -> usize {
        self.table.entry_count() + self.entries.len()
    }

    /// The next observation after the one with the number `after`. A call that is dropped before it is done loses nothing.
    async fn next(
        &mut self,
        audience: Audience,
        views: Views,
        after: u64,
    ) -> Result<Option<Observation>, End> {
        let viewer = audience.viewer();
        for passed in 1.. {
            let Some(entry) = self.entries.next() else { break };
            let effect = self.table.apply(entry, Moment::since_start(Duration::ZERO)).map_err(|error| {
                tracing::error!(match_id = %self.table.match_id(), %error, "a match does not replay");
                End::Stopped
            })?;
            // Views are made for those observations alone that are delivered.
            if self.table.seq(viewer) > after
                && let Some(observation) = observe(&self.table, &effect, viewer, views)
            {
                return Ok(Some(observation));
            }
            if passed % limits::ENTRIES_REPLAYED == 0 {
                yield_now().await;
            }
        }
        Ok(None)
    }
}

impl Subscription {
    pub(super) fn new(
        matches: Matches,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
        subscribed: Subscribed,
    ) -> Self {
        let after_seq = after_seq.unwrap_or(0);
        let resumed = |running| Start::Resumed { after_seq, running };
        let (info, start, feed) = match subscribed {
            Subscribed::Snapshot { snapshot, info, live } => {
                (info, Start::Snapshot(snapshot), Feed::Live(live))
            }
            Subscribed::Over { snapshot, info, end } => (info, Start::Snapshot(snapshot), Feed::Ended(end)),
            Subscribed::Resumed { info, live, running } => (info, resumed(running), Feed::Live(live)),
            Subscribed::Past { info, past, running } => {
                (info, resumed(running), Feed::Past(Box::new(Behind { past, live: None, kept: None })))
            }
        };
        let last_seq = match &start {
            Start::Snapshot(snapshot) => snapshot.seq,
            Start::Resumed { after_seq, .. } => *after_seq,
        };
        let (match_id, rules) = (info.match_id, info.rules);
        Self { matches, match_id, audience, views, info, rules, start, last_seq, feed }
    }

    /// The match as it stood at the start.
    pub fn info(&self) -> &MatchInfo {
        &self.info
    }

    /// The rules of the match.
    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How it begins.
    pub const fn start(&self) -> &Start {
        &self.start
    }

    /// The same, handed over: a snapshot is larger than all else that a reader costs, and is not kept for as long as it reads.
    /// From then on it begins where it begins to be heard.
    pub const fn take_start(&mut self) -> Start {
        let from_here = Start::Resumed { after_seq: self.last_seq, running: None };
        std::mem::replace(&mut self.start, from_here)
    }

    /// Keeps this until nothing more has to be replayed: not at all, if nothing has.
    ///
    /// # Errors
    /// [`Outgrown`] if far more has to be replayed than this is for: the match has grown since it was reckoned. One that is over has
    /// not, though its record may have a few entries that the journal had not.
    pub(crate) fn keep_while_behind(&mut self, kept: Kept) -> Result<(), Outgrown> {
        let Feed::Past(behind) = &mut self.feed else { return Ok(()) };
        if behind.past.length() > kept.entries.saturating_add(limits::REPLAY_GROWTH_ENTRIES) {
            return Err(Outgrown);
        }
        behind.kept = Some(kept);
        Ok(())
    }

    /// For whom it is.
    pub const fn audience(&self) -> Audience {
        self.audience
    }

    /// The number of the last observation that was delivered, or that the start includes: where another
    /// subscription goes on.
    pub const fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// The entrants of a deal set in what it replays of a match that is dealt.
    #[cfg(test)]
    pub(super) fn entrants_replayed(&self) -> Option<Arc<[crate::table::Entrant]>> {
        let Feed::Past(behind) = &self.feed else { return None };
        let Behind { past, .. } = &**behind;
        past.entries.clone().find_map(|entry| match entry.change {
            crate::table::Change::Started(started) => Some(started.entrants),
            _ => None,
        })
    }

    /// What comes next. After an end it is that end again. A call that is dropped before it is done loses nothing.
    pub async fn next(&mut self) -> Next {
        let step = self.step().await;
        self.took(step)
    }

    /// Whether something has to be replayed before what is live.
    pub(crate) const fn has_to_replay(&self) -> bool {
        matches!(self.feed, Feed::Past(_))
    }

    /// The same as [`Self::next`] as a poll, where nothing has to be replayed. A reader for whom something has to be is behind, and is
    /// cut as one.
    pub(crate) fn poll_live(&mut self, context: &Context<'_>) -> Poll<Next> {
        let polled = match &mut self.feed {
            Feed::Live(live) => live.poll_next(context),
            Feed::Ended(end) => Poll::Ready(Err(end.clone())),
            Feed::Past(_) => Poll::Ready(Err(End::Lagging)),
        };
        polled.map(|step| self.took(step))
    }

    /// Where what comes next is, if that is a player's own queue.
    pub(crate) fn queue(&self) -> Option<Place> {
        match &self.feed {
            Feed::Live(live) => live.queue(),
            Feed::Past(_) | Feed::Ended(_) => None,
        }
    }

    /// Says where that is by which its reader is called, so that it can be fetched before it is.
    pub(crate) fn is_called_by(&self, places: [Place; CALLED_BY]) {
        match &self.feed {
            Feed::Live(live) => live.is_called_by(places),
            Feed::Past(_) | Feed::Ended(_) => {}
        }
    }

    /// Has the task of this context woken for what comes next, if it is known that nothing is there now.
    pub(crate) fn sleeps(&mut self, context: &Context<'_>) -> bool {
        match &mut self.feed {
            Feed::Live(live) => live.sleeps(context),
            Feed::Past(_) | Feed::Ended(_) => false,
        }
    }

    fn took(&mut self, step: Result<Arc<Shown>, End>) -> Next {
        match step {
            Ok(shown) => {
                self.last_seq = shown.seq();
                Next::Observation(Observed::new(shown, self.views))
            }
            Err(end) => {
                self.feed = Feed::Ended(end.clone());
                Next::End(end)
            }
        }
    }

    async fn step(&mut self) -> Result<Arc<Shown>, End> {
        loop {
            match &mut self.feed {
                Feed::Past(behind) => {
                    let Behind { past, live, .. } = &mut **behind;
                    if let Some(observation) = past.next(self.audience, self.views, self.last_seq).await? {
                        return Ok(Arc::new(Shown::new(observation)));
                    }
                    if let Some(end) = past.end.clone() {
                        return Err(end);
                    }
                    match live.take() {
                        Some(live) => self.feed = Feed::Live(live),
                        None => self.follow().await?,
                    }
                }
                Feed::Live(live) => return poll_fn(|context| live.poll_next(context)).await,
                Feed::Ended(end) => return Err(end.clone()),
            }
        }
    }

    /// Catches up with the table, or with how the match ended meanwhile.
    async fn follow(&mut self) -> Result<(), End> {
        let Feed::Past(behind) = &mut self.feed else { return Ok(()) };
        let Behind { past, live, kept } = &mut **behind;
        let (audience, views, entries) = (self.audience, self.views, past.table.entry_count());
        if let Some(handle) = self.matches.handle(self.match_id) {
            let follow = move |reply, turn| Message::Follow { audience, entries, views, reply, turn };
            let asked = handle.look(audience, follow);
            match asked.await {
                Some(Ok(Followed::More(more))) => {
                    check_room(kept.as_ref(), entries + more.len())?;
                    past.entries = more;
                    return Ok(());
                }
                Some(Ok(Followed::Live { missed, live: begun })) => {
                    past.entries = missed;
                    *live = Some(begun);
                    return Ok(());
                }
                Some(Err(rejection)) => return Err(rejected(&rejection)),
                None => {}
            }
        }
        // The record holds the same entries, but not one for one: it is replayed from its start.
        let over = self.matches.past(self.match_id).await.map_err(|rejection| rejected(&rejection))?;
        over.check(self.audience.access()).map_err(|rejection| rejected(&rejection))?;
        check_room(kept.as_ref(), over.length())?;
        *past = over.replay().map_err(|rejection| rejected(&rejection))?;
        Ok(())
    }
}

/// A match that has outgrown what is kept for its replay: its reader comes back where it is, for what it takes now.
fn check_room(kept: Option<&Kept>, entries: usize) -> Result<(), End> {
    if kept.is_some_and(|kept| kept.entries < entries) { Err(End::Lagging) } else { Ok(()) }
}

/// How a subscription ends that can't go on.
const fn rejected(rejection: &Rejection) -> End {
    match rejection {
        Rejection::Superseded => End::Superseded,
        Rejection::TokenReplaced => End::TokenReplaced,
        Rejection::TooManySubscribers { limit } => End::Crowded { limit: *limit },
        _ => End::Stopped,
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("match_id", &self.match_id)
            .field("audience", &self.audience)
            .field("last_seq", &self.last_seq)
            .finish_non_exhaustive()
    }
}
