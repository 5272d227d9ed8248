//! What is shown of a ladder again and again, as it changes.

use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;
use zetema_service::server::termination;

use super::standings::Following;
use crate::client::{Client, patiently};
use crate::output::{self, Format};
use crate::screen::Screen;

/// Shows a list, and again whenever the standings of its ladder have changed and it has too, until the program is told to
/// stop.
pub(super) async fn list<T: Serialize>(
    client: &Client,
    ladder: &str,
    format: Format,
    ask: impl AsyncFn() -> Result<Vec<T>>,
    table: impl Fn(&[T]) -> Table,
) -> Result<()> {
    // The first message comes at once, with what there is.
    let mut changes = Following::start(client, ladder).await?;
    let watched = async {
        let mut pictures = Pictures::new(format);
        loop {
            changes.next().await?;
            let entries = patiently(&ask).await?;
            pictures.show(match format {
                Format::Json => serde_json::to_string(&entries)?,
                Format::Table => table(&entries).to_string(),
            })?;
        }
    };
    tokio::select! {
        watched = watched => watched,
        told = termination() => Ok(told?),
    }
}

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
