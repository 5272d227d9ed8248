//! What commands print: results to stdout, notes to stderr.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

/// Prints a result for people.
pub(crate) fn print(text: impl Display) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("stdout can't be written")
}

/// Prints a result for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(serde_json::to_string_pretty(value)?)
}

/// Prints one of many results for programs, on a line of its own.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<()> {
    print(serde_json::to_string(value)?)
}

/// Tells the user something that is no result.
pub(crate) fn note(text: impl Display) {
    crate::log::say(text.to_string());
}

/// The program as the user called it, for commands that are shown to be copied.
pub(crate) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "zetema".to_owned())
}

/// A text that somebody else chose, for people: characters that a terminal would obey are shown as escapes.
pub(crate) fn plain(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// A table with these headings.
pub(crate) fn table<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_BORDERS_ONLY)
        .set_header(headings)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// Puts the numbers of these columns, from 0, to the right.
pub(crate) fn align_right(table: &mut Table, columns: impl IntoIterator<Item = usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
