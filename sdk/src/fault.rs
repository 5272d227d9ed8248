//! What went wrong at a seat without ending its match.

use std::time::SystemTime;
use std::{mem, panic};

use thiserror::Error;

use zetema_proto::MAX_PANIC_MESSAGE_BYTES;

use crate::error::{Disconnect, ErrorReason, Refusal};

/// Something that the author of a bot should know of. The match went on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bot panicked. While the match ran, the seat was forfeited, and the server told, as `ListFaults` shows to the bot's author alone.
    /// Once it was over, as in [`Bot::end`](crate::Bot::end), in `observe` of the last events, or as the bot was dropped, there was
    /// nothing to forfeit, and the server was not told: this is all that is said of it.
    #[error("the bot panicked, and its seat was forfeited unless the match was over: {message}")]
    Panicked {
        /// What it panicked with.
        message: String,
    },
    /// The bot chose an action that is not legal: the seat was forfeited. The action itself is not
    /// shown, since a log may hold this.
    #[error(
        "the bot chose what is not legal at decision {decision}, and its seat was forfeited: choose from `legal`"
    )]
    IllegalChoice {
        /// The decision's number.
        decision: u32,
    },
    /// The decision was closed before the bot's answer came: its time was out.
    #[error("the answer to decision {decision} came too late: the decision was over")]
    TooLate {
        /// The decision's number.
        decision: u32,
    },
    /// The decision had another answer, from another program that has played the seat.
    #[error("decision {decision} was answered otherwise, by another program that played the seat")]
    AnsweredOtherwise {
        /// The decision's number.
        decision: u32,
    },
    /// The seat's time was out.
    #[error("the seat's time was out at decision {decision}, {}", times(*.strikes))]
    TimedOut {
        /// The number of the decision that it did not take.
        decision: u32,
        /// How often that has happened to the seat in this match, from 1.
        strikes: u32,
    },
    /// The seat forfeited the match, since its time was out, or had been so too often.
    #[error("the seat forfeited the match: its time was out at decision {decision}")]
    ForfeitedOnTime {
        /// The number of the decision that it did not take.
        decision: u32,
    },
    /// The server had cut the stream before this one that was opened with the same token. The seat had joined on it, or by
    /// another program.
    #[error("the server cut the stream before: {} ({message})", .reason.name())]
    CutBefore {
        /// When, by the server's clock.
        time: SystemTime,
        /// The reason that the stream ended with.
        reason: ErrorReason,
        /// For people: what was wrong, and what to do.
        message: String,
    },
    /// The server refused something; what could be sent again was.
    #[error("the server refused to {asked}: {refusal}")]
    Refused {
        /// What was asked for: `act`, for instance.
        asked: &'static str,
        /// Its answer.
        refusal: Refusal,
    },
    /// The connection was lost. It was made again unless the end of the match says otherwise.
    #[error("the connection was lost: {0}")]
    Disconnected(Disconnect),
    /// The server has lost what it had shown: a new bot went on from its present state.
    #[error("the server lost what was seen after observation {after_seq}: a new bot goes on from there")]
    LostObservations {
        /// The last observation that had come.
        after_seq: u64,
    },
    /// Something is missing from the stream: it was asked for again.
    #[error("observation {came} came after {after_seq}: what is between was asked for again")]
    Gap {
        /// The last observation before.
        after_seq: u64,
        /// The one that came.
        came: u64,
    },
    /// The seat had joined before with another nonce, which only that program knows.
    #[error(
        "the seat joined before with another nonce: only the program that chose it can send it, and if it is still wanted and does not come, the match is aborted"
    )]
    NonceOfAnother,
}

impl Fault {
    /// What the server is told of a panic while the match runs, for the bot's author: as much as it takes.
    pub(crate) fn reported_panic(&self) -> Option<String> {
        let Self::Panicked { message } = self else { return None };
        Some(message[..message.floor_char_boundary(MAX_PANIC_MESSAGE_BYTES)].to_owned())
    }
}

fn times(strikes: u32) -> String {
    match strikes {
        1 => "the first time in this match".to_owned(),
        n => format!("{n} times in this match"),
    }
}

/// What a panic was called with, as text.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}

/// Runs a bot's own code. A panic in it becomes a fault, and whatever it was working on is given up.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    panic::catch_unwind(panic::AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic_message(&*panic);
        // What it panicked with is of the bot too. Whoever panics in dropping that has nothing more to say.
        if let Err(again) = panic::catch_unwind(panic::AssertUnwindSafe(|| drop(panic))) {
            mem::forget(again);
        }
        Fault::Panicked { message }
    })
}
