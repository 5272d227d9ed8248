//! A report for people.

use comfy_table::{CellAlignment, Table, presets};

use crate::amount;
use crate::compare::Comparison;
use crate::outcome::{Arrivals, Client, Count, Description, Latencies, Measure, Outcome, Totals, Via, Work};
use crate::report::{Problem, Report, Search};
use crate::sheet::Sheet;
use crate::slo::Finding;

/// The last word of a run: what was asked, what came of it, errors by reason, faults, what the server told, and the SLO.
///
/// ```
/// use zetema_load::{json, table};
///
/// let report = json::read(&std::fs::read_to_string("golden/report-1.json")?)?;
/// assert!(table::text(&report).starts_with("actions on schedule, 2,000/s; sackson, 2 players"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn text(report: &Report) -> String {
    let Report { outcome, verdict, search, comparison } = report;
    let totals = outcome.totals();
    let mut parts = vec![head(outcome, &totals), numbers(&Sheet::rates(&totals)).to_string()];
    if let Some(table) = latencies(&totals) {
        parts.push(table);
    }
    let phases = Sheet::phases(outcome);
    if phases.rows.len() > 1 {
        parts.push(numbers(&phases).to_string());
    }
    let generators = Sheet::generators(outcome);
    if !generators.rows.is_empty() {
        parts.push(numbers(&generators).to_string());
    }
    parts.extend(ladder(outcome, &totals));
    parts.push(errors(outcome, &totals));
    parts.extend(server(outcome));
    parts.extend(search.as_ref().map(steps));
    parts.extend(comparison.as_ref().map(compared));
    parts.push(faults(outcome).join("\n  "));
    if let Some(verdict) = verdict {
        parts.push(verdict.findings.iter().map(finding).collect::<Vec<_>>().join("\n"));
    }
    let problems = problems(report).collect::<Vec<_>>().join("\n");
    parts.extend(Some(problems).filter(|problems| !problems.is_empty()));
    parts.join("\n\n") + "\n"
}

/// What was asked, in a line: `1,000 matches live at once, sackson, 2 players, lean clients on Play streams`.
pub(crate) fn asked(description: &Description) -> String {
    let Description { arrivals, via, client, preset, ladder, players, think, connections, .. } = description;
    let arrivals = match arrivals {
        Arrivals::Closed { matches: 1 } => "1 match live".to_owned(),
        Arrivals::Closed { matches } => format!("{} matches live at once", amount::count((*matches).into())),
        Arrivals::Open { per_second, of: Work::Actions } => {
            format!("actions on schedule, {}", amount::rate(*per_second))
        }
        Arrivals::Open { per_second, of: Work::Matches } => {
            format!("matches on schedule, {}", amount::rate(*per_second))
        }
        Arrivals::Scenario => "a scenario".to_owned(),
        Arrivals::Ladder { bots, places } => {
            format!("{} bots that wait for {places} at once each", amount::count((*bots).into()))
        }
    };
    let client = match client {
        Client::Sdk => "clients of the SDK",
        Client::Lean => "lean clients",
    };
    let via = match via {
        Via::Play => "Play streams",
        Via::Unary => "Observe and Act",
    };
    let rules = ladder.as_ref().map_or_else(|| preset.clone(), |ladder| format!("ladder {ladder}"));
    let think = if think.is_empty() { String::new() } else { format!("; thinking {think}") };
    amount::plain(&format!(
        "{arrivals}; {rules}, {players} players; {client} by {via}, {connections} connections{think}"
    ))
}

/// What was asked of which server, and for how long it was measured: one line each.
pub(crate) fn head(outcome: &Outcome, totals: &Totals) -> String {
    let description = outcome.description();
    let version =
        outcome.server().version.as_deref().map_or(String::new(), |version| format!(", version {version}"));
    let generators = match outcome.machines().len() {
        0 | 1 => String::new(),
        many => format!(" by {many} generators"),
    };
    format!(
        "{}{generators}\nserver {}{}\nmeasured for {:.1} s",
        asked(description),
        amount::plain(&description.server),
        amount::plain(&version),
        totals.lasted().as_secs_f64()
    )
}

fn latencies(totals: &Totals) -> Option<String> {
    let sheet = Sheet::latencies(totals);
    let beyond = beyond(totals).map_or(String::new(), |beyond| format!("\n{beyond}"));
    (!sheet.rows.is_empty()).then(|| format!("{}{beyond}", numbers(&sheet)))
}

/// What can't be told of what took too long. `None` if nothing did.
pub(crate) fn beyond(totals: &Totals) -> Option<String> {
    let known = Measure::ALL.into_iter().filter_map(|measure| totals.latencies(measure));
    let beyond: u64 = known.map(Latencies::beyond).sum();
    (beyond > 0).then(|| format!("{} took longer than 600 s, and stand for so long", amount::count(beyond)))
}

/// What came of a run on a ladder, in a line. `None` if it was none.
pub(crate) fn ladder(outcome: &Outcome, totals: &Totals) -> Option<String> {
    let name = amount::plain(outcome.description().ladder.as_deref()?);
    let of_ladder = OfLadder::of(outcome, totals);
    let growth = of_ladder.growth.map_or(String::new(), |growth| {
        format!("; the server's memory grows by {}", amount::a_minute(growth))
    });
    let late = of_ladder.late_growth.map_or(String::new(), |growth| {
        format!(", in the last third of what was measured by {}", amount::a_minute(growth))
    });
    let notices = match of_ladder.notices {
        0 => "no notices".to_owned(),
        some => format!("{} NOTICES", amount::count(some)),
    };
    Some(format!(
        "ladder {name}: {} matches an hour, {} rated results, {notices} of no-shows and forfeits{growth}{late}",
        amount::digits(of_ladder.matches_per_hour),
        amount::count(of_ladder.rated_results)
    ))
}

/// What a run on a ladder comes to.
pub(crate) struct OfLadder {
    /// Matches that were played to a result, an hour.
    pub(crate) matches_per_hour: f64,
    /// Results that count for ratings.
    pub(crate) rated_results: u64,
    /// What the ladder had to say to bots of the run, in all phases.
    pub(crate) notices: u64,
    /// By how many bytes a minute the server's memory grows, where it can be read.
    pub(crate) growth: Option<f64>,
    /// The same over the last third of what was measured.
    pub(crate) late_growth: Option<f64>,
}

impl OfLadder {
    pub(crate) fn of(outcome: &Outcome, totals: &Totals) -> Self {
        Self {
            matches_per_hour: totals.per_second(Count::MatchFinished) * 3600.0,
            rated_results: totals.counts().of(Count::RatedResult),
            notices: outcome.notices().unwrap_or(0),
            growth: outcome.server().glance().and_then(|glance| glance.growth),
            late_growth: outcome.late_memory_growth(),
        }
    }
}

fn errors(outcome: &Outcome, totals: &Totals) -> String {
    let mut shown = table(&Sheet::errors(outcome, totals));
    if let Some(column) = shown.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if shown.is_empty() { all_errors(totals) } else { format!("{shown}\n{}", all_errors(totals)) }
}

/// How many errors there were.
pub(crate) fn all_errors(totals: &Totals) -> String {
    match totals.error_share().filter(|share| *share > 0.0) {
        None => "no errors".to_owned(),
        Some(share) => {
            let all = amount::count(totals.failures().all());
            format!("{all} errors: {} of all answers", amount::share(share))
        }
    }
}

/// What the server told of itself.
pub(crate) fn server(outcome: &Outcome) -> Option<String> {
    let glance = outcome.server().glance()?;
    let mut told = Vec::new();
    if let Some((first, last, most)) = glance.memory_bytes {
        let [first, last, most] = [first, last, most].map(amount::bytes);
        told.push(format!("memory {first} at first, {last} at last, {most} at most"));
    }
    if let Some(lag) = glance.journal_lag {
        told.push(format!("journal lag {} at most", amount::time(lag)));
    }
    if let Some(busy) = glance.processors {
        told.push(busy.to_string());
    }
    Some(format!("server: {}", told.join("; "))).filter(|_| !told.is_empty())
}

fn steps(search: &Search) -> String {
    format!("{}\n{}", numbers(&Sheet::steps(search)), limit(search))
}

fn compared(comparison: &Comparison) -> String {
    let mut lines = vec![table(&Sheet::compared(comparison)).to_string()];
    lines.extend(unlike(comparison));
    lines.join("\n")
}

/// What was not the same in both runs. Empty if all was.
pub(crate) fn unlike(comparison: &Comparison) -> Vec<String> {
    let lines = comparison.unlike.iter().map(|line| format!("not the same in both: {line}"));
    lines.collect()
}

/// What a search has found.
pub(crate) fn limit(search: &Search) -> String {
    let what = if search.is_found { "the highest rate that keeps the SLO" } else { "the SLO is kept at" };
    search.limit.map_or_else(
        || "no rate that was tried keeps the SLO".to_owned(),
        |limit| format!("{what}: {}", amount::rate(limit)),
    )
}

/// What the server did that it must not, the first lines of it.
pub(crate) fn faults(outcome: &Outcome) -> Vec<String> {
    let faults = outcome.faults();
    if faults.all() == 0 {
        let [replayed, finished] =
            [Count::RecordReplayed, Count::MatchFinished].map(|count| outcome.in_all_phases(count));
        let of_records = match replayed {
            0 => String::new(),
            some => format!(
                ", and {} of {} records replay to it",
                amount::count(some),
                amount::count(finished.max(some))
            ),
        };
        return vec![format!("no fault was found in what was received{of_records}")];
    }
    let told =
        faults.first().iter().map(|fault| format!("{}: {}", fault.check.title(), amount::plain(&fault.text)));
    let noun = if faults.all() == 1 { "FAULT" } else { "FAULTS" };
    let mut lines = vec![format!("{} {noun} in what was received:", amount::count(faults.all()))];
    lines.extend(told);
    let more = faults.all() - faults.first().len() as u64;
    if more > 0 {
        lines.push(format!("and {} more", amount::count(more)));
    }
    lines
}

/// Why it has not passed, but for faults and conditions, which are told by themselves.
pub(crate) fn problems(report: &Report) -> impl Iterator<Item = String> {
    let is_told = |problem: &Problem| matches!(problem, Problem::Faults | Problem::Slo);
    report.problems().filter(move |problem| !is_told(problem)).map(|problem| format!("NOT PASSED: {problem}"))
}

/// What came of a condition.
pub(crate) fn finding(finding: &Finding) -> String {
    let held = if finding.held { "kept" } else { "MISSED" };
    let value = finding.value.as_deref().unwrap_or("nothing was measured");
    format!("{held}: {} ({value})", finding.condition)
}

fn table(sheet: &Sheet) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(&sheet.headings);
    table.add_rows(&sheet.rows);
    table
}

/// With all columns but the first to the right.
fn numbers(sheet: &Sheet) -> Table {
    let mut table = table(sheet);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::sample;
    use crate::report::Step;
    use crate::slo::Slo;

    #[test]
    fn a_run_ends_with_a_table() {
        let slo: Slo = "p99<20ms,create.p50<1ms,errors<1%,reconnect.max<1s,throughput>500".parse().unwrap();
        let report = Report::new(sample::run(10, 1_500.0), Some(&slo));
        insta::assert_snapshot!(text(&report));
    }

    #[test]
    fn a_run_on_a_ladder_is_told_in_a_line() {
        let outcome = sample::on_ladder(sample::run(10, 1_500.0));
        let line = "ladder quick-2: 61200 matches an hour, 0 rated results, no notices of no-shows and forfeits; the server's memory \
                    grows by -73.6 MB a minute, in the last third of what was measured by 0 B a minute";
        assert_eq!(ladder(&outcome, &outcome.totals()).as_deref(), Some(line));
    }

    #[test]
    fn faults_and_a_search_are_told() {
        let slo: Slo = "p99<12ms".parse().unwrap();
        let steps = [(500.0, 1_000.0), (2_000.0, 1_500.0), (4_000.0, 9_000.0)];
        let step = |(rate, us)| Step::new(rate, &sample::run(3, us), &slo);
        let search = Search { steps: steps.map(step).into(), limit: Some(2_000.0), is_found: true };
        let report = Report::new(sample::with_faults(sample::run(3, 1_500.0)), None).with_search(search);
        assert!(!report.passed());
        insta::assert_snapshot!(text(&report));
    }

    #[test]
    fn two_runs_stand_side_by_side() {
        let report = Report::new(sample::noisy(90, 1_800.0, 2), None)
            .compared_with(&Report::new(sample::noisy(100, 1_500.0, 1), None));
        let comparison = report.comparison.as_ref().map(compared);
        assert!(text(&report).contains(comparison.as_deref().unwrap()));
        insta::assert_snapshot!(comparison.unwrap());
    }

    #[test]
    fn what_others_have_said_is_shown_and_not_obeyed() {
        let outcome = sample::with_fault(sample::run(1, 1_000.0), "\u{1b}[2J");
        let text = text(&Report::new(outcome, None));
        assert!(text.contains("\\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
    }
}
