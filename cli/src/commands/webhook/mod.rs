//! `zetema webhook`: where a server sends results.

mod add;
mod dead_letters;
mod list;
mod remove;
mod resend;

use anyhow::Result;
use clap::Subcommand;

/// What to do with webhooks.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Have results sent to an address, and print the secret that they are signed by
    Add(add::Add),
    /// List webhooks, the latest first: how far each is, and what is in its way
    List(list::List),
    /// End a webhook, with its dead letters
    Remove(remove::Remove),
    /// List the results that a webhook gave up
    DeadLetters(dead_letters::DeadLetters),
    /// Have dead letters sent again, and what waits for its next attempt at once
    Resend(resend::Resend),
}

pub(super) async fn run(command: WebhookCommand) -> Result<()> {
    match command {
        WebhookCommand::Add(add) => add.run().await,
        WebhookCommand::List(list) => list.run().await,
        WebhookCommand::Remove(remove) => remove.run().await,
        WebhookCommand::DeadLetters(dead) => dead.run().await,
        WebhookCommand::Resend(resend) => resend.run().await,
    }
}
