//! What is shown of a ladder again and again, as it changes ([`Pictures`]).

use anyhow::Result;

use crate::output::{self, Format};
use crate::screen::Screen;

/// Where pictures are shown one after the other: in one place of a terminal, or each after the one before.
pub(super) struct Pictures {
    screen: Option<Screen>,
    shown: Option<String>,
}

impl Pictures {
    /// None is shown yet.
    pub(super) fn new(format: Format) -> Self {
        // One line less would have no row.
        let screen = Screen::with_room_for(4).filter(|_| format == Format::Table);
        Self { screen, shown: None }
    }

    /// Shows the next. What changed may be in nothing that is shown: then it is there already.
    pub(super) fn show(&mut self, picture: String) -> Result<()> {
        if self.shown.as_ref() == Some(&picture) {
            return Ok(());
        }
        match &mut self.screen {
            Some(screen) => screen.draw(&picture)?,
            None => output::print(&picture)?,
        }
        self.shown = Some(picture);
        Ok(())
    }
}
