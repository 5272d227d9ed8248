//! All matches: those that run, each a table with a task of its own, and those that are over, in their records.
//!
//! [`Matches`] is what the adapters talk to. It knows no transport: requests are values, refusals are
//! [`Rejection`]s, and what a viewer sees is a [`Subscription`].
//!
//! ```text
//! adapter ─► Matches ─► Table ─► journal ─► apply ─► queue of each subscription
//!                ├─► inbox of the match's task, if the table is at work, or this is no action
//!                └─► record of a match that is over
//! ```
//!
//! A match is found here while it runs and afterwards alike: an action sent twice gets its first receipt, and a
//! subscription its missing observations, even if the match ended in between.

mod alarm;
mod at_once;
mod backlog;
mod bot_seats;
mod broadcast;
mod clock;
mod create;
mod damaged;
mod deal_set;
mod hold;
mod incarnation;
mod limits;
mod list;
mod live_bytes;
mod live_matches;
mod live_names;
mod lost;
mod message;
mod not_aborted;
mod observed;
mod past;
mod places;
mod player_faults;
mod recent_results;
mod recover;
mod requests;
mod result_cursor;
mod results;
mod run;
mod running_table;
mod seat_token;
mod server_clock;
mod storage;
mod subscribers;
mod subscription;
mod task;
#[cfg(test)]
pub(crate) mod tests;
mod way;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zetema_rules::Seat;

pub use bot_seats::{Assignments, BotSeats, LiveSeat, NoSeatPlace, SeatPlace};
pub use clock::{Clock, Entropy, EntropyError, SystemClock, SystemEntropy};
pub use create::CreateError;
pub use hold::Hold;
pub use incarnation::{Incarnation, IncarnationError};
pub use limits::Limits;
pub use list::{ListCursor, ListFilter, MatchPage, NoListCursor, RecordPage};
pub(crate) use live_names::InLiveMatches;
pub(crate) use message::{Answered, NotTaken, Promise};
pub use message::{Audience, JoinSeat, Joined};
pub use observed::Observed;
pub use past::RecordFile;
pub use player_faults::{FaultLimits, FaultNumber, FaultPage, FaultsOf, NoFaultNumber, PlayerFault};
pub use result_cursor::{NoResultCursor, ResultCursor};
pub use results::{EndedMatch, ResultCursorAhead, ResultNews, Results, ResultsFrom};
pub use seat_token::{RotationError, SeatTokenWatch};
pub use server_clock::ServerClock;
pub use subscribers::End;
pub(crate) use subscription::{Kept, Outgrown};
pub use subscription::{Next, Running, Start, Subscription};
pub(crate) use way::Way;

use crate::journal::{Journal, MatchId, ReadError, UnixMillis};
use crate::limits::ABORTS_AT_ONCE;
use crate::metrics::TableMeasures;
use crate::table::{
    Arrival, Command, MatchInfo, MatchStage, Moment, Rejection, SeatInfo, SeatState, Shuffler,
};
use backlog::Backlog;
use bot_seats::AllBotSeats;
use damaged::Incidents;
use incarnation::Incarnations;
use live_bytes::LiveBytes;
use live_matches::LiveMatches;
use lost::LostMatches;
use message::Handle;
use places::Places;
use player_faults::{FaultKeeper, PlayerFaults};
use recent_results::RecentResults;
use seat_token::Rotations;

/// All matches. A clone is another handle to the same.
#[derive(Clone)]
pub struct Matches {
    shared: Arc<Shared>,
}

/// What the matches run on.
pub struct Config {
    /// Where they are stored.
    pub journal: Arc<dyn Journal>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where seeds and ids come from.
    pub entropy: Arc<dyn Entropy>,
    /// Where decks come from: [`FairShuffler`](crate::table::FairShuffler), except in tests.
    pub shuffler: Arc<dyn Shuffler>,
    /// The bounds.
    pub limits: Limits,
    /// The file in which what went wrong for players outlasts a restart. `None`: it is forgotten then.
    pub faults: Option<PathBuf>,
}

struct Shared {
    config: Config,
    measures: Arc<TableMeasures>,
    incarnations: Incarnations,
    live: RwLock<LiveMatches>,
    places: Arc<Places>,
    /// What has happened in the matches that run.
    live_bytes: Arc<LiveBytes>,
    /// What waits for the readers of all matches.
    backlog: Arc<Backlog>,
    /// The seats of bots in the matches that run.
    bot_seats: Arc<AllBotSeats>,
    /// What went wrong for players.
    faults: Arc<PlayerFaults>,
    /// What has them outlast a restart, if anything does.
    fault_keeper: Option<FaultKeeper>,
    /// Matches that have not ended and can't go on here. The log says why.
    lost: LostMatches,
    /// What was told of damaged matches.
    incidents: Incidents,
    recent_results: RecentResults,
    rotations: Rotations,
    tasks: TaskTracker,
    /// Cancelled when no more matches are created.
    drain: CancellationToken,
    stop: CancellationToken,
}

/// Messages in the inboxes of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In all of them.
    pub(crate) all: usize,
    /// In the fullest.
    pub(crate) most: usize,
}

/// Why the matches can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The journal can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a recovery found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// How many matches go on.
    pub running: usize,
    /// The matches that can't go on here: they don't replay, or could not be aborted when a backup was restored. The log says why.
    /// They stay in the journal as they are.
    pub damaged: Vec<MatchId>,
}

/// What became of the matches of a backup that had not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbortedMatches {
    /// How many were aborted.
    pub aborted: usize,
    /// Those that were not: they can't go on, or their end can't be stored. The log says why. They stay in the journal as they are.
    pub damaged: Vec<MatchId>,
}

impl Matches {
    /// Opens all matches: those that had not ended go on, with the same hidden state, the same observations and the
    /// same decision numbers (I1).
    ///
    /// # Errors
    /// [`OpenError`] if the journal can't be read.
    pub async fn open(config: Config) -> Result<(Self, Recovered), OpenError> {
        let faults = Arc::new(PlayerFaults::new(config.limits.faults));
        let places = Places::new(config.limits.live_matches, config.limits.live_matches_of_owner);
        let incarnations = Incarnations::read(&*config.journal).await?;
        let fault_keeper = match config.faults.clone() {
            Some(file) => {
                let (faults, clock) = (Arc::clone(&faults), Arc::clone(&config.clock));
                Some(FaultKeeper::open(file, faults, incarnations.current(), clock).await)
            }
            None => None,
        };
        let matches = Self {
            shared: Arc::new(Shared {
                live_bytes: Arc::new(LiveBytes::new(config.limits.live_bytes)),
                backlog: Arc::new(Backlog::new(&config.limits)),
                config,
                measures: Arc::new(TableMeasures::new()),
                incarnations,
                faults,
                fault_keeper,
                live: RwLock::default(),
                places: Arc::new(places),
                bot_seats: Arc::default(),
                lost: LostMatches::default(),
                incidents: Incidents::default(),
                recent_results: RecentResults::default(),
                rotations: Rotations::new(),
                tasks: TaskTracker::new(),
                drain: CancellationToken::new(),
                stop: CancellationToken::new(),
            }),
        };
        let recovered = matches.recover().await?;
        matches.shared.bot_seats.began(&matches.shared.config.clock);
        matches.shared.faults.settle(|match_id| matches.runs(match_id));
        if let Some(keeper) = &matches.shared.fault_keeper {
            keeper.start();
        }
        Ok((matches, recovered))
    }

    /// Begins another life of a journal that was restored from a backup, before its matches are opened.
    ///
    /// # Errors
    /// [`IncarnationError`] if the journal can't be read or written.
    pub async fn begin_incarnation(
        journal: &dyn Journal,
        entropy: &dyn Entropy,
    ) -> Result<(), IncarnationError> {
        Incarnations::begin(journal, entropy).await
    }

    /// Ends all matches that run, as those of a backup: unrated and revealed. Those that can't go on here, or whose end the journal
    /// does not take, stay as they are, and no later opening lets them go on.
    ///
    /// # Errors
    /// A [`Rejection`] if it can't be known of one whether it has ended, or can't be stored which have not.
    pub async fn abort_restored(&self) -> Result<AbortedMatches, Rejection> {
        let live: Vec<MatchId> = {
            let live = self.live_matches();
            live.ids().collect()
        };
        let aborts = live.iter().map(async |match_id| {
            match self.command(*match_id, Command::AbortRestored, self.arrival(None)).await {
                // Before the deal the matches of a deal set end together.
                Ok(_) | Err(Rejection::MatchOver) => Ok(None),
                Err(Rejection::Damaged | Rejection::MatchDamaged(_)) => Ok(Some(*match_id)),
                Err(rejection) => Err(rejection),
            }
        });
        let aborts = stream::iter(aborts).buffer_unordered(ABORTS_AT_ONCE);
        let not_ended: Vec<Option<MatchId>> = aborts.try_collect().await?;
        let not_ended: BTreeSet<MatchId> = not_ended.into_iter().flatten().collect();
        let aborted = live.len() - not_ended.len();
        // One that did not replay, or has halted since, has no table that was asked. Another release might play it on.
        let unfinished = self.journal().unfinished().await.map_err(|error| past::unreadable(&error))?;
        let damaged: BTreeSet<MatchId> = not_ended.into_iter().chain(unfinished).collect();
        let damaged: Vec<MatchId> = damaged.into_iter().collect();
        if !damaged.is_empty() {
            not_aborted::add(self.journal(), &damaged).await.map_err(|cause| {
                tracing::error!(%cause, "it can't be stored which matches are not aborted");
                Rejection::OutcomeUnknown
            })?;
        }
        Ok(AbortedMatches { aborted, damaged })
    }

    /// How many matches run.
    pub fn live(&self) -> usize {
        self.live_matches().len()
    }

    /// What is counted of actions.
    pub(crate) fn measures(&self) -> &TableMeasures {
        &self.shared.measures
    }

    /// How many messages wait in the inboxes of all tables.
    pub(crate) fn waiting(&self) -> Waiting {
        let live = self.live_matches();
        let waiting = live.handles().map(|handle| handle.waiting());
        waiting.fold(Waiting::default(), |Waiting { all, most }, more| Waiting {
            all: all + more,
            most: most.max(more),
        })
    }

    /// Bytes of memory that what has happened in the matches that run takes.
    pub(crate) fn live_bytes(&self) -> usize {
        self.shared.live_bytes.bytes()
    }

    /// Bytes of observations that wait for readers.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.shared.backlog.bytes()
    }

    /// Creates no more matches, and waits until none runs.
    pub async fn drain(&self) {
        self.shared.drain.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Stops all matches, each after the append that it is in when its task learns of it, and waits for them. Nothing is lost: another
    /// opening of the journal goes on. Subscriptions end with [`End::Stopped`].
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        if let Some(keeper) = &self.shared.fault_keeper {
            keeper.stop().await;
        }
    }

    /// A match, running or over.
    ///
    /// # Errors
    /// [`Rejection::NotFound`], [`Rejection::MatchDamaged`], or why it can't be read.
    pub async fn get(&self, match_id: MatchId) -> Result<MatchInfo, Rejection> {
        if let Some(handle) = self.handle(match_id) {
            return Ok((**handle.info.borrow()).clone());
        }
        self.ended(match_id).await
    }

    /// Whether a match runs. What is asked of any other may have to replay it.
    pub(crate) fn runs(&self, match_id: MatchId) -> bool {
        self.live_matches().handle(match_id).is_some()
    }

    /// Whether a match that runs waits for this seat, which has not joined, and will for a while.
    pub(crate) fn can_wait_for(&self, match_id: MatchId, seat: Seat) -> bool {
        self.handle(match_id).is_some_and(|handle| {
            let last = handle.last_joins(self.now());
            let info = handle.info.borrow();
            let open = |info: &SeatInfo| info.seat == seat && info.state == SeatState::Open;
            !last && info.stage == MatchStage::WaitingForSeats && info.seats.iter().any(open)
        })
    }

    /// How long ago the server's clock began.
    pub(crate) fn since_start(&self) -> Duration {
        self.shared.config.clock.since_start()
    }

    /// The time by the wall clock.
    pub(crate) fn wall(&self) -> UnixMillis {
        self.shared.config.clock.wall()
    }

    /// The time by the server's clock, which stands still while the server does.
    pub(crate) fn now(&self) -> Moment {
        self.shared.config.clock.now()
    }

    /// The same at an instant that was read a moment ago.
    pub(crate) fn shown_at(&self, instant: Instant) -> Moment {
        self.shared.config.clock.shown_at(instant)
    }

    /// That something has come in now, on a connection with this round trip in milliseconds: `None` if none was
    /// measured. What is asked with it counts as asked at this moment, however long its way to the table is.
    pub(crate) fn arrival(&self, round_trip_ms: Option<u32>) -> Arrival {
        self.arrival_at(Instant::now(), round_trip_ms)
    }

    /// The same of something that came in at an instant that was read a moment ago.
    pub(crate) fn arrival_at(&self, instant: Instant, round_trip_ms: Option<u32>) -> Arrival {
        Arrival { at: self.shown_at(instant), round_trip_ms }
    }

    /// The matches that run.
    fn live_matches(&self) -> RwLockReadGuard<'_, LiveMatches> {
        self.shared.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to the table of a match that is not over.
    fn handle(&self, match_id: MatchId) -> Option<Arc<Handle>> {
        self.live_matches().handle(match_id).cloned()
    }

    /// The way to the table of a match, to be kept: to nowhere, if the match does not run.
    pub(crate) fn way(&self, match_id: MatchId) -> Way {
        self.live_matches().handle(match_id).map_or_else(Way::nowhere, Way::new)
    }

    /// Why a match that has not ended does not run.
    fn why_not_running(&self, match_id: MatchId) -> Rejection {
        if self.shared.stop.is_cancelled() {
            Rejection::Stopping
        } else if self.shared.lost.has(match_id) {
            self.damaged(match_id, &"it can't go on here")
        } else {
            // It was stored a moment ago, and whoever created it has not heard so yet.
            Rejection::OutcomeUnknown
        }
    }

    pub(crate) fn journal(&self) -> &dyn Journal {
        &*self.shared.config.journal
    }

    fn shuffler(&self) -> Arc<dyn Shuffler> {
        self.shared.config.shuffler.clone()
    }

    fn stopping(&self) -> CancellationToken {
        self.shared.stop.clone()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.shared.tasks.spawn(task);
    }
}

impl std::fmt::Debug for Matches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matches").field("live", &self.live_matches()).finish_non_exhaustive()
    }
}
