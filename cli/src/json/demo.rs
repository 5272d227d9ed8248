//! The matches of a demo.

use serde::Serialize;
use zetema_bots::House;
use zetema_rules::{Outcome, Record, Rules};

use super::{OutcomeJson, RulesJson, StandingJson};
use crate::house::Failure;

/// All matches of a demo, and what came of them together.
#[derive(Debug, Serialize)]
pub(crate) struct DemoJson {
    pub(crate) rules: RulesJson,
    pub(crate) matches: Vec<PlayedJson>,
    pub(crate) summary: SummaryJson,
}

/// A ladder that house bots have played on.
#[derive(Debug, Serialize)]
pub(crate) struct LadderDemoJson {
    /// Its name.
    pub(crate) ladder: &'static str,
    /// Rated matches of this run.
    pub(crate) matches: u64,
    /// Those of earlier runs with them.
    pub(crate) rated_matches: u64,
    /// Matches that were not over at the end.
    pub(crate) unfinished: u32,
    /// The bots that could not play on, or not all of it to the end with deals that verify.
    pub(crate) failures: Vec<Failure>,
    pub(crate) duration_ms: u128,
    /// The best first.
    pub(crate) standings: Vec<StandingJson>,
}

/// One match.
#[derive(Debug, Serialize)]
pub(crate) struct PlayedJson {
    match_id: String,
    outcome: OutcomeJson,
    deals: usize,
    steps: usize,
    /// Whether the record replays and every seat found its deals as committed to.
    verified: bool,
    /// What differs first, if it does not verify.
    error: Option<String>,
}

/// What came of all matches.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryJson {
    pub(crate) matches: usize,
    /// Played to a result.
    pub(crate) finished: usize,
    pub(crate) verified: usize,
    pub(crate) duration_ms: u128,
    pub(crate) seats: Vec<SeatSummaryJson>,
}

/// What came of all matches for one seat.
#[derive(Debug, Serialize)]
pub(crate) struct SeatSummaryJson {
    pub(crate) seat: usize,
    pub(crate) side: usize,
    pub(crate) bot: &'static str,
    /// Matches in which its side alone had the first rank.
    pub(crate) won: usize,
    /// Matches in which its side had the first rank with others.
    pub(crate) shared: usize,
    /// Points of its side, on average; null without a match that has a result.
    pub(crate) mean_points: Option<f64>,
}

impl PlayedJson {
    /// The JSON form of a match that was played, and of what is wrong with it.
    pub(crate) fn new(match_id: &str, record: &Record, error: Option<&str>) -> Self {
        Self {
            match_id: match_id.to_owned(),
            outcome: OutcomeJson::new(&record.outcome),
            deals: record.deals.len(),
            steps: record.steps.len(),
            verified: error.is_none(),
            error: error.map(str::to_owned),
        }
    }
}

impl SeatSummaryJson {
    /// The seats' summaries over matches that ended so.
    pub(crate) fn all(rules: &Rules, bots: &[House], outcomes: &[&Outcome]) -> Vec<Self> {
        let results: Vec<_> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Result(result) => Some(result),
                Outcome::Aborted { .. } => None,
            })
            .collect();
        let summary = |(seat, bot): (zetema_rules::Seat, &House)| {
            let side = rules.side(seat).index();
            let (mut won, mut shared, mut points) = (0, 0, 0_u32);
            for result in &results {
                let with_others =
                    result.ranks.iter().enumerate().any(|(other, &rank)| rank == 1 && other != side);
                match (result.ranks[side], with_others) {
                    (1, false) => won += 1,
                    (1, true) => shared += 1,
                    _ => {}
                }
                points += u32::from(result.totals[side]);
            }
            let count = u32::try_from(results.len()).unwrap_or(u32::MAX);
            let mean_points = (count > 0).then(|| f64::from(points) / f64::from(count));
            Self { seat: seat.index(), side, bot: bot.name(), won, shared, mean_points }
        };
        rules.seats().zip(bots).map(summary).collect()
    }
}

#[cfg(test)]
mod tests {
    use zetema_bots::House;
    use zetema_rules::{AbortReason, EndReason, MatchResult, Outcome, Preset};

    use super::SeatSummaryJson;

    #[test]
    fn wins_shared_wins_and_means_are_by_side() {
        let rules = Preset::Sackson.rules(4, None).unwrap();
        let ended = |ranks: [u8; 2], totals: [u16; 2]| {
            Outcome::Result(MatchResult {
                reason: EndReason::Target,
                ranks: [ranks[0], ranks[1], 0, 0, 0, 0],
                totals: [totals[0], totals[1], 0, 0, 0, 0],
            })
        };
        let aborted = Outcome::Aborted { reason: AbortReason::Idle, seats: Vec::new() };
        let outcomes = [ended([1, 2], [200, 100]), ended([1, 1], [50, 50]), aborted];
        let outcomes: Vec<&Outcome> = outcomes.iter().collect();
        let seats = SeatSummaryJson::all(&rules, &[House::Greedy; 4], &outcomes);
        let got: Vec<_> = seats
            .iter()
            .map(|seat| (seat.seat, seat.side, seat.won, seat.shared, seat.mean_points))
            .collect();
        let (even, odd) = (Some(125.0), Some(75.0));
        assert_eq!(got, [(0, 0, 1, 1, even), (1, 1, 0, 1, odd), (2, 0, 1, 1, even), (3, 1, 0, 1, odd)]);
        assert_eq!(SeatSummaryJson::all(&rules, &[House::Greedy; 4], &[])[0].mean_points, None);
    }
}
