//! Every refusal that a client gets: the one file that gives each error of the core its reason on the wire.
//! The status that belongs to a reason is `zetema_proto`'s, beside the reasons.
//!
//! A fault's message is for the client and shows no internals. What the log has to say about an
//! [`internal`](Fault::internal) one is under the id that its message names.

use std::{any::Any, fmt, time::Duration};

use metrics::counter;
use tonic::Status;
use zetema_proto::{
    FieldError,
    v1::{self, DecisionClosedBy, ErrorReason},
};

use super::result_streams::ahead;
use crate::{
    access::{AccessError, TokenError},
    admission::{DiskShort, Full, LongQueue, Overloaded, TooFast},
    bots::BotError,
    encoding::timestamp,
    incident::Incident,
    journal::{ReadError, Rotation},
    ladders::NotNow,
    limits,
    matches::{CreateError, Outgrown, RotationError},
    metrics::{CursorBy, REJECTIONS},
    table::{ClosedBy, Rejection},
    webhooks::WebhookError,
};

/// Why a request is refused: a status, or a rejection on a Play stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault(v1::Error);

impl Fault {
    /// A fault with this reason. `message` says what was wrong and what to do next.
    pub(crate) fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self(v1::Error::new(reason, message))
    }

    /// A field is wrong.
    pub(crate) fn field(path: impl Into<String>, problem: impl Into<String>) -> Self {
        FieldError::invalid(path, problem).into()
    }

    /// There is no such thing, or not for this caller: the two look the same.
    pub(crate) fn not_found(what: &str) -> Self {
        let message = format!("there is no such {what}, or the token of this call may not see it");
        Self::new(ErrorReason::NotFound, message)
    }

    /// A token is missing or not valid.
    pub(crate) fn unauthenticated() -> Self {
        Self::new(
            ErrorReason::Unauthenticated,
            "no valid token for this call: send \"authorization: Bearer TOKEN\" in the metadata",
        )
    }

    /// The fault of a call that takes a bot's token alone: in the same words for one of another kind as for none.
    pub(crate) fn for_bots_alone(self) -> Self {
        if self.0.reason() == ErrorReason::Unauthenticated { Self::no_bot_token() } else { self }
    }

    /// The token is not a bot's, or not valid.
    pub(crate) fn no_bot_token() -> Self {
        Self::new(
            ErrorReason::Unauthenticated,
            "no valid token of a bot: send one that RegisterBot, RotateToken or CreateToken returned for the bot, as \
             \"authorization: Bearer TOKEN\" in the metadata; an owner's, the admin's and a seat's are none",
        )
    }

    /// The token that opened a stream holds no longer.
    pub(crate) fn token_void() -> Self {
        Self::new(
            ErrorReason::Unauthenticated,
            "the token that opened this stream was revoked or replaced, or has expired: connect again with a valid one",
        )
    }

    /// The bot has a newer token than that of the call.
    pub(crate) fn token_rotated(rotation: Rotation) -> Self {
        Self::new(ErrorReason::TokenRotated, rotated(rotation))
    }

    /// Another has joined a seat.
    pub(crate) fn superseded() -> Self {
        Self::new(
            ErrorReason::Superseded,
            "the seat was joined elsewhere, by another process of yours as it seems: run one process for each seat, and do not take it back unasked",
        )
    }

    /// A seat has a new token.
    pub(crate) fn seat_token_replaced() -> Self {
        Self::new(ErrorReason::Unauthenticated, "the seat has a newer token: use that one")
    }

    /// A field holds what is no seat's token, or one that was replaced: the two look the same.
    pub(crate) fn seat_token() -> Self {
        Self::new(
            ErrorReason::Unauthenticated,
            "no valid seat token: give the last one that CreateMatch or RotateSeatToken returned for the seat",
        )
    }

    /// A bound of the server is reached: the same may be sent again after a while.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorReason::LimitExceeded, message).retry_after(RETRY_AFTER)
    }

    /// No more seats are followed at once.
    pub(crate) fn seats(full: Full) -> Self {
        Self::limit(match full {
            Full::All => "the server follows as many seats as it may: try again later",
            Full::Address => {
                "this address follows as many seats as it may: leave some, end a stream, or try again later"
            }
        })
    }

    /// The client takes nothing of what it is sent.
    pub(crate) fn stalled_reader() -> Self {
        Self::new(
            ErrorReason::SlowReader,
            "the client took nothing of what it was sent for too long, and its connection was closed: read what comes, \
             connect again, and go on after the last seq that you have",
        )
    }

    /// As many calls and streams are open as may be.
    pub(crate) fn crowded() -> Self {
        Self::limit(
            "too many calls and streams are open, from this address or in all: close some, or try again later",
        )
    }

    /// No hello came.
    pub(crate) fn no_hello() -> Self {
        let message = "no hello came in time: open a Play stream when you have something to play, and say hello at once";
        Self::new(ErrorReason::HelloExpected, message)
    }

    /// A request's message is too long in coming.
    pub(crate) fn slow_request() -> Self {
        Self::new(ErrorReason::Undecodable, "the message did not come whole in time: send it again")
    }

    /// A large request waited for room until its time was up.
    pub(crate) fn no_room_for_request() -> Self {
        Self::limit(
            "too many large requests are coming, from this address or in all: send it again later, or in smaller parts",
        )
    }

    /// A request is longer than any may be.
    pub(crate) fn long_request(most: usize) -> Self {
        let message =
            format!("the request is longer than {most} bytes, with all its messages: send one message");
        Self::new(ErrorReason::MessageTooLarge, message)
    }

    /// The client sends what carries nothing.
    pub(crate) fn flood() -> Self {
        Self::limit(
            "the connection had too many frames that carry nothing, or too many requests in spite of refusals, and was \
             closed: send less, and wait as long as you are told",
        )
    }

    /// The server stops, in so long at the latest.
    pub(crate) fn draining(stops_in: Duration) -> Self {
        let message = "the server is stopping: try again when it is back, at the same address";
        let back = Duration::from_millis(limits::RECONNECT_AFTER_MS.into());
        Self::new(ErrorReason::Draining, message).retry_after(stops_in + back)
    }

    /// The client reads too slowly.
    pub(crate) fn slow_reader() -> Self {
        Self::new(
            ErrorReason::SlowReader,
            "too many messages wait to be read: connect again, and go on after the last seq that you have",
        )
    }

    /// Nothing was heard of the client for too long.
    pub(crate) fn silent_client() -> Self {
        Self::new(
            ErrorReason::SlowReader,
            "no message came for three ping intervals: say hello first, answer every ping by a pong, and read what comes; \
             connect again, and go on after the last seq that you have",
        )
    }

    /// Something here is broken. The log has `cause` under the id that the client is told.
    pub(crate) fn internal(cause: &dyn fmt::Display) -> Self {
        Self::incident(Incident::of(cause))
    }

    /// What has panicked is given up, and the log has what it said.
    pub(crate) fn panicked(said: &(dyn Any + Send)) -> Self {
        let text = said.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| said.downcast_ref::<&str>().copied()).unwrap_or("it said nothing");
        Self::internal(&format_args!("a panic: {text}"))
    }

    /// Something here is broken, and the log has it under this incident.
    fn incident(id: Incident) -> Self {
        Self::new(
            ErrorReason::Internal,
            format!("a fault of the server: its log has more under incident {id}"),
        )
    }

    /// The fault that a status is, if one of ours made it: the codec, of bytes that are no message.
    pub(crate) fn of_status(status: &Status) -> Option<Self> {
        v1::Error::from_status(status).map(Self)
    }

    pub(super) fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after_ms = Some(wait.as_millis().try_into().unwrap_or(u32::MAX));
        self
    }

    fn at_decision(mut self, number: Option<u32>) -> Self {
        self.0.decision_number = number;
        self
    }

    fn closed_by(mut self, closed_by: Option<ClosedBy>) -> Self {
        self.0.closed_by = closed_by
            .map_or(DecisionClosedBy::Unspecified, |by| match by {
                ClosedBy::Answer => DecisionClosedBy::Answer,
                ClosedBy::Clock => DecisionClosedBy::Clock,
                ClosedBy::Forfeit => DecisionClosedBy::Forfeit,
            })
            .into();
        self
    }

    /// The same about a field.
    pub(crate) fn about(mut self, field: impl Into<String>, problem: impl Into<String>) -> Self {
        self.0.violations.push(v1::FieldViolation { field: field.into(), description: problem.into() });
        self
    }

    /// What the client is told.
    pub(crate) const fn error(&self) -> &v1::Error {
        &self.0
    }

    /// The fault as a client gets it on a Play stream.
    pub(crate) fn into_rejection(self) -> v1::Error {
        counter!(REJECTIONS, "reason" => self.0.reason().name()).increment(1);
        self.0
    }
}

/// What becomes of a token that was rotated, for people.
pub(crate) fn rotated(Rotation { at, until, last_match_at: _, last_match: _ }: Rotation) -> String {
    let (at, until) = (timestamp(at), timestamp(until));
    format!(
        "this token was rotated at {at}: send the bot's new one; until {until} the old one plays the seats of matches that were \
         made before the rotation, and gets no others; a bot without a stream finds them by UpdateQueues without queues"
    )
}

const RETRY_AFTER: Duration = Duration::from_millis(limits::RETRY_AFTER_MS as u64);

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        fault.into_rejection().into()
    }
}

impl From<TooFast> for Fault {
    fn from(TooFast { wait, by }: TooFast) -> Self {
        let message = format!("too much is asked by this {by} at once: wait as long as retry_delay says");
        // Not a moment too early.
        Self::new(ErrorReason::LimitExceeded, message).retry_after(wait + Duration::from_millis(1))
    }
}

impl From<NotNow> for Fault {
    fn from(not_now: NotNow) -> Self {
        match not_now {
            NotNow::CatchingUp => {
                Self::new(ErrorReason::Overloaded, not_now.to_string()).retry_after(RETRY_AFTER)
            }
            NotNow::StandStill(_) => Self::new(ErrorReason::Internal, not_now.to_string())
                .retry_after(limits::STAND_STILL_ASKED_AGAIN),
            NotNow::Stopping => Self::draining(Duration::ZERO),
        }
    }
}

impl From<LongQueue> for Fault {
    fn from(LongQueue: LongQueue) -> Self {
        Self::limit(
            "too many matches are replayed at once for this address or in all: read what was answered, and ask again later",
        )
    }
}

impl From<Outgrown> for Fault {
    fn from(Outgrown: Outgrown) -> Self {
        Self::limit(
            "the match has grown too much while its replay waited for places that it fits in: ask again",
        )
    }
}

impl From<Overloaded> for Fault {
    fn from(overloaded: Overloaded) -> Self {
        overloaded.count();
        let message = "the server has more to do than it can in time, and takes on less that is new: try again after a while; \
                       what runs goes on";
        Self::new(ErrorReason::Overloaded, message).retry_after(RETRY_AFTER)
    }
}

impl From<DiskShort> for Fault {
    fn from(DiskShort: DiskShort) -> Self {
        Self::limit(
            "the server's disk is nearly full, and nothing new is begun until whoever runs it has made room: try again later; \
             what runs goes on",
        )
    }
}

impl From<FieldError> for Fault {
    fn from(error: FieldError) -> Self {
        Self(error.into())
    }
}

impl From<AccessError> for Fault {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::UnknownToken => Self::unauthenticated(),
            broken => Self::internal(&broken),
        }
    }
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        use ErrorReason as R;
        let message = rejection.to_string();
        match rejection {
            Rejection::NotFound => Self::not_found("match"),
            Rejection::NoSuchSeat { .. } => Self::field("seat", message),
            Rejection::TokenReplaced => Self::seat_token(),
            Rejection::MadeAfterRotation(rotation) => Self::token_rotated(rotation),
            Rejection::NewerTokenPlays => Self::new(R::TokenRotated, message),
            Rejection::NotStarted => Self::new(R::MatchNotStarted, message),
            Rejection::MatchOver => Self::new(R::MatchOver, message),
            Rejection::NotYourTurn { current, .. } => {
                Self::new(R::NotYourTurn, message).at_decision(Some(current))
            }
            Rejection::Illegal { current, .. } | Rejection::NoSuchIndex { current, .. } => {
                Self::new(R::IllegalAction, message).at_decision(Some(current))
            }
            Rejection::DecisionOver { current, closed_by } => {
                Self::new(R::DecisionOver, message).at_decision(current).closed_by(closed_by)
            }
            Rejection::DecisionAhead { current } => Self::new(R::DecisionAhead, message).at_decision(current),
            Rejection::SeatForfeited => Self::new(R::SeatForfeited, message),
            Rejection::CursorAhead { .. } => Self::new(R::CursorAhead, message),
            Rejection::NonceFixed => Self::new(R::NonceFixed, message),
            Rejection::NoncePromised => Self::new(R::NonceFixed, message).retry_after(RETRY_AFTER),
            Rejection::NonceMismatch => Self::new(R::NonceMismatch, message),
            Rejection::NonceNotWanted => Self::new(R::NonceNotWanted, message),
            Rejection::NotRevealed => Self::new(R::NotRevealed, message),
            Rejection::HeldUntilReveal => Self::new(R::HeldUntilReveal, message),
            Rejection::Superseded => Self::new(R::Superseded, message),
            Rejection::OutcomeUnknown => Self::new(R::OutcomeUnknown, message).retry_after(RETRY_AFTER),
            Rejection::TooManySubscribers { .. } | Rejection::TooManyBytes { .. } => Self::limit(message),
            // Later there is no room either.
            Rejection::TooManyTokens { .. } => Self::new(R::LimitExceeded, message),
            Rejection::Stopping => Self::draining(Duration::ZERO),
            Rejection::MatchDamaged(incident) => Self::incident(incident),
            Rejection::Damaged => Self::internal(&message),
        }
    }
}

impl From<CreateError> for Fault {
    fn from(error: CreateError) -> Self {
        let message = error.to_string();
        match error {
            CreateError::Count { .. } => Self::field("matches", message),
            CreateError::LonelyDealSet { index, .. }
            | CreateError::MixedDealSet { index, .. }
            | CreateError::LargeDealSet { index, .. } => {
                Self::field(format!("matches[{index}].deals.shared.deal_set"), message)
            }
            CreateError::RequestReused => Self::new(ErrorReason::RequestIdReused, message),
            CreateError::TooManyMatches { .. }
            | CreateError::TooManyOfOwner { .. }
            | CreateError::TooManyBytes { .. } => Self::limit(message),
            CreateError::OutcomeUnknown => {
                Self::new(ErrorReason::OutcomeUnknown, message).retry_after(RETRY_AFTER)
            }
            CreateError::Stopping => Self::draining(Duration::ZERO),
            CreateError::Fault => Self::internal(&message),
        }
    }
}

impl From<RotationError> for Fault {
    fn from(error: RotationError) -> Self {
        match error {
            RotationError::RequestReused => Self::new(ErrorReason::RequestIdReused, error.to_string()),
            RotationError::Rejected(rejection) => rejection.into(),
        }
    }
}

impl From<TokenError> for Fault {
    fn from(error: TokenError) -> Self {
        let message = error.to_string();
        match error {
            TokenError::NotFound => Self::not_found("token"),
            TokenError::NoScope => Self::from(FieldError::missing("scope")),
            TokenError::OtherScope | TokenError::BotRetired(_) => Self::field("scope", message),
            TokenError::Expired => Self::field("expire_time", message),
            TokenError::TooMany { .. } => Self::new(ErrorReason::LimitExceeded, message),
            TokenError::RequestReused => Self::new(ErrorReason::RequestIdReused, message),
            TokenError::OutcomeUnknown => {
                Self::new(ErrorReason::OutcomeUnknown, message).retry_after(RETRY_AFTER)
            }
            TokenError::Broken(error) => error.into(),
        }
    }
}

impl From<BotError> for Fault {
    fn from(error: BotError) -> Self {
        let message = error.to_string();
        match error {
            BotError::NotFound => Self::not_found("bot"),
            BotError::NoOwner | BotError::OtherOwner => Self::field("owner", message),
            BotError::NameTaken { .. } | BotError::NameKept(_) => Self::new(ErrorReason::NameTaken, message),
            BotError::Retired(_) => Self::field("name", message),
            BotError::TooMany { .. } => Self::new(ErrorReason::LimitExceeded, message),
            BotError::Closed => Self::new(ErrorReason::NotSupported, message),
            BotError::Read(ReadError::Unavailable(_)) => {
                let message = "the accounts can't be read now: send the same again";
                Self::new(ErrorReason::OutcomeUnknown, message).retry_after(RETRY_AFTER)
            }
            BotError::Token(error) => error.into(),
            BotError::Read(ReadError::Damaged(_)) | BotError::NoSecret => Self::internal(&message),
        }
    }
}

impl From<WebhookError> for Fault {
    fn from(error: WebhookError) -> Self {
        let message = error.to_string();
        match error {
            WebhookError::NotFound => Self::not_found("webhook"),
            WebhookError::Url(_)
            | WebhookError::NotAllowed { .. }
            | WebhookError::Unresolved
            | WebhookError::NoAddress => Self::field("url", message),
            WebhookError::OtherOwner => Self::field("owner", message),
            // Whoever may create webhooks may have made it up.
            WebhookError::CursorAhead(cursor) => ahead(cursor, CursorBy::Owner),
            WebhookError::TooMany { .. } => Self::new(ErrorReason::LimitExceeded, message),
            WebhookError::RequestReused => Self::new(ErrorReason::RequestIdReused, message),
            WebhookError::OutcomeUnknown | WebhookError::Unavailable => {
                Self::new(ErrorReason::OutcomeUnknown, message).retry_after(RETRY_AFTER)
            }
            WebhookError::Damaged(cause) => Self::internal(&cause),
            WebhookError::Broken(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_fault_does_not_tell_its_cause() {
        let status = Status::from(Fault::internal(&"disk /dev/sda1 is full"));
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(!status.message().contains("sda1"));
    }
}
