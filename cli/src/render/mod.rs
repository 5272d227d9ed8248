//! What people read: pure functions from views and events to text.
//!
//! Text has colours if [`console`] finds that stdout may have them.

pub(crate) mod amount;
mod card;
mod choice;
mod event;
mod help;
mod names;
pub(crate) mod option;
mod outcome;
mod tableau;
mod time_control;
mod view;

pub(crate) use card::{cards, face};
pub(crate) use choice::choices;
pub(crate) use event::event;
pub(crate) use help::help;
pub(crate) use names::Names;
pub(crate) use outcome::{outcome, result};
pub(crate) use time_control::{network_credit, time, time_control, time_out};
use view::WIDTH;
pub(crate) use view::view;

/// `1 deal`, `2 deals`, `3 matches`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let end = match number {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {what}{end}")
}

/// The lines as one text, without spaces at their ends.
fn text(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
