//! `zetema match`: matches on a server.

mod batch;
mod cancel;
mod create;
mod faults;
mod list;
mod results;
mod show;
mod watch;

use anyhow::Result;
use clap::Subcommand;

/// What to do with matches.
#[derive(Debug, Subcommand)]
pub(crate) enum MatchCommand {
    /// Create a match and print its seats' tokens
    Create(create::Create),
    /// Create many matches, all or none
    Batch(batch::Batch),
    /// List matches, newest first
    List(list::List),
    /// Show where a match stands
    Show(show::Show),
    /// Watch a match as a spectator until it is over
    Watch(watch::Watch),
    /// Show what went wrong for the player of a seat, or for a bot, by its own token
    Faults(faults::Faults),
    /// Read the results of matches that are over, in the order in which they ended
    Results(results::Results),
    /// Abort a match that is not over
    Cancel(cancel::Cancel),
}

pub(super) async fn run(command: MatchCommand) -> Result<()> {
    match command {
        MatchCommand::Create(create) => create.run().await,
        MatchCommand::Batch(batch) => batch.run().await,
        MatchCommand::List(list) => list.run().await,
        MatchCommand::Show(show) => show.run().await,
        MatchCommand::Watch(watch) => watch.run().await,
        MatchCommand::Faults(faults) => faults.run().await,
        MatchCommand::Results(results) => results.run().await,
        MatchCommand::Cancel(cancel) => cancel.run().await,
    }
}
