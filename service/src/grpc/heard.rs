//! What a subscription of the core says, as messages of the wire: the same for Play, Observe and `WatchMatch`.

use std::{
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{
    FutureExt, Stream, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use metrics::counter;
use tonic::Status;
use zetema_proto::{
    Views, Wire,
    v1::{self, subscription_start},
};
use zetema_rules::{Outcome, Viewer};

use super::{
    backend::Backend,
    drain::{Stage, Stages},
    encoded,
    fault::Fault,
    told::{EncodedObservation, ROOM_BEFORE},
    wire,
};
use crate::{
    admission::{Share, Turn},
    journal::MatchId,
    limits,
    matches::{Audience, End, Kept, Matches, Next, Outgrown, Start, Subscription},
    metrics::SLOW_READERS,
    own_task::in_own_task,
    table::{Observation, Rejection, SeatAccess},
};

/// One thing that is heard of a match.
pub(super) enum Heard {
    /// Something happened.
    Observation {
        /// Its number.
        seq: u64,
        observation: EncodedObservation,
    },
    /// The match ended, and everything was heard.
    End(v1::SubscriptionEnd),
    /// The seat is lost.
    Superseded(v1::SupersededReason),
    /// It can't go on.
    Cut(Fault),
}

/// A match that is followed.
pub(super) struct Followed {
    /// What goes out first.
    pub(super) start: v1::SubscriptionStart,
    /// The number of the last observation that the start includes.
    pub(super) seq: u64,
    /// What comes after.
    pub(super) following: Following,
}

/// What is to be followed: a match, by whose eyes, and from where on.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) match_id: MatchId,
    pub(super) audience: Audience,
    pub(super) after_seq: Option<u64>,
    pub(super) views: Views,
}

/// The turn to read a replay, and of how many entries that is at most.
pub(super) struct ToRead {
    turn: Turn,
    entries: usize,
}

/// Waits for the turn to read what the player of a seat has missed after an observation of a match that runs; `None` if nothing was.
/// Nothing is subscribed to, so that those who look on keep nobody from a seat.
///
/// A cursor that is ahead is refused.
pub(super) async fn turn_to_read(
    backend: &Backend,
    share: Option<&Share>,
    (match_id, access, after_seq): (MatchId, SeatAccess, u64),
) -> Result<Option<ToRead>, Fault> {
    let missed = backend.matches.has_missed(match_id, access, after_seq).await?;
    match (missed, share.cloned()) {
        (Some(true) | None, Some(share)) => {
            let matches = backend.matches.clone();
            let seat = Audience::Observer(access);
            Ok(Some(in_own_task(async move { to_read(&share, &matches, match_id, seat).await }).await?))
        }
        _ => Ok(None),
    }
}

/// Follows a match. What has to be replayed for that is when it is the turn of the share, which may have one to read it already.
pub(super) async fn follow(
    backend: &Backend,
    share: Option<&Share>,
    look: Look,
    turn: Option<ToRead>,
) -> Result<Followed, Fault> {
    let Look { match_id, audience, after_seq, views } = look;
    let at_once = match turn {
        None => backend.matches.subscribe_at_once(match_id, audience, after_seq, views).await?,
        Some(_) => None,
    };
    let mut subscription = if let Some(subscription) = at_once {
        subscription
    } else {
        let (matches, share) = (backend.matches.clone(), share.cloned());
        // Whoever waits for it may be left waiting by its reader: that keeps the turn from nobody.
        in_own_task(async move {
            let Turns { to_read, to_make: _to_make } =
                Turns::of(share.as_ref(), &matches, look, turn).await?;
            let mut subscription = matches.subscribe(match_id, audience, after_seq, views).await?;
            if let Some(ToRead { turn, entries }) = to_read {
                subscription.keep_while_behind(Kept { entries, _held: Box::new(turn) })?;
            }
            Ok::<_, Fault>(subscription)
        })
        .await?
    };
    let start = v1::SubscriptionStart {
        r#match: Some(subscription.info().into()),
        seat: match audience.viewer() {
            Viewer::Seat(seat) => Some(seat.to_wire()),
            Viewer::Spectator => None,
        },
        kind: Some(match subscription.take_start() {
            Start::Snapshot(snapshot) => subscription_start::Kind::Snapshot(wire::snapshot(&snapshot)),
            Start::Resumed { after_seq, running } => subscription_start::Kind::Resumed(v1::Resumed {
                after_seq,
                decision_elapsed_ms: running.map(|running| running.elapsed_ms),
                decision_number: running.map(|running| running.decision),
            }),
        }),
    };
    let seq = subscription.last_seq();
    Ok(Followed { start, seq, following: Following(Doing::new(Box::new(subscription))) })
}

/// The turns that a match is replayed in.
struct Turns {
    /// Kept until its reader has caught up, or has come to the end, if its observations are read one by one.
    to_read: Option<ToRead>,
    /// Given up when it is replayed, if it is over: of one that runs nothing is before it is read.
    to_make: Option<Turn>,
}

impl Turns {
    async fn of(
        share: Option<&Share>,
        matches: &Matches,
        look: Look,
        to_read: Option<ToRead>,
    ) -> Result<Self, Fault> {
        let Some(share) = share else { return Ok(Self { to_read: None, to_make: None }) };
        let to_read = match (to_read, look.after_seq) {
            (None, Some(_)) => Some(self::to_read(share, matches, look.match_id, look.audience).await?),
            (to_read, _) => to_read,
        };
        let to_make = if matches.runs(look.match_id) { None } else { Some(share.replay().await?) };
        Ok(Self { to_read, to_make })
    }
}

/// The turn to read a replay, which takes the more places the longer the match is. Whoever comes back to a seat of a match that runs
/// has a clock, and waits for others of its kind alone. A match that has outgrown its places meanwhile is not read in them.
async fn to_read(
    share: &Share,
    matches: &Matches,
    match_id: MatchId,
    audience: Audience,
) -> Result<ToRead, Fault> {
    let runs = matches.runs(match_id);
    let grows = if runs { limits::REPLAY_GROWTH_ENTRIES } else { 0 };
    let places = (matches.length(match_id).await? + grows).div_ceil(limits::ENTRIES_PER_REPLAY).max(1);
    let turn = if runs && audience.access().is_some() {
        share.replay_to_read_by_seat(places).await?
    } else {
        share.replay_to_read(places).await?
    };
    let entries = places * limits::ENTRIES_PER_REPLAY;
    if matches.length(match_id).await? > entries {
        return Err(Outgrown.into());
    }
    Ok(ToRead { turn, entries })
}

/// A subscription that is heard. It ends with the first that is no observation.
pub(super) struct Following(Doing);

enum Doing {
    Listens(Subscription),
    /// For the next that is replayed.
    Waits(BoxFuture<'static, (Next, Box<Subscription>)>),
    Ended,
}

impl Doing {
    fn new(mut subscription: Box<Subscription>) -> Self {
        if subscription.has_to_replay() {
            Self::Waits(async move { (subscription.next().await, subscription) }.boxed())
        } else {
            Self::Listens(*subscription)
        }
    }
}

impl Following {
    /// One that is over.
    #[cfg(test)]
    pub(super) const fn ended() -> Self {
        Self(Doing::Ended)
    }

    /// What it listens to, if nothing has to be replayed first.
    pub(super) fn subscription(&self) -> Option<&Subscription> {
        match &self.0 {
            Doing::Listens(subscription) => Some(subscription),
            Doing::Waits(_) | Doing::Ended => None,
        }
    }

    /// All of it.
    pub(super) fn heard(mut self) -> BoxStream<'static, Heard> {
        stream::poll_fn(move |context| self.poll_next(context)).boxed()
    }

    /// Has the task of this context woken for what comes next, if it is known that nothing is there now.
    pub(super) fn sleeps(&mut self, context: &Context<'_>) -> bool {
        match &mut self.0 {
            Doing::Listens(subscription) => subscription.sleeps(context),
            Doing::Waits(_) | Doing::Ended => false,
        }
    }

    /// The next thing that is heard; `None` after the last. What is live is looked at as it is.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Heard>> {
        let (next, told) = match &mut self.0 {
            Doing::Listens(subscription) => {
                let next = ready!(subscription.poll_live(context));
                let told = told(&next, subscription);
                (next, told)
            }
            Doing::Waits(waits) => {
                let (next, subscription) = ready!(waits.as_mut().poll(context));
                let told = told(&next, &subscription);
                self.0 = Doing::new(subscription);
                (next, told)
            }
            Doing::Ended => return Poll::Ready(None),
        };
        if matches!(next, Next::End(_)) {
            self.0 = Doing::Ended;
        }
        Poll::Ready(Some(told))
    }
}

/// What is next in a subscription, as it is told.
pub(super) fn told(next: &Next, subscription: &Subscription) -> Heard {
    let observed = match next {
        Next::Observation(observed) => observed,
        Next::End(end) => return ended(end),
    };
    let encode =
        |observation: &Observation, before| encoded::observation(observation, subscription.rules(), before);
    let observation = match subscription.audience().viewer() {
        // A seat has one reader, as a rule.
        Viewer::Seat(_) => EncodedObservation::Own(encode(observed, ROOM_BEFORE)),
        Viewer::Spectator => {
            EncodedObservation::Shared(observed.encoded(|observation| encode(observation, 0).into()))
        }
    };
    Heard::Observation { seq: observed.seq, observation }
}

fn ended(end: &End) -> Heard {
    match end {
        End::Over(outcome) => Heard::End(subscription_end(outcome)),
        End::Superseded => Heard::Superseded(v1::SupersededReason::JoinedElsewhere),
        End::TokenReplaced => Heard::Superseded(v1::SupersededReason::TokenRotated),
        End::Lagging => {
            counter!(SLOW_READERS).increment(1);
            Heard::Cut(Fault::slow_reader())
        }
        &End::Crowded { limit } => Heard::Cut(Rejection::TooManySubscribers { limit }.into()),
        End::Stopped => Heard::Cut(Fault::draining(Duration::ZERO)),
    }
}

fn subscription_end(outcome: &Outcome) -> v1::SubscriptionEnd {
    v1::SubscriptionEnd { outcome: Some(outcome.to_wire()) }
}

/// A stream of answers as they come, the first of them first, that says once when the server drains, and ends when it closes. It ends
/// after its first error too.
pub(super) fn until_closed<T, S>(
    backend: &Backend,
    first: Option<T>,
    answers: S,
    word: fn(v1::Draining) -> T,
) -> BoxStream<'static, Result<T, Status>>
where
    T: Send + 'static,
    S: Stream<Item = Result<T, Status>> + Send + Unpin + 'static,
{
    let mut open = Answering { first, answers, word, stages: backend.drain.stages() };
    let mut has_ended = false;
    let next = move |context: &mut Context<'_>| {
        if has_ended {
            return Poll::Ready(None);
        }
        let next = ready!(open.poll_next(context));
        has_ended = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    };
    stream::poll_fn(next).boxed()
}

/// A stream of answers that is open.
struct Answering<T, S> {
    first: Option<T>,
    answers: S,
    /// What is said when the server drains.
    word: fn(v1::Draining) -> T,
    stages: Stages,
}

impl<T, S: Stream<Item = Result<T, Status>> + Unpin> Answering<T, S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Status>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        match self.stages.poll_next(context) {
            Poll::Ready(Stage::Draining) => Poll::Ready(Some(Ok((self.word)(self.stages.drain().message())))),
            Poll::Ready(Stage::Closing) => Poll::Ready(Some(Err(Fault::draining(Duration::ZERO).into()))),
            Poll::Pending => self.answers.poll_next_unpin(context),
        }
    }
}
