//! Observe: several seats on one stream that only reads.
//!
//! The stream pulls, as Play does: a seat is followed when the stream has room for its start and nothing to tell of those before
//! it. So of a client that doesn't read one start waits, and one match at most is replayed for it.

use std::{
    collections::{HashSet, VecDeque},
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tonic::{Status, metadata::MetadataMap};
use zetema_proto::{
    FieldError, Views,
    v1::{self, observe_response::Kind},
};

use super::{
    handles::SeatKey,
    hearing::Hearing,
    seat::{self, By},
};
use crate::{
    admission::{Room, Share},
    executor::{self, Part},
    grpc::{
        backend::Backend,
        caller::Caller,
        fault::Fault,
        heard::{self, Followed, Heard, Look},
        told, wire,
    },
    limits,
    matches::Audience,
    prefetch::Place,
};

/// What is said on such a stream.
pub(super) type Told = told::Told<v1::ObserveResponse>;

type Answers = BoxStream<'static, Result<Told, Status>>;

/// Follows every seat of the request, one after the other. The first is followed at once, so that a seat alone is refused
/// before the stream begins. With seats of a bot the stream lives no longer than the token in the metadata.
pub(super) async fn observe(
    backend: &Arc<Backend>,
    share: Option<Share>,
    metadata: &MetadataMap,
    request: v1::ObserveRequest,
) -> Result<Answers, Fault> {
    let caller = if request.seats.iter().any(|seat| seat.assigned.is_some()) {
        Some(Caller::of(backend, metadata).await?)
    } else {
        None
    };
    let wanted = wanted(backend, share.as_ref(), caller.as_ref(), request)?;
    let starting = Starting { backend: Arc::clone(backend), share, wanted, next: None };
    let mut observing = Observing { starting, hearing: Hearing::new(Arc::default()) };
    let first = match poll_fn(|context| observing.starting.poll_next(context)).await {
        Some(started) => Some(observing.follow(started?)),
        None => None,
    };
    let rest = stream::poll_fn(move |context| observing.poll_next(context));
    let answers = heard::until_closed(backend, first, rest, |draining| response(0, Kind::Draining(draining)));
    Ok(match caller {
        Some(caller) => caller.until_void(answers),
        None => answers,
    })
}

/// A seat that is to be followed.
struct Wanted {
    handle: u32,
    key: SeatKey,
    by: By,
    after_seq: Option<u64>,
    views: Views,
    /// What it takes as long as it is followed.
    room: Option<Room>,
}

/// The seats of the request. All of them are refused when one is wrong, or when there is no room for one.
fn wanted(
    backend: &Backend,
    share: Option<&Share>,
    caller: Option<&Caller>,
    request: v1::ObserveRequest,
) -> Result<VecDeque<Wanted>, Fault> {
    let v1::ObserveRequest { seats } = request;
    if !(1..=limits::MAX_SEATS_PER_STREAM).contains(&seats.len()) {
        let problem = format!("has {} entries: give 1 to {}", seats.len(), limits::MAX_SEATS_PER_STREAM);
        return Err(Fault::field("seats", problem));
    }
    let mut wanted = VecDeque::with_capacity(seats.len());
    let mut met = HashSet::new();
    for (i, (seat, handle)) in seats.iter().zip(1..).enumerate() {
        let v1::ObserveSeat { seat_token, after_seq, views, assigned } = seat;
        let within = |error: FieldError| Fault::from(error.at(i).within("seats"));
        let (key, by) = seat::named(backend, caller, seat_token, assigned.as_ref(), &format!("seats[{i}]."))?;
        let views = wire::views(*views).map_err(within)?;
        if !met.insert(key) {
            let field = if assigned.is_some() { "assigned" } else { "seat_token" };
            let problem = "is for the same seat as one before: give each seat once";
            return Err(Fault::field(format!("seats[{i}].{field}"), problem));
        }
        let room = share.map(Share::seat).transpose().map_err(Fault::seats)?;
        wanted.push_back(Wanted { handle, key, by, after_seq: *after_seq, views, room });
    }
    Ok(wanted)
}

/// The seats of one stream.
struct Observing {
    starting: Starting,
    hearing: Hearing,
}

/// Those that are not followed yet.
struct Starting {
    backend: Arc<Backend>,
    share: Option<Share>,
    wanted: VecDeque<Wanted>,
    /// The next one, when it is being asked for.
    next: Option<BoxFuture<'static, Result<Started, Fault>>>,
}

/// A seat that is followed from now on.
struct Started {
    handle: u32,
    room: Option<Room>,
    followed: Followed,
}

impl Observing {
    /// What is told next.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Told, Status>>> {
        executor::has(Part::Body, Place::of(&*self));
        // First, so that a match that is replayed is told before the next one is asked for.
        loop {
            if let Some((handle, heard)) = self.hearing.next() {
                return Poll::Ready(Some(told(handle, heard).map_err(Status::from)));
            }
            if self.hearing.look(context, |_| {}).is_pending() {
                break;
            }
        }
        match self.starting.poll_next(context) {
            Poll::Ready(Some(Ok(started))) => Poll::Ready(Some(Ok(self.follow(started)))),
            Poll::Ready(Some(Err(fault))) => Poll::Ready(Some(Err(fault.into()))),
            Poll::Ready(None) if self.hearing.is_over() => Poll::Ready(None),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Follows a seat. The answer is its first message.
    fn follow(&mut self, started: Started) -> Told {
        let Started { handle, room, followed: Followed { start, seq: _, following } } = started;
        self.hearing.listen(handle, following, room);
        response(handle, Kind::Start(Box::new(start)))
    }
}

impl Starting {
    /// The next seat that is followed; `None` when none is left.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Started, Fault>>> {
        if self.next.is_none() {
            let Some(wanted) = self.wanted.pop_front() else { return Poll::Ready(None) };
            self.next = Some(start(Arc::clone(&self.backend), self.share.clone(), wanted).boxed());
        }
        let Some(next) = &mut self.next else { return Poll::Ready(None) };
        let started = ready!(next.poll_unpin(context));
        self.next = None;
        Poll::Ready(Some(started))
    }
}

async fn start(backend: Arc<Backend>, share: Option<Share>, wanted: Wanted) -> Result<Started, Fault> {
    let Wanted { handle, key, by, after_seq, views, room } = wanted;
    let (match_id, access) = (key.0, by.access(&backend, key).await?);
    let look = Look { match_id, audience: Audience::Observer(access), after_seq, views };
    let followed = heard::follow(&backend, share.as_ref(), look, None).await?;
    Ok(Started { handle, room, followed })
}

fn told(handle: u32, heard: Heard) -> Result<Told, Fault> {
    let kind = match heard {
        Heard::Observation { seq: _, observation } => return Ok(Told::Observation { handle, observation }),
        Heard::End(end) => Kind::End(end),
        Heard::Superseded(reason) => Kind::Superseded(v1::Superseded { reason: reason.into() }),
        Heard::Cut(fault) => return Err(fault),
    };
    Ok(response(handle, kind))
}

fn response(handle: u32, kind: Kind) -> Told {
    Told::Message(Box::new(v1::ObserveResponse { handle, kind: Some(kind) }))
}
