//! What stands on the page.

use std::ops::Range;

use super::page::Page;
use super::plot::{Axis, Line, NoPlot, Plot};
use crate::amount;
use crate::outcome::{Count, Latencies, Machine, Measure, Outcome, Packed, Part, Second, Totals};
use crate::report::{Report, Search};
use crate::sheet::Sheet;
use crate::table;

/// The longest line of percentiles: beyond, each would be of one single action in a billion.
const MOST_NINES: f64 = 9.0;
/// Points of a line for each further nine.
const POINTS_PER_NINE: u32 = 25;
/// Percentiles that are drawn over time.
const OVER_TIME: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("max", 1.0)];
/// Those that are drawn by rate.
const BY_RATE: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// A page of its own, which needs nothing else: it loads nothing, and runs no script.
///
/// ```
/// use zetema_load::{html, json};
///
/// let report = json::read(&std::fs::read_to_string("golden/report-1.json")?)?;
/// let page = html::page(&report)?;
/// assert!(page.contains("<svg") && !page.contains("<script"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`NoPlot`] if a plot can't be drawn.
pub fn page(report: &Report) -> Result<String, NoPlot> {
    let Report { outcome, verdict, search, comparison } = report;
    let totals = outcome.totals();
    let mut page = Page::new("Load run");
    head(&mut page, report, &totals);
    if let Some(verdict) = verdict {
        page.list(verdict.findings.iter().map(table::finding));
    }
    let phases_of_it = Sheet::phases(outcome);
    if phases_of_it.rows.len() > 1 {
        page.element("h2", "Phases").numbers(&phases_of_it);
    }

    if let Some(comparison) = comparison {
        page.element("h2", "Beside the run before").texts(&Sheet::compared(comparison));
        page.list(table::unlike(comparison));
    }

    page.element("h2", "Latency").numbers(&Sheet::latencies(&totals));
    if let Some(beyond) = table::beyond(&totals) {
        page.paragraph("faint", &beyond);
    }
    draw(&mut page, percentiles(&totals))?;
    for measure in Measure::ALL {
        draw(&mut page, over_time(outcome, measure))?;
    }
    page.element("h2", "Throughput").numbers(&Sheet::rates(&totals));
    draw(&mut page, throughput(outcome))?;
    if let Some(ladder) = table::ladder(outcome, &totals) {
        page.element("h2", "Ladder").paragraph("", &ladder);
    }
    page.element("h2", "Errors").paragraph("", &table::all_errors(&totals));
    let errors = Sheet::errors(outcome, &totals);
    if !errors.rows.is_empty() {
        page.texts(&errors);
    }
    if let Some(search) = search {
        page.element("h2", "Search for the highest rate").paragraph("", &table::limit(search));
        page.numbers(&Sheet::steps(search));
        draw(&mut page, by_rate(search))?;
    }
    page.element("h2", "Faults").list(table::faults(outcome));
    if let Some(server) = table::server(outcome) {
        page.element("h2", "Server").paragraph("", &server);
        draw(&mut page, memory(outcome))?;
        draw(&mut page, journal_lag(outcome))?;
    }
    let generators = Sheet::generators(outcome);
    if !generators.rows.is_empty() {
        page.element("h2", "Generators").numbers(&generators);
    }
    page.element("h2", "Machines and phases");
    page.list(outcome.machines().iter().map(machine).chain(phases(outcome)));
    if let Some(scenario) = &outcome.description().scenario {
        page.details("The scenario", &scenario.lines().map(amount::plain).collect::<Vec<_>>().join("\n"));
    }
    Ok(page.finish())
}

fn head(page: &mut Page, report: &Report, totals: &Totals) {
    for line in table::head(&report.outcome, totals).lines() {
        page.paragraph("faint", line);
    }
    let problems: Vec<String> = report.problems().map(|problem| problem.to_string()).collect();
    let (class, text) = match (problems.is_empty(), &report.verdict) {
        (true, Some(_)) => ("passed", "Passed: the SLO was kept, and no fault was found.".to_owned()),
        (true, None) => ("passed", "No fault was found. There was no SLO.".to_owned()),
        (false, _) => ("failed", format!("Failed: {}.", problems.join("; "))),
    };
    page.paragraph(class, &text);
}

/// Draws it if there is anything to draw.
fn draw(page: &mut Page, plot: Plot) -> Result<(), NoPlot> {
    let lines = plot.lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    let plot = Plot { lines, ..plot };
    if !plot.lines.is_empty() {
        let svg = plot.svg()?;
        page.figure(&plot, &svg);
    }
    Ok(())
}

fn percentiles(totals: &Totals) -> Plot {
    let line = |measure| {
        let latencies = totals.latencies(measure)?;
        #[expect(clippy::cast_precision_loss, reason = "a count as far as a plot shows it")]
        let nines = (latencies.len() as f64).log10().min(MOST_NINES);
        let steps =
            (0..).map(|step| f64::from(step) / f64::from(POINTS_PER_NINE)).take_while(|nine| *nine <= nines);
        let points = steps.map(|nine| {
            let quantile = 1.0 - 10f64.powf(-nine);
            (quantile, us(latencies.quantile(quantile)))
        });
        Some(Line { name: measure.title().to_owned(), points: points.collect() })
    };
    Plot {
        title: "Percentiles".to_owned(),
        x: Axis::Nines,
        y: Axis::Time,
        lines: Measure::ALL.into_iter().filter_map(line).collect(),
        shaded: Vec::new(),
    }
}

fn over_time(outcome: &Outcome, measure: Measure) -> Plot {
    let seconds: Vec<_> = outcome
        .seconds()
        .iter()
        .map(|second| (middle(outcome, second), second.latencies(measure).map(Packed::unpack)))
        .collect();
    // Where nothing came to its end, as the server stood still, there is no line.
    let line = |(name, quantile): (&str, f64)| {
        let value =
            |latencies: &Option<Latencies>| latencies.as_ref().map(|times| us(times.quantile(quantile)));
        let points = seconds.iter().map(|(at, latencies)| (*at, value(latencies).unwrap_or(f64::NAN)));
        Line { name: name.to_owned(), points: points.collect() }
    };
    let lines = if seconds.iter().any(|(_, latencies)| latencies.is_some()) {
        OVER_TIME.map(line).into()
    } else {
        Vec::new()
    };
    Plot {
        title: format!("From {}, second by second", measure.title()),
        x: Axis::Elapsed,
        y: Axis::Time,
        lines,
        shaded: unmeasured(outcome),
    }
}

fn throughput(outcome: &Outcome) -> Plot {
    let line = |name: &str, number: &dyn Fn(&Second) -> u64| {
        #[expect(clippy::cast_precision_loss, reason = "a count as far as a plot shows it")]
        let rate = |second: &Second| number(second) as f64 / second.lasted().as_secs_f64();
        let seconds = outcome.seconds().iter().filter(|second| !second.lasted().is_zero());
        let points = seconds.map(|second| (middle(outcome, second), rate(second))).collect();
        Line { name: name.to_owned(), points }
    };
    let mut lines = vec![
        line("actions acknowledged", &|second| second.counts().of(Count::ActionAcknowledged)),
        line("errors", &|second| second.failures().all()),
        line("offered", &|second| second.counts().of(Count::Offered)),
    ];
    lines.retain(|line| line.points.iter().any(|(_, rate)| *rate > 0.0));
    Plot {
        title: "Throughput, second by second".to_owned(),
        x: Axis::Elapsed,
        y: Axis::Rate,
        lines,
        shaded: unmeasured(outcome),
    }
}

fn by_rate(search: &Search) -> Plot {
    let mut steps: Vec<_> =
        search.steps.iter().map(|step| (step.offered_per_second(), step.totals())).collect();
    steps.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let line = |(name, quantile): (&str, f64)| {
        let receipts = |totals: &Totals| {
            totals.latencies(Measure::ActionToReceipt).map(|times| times.quantile(quantile))
        };
        let points = steps.iter().filter_map(|(rate, totals)| Some((*rate, us(receipts(totals)?))));
        Line { name: name.to_owned(), points: points.collect() }
    };
    Plot {
        title: "From an action to its receipt, by the rate that was offered".to_owned(),
        x: Axis::Rate,
        y: Axis::Time,
        lines: BY_RATE.map(line).into(),
        shaded: Vec::new(),
    }
}

fn memory(outcome: &Outcome) -> Plot {
    #[expect(clippy::cast_precision_loss, reason = "a size as far as a plot shows it")]
    let points = outcome
        .server()
        .readings
        .iter()
        .filter_map(|reading| Some((reading.at().as_secs_f64(), reading.memory_bytes? as f64)));
    Plot {
        title: "The server's memory".to_owned(),
        x: Axis::Elapsed,
        y: Axis::Bytes,
        lines: vec![Line { name: "resident".to_owned(), points: points.collect() }],
        shaded: unmeasured(outcome),
    }
}

fn journal_lag(outcome: &Outcome) -> Plot {
    #[expect(clippy::cast_precision_loss, reason = "a time as far as a plot shows it")]
    let points = outcome
        .server()
        .readings
        .iter()
        .filter_map(|reading| Some((reading.at().as_secs_f64(), reading.journal_lag_us? as f64)));
    Plot {
        title: "The server's journal".to_owned(),
        x: Axis::Elapsed,
        y: Axis::Time,
        lines: vec![Line {
            name: "how long the oldest request has waited".to_owned(),
            points: points.collect(),
        }],
        shaded: unmeasured(outcome),
    }
}

/// The middle of a second, in seconds since the run began.
fn middle(outcome: &Outcome, second: &Second) -> f64 {
    outcome.began(second).as_secs_f64() + second.lasted().as_secs_f64() / 2.0
}

fn unmeasured(outcome: &Outcome) -> Vec<Range<f64>> {
    let phases = outcome.phases().iter().filter(|run| run.phase().part() != Part::Measured);
    phases.map(|run| run.began().as_secs_f64()..(run.began() + run.lasted()).as_secs_f64()).collect()
}

fn us(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn machine(machine: &Machine) -> String {
    let Machine { processors, model, memory_bytes, system, kernel } = machine;
    let mut parts = vec![format!("{processors} processors")];
    parts.extend(model.clone());
    parts.extend(memory_bytes.map(amount::bytes));
    parts.push(system.clone());
    parts.extend(kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    amount::plain(&format!("generator: {}", parts.join(", ")))
}

fn phases(outcome: &Outcome) -> impl Iterator<Item = String> {
    outcome.phases().iter().map(|run| {
        let left_out = if run.phase().part() == Part::Measured { "" } else { ", left out" };
        let (began, lasted) = (run.began().as_secs_f64(), run.lasted().as_secs_f64());
        let name = amount::plain(run.phase().name());
        format!("phase {name}: {lasted:.1} s from {began:.1} s on{left_out}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::sample;
    use crate::report::Step;
    use crate::slo::Slo;

    fn sample() -> Report {
        let slo: Slo = "p99<12ms,errors<1%".parse().unwrap();
        let steps = [(500.0, 1_000.0), (2_000.0, 1_500.0), (4_000.0, 9_000.0)];
        let step = |(rate, us)| Step::new(rate, &sample::run(3, us), &slo);
        let search = Search { steps: steps.map(step).into(), limit: Some(2_000.0), is_found: true };
        Report::new(sample::with_faults(sample::run(3, 1_500.0)), Some(&slo)).with_search(search)
    }

    /// The page without its drawings, whose coordinates tell a reader nothing.
    fn without_drawings(page: &str) -> String {
        let mut parts = page.split("<svg width");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + "<svg…>" + part.split_once("</svg>").unwrap().1)
    }

    #[test]
    fn a_page_shows_all_of_a_run() {
        insta::assert_snapshot!(without_drawings(&page(&sample()).unwrap()));
    }

    #[test]
    fn a_drawing_stays_as_it_is() {
        let report = sample();
        insta::assert_snapshot!(percentiles(&report.outcome.totals()).svg().unwrap());
    }

    #[test]
    fn a_page_loads_nothing_and_runs_nothing() {
        let page = page(&sample()).unwrap();
        let links = page.matches("http").count();
        let name_spaces = page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
        let named = page.matches("server http://127.0.0.1:4680").count() + page.matches("http-equiv").count();
        assert_eq!(links, name_spaces + named);
        for forbidden in ["<script", "src=", "href=", "url(", "@import", "onload"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn what_others_have_said_is_text() {
        let evil = "</pre><script>alert('\"&')</script>\u{1b}";
        let outcome = sample::named(sample::with_fault(sample::run(1, 1_000.0), evil), evil);
        let page = page(&Report::new(outcome, None)).unwrap();
        assert!(!page.contains("<script") && !page.contains("alert('") && !page.contains('\u{1b}'), "{page}");
        assert!(page.matches("&lt;script&gt;alert(&#39;&quot;&amp;&#39;)").count() >= 4, "{page}");
    }
}
