//! The commands, one noun a module.

pub(crate) mod backup;
pub(crate) mod bot;
pub(crate) mod demo;
mod faults;
pub(crate) mod journal;
pub(crate) mod ladder;
pub(crate) mod load;
pub(crate) mod matches;
pub(crate) mod play;
pub(crate) mod record;
pub(crate) mod restore;
pub(crate) mod rules;
pub(crate) mod serve;
mod source;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod top;
pub(crate) mod webhook;

use anyhow::{Context, Result};

use crate::cli::Command;

/// Does what is asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("the asynchronous runtime can't be started")?;
    let done = runtime.block_on(async {
        match command {
            Command::Demo(demo) => demo.run().await,
            Command::Play(play) => play.run().await,
            Command::Serve(serve) => serve.run().await,
            Command::Bot(bot) => bot.run().await,
            Command::Match(command) => matches::run(command).await,
            Command::Ladder(command) => ladder::run(command).await,
            Command::Record(command) => record::run(command).await,
            Command::Rules(command) => rules::run(command),
            Command::Journal(command) => journal::run(command).await,
            Command::Load(load) => Box::pin(load.run()).await,
            Command::Status(status) => status.run().await,
            Command::Top(top) => top.run().await,
            Command::Token(command) => token::run(command).await,
            Command::Webhook(command) => webhook::run(command).await,
            Command::Backup(backup) => backup.run().await,
            Command::Restore(restore) => restore.run().await,
        }
    });
    // A thread that waits for a person to type would hold the program up for ever.
    runtime.shutdown_background();
    done
}
