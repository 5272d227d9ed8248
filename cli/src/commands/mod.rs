//! The commands, one noun a module.

pub(crate) mod matches;
pub(crate) mod record;
pub(crate) mod rules;
mod source;

use anyhow::{Context, Result};

use crate::cli::Command;

/// Does what is asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Match(command) => runtime()?.block_on(matches::run(command)),
        Command::Record(command) => runtime()?.block_on(record::run(command)),
        Command::Rules(command) => rules::run(command),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Runtime::new().context("the asynchronous runtime can't be started")
}
