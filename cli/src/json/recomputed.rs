//! What came of ratings that were recomputed.

use serde::Serialize;
use zetema_service::journal::BotName;
use zetema_service::ladders::{
    BotEntry, Comparison, Deviation, Difference, Recompute, Recomputed, RecomputedLadder, Verdict,
};

/// All ladders of a journal.
#[derive(Debug, Serialize)]
pub(crate) struct RecomputedJson {
    /// Whether a stored rating is not that of the results, by more than rounding, or can't be.
    pub(crate) differs: bool,
    /// Whether a stored rating differs from that of the results by rounding.
    pub(crate) rounded: bool,
    /// Whether the ratings of the results took the place of those that were stored.
    replaced: bool,
    results: u64,
    result_number: u64,
    unknown_ladders: Vec<String>,
    nameless_ladders: usize,
    damage: Vec<String>,
    ladders: Vec<RecomputedLadderJson>,
}

#[derive(Debug, Serialize)]
struct RecomputedLadderJson {
    ladder: String,
    results: u64,
    rated_matches: u64,
    /// How many of these were played by other rules, or another number of players, than the ladder has now.
    by_other_rules: u64,
    bots: usize,
    /// `nothing-stored`, `other-settings`, `ahead`, `unreadable` or `compared`.
    state: &'static str,
    stored_after: Option<u64>,
    results_after: u64,
    /// What is in the way of reading them, for people.
    problem: Option<String>,
    differences: Vec<DifferenceJson>,
}

/// A bot of which two ratings differ.
#[derive(Debug, Serialize)]
pub(crate) struct DifferenceJson {
    pub(crate) bot: String,
    /// Whether they differ by no more than another build or platform may round.
    rounding: bool,
    pub(crate) stored: Option<EntryJson>,
    pub(crate) recomputed: Option<EntryJson>,
}

/// What is known of a bot.
#[derive(Debug, Serialize)]
pub(crate) struct EntryJson {
    pub(crate) mu: f64,
    pub(crate) sigma: f64,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
    pub(crate) draws: u64,
    pub(crate) forfeits: u64,
    pub(crate) sides_met: u64,
    pub(crate) margin: i64,
}

impl RecomputedJson {
    pub(crate) fn new(recomputed: &Recomputed, what: Recompute) -> Self {
        let Recomputed { results, last, ladders, unknown, nameless, stored, found } = recomputed;
        Self {
            differs: *nameless > 0
                || ladders.iter().any(|ladder| ladder.comparison.verdict() == Verdict::Wrong),
            rounded: ladders.iter().any(|ladder| is_rounded(&ladder.comparison)),
            replaced: what == Recompute::Store && *stored > 0,
            results: *results,
            result_number: last.get(),
            unknown_ladders: unknown.iter().map(ToString::to_string).collect(),
            nameless_ladders: *nameless,
            damage: found.clone(),
            ladders: ladders.iter().map(RecomputedLadderJson::new).collect(),
        }
    }

    /// All bots that differ, each with its ladder.
    pub(crate) fn differences(&self) -> impl Iterator<Item = (&str, &DifferenceJson)> {
        self.ladders
            .iter()
            .flat_map(|ladder| ladder.differences.iter().map(|one| (ladder.ladder.as_str(), one)))
    }
}

impl RecomputedLadderJson {
    fn new(recomputed: &RecomputedLadder) -> Self {
        let RecomputedLadder { name, results, rated, by_other_rules, bots, comparison, results_after } =
            recomputed;
        let (state, after, problem) = match comparison {
            Comparison::NothingStored => ("nothing-stored", None, None),
            Comparison::OtherSettings { after } => ("other-settings", Some(after), None),
            Comparison::Ahead { after, .. } => ("ahead", Some(after), None),
            Comparison::Unreadable(problem) => ("unreadable", None, Some(problem.clone())),
            Comparison::Compared { after, .. } => ("compared", Some(after), None),
        };
        let differences = match comparison {
            Comparison::Compared { differences, .. } => differences.iter().map(DifferenceJson::new).collect(),
            _ => Vec::new(),
        };
        Self {
            ladder: name.to_string(),
            results: *results,
            rated_matches: *rated,
            by_other_rules: *by_other_rules,
            bots: *bots,
            state,
            stored_after: after.map(|after| after.get()),
            results_after: *results_after,
            problem,
            differences,
        }
    }
}

/// Whether some bot's ratings differ by rounding, whatever those of others do.
fn is_rounded(comparison: &Comparison) -> bool {
    let Comparison::Compared { differences, .. } = comparison else { return false };
    differences.iter().any(|difference| difference.deviation == Deviation::Rounding)
}

impl DifferenceJson {
    fn new(difference: &Difference<BotName>) -> Self {
        Self {
            bot: difference.bot.to_string(),
            rounding: difference.deviation == Deviation::Rounding,
            stored: difference.stored.as_ref().map(EntryJson::new),
            recomputed: difference.recomputed.as_ref().map(EntryJson::new),
        }
    }
}

impl EntryJson {
    const fn new(entry: &BotEntry) -> Self {
        let BotEntry { rating, tally } = entry;
        Self {
            mu: rating.mu.get(),
            sigma: rating.sigma.get(),
            matches: tally.matches,
            wins: tally.wins,
            draws: tally.draws,
            forfeits: tally.forfeits,
            sides_met: tally.opponents,
            margin: tally.margin,
        }
    }
}
