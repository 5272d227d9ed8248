//! A picture on the terminal that is drawn again and again in the same place.

use anyhow::{Context, Result};
use console::{Term, truncate_str};

/// A picture on the terminal.
pub(crate) struct Screen {
    term: Term,
    /// Lines of the picture that stands there.
    drawn: usize,
}

impl Screen {
    /// The terminal that stdout is, if it is one and has room for so many lines and the cursor's.
    pub(crate) fn with_room_for(lines: usize) -> Option<Self> {
        let term = Term::stdout();
        let (rows, _) = term.size_checked()?;
        (term.features().is_attended() && !console::is_dumb() && usize::from(rows) > lines)
            .then_some(Self { term, drawn: 0 })
    }

    /// How many lines a picture may have.
    pub(crate) fn room(&self) -> usize {
        usize::from(self.term.size().0).saturating_sub(1)
    }

    /// Draws the picture over the one before.
    pub(crate) fn draw(&mut self, picture: &str) -> Result<()> {
        let (_, columns) = self.term.size();
        // Each line is cut to the width, since a longer one would take two, and clears what was there before;
        // lines that don't fit in would scroll the picture away from its place.
        let lines: Vec<String> = picture
            .lines()
            .take(self.room())
            .map(|line| format!("{}\u{1b}[K", truncate_str(line, columns.into(), "…")))
            .collect();
        let up = if self.drawn > 0 { format!("\u{1b}[{}A", self.drawn) } else { String::new() };
        self.drawn = lines.len();
        self.term.write_line(&format!("{up}{}\u{1b}[J", lines.join("\n"))).context("stdout can't be written")
    }
}
