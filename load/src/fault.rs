//! What a run may find wrong with a server.

use std::fmt;

use crate::outcome::{Check, Recorder};

/// Something that a client received and that no server may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The match; empty if it is about none.
    pub match_id: String,
    /// The seat, from 0. `None`: a spectator, or the match as a whole.
    pub seat: Option<u8>,
    /// What is wrong.
    pub wrong: Wrong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.match_id.is_empty() {
            write!(f, "match {}", self.match_id)?;
            if let Some(seat) = self.seat {
                write!(f, " seat {seat}")?;
            }
            f.write_str(": ")?;
        }
        self.wrong.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// Puts it into the run's outcome, which has failed by it.
    pub(crate) fn report(&self, recorder: &Recorder) {
        recorder.fault(self.wrong.check(), self.to_string());
    }
}

impl Wrong {
    /// What was looked at.
    pub(crate) const fn check(&self) -> Check {
        match self {
            Self::Sequence { .. } | Self::OldSnapshot { .. } => Check::Sequence,
            Self::ExtraReceipt { .. }
            | Self::ReceiptElsewhere { .. }
            | Self::OtherMatch { .. }
            | Self::MissingReceipt { .. }
            | Self::NoAnswer { .. } => Check::Receipt,
            Self::Outcome { .. }
            | Self::SpectatorOutcome { .. }
            | Self::Record { .. }
            | Self::NoRecord { .. } => Check::Score,
            Self::Tally { .. }
            | Self::Counted { .. }
            | Self::OtherSeats
            | Self::StandingsBehind { .. }
            | Self::NoStandings { .. }
            | Self::Unfinished { .. } => Check::Tally,
            Self::MissingResult { .. }
            | Self::NotTaken { .. }
            | Self::NotBack { .. }
            | Self::StandsStill { .. }
            | Self::Unreachable { .. }
            | Self::NoEnd
            | Self::SpectatorNotTold { .. }
            | Self::Lost { .. }
            | Self::ResultTwice { .. }
            | Self::ResultOrder { .. }
            | Self::NotRetired { .. }
            | Self::Malformed { .. }
            | Self::Sdk { .. } => Check::Contract,
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    /// An observation is missing, or came twice.
    #[error("observation {found} came where {expected} was due")]
    Sequence {
        /// The number that was due.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// A snapshot is older than what was seen before.
    #[error("a snapshot as of observation {found} came after observation {seen} was seen")]
    OldSnapshot {
        /// The last observation that was seen.
        seen: u64,
        /// The last one that the snapshot includes.
        found: u64,
    },
    /// A receipt came that no answer was waiting for: there was none, or it has its receipt.
    #[error("a receipt for decision {decision} came that no answer was waiting for")]
    ExtraReceipt {
        /// The decision.
        decision: u32,
    },
    /// A receipt names another observation than the one that shows the action.
    #[error("the receipt for decision {decision} names observation {named}, and {shown} shows the action")]
    ReceiptElsewhere {
        /// The decision.
        decision: u32,
        /// What the receipt names.
        named: u64,
        /// What shows the action.
        shown: u64,
    },
    /// A receipt is of another match.
    #[error("a receipt of match {found} came")]
    OtherMatch {
        /// What the receipt names.
        found: String,
    },
    /// A match ended without a receipt for an answer that nothing had refused.
    #[error("it ended without a receipt for decision {decision}")]
    MissingReceipt {
        /// The decision.
        decision: u32,
    },
    /// Nothing has come to an answer, neither a receipt nor a refusal, on a connection that is up or on one that did not come back.
    #[error("nothing has come to the answer to decision {decision} for {waited_s} s")]
    NoAnswer {
        /// The decision.
        decision: u32,
        /// How long it was waited for, in seconds.
        waited_s: u64,
    },
    /// A seat was asked for, and there is neither its snapshot nor a refusal.
    #[error("the seat was asked for, and has neither a snapshot nor a refusal for {waited_s} s")]
    NotTaken {
        /// How long nothing was heard in its match, in seconds.
        waited_s: u64,
    },
    /// The stream of a seat was cut, and there is no other since, nor a refusal.
    #[error("its stream was cut {waited_s} s ago, and the seat has neither a snapshot nor a refusal since")]
    NotBack {
        /// How long ago it was cut, in seconds.
        waited_s: u64,
    },
    /// All that was sent in a match has its receipt, and nobody is given the next decision.
    #[error("it stands still: all answers have their receipts, and no decision has come for {waited_s} s")]
    StandsStill {
        /// How long nothing was heard in it, in seconds.
        waited_s: u64,
    },
    /// The server does not answer when the load is over.
    #[error("the server could not be reached when the load was over, for {waited_s} s: {problem}")]
    Unreachable {
        /// How long it was tried, in seconds.
        waited_s: u64,
        /// What was in the way.
        problem: String,
    },
    /// A match is over by its result, and a seat was not told.
    #[error("its result has come, and the seat was not told that it is over")]
    NoEnd,
    /// A match is over, and a spectator is still not told.
    #[error("it has been over for {waited_s} s, and a spectator was not told")]
    SpectatorNotTold {
        /// How long it has been over, in seconds.
        waited_s: u64,
    },
    /// The server does not know a match that it has created, and has told no result of it.
    #[error("it was created, has no result, and the server does not know it: {said}")]
    Lost {
        /// What the server says.
        said: String,
    },
    /// Two say differently how a match ended.
    #[error("it ended with {told} by {first}, and with {found} by {other}")]
    Outcome {
        /// Who was first to say.
        first: Source,
        /// What.
        told: String,
        /// Who says something else.
        other: Source,
        /// What.
        found: String,
    },
    /// A spectator was told another end than the result is.
    #[error("a spectator was told that it ended with {told}, and its result is another")]
    SpectatorOutcome {
        /// What the spectator was told.
        told: String,
    },
    /// The result of a match that had ended did not come.
    #[error("its result has not come within {waited_s} s after its end")]
    MissingResult {
        /// How long it was waited for, in seconds.
        waited_s: u64,
    },
    /// The result of a match came twice.
    #[error("its result came twice, as number {first} and as number {again}")]
    ResultTwice {
        /// The result's number.
        first: u64,
        /// The number when it came again.
        again: u64,
    },
    /// The numbers of results do not rise.
    #[error("result {found} came after result {before}")]
    ResultOrder {
        /// The number before.
        before: u64,
        /// The number that came.
        found: u64,
    },
    /// The record of a match that is over can't be had.
    #[error("its record can't be had: {problem}")]
    NoRecord {
        /// What is in the way.
        problem: String,
    },
    /// A record does not follow from what it says.
    #[error("its record is wrong: {problem}")]
    Record {
        /// What is wrong with it.
        problem: String,
    },
    /// The standings have counted another number of a bot's matches than it has seen.
    #[error("the standings count {counted} matches of {bot}, which has seen {} end", expected(*.seen, *.blind))]
    Tally {
        /// The bot.
        bot: String,
        /// What the standings say.
        counted: u64,
        /// Matches of which it was told a result.
        seen: u64,
        /// Those that it could not follow to their end.
        blind: u64,
    },
    /// The standings have counted as many matches of a bot as its results are, and something else of them.
    #[error("the standings have {counted} of {bot}, and its results make {expected}")]
    Counted {
        /// The bot.
        bot: String,
        /// What the standings say.
        counted: String,
        /// What follows from the results.
        expected: String,
    },
    /// The standings have not come to count what has ended.
    #[error("the standings have not reached result {last}, which has come, within {waited_s} s: {reached}")]
    StandingsBehind {
        /// The result.
        last: u64,
        /// How far they are.
        reached: String,
        /// How long it was waited, in seconds.
        waited_s: u64,
    },
    /// The standings can't be had.
    #[error("the standings can't be held against what the bots have seen: {problem}")]
    NoStandings {
        /// What is in the way.
        problem: String,
    },
    /// Matches were not over in time, so that nothing says whether they are counted.
    #[error(
        "{bots} bots had matches that were not over in time: they lose them by the clock, and the standings were not looked at"
    )]
    Unfinished {
        /// The bots that had.
        bots: usize,
    },
    /// A bot of the run is still there.
    #[error("bot {bot} could not be retired: {problem}")]
    NotRetired {
        /// The bot.
        bot: String,
        /// What is in the way.
        problem: String,
    },
    /// A bot has played a seat that the result gives to another.
    #[error("a bot was told its end that its result does not name")]
    OtherSeats,
    /// The SDK found something.
    #[error("the SDK says: {problem}")]
    Sdk {
        /// What it says.
        problem: String,
    },
    /// A message lacks what it must have.
    #[error("{what}")]
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
}

fn expected(seen: u64, blind: u64) -> String {
    if blind == 0 { seen.to_string() } else { format!("{seen} to {}", seen + blind) }
}

/// Who says how a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The end of what this seat was told, from 0.
    Seat(u8),
    /// The stream of results.
    Result,
    /// The record.
    Record,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seat(seat) => write!(f, "what seat {seat} was told"),
            Self::Result => f.write_str("its result"),
            Self::Record => f.write_str("its record"),
        }
    }
}
