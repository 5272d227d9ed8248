//! `zetema rules`: look up the rules.

mod check;
mod list;
mod show;
mod time_controls;

use anyhow::Result;
use clap::Subcommand;

/// What to do with rules. None of it needs a server.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the presets
    List(list::List),
    /// Show every option of a preset
    Show(show::Show),
    /// Check rules of your own
    Check(check::Check),
    /// List the named time controls with their numbers
    TimeControls(time_controls::TimeControls),
}

pub(super) fn run(command: RulesCommand) -> Result<()> {
    match command {
        RulesCommand::List(list) => list.run(),
        RulesCommand::Show(show) => show.run(),
        RulesCommand::Check(check) => check.run(),
        RulesCommand::TimeControls(controls) => controls.run(),
    }
}
