//! `WatchResults`: results by cursor, pulled from the journal as their reader has room.

use std::sync::Arc;

use futures::{StreamExt, stream, stream::BoxStream};
use metrics::counter;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use zetema_proto::v1::{self, ErrorReason, watch_results_request::From, watch_results_response::Kind};

use super::{backend::Backend, fault::Fault, lists};
use crate::{
    journal::{Owner, ResultFilter},
    limits,
    matches::{NoResultCursor, ResultCursor, ResultCursorAhead, ResultNews, Results, ResultsFrom},
    metrics::{Open, RESULT_CURSORS_AHEAD, StreamRpc},
};

/// The streams of results, which are counted.
#[derive(Debug, Clone)]
pub(super) struct ResultStreams(Arc<Semaphore>);

impl Default for ResultStreams {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(limits::MAX_RESULT_STREAMS)))
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
        let filter = ResultFilter { owner, client_reference };
        let room = self.0.clone().try_acquire_owned().map_err(|_| {
            let most = limits::MAX_RESULT_STREAMS;
            Fault::limit(format!("{most} streams of results are open, which is the limit: close some"))
        })?;
        let results = backend.matches.results(filter, from).map_err(ahead)?;
        let open = Open::stream(StreamRpc::WatchResults);
        let following = Following { results, draining: backend.draining.clone() };
        let told = stream::unfold(State::Following(Box::new(following)), State::next);
        Ok(told.inspect(move |_| _ = (&room, &open)).boxed())
    }
}

fn cursor(text: &str) -> Result<ResultCursor, Fault> {
    text.parse().map_err(|error: NoResultCursor| Fault::field("after", error.to_string()))
}

fn ahead(ahead: ResultCursorAhead) -> Fault {
    let ResultCursorAhead { after, last } = ahead;
    tracing::error!(%after, %last, "a client has a cursor beyond the last result: a sign that results were lost");
    counter!(RESULT_CURSORS_AHEAD).increment(1);
    Fault::new(ErrorReason::CursorAhead, ahead.to_string())
}

struct Following {
    results: Results,
    draining: CancellationToken,
}

enum State {
    Following(Box<Following>),
    /// The reader was told that the server stops.
    Drained,
    Over,
}

impl State {
    async fn next(self) -> Option<(Result<v1::WatchResultsResponse, Status>, Self)> {
        match self {
            Self::Following(mut following) => {
                let Following { results, draining } = &mut *following;
                let news = tokio::select! {
                    biased;
                    () = draining.cancelled() => {
                        let reconnect_after_ms = limits::RECONNECT_AFTER_MS;
                        let kind = Kind::Draining(v1::ResultsDraining { reconnect_after_ms });
                        return Some((Ok(response(results, kind)), Self::Drained));
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
            Self::Drained => Some((Err(Fault::draining().into()), Self::Over)),
            Self::Over => None,
        }
    }
}

fn response(results: &Results, kind: Kind) -> v1::WatchResultsResponse {
    v1::WatchResultsResponse { cursor: results.cursor().to_string(), kind: Some(kind) }
}
