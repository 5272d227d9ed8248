//! The command line.

use clap::builder::Resettable;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::demo::Demo;
use crate::commands::journal::JournalCommand;
use crate::commands::ladder::LadderCommand;
use crate::commands::matches::MatchCommand;
use crate::commands::record::RecordCommand;
use crate::commands::rules::RulesCommand;
use crate::commands::token::TokenCommand;
use crate::commands::webhook::WebhookCommand;
use crate::commands::{
    backup::Backup, bot::Bot, load::Load, play::Play, restore::Restore, serve::Serve, status::Status,
    top::Top,
};

/// Zetema: a card game that bots play over gRPC
///
/// Without a command it shows a match between the house bots (zetema demo).
#[derive(Debug, Parser)]
#[command(
    name = "zetema",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  zetema                                         watch a match between the house bots
  zetema demo --matches 200 --format json        play many, for a program to read
  zetema play                                    play against a house bot
  zetema serve                                   run a server; then, beside it:
  zetema match create --preset quick --players 3

Exit codes: 0 done, 1 failed, 2 called wrongly, 3 another program took the seat and 4 the token is void (zetema bot), 5 the data
can't be opened (zetema serve). Results go to stdout, all else to stderr.
Colours are off when stdout is no terminal, or when NO_COLOR is set."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Reads the arguments, or says what is wrong with them and exits.
    pub(crate) fn read() -> (Self, Called) {
        let matches = without_empty_variables(Self::command()).get_matches();
        let called = Called::of(&matches);
        match Self::from_arg_matches(&matches) {
            Ok(cli) => (cli, called),
            Err(error) => error.format(&mut called.command()).exit(),
        }
    }

    /// What is asked for; the demo, if nothing is.
    pub(crate) fn into_command(self) -> Command {
        self.command.unwrap_or_else(|| Command::Demo(Demo::default()))
    }
}

/// What the program does. A variant without a comment is described by the command's own.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Play(Play),
    Serve(Serve),
    Status(Status),
    Top(Top),
    Bot(Bot),
    Load(Box<Load>),
    /// Create, follow and cancel matches on a server
    #[command(subcommand)]
    Match(MatchCommand),
    /// See the ladders of a server, and what they say of bots
    #[command(subcommand)]
    Ladder(LadderCommand),
    /// Read, verify and replay the records of matches that are over
    #[command(subcommand)]
    Record(RecordCommand),
    /// Look up the rules and check your own
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Make, list and void the tokens of a server
    #[command(subcommand)]
    Token(TokenCommand),
    /// Have results sent to an address, and see what came of it
    #[command(subcommand)]
    Webhook(WebhookCommand),
    Backup(Backup),
    Restore(Restore),
    /// Check and repair the journal of a server that does not run
    #[command(subcommand)]
    Journal(JournalCommand),
}

/// Which command was called, by the names on the way to it.
pub(crate) struct Called(Vec<String>);

impl Called {
    fn of(matches: &ArgMatches) -> Self {
        let (mut names, mut next) = (Vec::new(), matches.subcommand());
        while let Some((name, matches)) = next {
            names.push(name.to_owned());
            next = matches.subcommand();
        }
        Self(names)
    }

    /// It, with its own usage.
    pub(crate) fn command(&self) -> clap::Command {
        let mut command = Cli::command();
        // Only then do commands know how they are called.
        command.build();
        self.0.iter().fold(command, |command, name| command.find_subcommand(name).cloned().unwrap_or(command))
    }
}

/// A command for which an empty variable counts as none: that is what a file of variables gives where somebody has set nothing.
pub(crate) fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let with_variable = |arg: Arg| if is_empty(&arg) { arg.env(Resettable::Reset) } else { arg };
    command.mut_args(with_variable).mut_subcommands(without_empty_variables)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
