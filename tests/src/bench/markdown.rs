//! What was measured, for a page.

use std::fmt::Write;

use super::report::{Report, RowReport};
use super::table::{digits, verdict};

/// The machine and the rows, as they stand in `docs/performance.md`.
pub fn markdown(report: &Report) -> String {
    let machine = &report.machine;
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let gib = machine
        .memory_bytes
        .map(|bytes| bytes >> 20)
        .map_or_else(|| "unknown".to_owned(), |mib| format!("{mib} MiB"));
    let mut text = format!(
        "{}. Processor: {}, {} cores; memory: {gib}; {}, kernel {}; data on {}; zetema {}.\n\
         {} rounds, {} s of warm-up and {} s measured each; ratio of the medians, and the least and the most of the rounds.\n\n",
        report.began,
        or_unknown(&machine.model),
        machine.cores,
        machine.system,
        or_unknown(&machine.kernel),
        or_unknown(&machine.file_system),
        machine.version,
        report.rounds,
        report.warm_up,
        report.seconds,
    );
    text.push_str(
        "| row | what | value | spread | bar | reach | | ours | baseline | CPU ÷ | server busy | clients busy |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in &report.rows {
        let RowReport { name, what, value, least, most, bar, reach, ours, unit, .. } = row;
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| `{name}` | {what} | {} | {} to {} | {} | {} | {} | {} {unit} | {} | {} | {} | {} |",
            digits(*value),
            digits(*least),
            digits(*most),
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
    text
}
