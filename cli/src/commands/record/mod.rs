//! `zetema record`: records of matches that are over.

mod encoding;
mod export;
mod replay;
mod show;
mod source;
mod verify;

use anyhow::Result;
use clap::Subcommand;

pub(crate) use source::{Found, fetch};
pub(crate) use verify::{difference, problem};

/// What to do with records.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A record is named by the id of its match, which is asked of the server, or by a file (- for stdin) in
any of the forms that `zetema record export` writes. Files need no server.")]
pub(crate) enum RecordCommand {
    /// Show what a record holds
    Show(show::Show),
    /// Replay records by the rules and check seed, nonces, deals and scores
    Verify(verify::Verify),
    /// Play a record again, step by step
    Replay(replay::Replay),
    /// Write a record to a file
    Export(export::Export),
}

pub(super) async fn run(command: RecordCommand) -> Result<()> {
    match command {
        RecordCommand::Show(show) => show.run().await,
        RecordCommand::Verify(verify) => verify.run().await,
        RecordCommand::Replay(replay) => replay.run().await,
        RecordCommand::Export(export) => export.run().await,
    }
}
