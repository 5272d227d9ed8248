//! The `zetema` program: thin commands over the server, the SDK, the house bots and the rules.
//!
//! Every command is a module of [`commands`]; what people read is drawn by [`render`], what programs
//! read is laid down in [`json`]. Results go to stdout, everything else to stderr. The exit code is 0,
//! 1 if the command failed, 2 if it was called wrongly, 3 if another program took a bot's seat, 4 if a
//! token is not valid any more, and 5 if a server's data can't be opened until somebody does something.

mod args;
mod beside;
mod cli;
mod client;
mod commands;
mod descriptors;
mod embedded;
mod failure;
mod house;
mod json;
mod log;
mod output;
mod own_process;
mod pages;
mod render;
mod rpcs;
mod scrape;
mod screen;
mod supervisor;
mod watch;
mod writable;

use std::process::ExitCode;

use crate::cli::Cli;

/// A server makes and drops a hundred small things with every action, on one thread after another, and what it holds for long is made
/// between them.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let (cli, called) = Cli::read();
    let code = match commands::run(cli.into_command()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error, &called),
    };
    log::finish();
    code
}
