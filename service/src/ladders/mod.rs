//! Ladders: bots wait, are paired, and their results are rated.
//!
//! One task owns the `State` of all ladders. Whoever wants something of it sends a command; what everyone may read
//! is shown in a [`Picture`] of each ladder.
//!
//! ```text
//! Play stream ─► Presence ─► Wishes ─► task ─► State: who waits, who plays whom ─► Matches
//!                              ▲                                            │
//!                              └──── results, in the order of their numbers ┘
//! ```
//!
//! Ratings are a fold over the results, made anew at each start, so that no crash can leave a match counted twice, or not at all. What
//! the keeper stores of them is there to be held against the next fold, and nothing else.

mod accounts;
mod archive;
mod behaviour;
mod capacity;
mod catching_up;
mod counting;
mod ended;
mod honesty;
mod idle_thread;
mod keeper;
mod luck;
mod making;
mod names;
mod patience;
mod picture;
mod presence;
mod query;
mod recompute;
mod reinstated;
mod results;
mod spec;
mod state;
mod stored;
mod task;
#[cfg(test)]
pub(crate) mod tests;
mod time;
mod wishes;
mod words;

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zetema_ladder::conduct::ReinstateError;

pub use crate::challenges::{Challenge, ChallengeOver, Challenges, Playing, Taken};
pub use accounts::{Account, Accounts, Standing as AccountStanding};
pub use behaviour::{BotOnLadder, ConductCounts};
pub use capacity::{Capacity, Occupied, SeatOf};
pub use honesty::{NoSeason, Season, Suspected};
pub use luck::{Luck, LuckChange, LuckOfBot};
pub use picture::{Picture, Row};
pub use presence::{Presence, QueueRefused, Queued, Waits, Word};
pub use query::{Met, Page, PageFrom, Reason, ResultsFilter, ResultsOnward, SeasonSpan};
pub use recompute::{Recompute, RecomputeError, Recomputed, RecomputedLadder, recompute};
pub use results::{LoggedResult, LoggedSeat, RatingAt, SeatEnd};
pub use spec::{Entry, LadderSpec, Ladders as LadderSpecs, LaddersError};
pub use stored::{Comparison, Verdict};
pub use wishes::NotNow;
pub use zetema_ladder::{Deviation, Difference, Entry as BotEntry};

use crate::admission::{DiskRoom, Pressure};
use crate::config::HouseBots;
use crate::incident::Incident;
use crate::journal::{BotName, LadderName, LadderStore, ResultNumber};
use crate::limits;
use crate::matches::{Clock, Matches};
use archive::{Archive, FilesRead, Room, results_of_one_of};
use capacity::{Capacities, WithinCapacity};
use counting::Counting;
use honesty::{Bounds, Honesty, Sources};
use keeper::{Before, Keeper, ToKeep};
use luck::OlderLuck;
use task::{Command, Shown, Task};
use wishes::{Phase, Wishes};

/// What ladders work with.
pub struct Config {
    /// Which there are.
    pub specs: LadderSpecs,
    /// Where their matches are played.
    pub matches: Matches,
    /// Whose bots there are.
    pub accounts: Arc<dyn Accounts>,
    /// Which of them are the server's own.
    pub house_bots: HouseBots,
    /// Where their ratings are stored.
    pub store: Arc<dyn LadderStore>,
    /// How often they are, if they have changed.
    pub stored_every: Duration,
    /// The folder for files of their older results.
    pub results: PathBuf,
    /// How many of the latest results of all ladders are in memory.
    pub results_in_memory: usize,
    /// By which they wait.
    pub clock: Arc<dyn Clock>,
    /// The folder that keeps the luck of their results.
    pub luck: PathBuf,
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
    /// Where bots wait.
    wishes: Arc<Wishes>,
    /// How much they can play at once.
    capacities: Arc<Capacities>,
    challenges: Arc<Challenges>,
    commands: mpsc::Sender<Command>,
    presences: AtomicU64,
    /// What is suspected; none without ladders.
    honesty: Option<Honesty>,
}

/// What everyone may read of a ladder.
struct Readable {
    spec: Arc<LadderSpec>,
    picture: watch::Receiver<Arc<Picture>>,
    archive: Arc<Archive>,
    luck: Arc<Luck>,
    /// Whose bots may enter.
    accounts: Arc<dyn Accounts>,
}

/// There is no ladder of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no ladder {0}: ListLadders names those that there are")]
pub struct NoLadder(pub String);

/// Why a ladder does not answer.
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
    /// It was put back too often.
    #[error("the bot {0} was put back on this ladder as often as can be stored: register another")]
    TooManyReinstatements(BotName),
    /// What is suspected is not known yet.
    #[error(transparent)]
    NoSeason(#[from] NoSeason),
    /// Older results can't be read now.
    #[error("older results can't be read now: the server's log has more under incident {0}; try again")]
    Unread(Incident),
    /// They don't answer now.
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

impl Ladders {
    /// Begins to run them, until `stop`. Results that were there before are counted first, and until then nobody is paired.
    pub fn open(config: Config, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let count = NonZeroUsize::new(config.specs.iter().count()).unwrap_or(NonZeroUsize::MIN);
        let room = Room::of_one_of(count, config.results_in_memory);
        Self::open_with(config, room, tasks, stop)
    }

    /// The same with this room for the results of each.
    fn open_with(config: Config, room: Room, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let (commands, received) = mpsc::channel(limits::LADDER_COMMANDS);
        let wishes = Arc::new(Wishes::new(Phase::Not(NotNow::CatchingUp)));
        let mut ladders = BTreeMap::new();
        let mut shown = BTreeMap::new();
        let mut to_keep = Vec::new();
        let count = NonZeroUsize::new(config.specs.iter().count()).unwrap_or(NonZeroUsize::MIN);
        let most_of_luck = results_of_one_of(count, config.results_in_memory);
        let mut lucky = BTreeMap::new();
        let files_read = Arc::<FilesRead>::default();
        let older_luck = Arc::new(OlderLuck::new(config.luck.clone()));
        for spec in config.specs.iter() {
            let (show, picture) = watch::channel(Arc::new(Picture::default()));
            let files = files_of(&spec.name, &config.results);
            let archive = Arc::new(Archive::new(room, files, Arc::clone(&files_read)));
            let (before, compared) = watch::channel(Before::NotCompared);
            shown.insert(spec.name.clone(), Shown { show, archive: Arc::clone(&archive), before });
            to_keep.push(ToKeep { spec: Arc::clone(spec), picture: picture.clone(), before: compared });
            let luck = Arc::new(Luck::new(most_of_luck, spec.rating, Arc::clone(&older_luck)));
            lucky.insert(spec.name.clone(), (Arc::clone(spec), Arc::clone(&luck)));
            let (spec, accounts) = (Arc::clone(spec), Arc::clone(&config.accounts));
            ladders.insert(spec.name.clone(), Readable { spec, picture, archive, luck, accounts });
        }
        let lucky = luck::Config {
            ladders: lucky,
            matches: config.matches.clone(),
            pressure: Arc::clone(&config.pressure),
            folder: config.luck.clone(),
            older: older_luck,
            phase: wishes.phase(),
        };
        luck::open(lucky, tasks, stop.clone());
        let sources = Sources {
            matches: config.matches.clone(),
            accounts: Arc::clone(&config.accounts),
            house_bots: config.house_bots.clone(),
            pressure: Arc::clone(&config.pressure),
            stop: stop.clone(),
            bounds: Bounds::USUAL,
            counting: Counting::new(wishes.phase()),
        };
        let keeper = Keeper::new(Arc::clone(&config.store), config.stored_every, to_keep);
        // It stores once more when the ladders have shown what they counted last.
        let counted = CancellationToken::new();
        tasks.spawn(keeper.run(counted.clone()));
        let capacities = Arc::<Capacities>::default();
        let accounts = WithinCapacity { accounts: config.accounts, capacities: Arc::clone(&capacities) };
        let config = Config { accounts: Arc::new(accounts), ..config };
        let task = Task::new(config, shown, Arc::clone(&wishes), received);
        tasks.spawn(async move {
            let _counted = counted.drop_guard();
            task.run_until(stop).await;
        });
        Self::with(ladders, wishes, capacities, commands, Some(Honesty::new(sources)))
    }

    /// None: nobody waits, and nothing runs.
    pub(crate) fn none() -> Self {
        let (commands, _) = mpsc::channel(1);
        let wishes = Arc::new(Wishes::new(Phase::Not(NotNow::Stopping)));
        Self::with(BTreeMap::new(), wishes, Arc::default(), commands, None)
    }

    fn with(
        ladders: BTreeMap<LadderName, Readable>,
        wishes: Arc<Wishes>,
        capacities: Arc<Capacities>,
        commands: mpsc::Sender<Command>,
        honesty: Option<Honesty>,
    ) -> Self {
        let (challenges, presences) = (Arc::default(), AtomicU64::new(0));
        Self(Arc::new(Shared { ladders, wishes, capacities, challenges, commands, presences, honesty }))
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

    /// The luck of the cards in a ladder's results, as far as it is computed.
    ///
    /// # Errors
    /// [`NoLadder`].
    pub fn luck(&self, name: &str) -> Result<Arc<Luck>, NoLadder> {
        self.readable(name).map(|ladder| Arc::clone(&ladder.luck))
    }

    fn readable(&self, name: &str) -> Result<&Readable, NoLadder> {
        let found = LadderName::new(name).ok().and_then(|name| self.0.ladders.get(&name));
        found.ok_or_else(|| NoLadder(name.to_owned()))
    }

    /// Waits until what is shown is of all results that were there at the start, for a while.
    ///
    /// # Errors
    /// [`NotNow::CatchingUp`] if that takes longer.
    pub async fn caught_up(&self) -> Result<(), NotNow> {
        self.counting().is_over().await
    }

    fn counting(&self) -> Counting {
        Counting::new(self.0.wishes.phase())
    }

    /// Lets a bot onto these ladders, or says which of them it may not wait on.
    fn admit(&self, bot: &BotName, queues: &[(LadderName, NonZeroU16)]) -> Result<(), (usize, QueueRefused)> {
        let refused = |(at, (name, _)): (usize, &(LadderName, NonZeroU16))| {
            let admitted = self.readable(name.as_str()).map_err(QueueRefused::NoLadder);
            let admitted =
                admitted.and_then(|ladder| ladder.spec.admit(bot, ladder.accounts.account(bot).as_ref()));
            admitted.err().map(|refused| (at, refused))
        };
        queues.iter().enumerate().find_map(refused).map_or(Ok(()), Err)
    }

    /// A bot that has come, waits nowhere yet, and can play whatever it waits for.
    pub fn enter(&self, bot: BotName) -> Presence {
        self.enter_with(bot, Capacity::Unbounded)
    }

    /// A bot that has come and waits nowhere yet. It is paired as long as it has room for another match, by all that it is there by
    /// together.
    pub fn enter_with(&self, bot: BotName, capacity: Capacity) -> Presence {
        let number = self.0.presences.fetch_add(1, Ordering::Relaxed);
        Presence::new(bot, number, self.clone(), capacity)
    }

    /// The challenges that bots accept.
    pub fn challenges(&self) -> &Arc<Challenges> {
        &self.0.challenges
    }

    /// How a bot did against those that it met, or against this one alone, by their names.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`], [`LadderFault::NoBot`], and [`NotNow::CatchingUp`] as long as the results are counted.
    pub async fn head_to_head(
        &self,
        ladder: &str,
        bot: &BotName,
        only: Option<&BotName>,
        of: &PageFrom<BotName>,
    ) -> Result<Page<Met>, LadderFault> {
        let archive = &self.readable(ladder)?.archive;
        self.counting().read(archive, async { archive.met(bot, only, of) }).await
    }

    /// How the rating of a bot went, the latest first, before a result's number. There may be fewer than a page, and none, even if more
    /// follow.
    ///
    /// # Errors
    /// As above, and [`LadderFault::Unread`].
    pub async fn history(
        &self,
        ladder: &str,
        bot: &BotName,
        of: &PageFrom<u64>,
    ) -> Result<Page<RatingAt>, LadderFault> {
        let archive = &self.readable(ladder)?.archive;
        self.counting().read(archive, archive.history(bot, of)).await
    }

    /// The results of a ladder that a filter wants, the latest first, before a result's number. As above there may be fewer than a page.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`], [`LadderFault::Unread`], and [`NotNow::CatchingUp`] as above.
    pub async fn results(
        &self,
        ladder: &str,
        filter: &ResultsFilter,
        of: &PageFrom<u64>,
    ) -> Result<Page<Arc<LoggedResult>>, LadderFault> {
        let archive = &self.readable(ladder)?.archive;
        self.counting().read(archive, archive.results(filter, of)).await
    }

    /// The results of a ladder that a filter wants, the oldest first, after a result's number.
    ///
    /// # Errors
    /// As above.
    pub async fn results_after(
        &self,
        ladder: &str,
        filter: &ResultsFilter,
        after: ResultNumber,
        most: usize,
    ) -> Result<ResultsOnward, LadderFault> {
        let archive = &self.readable(ladder)?.archive;
        self.counting().read(archive, archive.results_after(filter, after, most)).await
    }

    /// What is suspected by the latest results of a ladder, of those of this span. It was looked at at most [`limits::SEASON_KEPT`] ago.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`], [`LadderFault::NoSeason`] while it is looked at, [`LadderFault::NotNow`] when the server stops, and as
    /// long as the results are counted.
    pub async fn season(&self, ladder: &str, span: SeasonSpan) -> Result<Arc<Season>, LadderFault> {
        let readable = self.readable(ladder)?;
        let honesty = self.0.honesty.as_ref().ok_or(NotNow::Stopping)?;
        honesty.season(&readable.spec, &readable.archive, span).await
    }

    /// The season of this span that was looked at last, however long ago, if its last result is this one.
    ///
    /// # Errors
    /// [`LadderFault::NoLadder`].
    pub fn last_season(
        &self,
        ladder: &str,
        span: SeasonSpan,
        last: ResultNumber,
    ) -> Result<Option<Arc<Season>>, LadderFault> {
        let spec = &self.readable(ladder)?.spec;
        Ok(self.0.honesty.as_ref().and_then(|honesty| honesty.last(&spec.name, span, last)))
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
        self.caught_up().await?;
        let ladder = self.readable(ladder)?.spec.name.clone();
        self.ask(|reply| Command::Reinstate { ladder, bot, reply }).await?
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, LadderFault> {
        if let Phase::Not(why) = self.0.wishes.now() {
            return Err(why.into());
        }
        let (reply, answer) = oneshot::channel();
        self.0.commands.send(command(reply)).await.map_err(|_| NotNow::Stopping)?;
        Ok(answer.await.map_err(|_| NotNow::Stopping)?)
    }
}

/// Where a ladder's older results are. No name leads out of the folder.
fn files_of(ladder: &LadderName, folder: &Path) -> PathBuf {
    folder.join(format!("of-{ladder}"))
}

impl std::fmt::Debug for Ladders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ladders").field("names", &self.0.ladders.keys()).finish_non_exhaustive()
    }
}
