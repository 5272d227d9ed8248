//! The end of a run: what has begun comes to its end, and is held against all that was told of it.

use std::collections::HashSet;
use std::sync::Arc;

use super::leave::CANCELLED_AT_ONCE;
use super::reach::reach;
use super::{Control, Duration, Fault, Instant, State, StreamExt, sleep_until, timeout, v1};

/// How long answers and results are waited for when the load is over, records are, and matches that are not over are cancelled.
const SETTLED_WITHIN: Duration = Duration::from_secs(15);
/// How long the seats of a match may be told of its end after its result.
const ENDED_WITHIN: Duration = Duration::from_secs(5);
/// How long the server may take to answer at all when nothing is waited for any more.
const REACHED_WITHIN: Duration = Duration::from_secs(15);

impl Control {
    /// The load [rests](Self::rest): waits for all that was asked for, and for the results of all matches that have ended, looks at some
    /// records, and cancels what is not over.
    pub(crate) async fn settle(mut self) {
        self.wait_for_all().await;
        let reached = reach(self.matches.clone(), REACHED_WITHIN).await;
        for fault in self.state.check.give_up(Instant::now()) {
            fault.report(&self.recorder);
        }
        let Self { matches, recorder, lanes, state: State { live, left, sample, .. }, .. } = self;
        if let Err(wrong) = reached {
            // It has no records to look at, and nothing to cancel.
            return Fault { match_id: String::new(), seat: None, wrong }.report(&recorder);
        }
        sample.check(matches.clone(), &recorder, SETTLED_WITHIN).await;
        drop(lanes);
        let cancelling = futures::stream::iter(live.into_keys().chain(left)).for_each_concurrent(
            CANCELLED_AT_ONCE,
            |match_id| {
                let mut matches = matches.clone();
                async move {
                    // One that ended meanwhile can't be cancelled; of others the server may be left with.
                    let _ = matches.cancel_match(v1::CancelMatchRequest { match_id }).await;
                }
            },
        );
        let _ = timeout(SETTLED_WITHIN, cancelling).await;
    }

    async fn wait_for_all(&mut self) {
        let until = Instant::now() + SETTLED_WITHIN;
        let mut answered = self.state.answered.take();
        loop {
            while let Ok(finished) = self.finished.try_recv() {
                self.over(Some(finished));
            }
            let State { creating, past, cancelling, check, live, .. } = &self.state;
            if answered.is_none()
                && creating.is_empty()
                && past.is_empty()
                && cancelling.is_empty()
                && check.awaited() == 0
                && !check.untold().any(|(match_id, _)| live.contains_key(match_id))
            {
                return;
            }
            tokio::select! {
                finished = self.finished.recv() => self.over(finished),
                Some(result) = self.results.recv() => self.result(Some(result)),
                Some(created) = self.state.creating.next() => {
                    // It becomes a match that nobody plays.
                    if let Some((_, created)) = created {
                        self.state.live.insert(created.match_id, (0, 0));
                    }
                }
                Some(created) = self.state.past.next() => self.created_late(created),
                Some(()) = self.state.cancelling.next() => {}
                ended = self.onlookers.ended() => self.watched(ended),
                () = all(&mut answered) => answered = None,
                () = sleep_until(until) => return self.tell_missing().await,
            }
        }
    }

    /// Says what has not come.
    async fn tell_missing(&mut self) {
        let long_ago = Instant::now().checked_sub(ENDED_WITHIN);
        let untold = self.state.check.untold();
        let ended: HashSet<String> = untold
            .filter(|(match_id, since)| {
                long_ago.is_some_and(|long_ago| *since <= long_ago) && self.state.live.contains_key(*match_id)
            })
            .map(|(match_id, _)| match_id.to_owned())
            .collect();
        let mut told = self.lanes.give_up(&Arc::new(ended));
        // One that is not there has nothing to say.
        let _ = timeout(super::TOLD_WITHIN, told.recv()).await;
    }
}

/// Ends when nobody has anything to wait for any more.
async fn all(answered: &mut Option<super::Receiver<()>>) {
    match answered {
        Some(answered) => drop(answered.recv().await),
        None => std::future::pending().await,
    }
}
