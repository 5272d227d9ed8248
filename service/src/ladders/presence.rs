//! Bots that are there, and where they wait.

use std::num::NonZeroU16;

use tokio::sync::mpsc;
use zetema_ladder::conduct::{Notice, Status};

use super::task::Command;
use super::{Ladders, NoLadder};
use crate::journal::{BotName, LadderName, MatchId, Owner};
use crate::limits;

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
}

/// What a ladder has to say to a bot's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The ladder.
    pub ladder: LadderName,
    /// Which match it is about.
    pub match_id: MatchId,
    /// What came of it.
    pub notice: Notice,
    /// Whether the bot is paired now.
    pub conduct: Status,
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
    #[error("ladder {ladder} is for the bots of certain owners, and {owner} is none of them")]
    NotAdmitted {
        /// The ladder.
        ladder: LadderName,
        /// The owner.
        owner: Owner,
    },
    /// The server is stopping.
    #[error("the server is stopping: try again when it is back, at the same address")]
    Stopping,
}

impl Presence {
    pub(super) fn new(bot: BotName, number: u64, ladders: Ladders) -> Self {
        let (tell, words) = mpsc::channel(limits::LADDER_WORDS);
        Self { bot, number, ladders, tell, words }
    }

    /// Waits on these ladders from now on, with so many places on each, and on no others. The answer says how it stands on each, in
    /// that order.
    ///
    /// # Errors
    /// [`QueueRefused`] and the place of the one that it is about. Then nothing has changed.
    pub fn wait_on(
        &mut self,
        queues: Vec<(LadderName, NonZeroU16)>,
    ) -> impl Future<Output = Result<Vec<Queued>, (usize, QueueRefused)>> + Send + use<> {
        let (bot, number, tell) = (self.bot.clone(), self.number, self.tell.clone());
        let unknown = queues.iter().enumerate().find_map(|(at, (ladder, _))| {
            let none = self.ladders.readable(ladder.as_str()).err()?;
            Some((at, QueueRefused::NoLadder(none)))
        });
        // Sent before anything else is, so that commands come in the order of the calls.
        let (reply, answer) = tokio::sync::oneshot::channel();
        if unknown.is_none() {
            // Else the ladders are gone, which the answer says.
            let _ = self.ladders.0.commands.send(Command::Wait { bot, number, queues, tell, reply });
        }
        async move {
            match unknown {
                Some(unknown) => Err(unknown),
                None => answer.await.unwrap_or(Err((0, QueueRefused::Stopping))),
            }
        }
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
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Else the ladders are gone, and nobody waits there.
        let _ = self.ladders.0.commands.send(Command::Leave { bot: self.bot.clone(), number: self.number });
    }
}
