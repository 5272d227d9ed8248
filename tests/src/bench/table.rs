//! What was measured, for people.

use std::fmt::Write;

use super::report::{Report, RowReport};

/// The rows, each with what it was measured against.
pub fn table(report: &Report) -> String {
    let wide = report.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = format!(
        "{:wide$} {:>8} {:>15} {:>8} {:>8}  {:7} {:>12} {:>12} {:>7} {:>7} {:>7}\n",
        "row", "value", "spread", "bar", "reach", "", "ours", "baseline", "CPU ÷", "server", "clients"
    );
    for row in &report.rows {
        let RowReport { name, value, least, most, bar, reach, ours, unit, .. } = row;
        let spread = format!("{}..{}", digits(*least), digits(*most));
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name:wide$} {:>8} {spread:>15} {:>8} {:>8}  {:7} {:>12} {:>12} {:>7} {:>7} {:>7}  {unit}",
            digits(*value),
            digits(*bar),
            digits(*reach),
            verdict(report, row),
            digits(*ours),
            or_dash(row.baseline),
            or_dash(row.server_time),
            or_dash(row.server_busy),
            or_dash(row.client_busy),
        );
    }
    text.push_str("CPU ÷: processor time of the server for each, ours ÷ baseline. server, clients: busy share of their core, ours.\n");
    text
}

/// The names of the bars that were missed, in a sentence. `None`: none was.
pub fn missed(report: &Report) -> Option<String> {
    let missed = report.missed();
    (!missed.is_empty()).then(|| format!("missed: {}", missed.join(", ")))
}

pub(super) fn verdict(report: &Report, row: &RowReport) -> &'static str {
    match (report.judged, row.reached, row.met) {
        (false, ..) => "-",
        (true, true, _) => "reached",
        (true, false, true) => "met",
        (true, false, false) => "MISSED",
    }
}

/// A number to three digits, thousands set apart.
pub(super) fn digits(number: f64) -> String {
    if number.abs() < 1000.0 {
        return zetema_load::amount::digits(number);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is above 1,000, or not a figure"
    )]
    zetema_load::amount::count(number.round() as u64)
}
