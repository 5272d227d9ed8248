//! A list of a ladder's, as `results`, `history` and `head-to-head` show theirs.

use std::time::Duration;

use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;
use tokio::time::timeout;
use zetema_service::server::termination;

use super::pictures::Pictures;
use super::standings::Following;
use crate::args::FormatArgs;
use crate::client::{Client, patiently};
use crate::output::{self, Format};

/// How often a list that is followed is asked for where no standings change.
const ASKED_AT_LEAST_EVERY: Duration = Duration::from_secs(2);

/// How much of a list is shown, and how.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: u32,
    /// Go on and show it again when it changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl ListArgs {
    /// Shows what there is, which is asked for with whether there is more.
    pub(super) async fn show<T: Serialize>(
        &self,
        client: &Client,
        ladder: &str,
        ask: impl AsyncFn() -> Result<(Vec<T>, bool)>,
        table: impl Fn(&[T]) -> Table,
    ) -> Result<()> {
        if self.watch {
            return self.follow(client, ladder, ask, table).await;
        }
        let (entries, more) = ask().await?;
        if entries.is_empty() {
            output::note("no result meets the filter");
        }
        match self.format.format {
            Format::Json => output::print_json(&entries)?,
            Format::Table => output::print(table(&entries))?,
        }
        if more {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }

    /// Shows it, and again whenever it has changed, until the program is told to stop. It is asked for when the standings of its ladder
    /// change, and every while, as a match that is not rated changes none.
    async fn follow<T: Serialize>(
        &self,
        client: &Client,
        ladder: &str,
        ask: impl AsyncFn() -> Result<(Vec<T>, bool)>,
        table: impl Fn(&[T]) -> Table,
    ) -> Result<()> {
        let format = self.format.format;
        // The first message comes at once, with what there is.
        let mut changes = Following::start(client, ladder).await?;
        let watched = async {
            let mut pictures = Pictures::new(format);
            loop {
                if let Ok(changed) = timeout(ASKED_AT_LEAST_EVERY, changes.next()).await {
                    changed?;
                }
                let (entries, _) = patiently(&ask).await?;
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
}
