//! House bots that play at once, on threads of their own.

use std::hash::{BuildHasher, RandomState};
use std::num::{NonZeroU16, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zetema_sdk::{
    BotThreads, BotToken, Challenges, DealCheck, End, LadderQueue, MatchInfo, NonceSecret, Outcome, Records,
    Session, Settings, Tls,
};
use zetema_service::limits::MAX_SEATS_PER_STREAM;

use super::{Account, Open, Playing};

/// Threads on which all of them think in turns, beside the one of their connections: a server in the same process has the others.
const THINKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// How many challenges a house bot accepts at least, so that nobody has all of them.
const FEWEST_CHALLENGES: NonZeroU16 = NonZeroU16::MIN.saturating_add(1);

/// House bots that play at once, on threads of their own. When it is dropped, they stop where they are.
pub(crate) struct Crew {
    /// `None` when it is being dropped.
    runtime: Option<Runtime>,
    threads: BotThreads,
    told_to_leave: CancellationToken,
    /// The ladders that they wait on, each as far as it lets its owner's bots in; `None` until that is known.
    ladders: watch::Sender<Option<Arc<[Open]>>>,
    attended: watch::Sender<Attended>,
    /// Those that may wait on a ladder.
    waiting: TaskTracker,
    /// Those that may play.
    playing: TaskTracker,
}

/// How their sessions are opened.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    /// The server's address.
    pub(crate) server: String,
    pub(crate) tls: Tls,
    pub(crate) records: Records,
    pub(crate) nonce_secret: Option<NonceSecret>,
    pub(crate) challenged: Challenged,
}

/// Whether they accept challenges: as many at once as they have places on a ladder, and two at least, as one owner has half of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Challenged {
    ByEveryone,
    ByNobody,
}

/// Those that came.
#[derive(Debug, Default)]
struct Attended {
    /// How many play.
    playing: usize,
    failures: Vec<Failure>,
}

/// What went wrong for a bot, now that it plays no more.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) bot: String,
    /// For people.
    pub(crate) problem: String,
}

/// What a bot is to wait for, once that is known.
struct Waits {
    places: NonZeroU16,
    challenged: Challenged,
    owner: String,
    ladders: watch::Receiver<Option<Arc<[Open]>>>,
}

impl Crew {
    /// One without bots.
    pub(crate) fn new() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("house-bots")
            .enable_all()
            .build()
            .context("the house bots can't have threads")?;
        Ok(Self {
            runtime: Some(runtime),
            threads: BotThreads::new(THINKERS),
            told_to_leave: CancellationToken::new(),
            ladders: watch::Sender::new(None),
            attended: watch::Sender::default(),
            waiting: TaskTracker::new(),
            playing: TaskTracker::new(),
        })
    }

    /// Lets a bot play all its seats from now on, and wait on the ladders with so many places on each, once [`Crew::wait_on`] names them.
    ///
    /// # Errors
    /// The session can't be opened. What comes later is the bot's [`Failure`].
    pub(crate) fn add(
        &self,
        opening: &Opening,
        account: &Account,
        token: BotToken,
        places: NonZeroU16,
    ) -> Result<()> {
        let runtime = self.runtime.as_ref().context("the house bots have stopped")?;
        let Opening { server, tls, records, nonce_secret, challenged } = opening.clone();
        let settings = Settings {
            client_name: format!("zetema-{}", account.house),
            threads: self.threads.clone(),
            tls,
            records,
            nonce_secret,
            // The server may be busy or down for longer than usual, and is then still the one to play on.
            first_connection_within: Duration::MAX,
            give_up_after: Duration::MAX,
            ..Settings::default()
        };
        // Not the same in each process, or an opponent could tell what is chosen at random.
        let (house, seed) = (account.house, RandomState::new().hash_one(&account.name));
        let session = {
            // Where a session is opened it runs.
            let _entered = runtime.enter();
            Session::open_for_bot(&server, settings, token, move |info: &MatchInfo| house.make(info, seed))?
        };
        self.attended.send_modify(|attended| attended.playing += 1);
        let (leave, held) = (self.told_to_leave.clone(), self.waiting.token());
        let owner = account.owner.clone();
        let waits = Waits { places, challenged, owner, ladders: self.ladders.subscribe() };
        let (bot, attended) = (account.name.clone(), self.attended.clone());
        let played = async move {
            let problem = attend(&bot, Playing::new(session), waits, leave, held).await;
            attended.send_modify(|attended| {
                attended.playing = attended.playing.saturating_sub(1);
                attended.failures.extend(problem.map(|problem| Failure { bot, problem }));
            });
        };
        self.playing.spawn_on(played, runtime.handle());
        Ok(())
    }

    /// Has all of them wait on these ladders, those that come later too.
    pub(crate) fn wait_on(&self, ladders: Vec<Open>) {
        self.ladders.send_replace(Some(ladders.into()));
    }

    /// Waits until fewer than so many play.
    pub(crate) async fn fewer_than(&self, bots: usize) {
        let mut attended = self.attended.subscribe();
        // It is not closed, as this is its other end.
        let _ = attended.wait_for(|attended| attended.playing < bots).await;
    }

    /// What went wrong for those that play no more.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        self.attended.borrow().failures.clone()
    }

    /// Has all of them leave their ladders and accept no challenge, and play on what they have. This is done when none waits any more, or
    /// a server that does not answer has had its time.
    pub(crate) async fn leave(&self) {
        self.told_to_leave.cancel();
        self.waiting.close();
        self.waiting.wait().await;
    }

    /// Waits until they have played all that they had when they left.
    pub(crate) async fn played_out(&self) {
        self.playing.close();
        self.playing.wait().await;
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // A bot that thinks is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Follows a bot to its end, and tells the log what goes wrong. The answer is what did on the whole.
async fn attend(
    bot: &str,
    mut playing: Playing,
    mut waits: Waits,
    leave: CancellationToken,
    held: TaskTrackerToken,
) -> Option<String> {
    let mut held = Some(held);
    let mut asked = false;
    loop {
        tokio::select! {
            over = playing.next() => match over {
                Some(outcome) => tell(bot, &outcome),
                None => break,
            },
            ladders = waits.known(), if !asked && held.is_some() => {
                asked = true;
                tokio::select! {
                    () = wait(bot, &mut playing, &waits, &ladders) => {}
                    // Asked or not, it is to leave.
                    () = leave.cancelled() => {}
                }
            }
            () = leave.cancelled(), if held.is_some() => {
                playing.leave().await;
                tracing::info!(bot, "a house bot has left its ladders");
                held = None;
            }
        }
    }
    let problem = match playing.verdict() {
        Err(error) => Some(format!("{error:#}")),
        Ok(()) => (!leave.is_cancelled()).then(|| "its session has ended".to_owned()),
    };
    if let Some(why) = problem.as_ref().filter(|_| !leave.is_cancelled()) {
        tracing::error!(bot, why, "a house bot plays no more, until it is started again");
    }
    problem
}

/// Has a bot wait for what it is to wait for. If the server refuses, it plays what it has, and takes nothing more.
async fn wait(bot: &str, playing: &mut Playing, waits: &Waits, ladders: &[String]) {
    let places = fitting(waits.places, ladders.len());
    if places < waits.places {
        tracing::warn!(
            bot,
            wanted = waits.places.get(),
            places = places.get(),
            ladders = ladders.len(),
            "a house bot has fewer places than it was to have: all that it waits for fits into {MAX_SEATS_PER_STREAM} matches at once"
        );
    }
    if ladders.is_empty() {
        tracing::warn!(
            bot,
            owner = waits.owner,
            "a house bot may enter no ladder: it plays in matches alone that are created with it"
        );
    }
    let queues: Vec<LadderQueue> = ladders.iter().map(|ladder| LadderQueue::new(ladder, places)).collect();
    let waiting = async {
        if waits.challenged == Challenged::ByEveryone {
            let matches_at_once = places.max(FEWEST_CHALLENGES);
            playing.challenges(Challenges::FromEveryone { matches_at_once }).await?;
        }
        if !queues.is_empty() {
            playing.queue(queues).await?;
        }
        Ok::<(), zetema_sdk::Error>(())
    };
    match waiting.await {
        Ok(()) => {
            let ladders = ladders.join(",");
            tracing::info!(bot, places = places.get(), ladders, "a house bot plays");
        }
        Err(error) => tracing::error!(bot, %error, "a house bot can't play"),
    }
}

/// As many of these places as a stream has room for on so many ladders, and for challenges.
fn fitting(places: NonZeroU16, ladders: usize) -> NonZeroU16 {
    let room = MAX_SEATS_PER_STREAM / (ladders + 1);
    let room = u16::try_from(room).ok().and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN);
    places.min(room)
}

impl Waits {
    /// The ladders that the bot may enter, once they are named.
    async fn known(&mut self) -> Vec<String> {
        loop {
            if let Some(ladders) = self.ladders.borrow_and_update().clone() {
                let open = ladders.iter().filter(|open| open.lets_in(&self.owner));
                return open.map(|open| open.ladder.clone()).collect();
            }
            if self.ladders.changed().await.is_err() {
                // Nobody is left to name them.
                std::future::pending::<()>().await;
            }
        }
    }
}

fn tell(bot: &str, outcome: &Outcome) {
    if !outcome.faults.is_empty()
        || matches!(outcome.end, End::Failed(_) | End::Superseded)
        || matches!(outcome.deal, DealCheck::Failed(_))
    {
        tracing::warn!(bot, %outcome, "something went wrong at a seat of a house bot");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn places_fit_into_a_stream() {
        for (places, ladders, expected) in
            [(1, 0, 1), (100, 0, 100), (100, 9, 100), (100, 10, 90), (100, 64, 15), (1, 64, 1), (5, 9_999, 1)]
        {
            let fits = fitting(NonZeroU16::new(places).unwrap(), ladders);
            assert_eq!(fits.get(), expected, "{places} {ladders}");
        }
    }
}
