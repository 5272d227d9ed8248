//! Who looks on: it follows a match to its end, and misses nothing.

use std::sync::Arc;

use zetema_rules::Viewer;
use zetema_service::matches::{Audience, End, Start};
use zetema_service::table::Rejection;

use super::place::{NoAnswer, Place};
use super::random::Random;
use super::stream::Arrived;

/// Follows a match to its end, with the eyes of the place's seat or a spectator's.
pub(super) async fn watch(place: Arc<Place>, viewer: Viewer, mut random: Random) {
    let mut seen = 0;
    loop {
        let audience = match viewer {
            Viewer::Seat(_) => Audience::Observer(place.access()),
            Viewer::Spectator => Audience::Spectator,
        };
        let after = random.percent(70).then_some(seen);
        let (start, mut stream) = match place.subscribe(audience, after).await {
            Err(NoAnswer) => {
                random.wait_ms(100).await;
                continue;
            }
            Ok(Ok(started)) => started,
            Ok(Err(
                Rejection::OutcomeUnknown
                | Rejection::Stopping
                | Rejection::TokenReplaced
                | Rejection::HeldUntilReveal
                | Rejection::TooManySubscribers { .. },
            )) => {
                random.wait_ms(700).await;
                continue;
            }
            Ok(Err(rejection)) => {
                let match_id = place.match_id;
                place
                    .truth
                    .problem(format_args!("{viewer:?} of {match_id} follows after {after:?}: {rejection:?}"));
                return;
            }
        };
        if let Start::Snapshot(snapshot) = &start {
            if snapshot.seq < seen {
                let seq = snapshot.seq;
                place
                    .truth
                    .problem(format_args!("{viewer:?} is given a snapshot at {seq} after {seen} (I1)"));
            }
            seen = snapshot.seq;
        }
        loop {
            match stream.next().await {
                Arrived::Observation(observation) => {
                    if observation.seq != seen + 1 {
                        let seq = observation.seq;
                        place.truth.problem(format_args!("{seq} arrives at {viewer:?} after {seen} (I4)"));
                    }
                    seen = observation.seq;
                }
                Arrived::End(End::Over(outcome)) => {
                    let right = place.truth.with(place.match_id, |expected| {
                        expected.shown_to(viewer) as u64 == seen
                            && expected.table().outcome() == Some(&outcome)
                    });
                    if right != Some(true) {
                        place
                            .truth
                            .problem(format_args!("{viewer:?} has seen {seen} at the end, {outcome:?}"));
                    }
                    return;
                }
                Arrived::End(_) | Arrived::Cut => break,
            }
            if random.percent(1) {
                break;
            }
        }
        random.wait_ms(60).await;
    }
}
