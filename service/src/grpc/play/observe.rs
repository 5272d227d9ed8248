//! Observe: several seats on one stream that only reads.
//!
//! The stream pulls, as Play does: a seat is followed when the stream has room for its start and nothing to tell of those before
//! it. So of a client that doesn't read one start waits, and one match at most is replayed for it.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream, SelectAll},
};
use tonic::Status;
use zetema_proto::{
    FieldError, Views,
    v1::{self, observe_response::Kind},
};

use crate::{
    admission::{Room, Share},
    grpc::{
        backend::Backend,
        caller,
        fault::Fault,
        heard::{self, Followed, Heard, Look},
        wire,
    },
    journal::MatchId,
    limits,
    matches::Audience,
    table::SeatAccess,
};

type Answers = BoxStream<'static, Result<v1::ObserveResponse, Status>>;

/// Follows every seat of the request, one after the other. The first is followed at once, so that a seat alone is refused
/// before the stream begins.
pub(super) async fn observe(
    backend: &Arc<Backend>,
    share: Option<Share>,
    request: v1::ObserveRequest,
) -> Result<Answers, Fault> {
    let wanted = wanted(backend, share.as_ref(), request)?;
    let starting = Starting { backend: Arc::clone(backend), share, wanted, next: None };
    let mut observing = Observing { starting, heard: SelectAll::new() };
    let first = match observing.starting.next().await {
        Some(started) => Some(Ok(observing.follow(started?))),
        None => None,
    };
    let rest = stream::unfold(Some(observing), async |observing| observing?.next().await).boxed();
    let rest = heard::until_closed(backend, rest, |draining| response(0, Kind::Draining(draining)));
    Ok(stream::iter(first).chain(rest).boxed())
}

/// A seat that is to be followed.
struct Wanted {
    handle: u32,
    match_id: MatchId,
    access: SeatAccess,
    after_seq: Option<u64>,
    views: Views,
    /// What it takes as long as it is followed.
    room: Option<Room>,
}

/// The seats of the request. All of them are refused when one is wrong, or when there is no room for one.
fn wanted(
    backend: &Backend,
    share: Option<&Share>,
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
        let v1::ObserveSeat { seat_token, after_seq, views } = seat;
        let within = |error: FieldError| Fault::from(error.at(i).within("seats"));
        let path = format!("seats[{i}].seat_token");
        let (match_id, access) = caller::seat(&backend.access, seat_token, &path)?;
        let views = wire::views(*views).map_err(within)?;
        if !met.insert((match_id, access.seat)) {
            return Err(Fault::field(path, "is for the same seat as one before: give each seat once"));
        }
        let room = share.map(Share::seat).transpose().map_err(Fault::seats)?;
        wanted.push_back(Wanted { handle, match_id, access, after_seq: *after_seq, views, room });
    }
    Ok(wanted)
}

/// The seats of one stream.
struct Observing {
    starting: Starting,
    heard: SelectAll<BoxStream<'static, (u32, Heard)>>,
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
    /// What is told next, and the stream while it goes on.
    async fn next(mut self) -> Option<(Result<v1::ObserveResponse, Status>, Option<Self>)> {
        let told = tokio::select! {
            biased;
            // First, so that a match that is replayed is told before the next one is asked for.
            Some((handle, heard)) = self.heard.next() => told(handle, heard),
            Some(started) = self.starting.next() => {
                started.map(|started| self.follow(started))
            }
            else => return None,
        };
        match told {
            Ok(told) => Some((Ok(told), Some(self))),
            Err(fault) => Some((Err(fault.into()), None)),
        }
    }

    /// Follows a seat. The answer is its first message.
    fn follow(&mut self, started: Started) -> v1::ObserveResponse {
        let Started { handle, room, followed: Followed { start, seq: _, following } } = started;
        let heard = following.heard().map(move |heard| {
            let _room = &room;
            (handle, heard)
        });
        self.heard.push(heard.boxed());
        response(handle, Kind::Start(Box::new(start)))
    }
}

impl Starting {
    /// Waits for the next seat to be followed; `None` when none is left. Dropped, it loses nothing.
    async fn next(&mut self) -> Option<Result<Started, Fault>> {
        if self.next.is_none() {
            let wanted = self.wanted.pop_front()?;
            self.next = Some(start(Arc::clone(&self.backend), self.share.clone(), wanted).boxed());
        }
        let started = self.next.as_mut()?.await;
        self.next = None;
        Some(started)
    }
}

async fn start(backend: Arc<Backend>, share: Option<Share>, wanted: Wanted) -> Result<Started, Fault> {
    let Wanted { handle, match_id, access, after_seq, views, room } = wanted;
    let look = Look { match_id, audience: Audience::Observer(access), after_seq, views };
    let followed = heard::follow(&backend, share.as_ref(), look, None, heard::message).await?;
    Ok(Started { handle, room, followed })
}

fn told(handle: u32, heard: Heard) -> Result<v1::ObserveResponse, Fault> {
    let kind = match heard {
        Heard::Observation(observation) => Kind::Observation(observation),
        Heard::End(end) => Kind::End(end),
        Heard::Superseded(reason) => Kind::Superseded(v1::Superseded { reason: reason.into() }),
        Heard::Cut(fault) => return Err(fault),
    };
    Ok(response(handle, kind))
}

fn response(handle: u32, kind: Kind) -> v1::ObserveResponse {
    v1::ObserveResponse { handle, kind: Some(kind) }
}
