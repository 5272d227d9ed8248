//! What a bot is asked to do, and what comes back.

use std::fmt;
use std::sync::Arc;

use zetema_rules::{Action, SeatEvent, View};

use crate::bot::{Decision, MatchInfo};
use crate::end::End;
use crate::fault::Fault;

/// One call of a bot's methods.
pub(crate) enum Call {
    /// Make the bot, or another in its place, and start it.
    Start { info: Arc<MatchInfo>, view: Option<Box<View>> },
    /// Tell it what happened.
    Observe(SeatEvent),
    /// Ask it. The last call of a batch.
    Choose(Box<Decision>),
    /// Tell it the end.
    End(Box<End>),
}

/// Shows no card.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start { .. } => "Start",
            Self::Observe(_) => "Observe",
            Self::Choose(_) => "Choose",
            Self::End(_) => "End",
        })
    }
}

/// What a batch of calls came to.
#[derive(Debug)]
pub(crate) enum Worked {
    /// All were made.
    Done,
    /// All were made, the last one chose.
    Chose(Answer),
    /// The bot fell over one of them and is gone.
    Fell(Fault),
}

/// A bot's answer to a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) decision: u32,
    pub(crate) action: Action,
}

/// Shows no card.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({})", self.decision)
    }
}
