//! What the writer is asked, and its answers, which go back to the runtime all at once.

use std::fmt;
use std::sync::Arc;

use tokio::sync::oneshot::Sender;

use super::live::{Position, SegmentNumber};
use super::recover::table;
use super::young::YoungPlace;
use crate::journal::row::HEADER_BYTES;
use crate::journal::{
    AccountChange, Append, AppendOutcome, Cause, Completion, CreateOutcome, Fetch, Finish, FinishOutcome,
    FinishedMatch, LadderChange, MatchId, MetaKey, MetaValue, Never, NewMatches, NewRecords, Outcome,
    Request as NamedRequest, RequestKey, RequestReused, Response, ResultNumber, StoredLater, TokenChange,
    UnixMillis, WebhookChange,
};
use crate::prefetch::Place as Memory;

pub(super) type MetaOutcome = Outcome<MetaValue, Never>;
pub(super) type RememberOutcome = Outcome<Response, RequestReused>;
pub(super) type TokensOutcome = Outcome<(), RequestReused>;
pub(super) type AccountOutcome = Outcome<(), RequestReused>;
pub(super) type WebhooksOutcome = Outcome<u64, RequestReused>;
pub(super) type LadderOutcome = Outcome<(), StoredLater>;

pub(super) type Located = Result<Found, Cause>;

/// What the writer knows of a match.
#[derive(Debug)]
pub(super) enum Found {
    Running(Location),
    /// It has ended, and is not in the database yet.
    Ended(Box<FinishedMatch>),
    /// It is in the database, or there is none.
    Nothing,
}

pub(super) enum Request {
    Write(Write),
    Query(Query),
    Close(Sender<()>),
}

/// What is rare is boxed, so that appends are short: each is moved some times on its way.
pub(super) enum Write {
    Create(Box<NewMatches>, Sender<CreateOutcome>),
    Append(Append, AppendTo),
    Finish(Box<Finish>, Sender<FinishOutcome>),
    Remember(Box<NamedRequest>, UnixMillis, Sender<RememberOutcome>),
    Tokens(Box<TokenChange>, Sender<TokensOutcome>),
    Account(Box<AccountChange>, Sender<AccountOutcome>),
    Webhooks(Box<WebhookChange>, Sender<WebhooksOutcome>),
    Ladder(Box<LadderChange>, Sender<LadderOutcome>),
    ForgetNameless(Sender<Outcome<(), Never>>),
    Meta(MetaKey, MetaValue, Sender<MetaOutcome>),
    ReplaceMeta(MetaKey, MetaValue, Sender<Outcome<(), Never>>),
    /// Nothing, in the redo log if there is one: whether that can be written.
    Trial(Sender<Outcome<(), Never>>),
}

/// Who waits for the outcome of an append.
pub(super) enum AppendTo {
    Task(Sender<AppendOutcome>),
    Told(Box<dyn Completion>),
}

/// What the writer answers out of its memory, after all writes before it.
pub(super) enum Query {
    Locate(MatchId, Sender<Located>),
    /// The same of the first record alone.
    LocateFirst(MatchId, Sender<Located>),
    Unfinished(Sender<Vec<MatchId>>),
    /// That all that is durable can be read in the database, for who reads there.
    Settle(Sender<Result<(), Cause>>),
}

/// Where a row is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Table(SegmentNumber, Position),
    Redo(YoungPlace),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(segment, position) => write!(f, "position {position} of {}", table(*segment)),
            Self::Redo(YoungPlace { file, offset, .. }) => {
                write!(f, "byte {offset} of file {} of the redo log", file.number)
            }
        }
    }
}

/// Where the records of a running match are.
#[derive(Debug)]
pub(super) struct Location {
    pub(super) places: Vec<Place>,
    pub(super) damage: Option<Arc<str>>,
}

impl Request {
    /// It came when the journal was closed. Who asks something learns that by having no answer.
    pub(super) fn refuse(self) {
        if let Self::Write(write) = self {
            write.spoilt(&Spoilt::Failed(Cause::new("the journal is closed"))).send();
        }
    }
}

impl Write {
    /// The answer when nothing is tried.
    pub(super) fn spoilt(self, by: &Spoilt) -> Answer {
        match self {
            Self::Create(_, to) => Answer::Create(to, by.outcome()),
            Self::Append(_, to) => Answer::Append(to, by.outcome()),
            Self::Finish(_, to) => Answer::Finish(to, by.outcome()),
            Self::Remember(_, _, to) => Answer::Remember(to, by.outcome()),
            Self::Tokens(_, to) => Answer::Tokens(to, by.outcome()),
            Self::Account(_, to) => Answer::Account(to, by.outcome()),
            Self::Webhooks(_, to) => Answer::Webhooks(to, by.outcome()),
            Self::Ladder(_, to) => Answer::Ladder(to, by.outcome()),
            Self::ForgetNameless(to) => Answer::ForgetNameless(to, by.outcome()),
            Self::Meta(_, _, to) => Answer::Meta(to, by.outcome()),
            Self::ReplaceMeta(_, _, to) | Self::Trial(to) => Answer::ReplaceMeta(to, by.outcome()),
        }
    }

    /// What names it, and when it came, if it named itself.
    pub(super) fn named(&self) -> Option<(&RequestKey, UnixMillis)> {
        match self {
            Self::Create(new, _) => new.request.as_ref().map(|request| (&request.key, new.now)),
            Self::Remember(request, now, _) => Some((&request.key, *now)),
            Self::Tokens(change, _) => change.request.as_ref().map(|request| (&request.key, change.now)),
            Self::Account(change, _) => {
                let TokenChange { request, now, .. } = &change.tokens;
                request.as_ref().map(|request| (&request.key, *now))
            }
            Self::Webhooks(change, _) => match &**change {
                WebhookChange::Made { webhook, request } => {
                    request.as_ref().map(|request| (&request.key, webhook.created_at))
                }
                _ => None,
            },
            Self::Append(..)
            | Self::Finish(..)
            | Self::Ladder(..)
            | Self::ForgetNameless(..)
            | Self::Meta(..)
            | Self::ReplaceMeta(..)
            | Self::Trial(_) => None,
        }
    }

    /// Whether something of it waits in the redo log until it is put into the database.
    pub(super) const fn is_for_the_database(&self) -> bool {
        match self {
            Self::Create(new, _) => new.request.is_some(),
            Self::Finish(..) | Self::Remember(..) => true,
            _ => false,
        }
    }

    /// Whether it goes into the redo log; the others go into the database at once.
    pub(super) const fn is_logged(&self) -> bool {
        match self {
            Self::Create(..) | Self::Append(..) | Self::Finish(..) | Self::Remember(..) | Self::Trial(_) => {
                true
            }
            Self::Tokens(..)
            | Self::Account(..)
            | Self::Webhooks(..)
            | Self::Ladder(..)
            | Self::ForgetNameless(..)
            | Self::Meta(..)
            | Self::ReplaceMeta(..) => false,
        }
    }

    /// Whether what it reads or replaces may be damaged, so that it is looked at before the transaction.
    pub(super) fn may_meet_damage(&self) -> bool {
        matches!(self, Self::Ladder(..)) || self.named().is_some()
    }

    /// About how many bytes it adds to the log.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Create(new, _) => new.matches.iter().map(|new| row_bytes(&new.records)).sum(),
            Self::Append(append, _) => row_bytes(&append.records),
            Self::Finish(finish, _) => row_bytes(&finish.last.records) + finish.record.as_bytes().len(),
            Self::Remember(request, ..) => request.response.as_bytes().len(),
            Self::Tokens(..) => TOKEN_BYTES,
            Self::Account(..) => ACCOUNT_BYTES,
            Self::Webhooks(..) => WEBHOOK_BYTES,
            Self::ForgetNameless(_) => RATING_BYTES,
            Self::Ladder(change, _) => RATING_BYTES * (1 + change.stored.bots.len()),
            Self::Meta(_, value, _) | Self::ReplaceMeta(_, value, _) => value.as_bytes().len(),
            Self::Trial(_) => 0,
        }
    }
}

/// About how many bytes a change of the tokens takes.
const TOKEN_BYTES: usize = 512;
/// About how many bytes a change of an account and its tokens takes.
const ACCOUNT_BYTES: usize = 1_536;
/// About how many bytes a change of a webhook takes.
const WEBHOOK_BYTES: usize = 512;
/// About how many bytes a ladder takes, or one of its bots.
const RATING_BYTES: usize = 192;

fn row_bytes(records: &NewRecords) -> usize {
    records.as_slice().iter().map(|payload| HEADER_BYTES + payload.as_bytes().len()).sum()
}

/// An answer on its way. Whoever has stopped waiting for it doesn't get it.
pub(super) enum Answer {
    Create(Sender<CreateOutcome>, CreateOutcome),
    Append(AppendTo, AppendOutcome),
    Finish(Sender<FinishOutcome>, FinishOutcome),
    Remember(Sender<RememberOutcome>, RememberOutcome),
    Tokens(Sender<TokensOutcome>, TokensOutcome),
    Account(Sender<AccountOutcome>, AccountOutcome),
    Webhooks(Sender<WebhooksOutcome>, WebhooksOutcome),
    Ladder(Sender<LadderOutcome>, LadderOutcome),
    ForgetNameless(Sender<Outcome<(), Never>>, Outcome<(), Never>),
    Meta(Sender<MetaOutcome>, MetaOutcome),
    ReplaceMeta(Sender<Outcome<(), Never>>, Outcome<(), Never>),
    Located(Sender<Located>, Located),
    Unfinished(Sender<Vec<MatchId>>, Vec<MatchId>),
    Settled(Sender<Result<(), Cause>>, Result<(), Cause>),
    Closed(Sender<()>),
}

/// Why nothing counts of a batch, or of a write that was not let into it.
#[derive(Clone)]
pub(super) enum Spoilt {
    Failed(Cause),
    Damaged(Cause),
    Unknown(Cause),
}

impl Answer {
    /// The batch that this is an answer of did not go through.
    pub(super) fn spoil(&mut self, by: &Spoilt) {
        match self {
            Self::Create(_, outcome) => *outcome = by.outcome(),
            Self::Append(_, outcome) => *outcome = by.outcome(),
            Self::Finish(_, outcome) => *outcome = by.outcome(),
            Self::Remember(_, outcome) => *outcome = by.outcome(),
            Self::Tokens(_, outcome) | Self::Account(_, outcome) => *outcome = by.outcome(),
            Self::Webhooks(_, outcome) => *outcome = by.outcome(),
            Self::Ladder(_, outcome) => *outcome = by.outcome(),
            Self::Meta(_, outcome) => *outcome = by.outcome(),
            Self::ForgetNameless(_, outcome) | Self::ReplaceMeta(_, outcome) => *outcome = by.outcome(),
            Self::Located(..) | Self::Unfinished(..) | Self::Settled(..) | Self::Closed(_) => {}
        }
    }

    /// Has fetched who waits.
    pub(super) fn prefetch_waiting(&self) {
        if let Self::Append(AppendTo::Told(told), _) = self {
            Memory::of(&**told).fetch();
        }
    }

    /// Has fetched what who waits needs to be answered.
    pub(super) fn prefetch(&self, step: Fetch) {
        if let Self::Append(AppendTo::Told(told), _) = self {
            told.prefetch(step);
        }
    }

    pub(super) fn send(self) {
        // An error says that nobody waits any more: that is the caller's to decide.
        match self {
            Self::Create(to, outcome) => drop(to.send(outcome)),
            Self::Append(AppendTo::Task(to), outcome) => drop(to.send(outcome)),
            Self::Append(AppendTo::Told(told), outcome) => told.complete(outcome),
            Self::Finish(to, outcome) => drop(to.send(outcome)),
            Self::Remember(to, outcome) => drop(to.send(outcome)),
            Self::Tokens(to, outcome) | Self::Account(to, outcome) => drop(to.send(outcome)),
            Self::Webhooks(to, outcome) => drop(to.send(outcome)),
            Self::Ladder(to, outcome) => drop(to.send(outcome)),
            Self::Meta(to, outcome) => drop(to.send(outcome)),
            Self::ForgetNameless(to, outcome) | Self::ReplaceMeta(to, outcome) => drop(to.send(outcome)),
            Self::Located(to, location) => drop(to.send(location)),
            Self::Unfinished(to, matches) => drop(to.send(matches)),
            Self::Settled(to, settled) => drop(to.send(settled)),
            Self::Closed(to) => drop(to.send(())),
        }
    }
}

impl Spoilt {
    pub(super) fn outcome<T, R>(&self) -> Outcome<T, R> {
        match self {
            Self::Failed(cause) => Outcome::Failed(cause.clone()),
            Self::Damaged(cause) => Outcome::Damaged(cause.clone()),
            Self::Unknown(cause) => Outcome::Unknown(cause.clone()),
        }
    }

    pub(super) fn cause(&self) -> &Cause {
        match self {
            Self::Failed(cause) | Self::Damaged(cause) | Self::Unknown(cause) => cause,
        }
    }
}

/// What the writer hands back after a commit: one message, one wake.
pub(super) struct Batch {
    pub(super) answers: Vec<Answer>,
    pub(super) latest_result: ResultNumber,
}
