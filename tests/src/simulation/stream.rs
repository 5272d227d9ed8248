//! What comes of a subscription, over the network.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use zetema_rules::Viewer;
use zetema_service::journal::MatchId;
use zetema_service::matches::{End, Next, Observed, Subscription};

use super::network::Link;
use super::truth::Truth;

/// What a network and the buffers on the way hold of one stream.
const ON_THE_WAY: usize = 16;

/// A stream of observations as its client has it.
pub(super) struct Stream {
    arriving: mpsc::Receiver<(Instant, Next)>,
    cuts: watch::Receiver<u64>,
    gone: CancellationToken,
}

/// Hands out what comes of a subscription, and checks it.
pub(super) fn open(
    mut subscription: Subscription,
    match_id: MatchId,
    truth: Arc<Truth>,
    link: Arc<Link>,
    gone: CancellationToken,
) -> Stream {
    let (on_the_way, arriving) = mpsc::channel(ON_THE_WAY);
    let stream = Stream { arriving, cuts: link.cuts(), gone: gone.clone() };
    let mut cuts = link.cuts();
    let viewer: Viewer = subscription.audience().viewer();
    let sent = async move {
        let mut last = subscription.last_seq();
        let mut due = Instant::now();
        loop {
            let next = subscription.next().await;
            if let Next::Observation(observation) = &next {
                if observation.seq != last + 1 {
                    let seq = observation.seq;
                    truth.problem(format_args!("{viewer:?} of {match_id} is sent {seq} after {last} (I4)"));
                }
                last = observation.seq;
                truth.observed(match_id, viewer, observation);
            }
            let ends = matches!(next, Next::End(_));
            // What was sent first arrives first.
            due = due.max(Instant::now() + link.one_way());
            if on_the_way.send((due, next)).await.is_err() || ends {
                return;
            }
        }
    };
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = gone.cancelled() => {}
            _ = cuts.changed() => {}
            () = sent => {}
        }
    });
    stream
}

/// What arrives on a stream.
pub(super) enum Arrived {
    Observation(Observed),
    End(End),
    /// The connection is gone, and what was on its way is lost.
    Cut,
}

impl Stream {
    /// What arrives next.
    pub(super) async fn next(&mut self) -> Arrived {
        tokio::select! {
            biased;
            () = self.gone.cancelled() => Arrived::Cut,
            _ = self.cuts.changed() => Arrived::Cut,
            next = arrive(&mut self.arriving) => match next {
                Some(Next::Observation(observation)) => Arrived::Observation(observation),
                Some(Next::End(end)) => Arrived::End(end),
                None => Arrived::Cut,
            },
        }
    }
}

async fn arrive(arriving: &mut mpsc::Receiver<(Instant, Next)>) -> Option<Next> {
    let (due, next) = arriving.recv().await?;
    sleep_until(due).await;
    Some(next)
}
