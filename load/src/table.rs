//! A report for people.

use comfy_table::{CellAlignment, Table, presets};

use crate::amount;
use crate::outcome::{Arrivals, Client, Count, Description, Measure, Outcome, Totals, Via, Work};
use crate::report::{Report, Search};
use crate::slo::Verdict;

/// Percentiles that are shown.
const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// The last word of a run: what was asked, what came of it, errors by reason, faults, what the server told, and the SLO.
pub fn text(report: &Report) -> String {
    let Report { outcome, verdict, search } = report;
    let totals = outcome.totals();
    let mut parts = vec![head(outcome, &totals), rates(&totals)];
    if let Some(table) = latencies(&totals) {
        parts.push(table);
    }
    parts.push(errors(outcome, &totals));
    parts.extend(server(outcome));
    parts.extend(search.as_ref().map(steps));
    parts.push(faults(outcome));
    parts.extend(verdict.as_ref().map(slo));
    parts.join("\n\n") + "\n"
}

/// What was asked, in a line: `1,000 matches live at once, sackson, 2 players, lean clients on Play streams`.
pub(crate) fn asked(description: &Description) -> String {
    let Description { arrivals, via, client, preset, players, think, connections, .. } = description;
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
    };
    let client = match client {
        Client::Sdk => "clients of the SDK",
        Client::Lean => "lean clients",
    };
    let via = match via {
        Via::Play => "Play streams",
        Via::Unary => "Observe and Act",
    };
    let think = if think.is_empty() { String::new() } else { format!("; thinking {think}") };
    amount::plain(&format!(
        "{arrivals}; {preset}, {players} players; {client} by {via}, {connections} connections{think}"
    ))
}

fn head(outcome: &Outcome, totals: &Totals) -> String {
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

fn rates(totals: &Totals) -> String {
    let mut table = table(["", "count", "a second"]);
    for count in Count::ALL {
        let counted = totals.counts().of(count);
        let always = matches!(count, Count::ActionAcknowledged | Count::MatchFinished);
        if counted > 0 || always {
            table.add_row([
                count.title().to_owned(),
                amount::count(counted),
                amount::rate(totals.per_second(count)),
            ]);
        }
    }
    to_the_right(&mut table);
    table.to_string()
}

fn latencies(totals: &Totals) -> Option<String> {
    let mut table =
        table(["", "count", "mean"].into_iter().chain(SHOWN.map(|(name, _)| name)).chain(["max"]));
    let mut beyond = 0;
    for measure in Measure::ALL {
        let Some(latencies) = totals.latencies(measure) else { continue };
        beyond += latencies.beyond();
        let shown = SHOWN.map(|(_, quantile)| amount::time(latencies.quantile(quantile)));
        let counted =
            [measure.title().to_owned(), amount::count(latencies.len()), amount::time(latencies.mean())];
        table.add_row(counted.into_iter().chain(shown).chain([amount::time(latencies.max())]));
    }
    to_the_right(&mut table);
    let longer = match beyond {
        0 => String::new(),
        beyond => format!("\n{} took longer than 600 s, and stand for so long", amount::count(beyond)),
    };
    (!table.is_empty()).then(|| format!("{table}{longer}"))
}

fn errors(outcome: &Outcome, totals: &Totals) -> String {
    let Some(share) = totals.error_share().filter(|share| *share > 0.0) else {
        return "no errors".to_owned();
    };
    let mut table = table(["error", "count", "the first of them"]);
    for (failure, times) in totals.failures().iter() {
        let example = outcome.example(failure).map(amount::plain).unwrap_or_default();
        table.add_row([failure.to_string(), amount::count(times), example]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let all = amount::count(totals.failures().all());
    format!("{table}\n{all} errors: {} of all answers", amount::share(share))
}

fn server(outcome: &Outcome) -> Option<String> {
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
        told.push(format!("{busy:.2} processors busy"));
    }
    Some(format!("server: {}", told.join("; "))).filter(|_| !told.is_empty())
}

fn steps(search: &Search) -> String {
    let mut table = table(["offered", "actions", "matches", "p50", "p99", "errors", "SLO"]);
    for step in &search.steps {
        let totals = step.totals();
        let receipts = totals.latencies(Measure::ActionToReceipt);
        let quantile = |wanted| receipts.map_or("-".to_owned(), |times| amount::time(times.quantile(wanted)));
        table.add_row([
            amount::rate(step.offered_per_second()),
            amount::rate(totals.per_second(Count::ActionAcknowledged)),
            amount::rate(totals.per_second(Count::MatchFinished)),
            quantile(0.5),
            quantile(0.99),
            totals.error_share().map_or("-".to_owned(), amount::share),
            (if step.verdict().held() { "kept" } else { "missed" }).to_owned(),
        ]);
    }
    to_the_right(&mut table);
    let limit = search.limit.map_or("no rate that was tried keeps the SLO".to_owned(), |limit| {
        format!("the highest rate that keeps the SLO: {}", amount::rate(limit))
    });
    format!("{table}\n{limit}")
}

fn faults(outcome: &Outcome) -> String {
    let faults = outcome.faults();
    if faults.all() == 0 {
        return "no fault was found in what was received".to_owned();
    }
    let mut lines = vec![format!("{} FAULTS in what was received:", amount::count(faults.all()))];
    lines.extend(
        faults
            .first()
            .iter()
            .map(|fault| format!("  {}: {}", fault.check.title(), amount::plain(&fault.text))),
    );
    if faults.all() > faults.first().len() as u64 {
        lines.push("  …".to_owned());
    }
    lines.join("\n")
}

fn slo(verdict: &Verdict) -> String {
    let lines = verdict.findings.iter().map(|finding| {
        let held = if finding.held { "kept" } else { "MISSED" };
        let value = finding.value.as_deref().unwrap_or("nothing was measured");
        format!("{held}: {} ({value})", finding.condition)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn table<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(headings);
    table
}

/// Puts all columns but the first to the right.
fn to_the_right(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
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
    fn faults_and_a_search_are_told() {
        let slo: Slo = "p99<12ms".parse().unwrap();
        let steps = [(500.0, 1_000.0), (2_000.0, 1_500.0), (4_000.0, 9_000.0)];
        let step = |(rate, us)| Step::new(rate, &sample::run(3, us).totals(), &slo);
        let search = Search { steps: steps.map(step).into(), limit: Some(2_000.0) };
        let report = Report::new(sample::with_faults(sample::run(3, 1_500.0)), None).with_search(search);
        assert!(!report.passed());
        insta::assert_snapshot!(text(&report));
    }

    #[test]
    fn what_others_have_said_is_shown_and_not_obeyed() {
        let outcome = sample::with_fault(sample::run(1, 1_000.0), "\u{1b}[2J");
        let text = text(&Report::new(outcome, None));
        assert!(text.contains("\\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
    }
}
