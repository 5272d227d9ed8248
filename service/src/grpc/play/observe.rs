//! Observe: several seats on one stream that only reads.

use std::{collections::HashSet, sync::Arc};

use futures::{
    StreamExt,
    stream::{self, BoxStream, SelectAll},
};
use tonic::Status;
use zetema_proto::{
    FieldError,
    v1::{self, observe_response::Kind},
};

use crate::{
    grpc::{
        backend::Backend,
        caller,
        fault::Fault,
        heard::{self, Followed, Heard},
        wire,
    },
    limits,
    matches::Audience,
};

type Answers = BoxStream<'static, Result<v1::ObserveResponse, Status>>;

/// Follows every seat of the request; refuses all of them when one is refused.
pub(super) async fn observe(backend: &Arc<Backend>, request: v1::ObserveRequest) -> Result<Answers, Fault> {
    let v1::ObserveRequest { seats } = request;
    if !(1..=limits::MAX_SEATS_PER_STREAM).contains(&seats.len()) {
        let problem = format!("has {} entries: give 1 to {}", seats.len(), limits::MAX_SEATS_PER_STREAM);
        return Err(Fault::field("seats", problem));
    }
    let mut starts = Vec::with_capacity(seats.len());
    let mut all = SelectAll::new();
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
        let audience = Audience::Observer(access);
        let followed = heard::follow(backend, match_id, audience, *after_seq, views, heard::message);
        let Followed { start, seq: _, heard } = followed.await?;
        starts.push(response(handle, Kind::Start(start)));
        all.push(heard.map(move |heard| (handle, heard)).boxed());
    }
    let told = all.map(|(handle, heard)| match heard {
        Heard::Observation(observation) => Ok(response(handle, Kind::Observation(observation))),
        Heard::End(end) => Ok(response(handle, Kind::End(end))),
        Heard::Superseded(reason) => {
            Ok(response(handle, Kind::Superseded(v1::Superseded { reason: reason.into() })))
        }
        Heard::Cut(fault) => Err(fault.into()),
    });
    let told = heard::until_closed(backend, told.boxed(), |draining| response(0, Kind::Draining(draining)));
    Ok(stream::iter(starts.into_iter().map(Ok)).chain(told).boxed())
}

fn response(handle: u32, kind: Kind) -> v1::ObserveResponse {
    v1::ObserveResponse { handle, kind: Some(kind) }
}
