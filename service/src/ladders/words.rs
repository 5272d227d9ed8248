//! What the ladders have said to bots' authors lately ([`Words`]): whoever was not there for it hears it when it comes back.

use std::collections::{HashMap, VecDeque};

use tokio::sync::mpsc;

use super::presence::Word;
use super::time::Now;
use crate::journal::{BotName, UnixMillis};
use crate::limits;

/// The last words to each bot's author, and by what way of being there each has heard them.
#[derive(Debug, Default)]
pub(super) struct Words(HashMap<BotName, VecDeque<Said>>);

#[derive(Debug)]
struct Said {
    word: Word,
    /// When it came about.
    at: UnixMillis,
    heard: Heard,
}

/// Whether a word has reached its author.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    No,
    /// It was given to these, at that time of the monotonic clock. A program that dies leaves its stream open for a while.
    By {
        ways: Vec<u64>,
        at_ms: u64,
    },
}

impl Said {
    fn tell(&mut self, way: u64, tell: &mpsc::Sender<Word>, now: Now) {
        // What has no room is said to whoever comes next.
        if tell.try_send(self.word.clone()).is_err() {
            return;
        }
        match &mut self.heard {
            Heard::By { ways, .. } => ways.push(way),
            Heard::No => self.heard = Heard::By { ways: vec![way], at_ms: now.steady_ms },
        }
    }
}

impl Words {
    /// Nothing was said.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Says something that came about at that time to all that a bot is there by, and keeps it for those that come.
    pub(super) fn say<'a>(
        &mut self,
        bot: &BotName,
        word: Word,
        at: UnixMillis,
        here: impl Iterator<Item = (u64, &'a mpsc::Sender<Word>)>,
        now: Now,
    ) {
        let mut said = Said { word, at, heard: Heard::No };
        for (way, tell) in here {
            said.tell(way, tell, now);
        }
        if is_over(at, now) {
            return;
        }
        let kept = self.0.entry(bot.clone()).or_default();
        if kept.len() == limits::LADDER_WORDS_KEPT {
            kept.pop_front();
        }
        kept.push_back(said);
    }

    /// A bot is there by this: it hears what nobody has heard, with how it stands now.
    pub(super) fn greet(
        &mut self,
        bot: &BotName,
        way: u64,
        tell: &mpsc::Sender<Word>,
        now: Now,
        freshen: impl Fn(&mut Word),
    ) {
        let Some(kept) = self.0.get_mut(bot) else { return };
        kept.retain(|said| !is_over(said.at, now));
        for said in kept.iter_mut().filter(|said| said.heard == Heard::No) {
            freshen(&mut said.word);
            said.tell(way, tell, now);
        }
    }

    /// A bot is there by this no more: what it was given last it may not have read.
    pub(super) fn gone(&mut self, bot: &BotName, way: u64, now: Now) {
        let lately = |at_ms: u64| {
            let ago_ms = now.steady_ms.saturating_sub(at_ms);
            u128::from(ago_ms) < limits::LADDER_WORDS_UNREAD.as_millis()
        };
        for said in self.0.get_mut(bot).into_iter().flatten() {
            let Heard::By { ways, at_ms } = &mut said.heard else { continue };
            ways.retain(|by| *by != way);
            if ways.is_empty() && lately(*at_ms) {
                said.heard = Heard::No;
            }
        }
    }
}

fn is_over(at: UnixMillis, now: Now) -> bool {
    u128::from(now.wall.get().saturating_sub(at.get())) > limits::LADDER_WORDS_KEPT_FOR.as_millis()
}
