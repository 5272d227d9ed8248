//! Why something that is asked of a match is refused.

use zetema_rules::{PlayError, Seat};

use crate::incident::Incident;
use crate::journal::Rotation;

/// Why something that is asked of a match is refused. Nothing changed, except where it says that this is not
/// known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// There is no such match.
    #[error("there is no such match")]
    NotFound,
    /// The match has fewer seats.
    #[error("the match has no seat {seat}")]
    NoSuchSeat {
        /// What was given.
        seat: Seat,
    },
    /// The seat has a newer token.
    #[error("the seat has a newer token: use that one")]
    TokenReplaced,
    /// The token that was sent for the seat of a bot was rotated before the match was made.
    #[error("this token of the bot was rotated before the match was made: send the bot's new one")]
    MadeAfterRotation(Rotation),
    /// The token that was sent for the seat of a bot was rotated, and a later one has joined the seat.
    #[error(
        "a program with the bot's new token has joined the seat, and plays it: this token was rotated, and takes no seat back"
    )]
    NewerTokenPlays,
    /// The match has not been dealt.
    #[error("the match has not been dealt: wait for the first decision")]
    NotStarted,
    /// The match is over.
    #[error("the match is over")]
    MatchOver,
    /// Another seat is to act.
    #[error("seat {to_act} is to act in decision {current}: wait for a decision of your own")]
    NotYourTurn {
        /// The current decision.
        current: u32,
        /// Who is to act.
        to_act: Seat,
    },
    /// The rules don't allow it (R27).
    #[error("{error}")]
    Illegal {
        /// The current decision, which is still open.
        current: u32,
        /// Why not.
        error: PlayError,
    },
    /// The decision has fewer legal actions.
    #[error("decision {current} has {count} legal actions: give an index from 0, below {count}, not {index}")]
    NoSuchIndex {
        /// The current decision, which is still open.
        current: u32,
        /// What was given.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// The decision is over, and this is not the seat's own answer to it.
    #[error("{}: look at the current one", over(*.closed_by))]
    DecisionOver {
        /// The current decision, if one is open.
        current: Option<u32>,
        /// How the decision came to be over; `None` if there was none of this number.
        closed_by: Option<ClosedBy>,
    },
    /// The decision has not come yet.
    #[error("the decision has not come yet: answer the current one")]
    DecisionAhead {
        /// The current decision, if one is open.
        current: Option<u32>,
    },
    /// The seat has forfeited.
    #[error("the seat has forfeited: it acts no more")]
    SeatForfeited,
    /// The cursor is beyond the last observation.
    #[error("after_seq is beyond the last observation, {last}: subscribe without it for a snapshot")]
    CursorAhead {
        /// The number of the last observation.
        last: u64,
    },
    /// The seat gave another nonce, or another hash, before: the first stands.
    #[error("the first nonce and the first nonce hash stand: this is another")]
    NonceFixed,
    /// The seat's player is here and has yet to send the nonce that it promised, which another can't.
    #[error(
        "the seat's player is here and has promised a nonce: join with its hash, or again when the match is dealt"
    )]
    NoncePromised,
    /// The nonce is not what the hash is of.
    #[error("the nonce is not the one whose hash was given at the join")]
    NonceMismatch,
    /// Not every seat has joined, or this one joined without a hash.
    #[error("no nonce is wanted: wait until every seat has joined, and join with a nonce hash")]
    NonceNotWanted,
    /// The match is not over, so there is no record.
    #[error("the match is not over, so there is no record of it yet")]
    NotRevealed,
    /// Other matches of the deal set are not over.
    #[error("other matches of the same deal set are not over: wait for the last of them")]
    HeldUntilReveal,
    /// The seat was taken over.
    #[error("the seat was joined elsewhere")]
    Superseded,
    /// Whether it was stored is not known yet. The same may be sent again.
    #[error("whether it was stored is not known yet: send the same again")]
    OutcomeUnknown,
    /// The match has as many subscribers as it may have.
    #[error("the match has {limit} subscribers, the most that it may have: try again later")]
    TooManySubscribers {
        /// The limit.
        limit: usize,
    },
    /// The seat has had as many tokens as it may have.
    #[error(
        "the seat has had {limit} tokens, the most that it may have: keep the last one, or cancel the match and create another"
    )]
    TooManyTokens {
        /// The limit.
        limit: u32,
    },
    /// The matches that are not over take as much memory as they may.
    #[error("the matches that run take {limit} bytes of memory, the most that they may: try again later")]
    TooManyBytes {
        /// The limit.
        limit: usize,
    },
    /// The server is stopping.
    #[error("the server is stopping: reconnect")]
    Stopping,
    /// The match is damaged in the journal, or can't go on. The log says more, under this incident.
    #[error("a fault of the server: its log has more under incident {0}")]
    MatchDamaged(Incident),
    /// Something can't be read, or does not replay. The log says more.
    #[error("a fault of the server")]
    Damaged,
}

/// How a decision came to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// Its seat answered it.
    Answer,
    /// Its seat's time was out.
    Clock,
    /// Its seat had forfeited, and the server played for it.
    Forfeit,
}

const fn over(closed_by: Option<ClosedBy>) -> &'static str {
    match closed_by {
        Some(ClosedBy::Answer) | None => "the decision is over, and was not answered so",
        Some(ClosedBy::Clock) => "the decision is over, since its seat's time was out",
        Some(ClosedBy::Forfeit) => "the decision is over, since its seat has forfeited and was played for",
    }
}

impl Rejection {
    /// Its kind as a word, such as `DecisionOver`: fit for logs and metrics.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NotFound => "NotFound",
            Self::NoSuchSeat { .. } => "NoSuchSeat",
            Self::TokenReplaced => "TokenReplaced",
            Self::MadeAfterRotation(_) => "MadeAfterRotation",
            Self::NewerTokenPlays => "NewerTokenPlays",
            Self::NotStarted => "NotStarted",
            Self::MatchOver => "MatchOver",
            Self::NotYourTurn { .. } => "NotYourTurn",
            Self::Illegal { .. } => "Illegal",
            Self::NoSuchIndex { .. } => "NoSuchIndex",
            Self::DecisionOver { .. } => "DecisionOver",
            Self::DecisionAhead { .. } => "DecisionAhead",
            Self::SeatForfeited => "SeatForfeited",
            Self::CursorAhead { .. } => "CursorAhead",
            Self::NonceFixed => "NonceFixed",
            Self::NoncePromised => "NoncePromised",
            Self::NonceMismatch => "NonceMismatch",
            Self::NonceNotWanted => "NonceNotWanted",
            Self::NotRevealed => "NotRevealed",
            Self::HeldUntilReveal => "HeldUntilReveal",
            Self::Superseded => "Superseded",
            Self::OutcomeUnknown => "OutcomeUnknown",
            Self::TooManySubscribers { .. } => "TooManySubscribers",
            Self::TooManyTokens { .. } => "TooManyTokens",
            Self::TooManyBytes { .. } => "TooManyBytes",
            Self::Stopping => "Stopping",
            Self::MatchDamaged(_) => "MatchDamaged",
            Self::Damaged => "Damaged",
        }
    }
}
