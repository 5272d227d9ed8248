//! `WatchResults`: results by cursor, pulled from the journal as their reader has room.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{StreamExt, stream, stream::BoxStream};
use tonic::Status;
use zetema_proto::v1::{self, ErrorReason, watch_results_request::From, watch_results_response::Kind};

use super::{backend::Backend, drain::Drain, fault::Fault, lists};
use crate::{
    journal::{Owner, ResultFilter},
    limits,
    matches::{NoResultCursor, ResultCursor, ResultCursorAhead, ResultNews, Results, ResultsFrom},
    metrics::{CursorBy, cursor_ahead},
    seldom::Seldom,
};

/// The streams of results that are open, counted by whose results they are: an owner's, or with `None` the admin's.
#[derive(Debug, Clone, Default)]
pub(super) struct ResultStreams(Arc<Mutex<HashMap<Option<Owner>, usize>>>);

/// The room of one open stream.
struct Room {
    streams: ResultStreams,
    owner: Option<Owner>,
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        if let Entry::Occupied(mut own) = open.entry(self.owner.clone()) {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

impl ResultStreams {
    /// Follows the results of an owner's matches; without an owner, of all.
    pub(super) fn watch(
        &self,
        backend: &Backend,
        owner: Option<Owner>,
        request: &v1::WatchResultsRequest,
    ) -> Result<BoxStream<'static, Result<v1::WatchResultsResponse, Status>>, Fault> {
        let v1::WatchResultsRequest { from, filter } = request;
        let from = match from {
            None => ResultsFrom::First,
            Some(From::Now(v1::FromNow {})) => ResultsFrom::Now,
            Some(From::After(text)) => ResultsFrom::After(cursor(text)?),
        };
        let reference = filter.as_ref().and_then(|filter| filter.client_reference.as_deref());
        let client_reference =
            lists::reference(reference).map_err(|error| Fault::from(error.within("filter")))?;
        let room = self.room(owner.clone())?;
        let filter = ResultFilter { owner, client_reference };
        let by = if filter.owner.is_none() { CursorBy::Admin } else { CursorBy::Owner };
        let results = backend.matches.results(filter, from).map_err(|found| ahead(found, by))?;
        let following = Following { results, drain: backend.drain.clone(), drain_told: false };
        let told = stream::unfold(State::Following(Box::new(following)), State::next);
        Ok(told.inspect(move |_| _ = &room).boxed())
    }

    fn room(&self, owner: Option<Owner>) -> Result<Room, Fault> {
        let mut open = self.open();
        let all: usize = open.values().sum();
        let own = open.get(&owner).copied().unwrap_or(0);
        if own >= limits::MAX_RESULT_STREAMS_PER_OWNER {
            return Err(Fault::limit(format!(
                "you have {own} streams of results open, the limit: close some"
            )));
        }
        // Owners leave the admin, who has to know of every match, the room that an owner has.
        let most = match owner {
            Some(_) => limits::MAX_RESULT_STREAMS - limits::MAX_RESULT_STREAMS_PER_OWNER,
            None => limits::MAX_RESULT_STREAMS,
        };
        if all >= most {
            return Err(Fault::limit(format!(
                "{all} streams of results are open, the limit: try again later"
            )));
        }
        open.insert(owner.clone(), own + 1);
        Ok(Room { streams: self.clone(), owner })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Option<Owner>, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn cursor(text: &str) -> Result<ResultCursor, Fault> {
    text.parse().map_err(|error: NoResultCursor| Fault::field("after", error.to_string()))
}

/// A cursor that is beyond what there is, and by whose token it came.
pub(super) fn ahead(ahead: ResultCursorAhead, by: CursorBy) -> Fault {
    // Anybody with a token may make cursors up: an owner's keep none of the admin's from being told.
    static OF_ADMIN: Seldom = Seldom::new();
    static OF_OWNERS: Seldom = Seldom::new();
    let ResultCursorAhead { after, last } = ahead;
    let seldom = match by {
        CursorBy::Admin => &OF_ADMIN,
        CursorBy::Owner => &OF_OWNERS,
    };
    if let Some(times) = seldom.times() {
        tracing::error!(%after, %last, ?by, times, "a client has a cursor beyond the last result: a sign that results were lost");
    }
    cursor_ahead(by);
    Fault::new(ErrorReason::CursorAhead, ahead.to_string())
}

struct Following {
    results: Results,
    drain: Drain,
    /// Whether the reader was told that the server drains.
    drain_told: bool,
}

enum State {
    Following(Box<Following>),
    Over,
}

impl State {
    async fn next(self) -> Option<(Result<v1::WatchResultsResponse, Status>, Self)> {
        match self {
            Self::Following(mut following) => {
                let Following { results, drain, drain_told } = &mut *following;
                let news = tokio::select! {
                    biased;
                    () = drain.draining().cancelled(), if !*drain_told => {
                        *drain_told = true;
                        let v1::Draining { reconnect_after_ms, stops_in_ms } = drain.message();
                        let kind = Kind::Draining(v1::ResultsDraining { reconnect_after_ms, stops_in_ms });
                        return Some((Ok(response(results, kind)), Self::Following(following)));
                    }
                    () = drain.closing().cancelled() => {
                        return Some((Err(Fault::draining(Duration::ZERO).into()), Self::Over));
                    }
                    news = results.next() => news,
                };
                match news {
                    Ok(ResultNews::Ended(ended)) => {
                        let ended = v1::EndedMatch {
                            r#match: Some((&ended.info).into()),
                            result_number: ended.number.get(),
                        };
                        Some((Ok(response(results, Kind::Ended(ended))), Self::Following(following)))
                    }
                    Ok(ResultNews::CaughtUp) => {
                        let caught_up = Kind::CaughtUp(v1::CaughtUp {});
                        Some((Ok(response(results, caught_up)), Self::Following(following)))
                    }
                    Err(rejection) => Some((Err(Fault::from(rejection).into()), Self::Over)),
                }
            }
            Self::Over => None,
        }
    }
}

fn response(results: &Results, kind: Kind) -> v1::WatchResultsResponse {
    v1::WatchResultsResponse { cursor: results.cursor().to_string(), kind: Some(kind) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_with_as_many_streams_as_it_may_have_leaves_room_for_another() {
        let streams = ResultStreams::default();
        let owner = |name| Some(Owner::new(name).unwrap());
        let mut open: Vec<Room> = (0..limits::MAX_RESULT_STREAMS_PER_OWNER)
            .map(|_| streams.room(owner("greedy")).map_err(|_| "refused").unwrap())
            .collect();
        assert!(streams.room(owner("greedy")).is_err());
        let others = [streams.room(owner("modest")), streams.room(None)];
        assert!(others.iter().all(Result::is_ok));
        open.pop();
        assert!(streams.room(owner("greedy")).is_ok(), "a stream that ended makes room");
    }

    #[test]
    fn all_owners_together_leave_the_admin_its_room() {
        let streams = ResultStreams::default();
        let owner = |at: usize| Some(Owner::new(format!("o{}", at / 50)).unwrap());
        let open: Vec<Room> = (0..2_000).map_while(|at| streams.room(owner(at)).ok()).collect();
        assert_eq!(open.len(), limits::MAX_RESULT_STREAMS - limits::MAX_RESULT_STREAMS_PER_OWNER);
        let admin: Vec<Room> = (0..2_000).map_while(|_| streams.room(None).ok()).collect();
        assert_eq!(admin.len(), limits::MAX_RESULT_STREAMS_PER_OWNER);
    }
}
