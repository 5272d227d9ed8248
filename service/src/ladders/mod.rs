//! Ladders: bots wait, are paired, and their results are rated.
//!
//! One task owns the [`State`](state::State) of all ladders. Whoever wants something of it sends a command; what everyone may read
//! is shown in a [`Picture`] of each ladder.
//!
//! ```text
//! Play stream ─► Presence ─► task ─► State: who waits, who plays whom ─► Matches
//!                              ▲                                            │
//!                              └──── results, in the order of their numbers ┘
//! ```
//!
//! Ratings are a fold over the results. Nothing of them is stored: they are made anew at each start, so that no crash can leave a match
//! counted twice, or not at all.

mod accounts;
mod archive;
mod ended;
mod names;
mod picture;
mod presence;
mod query;
mod reinstated;
mod results;
mod spec;
mod state;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zetema_ladder::conduct::ReinstateError;

pub use accounts::{Account, Accounts, Standing as AccountStanding};
pub use picture::{Picture, Row};
pub use presence::{Presence, QueueRefused, Queued, Word};
pub use query::{Met, Page, PageFrom, Reason, ResultsFilter};
pub use results::{LoggedResult, LoggedSeat, RatingAt, SeatEnd};
pub use spec::{Entry, LadderSpec, Ladders as LadderSpecs, LaddersError};

use crate::admission::{DiskRoom, Pressure};
use crate::journal::{BotName, LadderName};
use crate::matches::{Clock, Matches};
use archive::Archive;
use task::{Command, Task};

/// What ladders work with.
pub struct Config {
    /// Which there are.
    pub specs: LadderSpecs,
    /// Where their matches are played.
    pub matches: Matches,
    /// Whose bots there are.
    pub accounts: Arc<dyn Accounts>,
    /// By which they wait.
    pub clock: Arc<dyn Clock>,
    /// Whether the server has time for more matches.
    pub(crate) pressure: Arc<Pressure>,
    /// Whether its disk has room for more.
    pub(crate) disk_room: Arc<DiskRoom>,
}

/// The ladders of a server. A clone is another handle to the same.
#[derive(Clone)]
pub struct Ladders(Arc<Shared>);

struct Shared {
    ladders: BTreeMap<LadderName, Readable>,
    commands: mpsc::UnboundedSender<Command>,
    presences: AtomicU64,
}

/// What everyone may read of a ladder.
struct Readable {
    spec: Arc<LadderSpec>,
    picture: watch::Receiver<Arc<Picture>>,
    archive: Arc<Archive>,
}

/// There is no ladder of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no ladder {0}: ListLadders names those that there are")]
pub struct NoLadder(pub String);

/// Why a ladder does not answer: the server stops, or a bot is not as the caller thinks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LadderFault {
    /// There is no such ladder.
    #[error(transparent)]
    NoLadder(#[from] NoLadder),
    /// The bot has not played there.
    #[error("the bot {0} has played no rated match on this ladder")]
    NoBot(BotName),
    /// It can't be put back.
    #[error(transparent)]
    Reinstate(#[from] ReinstateError),
    /// That it was put back can't be stored.
    #[error("it can't be stored that the bot is put back: try again")]
    NotStored,
    /// The server is stopping.
    #[error("the server is stopping: try again when it is back, at the same address")]
    Stopping,
}

impl Ladders {
    /// Begins to run them, until `stop`. Results that were there before are counted first, and until then nobody is paired.
    pub fn open(config: Config, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let (commands, received) = mpsc::unbounded_channel();
        let mut ladders = BTreeMap::new();
        let mut shown = BTreeMap::new();
        for spec in config.specs.iter() {
            let (show, picture) = watch::channel(Arc::new(Picture::default()));
            let archive = Arc::<Archive>::default();
            shown.insert(spec.name.clone(), (show, Arc::clone(&archive)));
            ladders.insert(spec.name.clone(), Readable { spec: Arc::clone(spec), picture, archive });
        }
        let task = Task::new(config, shown, received);
        tasks.spawn(async move {
            stop.run_until_cancelled(task.run()).await;
        });
        Self(Arc::new(Shared { ladders, commands, presences: AtomicU64::new(0) }))
    }

    /// None: nobody waits, and nothing runs.
    pub(crate) fn none() -> Self {
        let (commands, _) = mpsc::unbounded_channel();
        Self(Arc::new(Shared { ladders: BTreeMap::new(), commands, presences: AtomicU64::new(0) }))
    }

    /// All of them, by name, each with what it shows.
    pub fn all(&self) -> impl Iterator<Item = (&Arc<LadderSpec>, Arc<Picture>)> {
        self.0.ladders.values().map(|ladder| (&ladder.spec, Arc::clone(&ladder.picture.borrow())))
    }

    /// What a ladder shows, as it changes.
    ///
    /// # Errors
    /// [`NoLadder`].
    pub fn picture(&self, name: &str) -> Result<(&Arc<LadderSpec>, watch::Receiver<Arc<Picture>>), NoLadder> {
        self.readable(name).map(|ladder| (&ladder.spec, ladder.picture.clone()))
    }

    fn readable(&self, name: &str) -> Result<&Readable, NoLadder> {
        let found = LadderName::new(name).ok().and_then(|name| self.0.ladders.get(&name));
        found.ok_or_else(|| NoLadder(name.to_owned()))
    }

    /// A bot that has come, and waits nowhere yet.
    pub fn enter(&self, bot: BotName) -> Presence {
        let number = self.0.presences.fetch_add(1, Ordering::Relaxed);
        Presence::new(bot, number, self.clone())
    }

    /// How a bot did against those that it met, or against this one alone, by their names.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`], [`LadderFault::NoBot`].
    pub fn head_to_head(
        &self,
        ladder: &str,
        bot: &BotName,
        only: Option<&BotName>,
        of: &PageFrom<BotName>,
    ) -> Result<Page<Met>, LadderFault> {
        self.readable(ladder)?.archive.met(bot, only, of)
    }

    /// How the rating of a bot went, the latest first, before a result's number. There may be fewer than a page, and none, even if more
    /// follow.
    ///
    /// # Errors
    /// As above.
    pub fn history(
        &self,
        ladder: &str,
        bot: &BotName,
        of: &PageFrom<u64>,
    ) -> Result<Page<RatingAt>, LadderFault> {
        self.readable(ladder)?.archive.history(bot, of)
    }

    /// The results of a ladder that a filter wants, the latest first, before a result's number. As above there may be fewer than a page.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`].
    pub fn results(
        &self,
        ladder: &str,
        filter: &ResultsFilter,
        of: &PageFrom<u64>,
    ) -> Result<Page<Arc<LoggedResult>>, LadderFault> {
        Ok(self.readable(ladder)?.archive.results(filter, of))
    }

    /// Puts a bot back that is benched until its author does so.
    ///
    /// # Errors
    /// [`LadderFault`].
    pub async fn reinstate(
        &self,
        ladder: &str,
        bot: BotName,
    ) -> Result<zetema_ladder::conduct::Status, LadderFault> {
        let ladder = self.readable(ladder)?.spec.name.clone();
        self.ask(|reply| Command::Reinstate { ladder, bot, reply }).await?
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, LadderFault> {
        let (reply, answer) = oneshot::channel();
        self.0.commands.send(command(reply)).map_err(|_| LadderFault::Stopping)?;
        answer.await.map_err(|_| LadderFault::Stopping)
    }
}

impl std::fmt::Debug for Ladders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ladders").field("names", &self.0.ladders.keys()).finish_non_exhaustive()
    }
}
