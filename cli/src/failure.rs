//! How a command that went wrong is reported.

use std::fmt;
use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use zetema_service::server::StartError;

use crate::cli::Called;
use crate::rpcs::with_commands;

/// A command line that the parser takes and the program can't: exit code 2, as for the parser's own.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl Usage {
    /// Says what was wrong and what to give instead.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Another program has taken seats from this one: exit code 3, so that a supervisor can leave it at that.
#[derive(Debug)]
pub(crate) struct Superseded {
    /// How many seats.
    pub(crate) superseded: usize,
    /// Of how many.
    pub(crate) seats: usize,
}

impl fmt::Display for Superseded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "another program took {} of {} seats, or their tokens were replaced: run one program for each token, and \
             start this one again only when the other is gone",
            self.superseded, self.seats
        )
    }
}

impl std::error::Error for Superseded {}

/// A token is not valid, or not any more, or it was rotated and its seats are played: exit code 4, so that a supervisor does not start the program again with it.
#[derive(Debug)]
pub(crate) struct TokenVoid(pub(crate) zetema_sdk::Error);

impl fmt::Display for TokenVoid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}. The token was revoked, rotated or replaced, has expired or is none: start again with another",
            self.0
        )
    }
}

impl std::error::Error for TokenVoid {}

/// A failure that the log tells: nothing is left to say.
#[derive(Debug)]
struct Logged(anyhow::Error);

impl fmt::Display for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Logged {}

/// Has the log tell what went wrong, if it tells errors.
pub(crate) fn logged(error: anyhow::Error) -> anyhow::Error {
    if !tracing::enabled!(tracing::Level::ERROR) {
        return error;
    }
    tracing::error!(error = chain(&error), "zetema could not start or go on");
    Logged(error).into()
}

/// Tells the user on stderr, and says which code to exit with.
pub(crate) fn report(error: &anyhow::Error, called: &Called) -> ExitCode {
    // Whoever reads stdout has heard enough, as `head` has.
    if nobody_reads(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(Logged(error)) = error.downcast_ref() {
        return code(error);
    }
    if let Some(usage) = error.downcast_ref::<Usage>() {
        // Nothing can be done if stderr is closed.
        let _ = called.command().error(ErrorKind::ValueValidation, usage).print();
    } else {
        let mark = console::style("error:").for_stderr().red().bold();
        crate::log::say(format!("{mark} {}", with_commands(&chain(error))));
    }
    code(error)
}

/// The exit code: what a supervisor goes by.
fn code(error: &anyhow::Error) -> ExitCode {
    if error.is::<Usage>() {
        ExitCode::from(2)
    } else if error.is::<Superseded>() {
        ExitCode::from(3)
    } else if error.is::<TokenVoid>() {
        ExitCode::from(4)
    } else if error.downcast_ref().is_some_and(StartError::is_about_the_data) {
        ExitCode::from(5)
    } else {
        ExitCode::FAILURE
    }
}

/// The error and what caused it. Some errors name their cause themselves: it is said once.
fn chain(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// Whether nobody reads stdout any more.
pub(crate) fn nobody_reads(error: &anyhow::Error) -> bool {
    error.chain().any(is_broken_pipe)
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
