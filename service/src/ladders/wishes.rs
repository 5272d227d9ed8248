//! Where the bots that are there want to wait ([`Wishes`]): what each said last, and nothing of what it said before.
//!
//! Whoever is there writes it here, and its own drop takes it out again. So the task of the ladders may be late, or begin anew, and
//! loses nobody; and nobody is kept whom it does not know.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::num::NonZeroU16;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::presence::{Queued, Word};
use crate::incident::Incident;
use crate::journal::{BotName, LadderName};

/// Ladders, and how many matches at once a bot wants on each.
pub(super) type Queues = Vec<(LadderName, NonZeroU16)>;

/// What the ladders do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// They pair and count.
    Running,
    /// Nobody is paired.
    Not(NotNow),
}

/// Why nobody is paired now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// The ladders have not counted all results.
    #[error("the ladders still count the results that were there before: try again in a moment")]
    CatchingUp,
    /// They can't go on.
    #[error(
        "the ladders stand still until whoever runs the server has mended it: its log has more under incident {0}"
    )]
    StandStill(Incident),
    /// They have ended.
    #[error("the server is stopping: try again when it is back, at the same address")]
    Stopping,
}

/// Where everyone wants to wait.
#[derive(Debug)]
pub(super) struct Wishes {
    all: Mutex<All>,
    /// Changed with the lock held.
    phase: watch::Sender<Phase>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct All {
    wishes: HashMap<u64, Wish>,
    /// Those that the task has not heard of as they are now.
    changed: BTreeSet<u64>,
}

#[derive(Debug)]
enum Wish {
    Here {
        bot: BotName,
        queues: Queues,
        tell: mpsc::Sender<Word>,
        asked: Vec<Asked>,
        heard: Heard,
    },
    /// It has gone, and the task has heard of it before.
    Gone,
}

/// Whether the task knows of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Yes,
    No,
}

/// Somebody who waits to hear how its bot stands.
#[derive(Debug)]
pub(super) struct Asked {
    /// What it has asked for. Something else may have been asked for since.
    pub(super) queues: Queues,
    pub(super) answer: oneshot::Sender<Vec<Queued>>,
}

/// Where a bot wants to wait from now on.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) bot: BotName,
    pub(super) queues: Queues,
    pub(super) tell: mpsc::Sender<Word>,
    pub(super) asked: Vec<Asked>,
}

impl Wishes {
    /// Nobody is there.
    pub(super) fn new(phase: Phase) -> Self {
        Self { all: Mutex::default(), phase: watch::Sender::new(phase), changed: Notify::new() }
    }

    /// What the ladders do.
    pub(super) fn now(&self) -> Phase {
        *self.phase.borrow()
    }

    /// The same, as it changes.
    pub(super) fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// A bot wants to wait on these ladders from now on, by this way of being there. The answer comes when it does.
    ///
    /// # Errors
    /// Why it can't wait on any now. Then nothing has changed.
    pub(super) fn say(
        &self,
        number: u64,
        bot: &BotName,
        queues: Queues,
        tell: &mpsc::Sender<Word>,
    ) -> Result<oneshot::Receiver<Vec<Queued>>, NotNow> {
        let mut all = self.all();
        let (answer, answered) = oneshot::channel();
        match self.now() {
            // So it is at once.
            Phase::Not(_) if queues.is_empty() => {
                all.leave(number);
                // Who asks is here.
                let _ = answer.send(Vec::new());
            }
            Phase::Not(why) => return Err(why),
            Phase::Running => {
                all.say(number, bot, queues, tell, answer);
                self.changed.notify_one();
            }
        }
        Ok(answered)
    }

    /// A bot is there by this no more.
    pub(super) fn leave(&self, number: u64) {
        self.all().leave(number);
        self.changed.notify_one();
    }

    /// Something has changed since [`Self::take`].
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What has changed; `None`: it is there no more.
    pub(super) fn take(&self) -> Vec<(u64, Option<Wanted>)> {
        let mut all = self.all();
        let All { wishes, changed } = &mut *all;
        let mut taken = Vec::with_capacity(changed.len());
        for number in mem::take(changed) {
            match wishes.get_mut(&number) {
                Some(Wish::Here { bot, queues, tell, asked, heard }) => {
                    *heard = Heard::Yes;
                    let (bot, queues, tell) = (bot.clone(), queues.clone(), tell.clone());
                    taken.push((number, Some(Wanted { bot, queues, tell, asked: mem::take(asked) })));
                }
                Some(Wish::Gone) => {
                    wishes.remove(&number);
                    taken.push((number, None));
                }
                None => {}
            }
        }
        taken
    }

    /// The task begins anew: it knows of nobody, and counts what is there.
    pub(super) fn begin_anew(&self) {
        let mut all = self.all();
        let All { wishes, changed } = &mut *all;
        wishes.retain(|_, wish| match wish {
            Wish::Here { heard, .. } => {
                *heard = Heard::No;
                true
            }
            Wish::Gone => false,
        });
        *changed = wishes.keys().copied().collect();
        self.phase.send_replace(Phase::Not(NotNow::CatchingUp));
    }

    /// The ladders pair from now on.
    pub(super) fn run(&self) {
        let _all = self.all();
        self.phase.send_replace(Phase::Running);
        self.changed.notify_one();
    }

    /// Nobody is paired any more: who waits for an answer gets none.
    pub(super) fn end(&self, why: NotNow) {
        let mut all = self.all();
        *all = All::default();
        self.phase.send_replace(Phase::Not(why));
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn say(
        &mut self,
        number: u64,
        bot: &BotName,
        wanted: Queues,
        tell: &mpsc::Sender<Word>,
        answer: oneshot::Sender<Vec<Queued>>,
    ) {
        self.changed.insert(number);
        let asks = Asked { queues: wanted.clone(), answer };
        match self.wishes.get_mut(&number) {
            Some(Wish::Here { queues, asked, .. }) => {
                *queues = wanted;
                // Who has gone away meanwhile is not kept.
                asked.retain(|asked| !asked.answer.is_closed());
                asked.push(asks);
            }
            before @ (Some(Wish::Gone) | None) => {
                let heard = if before.is_some() { Heard::Yes } else { Heard::No };
                let (bot, tell) = (bot.clone(), tell.clone());
                let wish = Wish::Here { bot, queues: wanted, tell, asked: vec![asks], heard };
                self.wishes.insert(number, wish);
            }
        }
    }

    fn leave(&mut self, number: u64) {
        match self.wishes.get_mut(&number) {
            Some(wish @ Wish::Here { heard: Heard::Yes, .. }) => {
                *wish = Wish::Gone;
                self.changed.insert(number);
            }
            Some(Wish::Here { heard: Heard::No, .. }) => {
                self.wishes.remove(&number);
                self.changed.remove(&number);
            }
            Some(Wish::Gone) | None => {}
        }
    }
}
