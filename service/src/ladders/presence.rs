//! Bots that are there, and where they wait.

use std::num::NonZeroU16;

use tokio::sync::mpsc;
use zetema_ladder::conduct::{Notice, Status};

use super::{Capacity, Ladders, NoLadder, NotNow, Occupied, SeatOf};
use crate::journal::{BotName, LadderName, MatchId, Owner, UnixMillis};
use crate::limits;

/// What a bot waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// On which ladders, and with how many places on each.
    pub queues: Vec<(LadderName, NonZeroU16)>,
    /// How many challenges it accepts at once; `None`: none.
    pub challenges: Option<NonZeroU16>,
}

impl Waits {
    /// Whether it waits for nothing.
    pub const fn is_nothing(&self) -> bool {
        self.queues.is_empty() && self.challenges.is_none()
    }
}

/// On ladders alone.
impl From<Vec<(LadderName, NonZeroU16)>> for Waits {
    fn from(queues: Vec<(LadderName, NonZeroU16)>) -> Self {
        Self { queues, challenges: None }
    }
}

/// A bot that is there, such as by a Play stream. Dropped, it waits no more.
#[derive(Debug)]
pub struct Presence {
    bot: BotName,
    number: u64,
    ladders: Ladders,
    tell: mpsc::Sender<Word>,
    words: mpsc::Receiver<Word>,
}

/// How a bot stands in the queue of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The ladder.
    pub ladder: LadderName,
    /// How many of its matches the bot plays at once at most, all that it is there by together.
    pub places: u32,
    /// Whether it is paired now.
    pub conduct: Status,
    /// Until when its quota lets no ladder pair it, if that is so.
    pub quota_until: Option<UnixMillis>,
}

/// What a ladder has to say to a bot's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The ladder.
    pub ladder: LadderName,
    /// Which match it is about, if it is about one.
    pub match_id: Option<MatchId>,
    /// What came of it.
    pub notice: Notice,
    /// Whether the bot is paired now.
    pub conduct: Status,
    /// Until when its quota lets no ladder pair it, if that is what it is about.
    pub quota_until: Option<UnixMillis>,
}

/// Why a bot may not wait on a ladder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueRefused {
    /// There is no such ladder.
    #[error(transparent)]
    NoLadder(NoLadder),
    /// The bot is not registered.
    #[error(
        "the bot {0} is not registered: register it (RegisterBot), and connect with the token that gives"
    )]
    NotRegistered(BotName),
    /// The bot is retired.
    #[error("the bot {0} is retired: register another")]
    Retired(BotName),
    /// Its owner may not enter.
    #[error(
        "ladder {ladder} is for the bots of certain owners, and {owner} is none of them: ListLadders names them for each \
         ladder; wait on another, or ask whoever runs the server"
    )]
    NotAdmitted {
        /// The ladder.
        ladder: LadderName,
        /// The owner.
        owner: Owner,
    },
    /// Nobody waits now.
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

impl Presence {
    pub(super) fn new(bot: BotName, number: u64, ladders: Ladders, capacity: Capacity) -> Self {
        let (tell, words) = mpsc::channel(limits::LADDER_WORDS);
        ladders.0.capacities.open(number, &bot, capacity);
        Self { bot, number, ladders, tell, words }
    }

    /// Waits on these ladders from now on, with so many places on each, and on no others, and accepts so many challenges. The answer
    /// says how it stands on each ladder, in that order.
    ///
    /// # Errors
    /// [`QueueRefused`] and the place of the one that it is about. Then nothing has changed, for challenges neither: who names ladders
    /// while nobody waits there may ask for challenges alone.
    pub fn wait_on(
        &mut self,
        waits: Waits,
    ) -> impl Future<Output = Result<Vec<Queued>, (usize, QueueRefused)>> + Send + use<> {
        // Said before anything is waited for: so what is said last counts, and who goes away meanwhile has said it. Challenges may come
        // before the answer, which is about the ladders.
        let Self { bot, number, ladders, tell, words: _ } = &*self;
        let Waits { queues, challenges } = waits;
        let on = queues.len();
        let said = ladders.admit(bot, &queues).and_then(|()| {
            ladders.0.wishes.say(*number, bot, queues, tell).map_err(|not_now| (0, not_now.into()))
        });
        if said.is_ok() {
            ladders.0.capacities.wait(*number, bot, on);
            ladders.0.challenges.accept(*number, bot, challenges);
        }
        async move { said?.await.map_err(|_| (0, NotNow::Stopping.into())) }
    }

    /// The bot plays a seat by this, until that is dropped. In a match of no ladder it takes as much room from what it waits for on ladders.
    pub fn occupy(&self, of: SeatOf) -> Option<Occupied> {
        self.ladders.0.capacities.occupy(self.number, &self.bot, of)
    }

    /// What the ladders have to say to the bot's author next. Without end if they say nothing. Dropped before it is done, it loses
    /// nothing.
    pub async fn word(&mut self) -> Word {
        match self.words.recv().await {
            Some(word) => word,
            // It has a sender itself.
            None => std::future::pending().await,
        }
    }

    /// What the ladders have said to the bot's author until now, for who does not wait for it.
    pub fn words(&mut self) -> Vec<Word> {
        std::iter::from_fn(|| self.words.try_recv().ok()).collect()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.ladders.0.challenges.accept(self.number, &self.bot, None);
        self.ladders.0.wishes.leave(self.number);
        self.ladders.0.capacities.close(self.number, &self.bot);
    }
}
