//! `zetema journal`: the journal of a server that does not run.

mod check;
mod repair;

use anyhow::Result;
use clap::Subcommand;

/// What to do with a journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Read the journal as a start does, and all the rest of it, without starting or changing anything
    Check(check::Check),
    /// Go on without what is damaged: what a start refuses to do by itself
    Repair(repair::Repair),
}

pub(super) async fn run(command: JournalCommand) -> Result<()> {
    match command {
        JournalCommand::Check(check) => check.run(),
        JournalCommand::Repair(repair) => repair.run().await,
    }
}
