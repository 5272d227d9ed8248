//! What a subscription of the core says, as messages of the wire: the same for Play, Observe and `WatchMatch`.

use futures::{StreamExt, stream, stream::BoxStream};
use metrics::counter;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use zetema_proto::{
    Views, Wire,
    v1::{self, subscription_start},
};
use zetema_rules::{Outcome, Viewer};

use super::{backend::Backend, fault::Fault, wire};
use crate::{
    journal::MatchId,
    matches::{Audience, End, Next, Start, Subscription},
    metrics::SLOW_READERS,
};

/// One thing that is heard of a match.
#[expect(clippy::large_enum_variant, reason = "most are observations, which a box would allocate once more")]
pub(super) enum Heard {
    /// Something happened.
    Observation(v1::Observation),
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
    /// What comes after: it ends with the first that is no observation.
    pub(super) heard: BoxStream<'static, Heard>,
}

/// Follows a match.
pub(super) async fn follow(
    backend: &Backend,
    match_id: MatchId,
    audience: Audience,
    after_seq: Option<u64>,
    views: Views,
) -> Result<Followed, Fault> {
    let subscription = backend.matches.subscribe(match_id, audience, after_seq, views).await?;
    let start = v1::SubscriptionStart {
        r#match: Some(subscription.info().into()),
        seat: match audience.viewer() {
            Viewer::Seat(seat) => Some(seat.to_wire()),
            Viewer::Spectator => None,
        },
        kind: Some(match subscription.start() {
            Start::Snapshot(snapshot) => subscription_start::Kind::Snapshot(wire::snapshot(snapshot)),
            &Start::Resumed { after_seq, running } => subscription_start::Kind::Resumed(v1::Resumed {
                after_seq,
                decision_elapsed_ms: running.map(|running| running.elapsed_ms),
                decision_number: running.map(|running| running.decision),
            }),
        }),
    };
    let seq = subscription.last_seq();
    Ok(Followed { start, seq, heard: stream::unfold(Some(subscription), hear).boxed() })
}

/// The next thing that is heard, and the subscription while it goes on.
async fn hear(subscription: Option<Subscription>) -> Option<(Heard, Option<Subscription>)> {
    let mut subscription = subscription?;
    match subscription.next().await {
        Next::Observation(observation) => {
            let message = wire::observation(&observation, &subscription.info().rules);
            Some((Heard::Observation(message), Some(subscription)))
        }
        Next::End(end) => Some((ended(&end), None)),
    }
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
        End::Stopped => Heard::Cut(Fault::draining()),
    }
}

fn subscription_end(outcome: &Outcome) -> v1::SubscriptionEnd {
    v1::SubscriptionEnd { outcome: Some(outcome.to_wire()) }
}

/// A stream of answers that ends when the server stops: with a last word, if there is one, and a status. It ends
/// after its first error too.
pub(super) fn until_drained<T: Send + 'static>(
    backend: &Backend,
    answers: BoxStream<'static, Result<T, Status>>,
    last_word: Option<T>,
) -> BoxStream<'static, Result<T, Status>> {
    let state = (Some(answers), last_word, backend.draining.clone());
    let next = |(answers, mut last_word, draining): (
        Option<BoxStream<'static, Result<T, Status>>>,
        _,
        CancellationToken,
    )| async move {
        let mut answers = answers?;
        let next = draining.run_until_cancelled(answers.next()).await;
        match (next, Option::<T>::take(&mut last_word)) {
            (Some(next), last_word) => {
                let next = next?;
                let rest = next.is_ok().then_some(answers);
                Some((next, (rest, last_word, draining)))
            }
            (None, Some(word)) => Some((Ok(word), (Some(answers), None, draining))),
            (None, None) => Some((Err(Fault::draining().into()), (None, None, draining))),
        }
    };
    stream::unfold(state, next).boxed()
}
