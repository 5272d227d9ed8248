//! What a report shows in rows and columns, whatever it is shown on.

use crate::amount;
use crate::compare::Comparison;
use crate::outcome::{Count, Latencies, Measure, Outcome, Part, PhaseRun, Totals};
use crate::report::Search;

/// Percentiles that are shown.
const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Rows under headings. What others have said in them is shown without what a terminal would obey.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) headings: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Sheet {
    fn new(headings: impl IntoIterator<Item = &'static str>) -> Self {
        Self { headings: headings.into_iter().collect(), rows: Vec::new() }
    }

    /// Counts and rates.
    pub(crate) fn rates(totals: &Totals) -> Self {
        let mut sheet = Self::new(["", "count", "a second"]);
        for count in Count::ALL {
            let counted = totals.counts().of(count);
            let always = matches!(count, Count::ActionAcknowledged | Count::MatchFinished);
            if counted > 0 || always {
                let per_second = amount::rate(totals.per_second(count));
                sheet.rows.push(vec![count.title().to_owned(), amount::count(counted), per_second]);
            }
        }
        sheet
    }

    /// Percentiles of each measure of which something was measured.
    pub(crate) fn latencies(totals: &Totals) -> Self {
        let headings = ["", "count", "mean"].into_iter().chain(SHOWN.map(|(name, _)| name)).chain(["max"]);
        let mut sheet = Self::new(headings);
        for measure in Measure::ALL {
            let Some(latencies) = totals.latencies(measure) else { continue };
            let shown = SHOWN.map(|(_, quantile)| amount::time(latencies.quantile(quantile)));
            let mut row = vec![
                measure.title().to_owned(),
                amount::count(latencies.len()),
                amount::time(latencies.mean()),
            ];
            row.extend(shown);
            row.push(amount::time(latencies.max()));
            sheet.rows.push(row);
        }
        sheet
    }

    /// Each phase that was measured.
    pub(crate) fn phases(outcome: &Outcome) -> Self {
        let mut sheet = Self::new(["phase", "lasted", "actions", "matches", "p50", "p99", "errors"]);
        let measured = |run: &PhaseRun| run.phase().part() == Part::Measured;
        for (number, run) in outcome.phases().iter().enumerate().filter(|(_, run)| measured(run)) {
            let lasted = format!("{:.1} s", run.lasted().as_secs_f64());
            let named = vec![amount::plain(run.phase().name()), lasted];
            sheet.rows.push(named.into_iter().chain(glance(&outcome.phase_totals(number))).collect());
        }
        sheet
    }

    /// Each of several generators, with its machine.
    pub(crate) fn generators(outcome: &Outcome) -> Self {
        let mut sheet =
            Self::new(["generator", "processors", "actions", "matches", "p50", "p99", "errors", "faults"]);
        for (generator, machine) in outcome.generators().iter().zip(outcome.machines()) {
            let mut row = vec![amount::plain(generator.name()), machine.processors.to_string()];
            row.extend(glance(&generator.totals()));
            row.push(amount::count(generator.faults()));
            sheet.rows.push(row);
        }
        sheet
    }

    /// Errors by reason.
    pub(crate) fn errors(outcome: &Outcome, totals: &Totals) -> Self {
        let mut sheet = Self::new(["error", "count", "the first of them"]);
        for (failure, times) in totals.failures().iter() {
            let example = outcome.example(failure).map(amount::plain).unwrap_or_default();
            sheet.rows.push(vec![failure.to_string(), amount::count(times), example]);
        }
        sheet
    }

    /// Two runs side by side.
    pub(crate) fn compared(comparison: &Comparison) -> Self {
        let mut sheet = Self::new(["", "before", "now", "change", "with 99.8 % confidence", ""]);
        for row in &comparison.rows {
            sheet.rows.push(vec![
                row.what.clone(),
                row.before.clone(),
                row.after.clone(),
                row.shown_change(),
                row.shown_interval(),
                row.finding.title().to_owned(),
            ]);
        }
        sheet
    }

    /// What a search has tried.
    pub(crate) fn steps(search: &Search) -> Self {
        let mut sheet = Self::new(["offered", "actions", "matches", "p50", "p99", "errors", "SLO"]);
        for step in &search.steps {
            let slo = if step.is_stopped() {
                "cut off"
            } else if step.is_kept() {
                "kept"
            } else {
                "missed"
            };
            let mut row = vec![amount::rate(step.offered_per_second())];
            row.extend(glance(&step.totals()));
            row.push(slo.to_owned());
            sheet.rows.push(row);
        }
        sheet
    }
}

/// Actions and matches a second, p50 and p99 of receipts, and errors.
fn glance(totals: &Totals) -> [String; 5] {
    let receipts = totals.latencies(Measure::ActionToReceipt);
    let quantile = |wanted| receipts.map(|times: &Latencies| amount::time(times.quantile(wanted)));
    let or_none = |shown: Option<String>| shown.unwrap_or_else(|| "-".to_owned());
    [
        amount::rate(totals.per_second(Count::ActionAcknowledged)),
        amount::rate(totals.per_second(Count::MatchFinished)),
        or_none(quantile(0.5)),
        or_none(quantile(0.99)),
        or_none(totals.error_share().map(amount::share)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::outcome::sample;
    use crate::report::Step;

    #[test]
    fn a_rate_that_was_cut_off_is_neither_kept_nor_missed() {
        let run = || sample::run(3, 1_500.0);
        let slo = "p99<12ms".parse().unwrap();
        let runs = [run(), sample::run(3, 9_000.0), sample::stopped(run())];
        let steps = runs.map(|outcome| Step::new(500.0, &outcome, &slo)).into();
        let sheet = Sheet::steps(&Search { steps, limit: Some(500.0), is_found: false });
        let shown: Vec<&str> = sheet.rows.iter().filter_map(|row| row.last()).map(String::as_str).collect();
        assert_eq!(shown, ["kept", "missed", "cut off"]);
    }
}
