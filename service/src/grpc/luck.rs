//! The luck of the cards on the wire.

use zetema_ladder::{AdjustedScore, Estimate, Interval, PointsPerMatch};
use zetema_proto::v1;

/// What a side scored.
pub(super) fn score_to_wire(score: AdjustedScore) -> v1::AdjustedScore {
    let AdjustedScore { raw, luck } = score;
    v1::AdjustedScore { score: raw, luck, adjusted: score.adjusted() }
}

/// What a bot scores a match.
pub(super) fn points_to_wire(points: &PointsPerMatch) -> v1::PointsPerMatch {
    v1::PointsPerMatch {
        matches: points.matches(),
        scored: Some(estimate_to_wire(points.raw())),
        adjusted: Some(estimate_to_wire(points.adjusted())),
        luck_share: points.share(),
        variance_ratio: points.variance_ratio(),
    }
}

fn estimate_to_wire(estimate: Estimate) -> v1::PointsEstimate {
    let Estimate { mean, standard_error, interval } = estimate;
    let interval = interval.map(|Interval { from, to }| v1::PointsInterval { from, to });
    v1::PointsEstimate { mean, standard_error, interval }
}
