//! What a session asks by calls that wait: for a seat, for a ladder, for room at a table, for the record of a match that is over.

use std::{
    collections::HashMap,
    future::poll_fn,
    task::{Context, Poll},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::ask::Came;
use crate::{journal::MatchId, limits};

/// The calls of a session that are not answered.
#[derive(Default)]
pub(super) struct Waiting {
    calls: FuturesUnordered<BoxFuture<'static, (Option<MatchId>, Came)>>,
    /// How many there are of each match.
    of_match: HashMap<MatchId, usize>,
}

impl Waiting {
    /// Waits for this call, which is of this match or of none.
    pub(super) fn push(
        &mut self,
        match_id: Option<MatchId>,
        call: impl Future<Output = Came> + Send + 'static,
    ) {
        if let Some(match_id) = match_id {
            *self.of_match.entry(match_id).or_default() += 1;
        }
        self.calls.push(call.map(move |answer| (match_id, answer)).boxed());
    }

    /// Whether a call of this match waits, behind which goes what is asked of it. Mostly none waits at all.
    pub(super) fn is_of(&self, match_id: MatchId) -> bool {
        !self.of_match.is_empty() && self.of_match.contains_key(&match_id)
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The next that is answered; without end while none waits. Dropped, it loses nothing.
    pub(super) async fn answered(&mut self) -> Came {
        poll_fn(|context| self.poll_answered(context)).await
    }

    fn poll_answered(&mut self, context: &mut Context<'_>) -> Poll<Came> {
        let Poll::Ready(Some((match_id, answer))) = self.calls.poll_next_unpin(context) else {
            return Poll::Pending;
        };
        if let Some(match_id) = match_id
            && let Some(count) = self.of_match.get_mut(&match_id)
        {
            *count -= 1;
            if *count == 0 {
                self.of_match.remove(&match_id);
            }
            if self.of_match.is_empty() {
                self.of_match.shrink_to(limits::OWN_REQUESTS_IN_FLIGHT);
            }
        }
        Poll::Ready(answer)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::future::ready;

    use tokio::sync::oneshot;

    use super::*;

    const OF: MatchId = MatchId::from_bytes([1; 16]);
    const OTHER: MatchId = MatchId::from_bytes([2; 16]);

    fn answer() -> Came {
        Came::Queued { tag: 5, result: Ok(Vec::new()) }
    }

    #[tokio::test]
    async fn a_match_is_waited_for_until_the_last_of_its_calls_is_answered_and_others_are_not() {
        let mut waiting = Waiting::default();
        let (first, told) = oneshot::channel::<()>();
        waiting.push(Some(OF), async {
            told.await.unwrap();
            answer()
        });
        waiting.push(Some(OF), ready(answer()));
        waiting.push(None, ready(answer()));
        let standing = |waiting: &Waiting| (waiting.len(), waiting.is_of(OF), waiting.is_of(OTHER));
        assert_eq!(standing(&waiting), (3, true, false));
        for left in [2, 1] {
            waiting.answered().await;
            assert_eq!(standing(&waiting), (left, true, false), "the first still waits");
        }
        assert!(waiting.answered().now_or_never().is_none());
        first.send(()).unwrap();
        waiting.answered().await;
        assert_eq!(standing(&waiting), (0, false, false));
        assert!(waiting.is_empty() && waiting.of_match.is_empty(), "nothing is left of a match");
    }
}
