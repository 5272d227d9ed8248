//! A program that is one bot.

use std::env;
use std::io::{self, Write};

use crate::bot::{Bot, MatchInfo};
use crate::client::{Session, Settings};
use crate::error::Error;
use crate::tls::Tls;

const SERVER: &str = "ZETEMA_SERVER";
const TOKEN: &str = "ZETEMA_TOKEN";

/// Plays the seats that the environment names, and writes a line about each to the standard output:
/// the whole of a program that is one bot.
///
/// `ZETEMA_SERVER` is the server's address, such as `http://127.0.0.1:4680`. `ZETEMA_TOKEN` is the token of
/// the seat, or those of several, with blanks or commas between. For TLS there are the
/// variables of [`Tls::from_environment`]. For more than this there is [`Session`].
///
/// # Errors
/// [`Error`] if a variable is not set, the address is none, or a seat could not be played.
pub fn run<B: Bot + 'static>(factory: impl Fn(&MatchInfo) -> B + Send + Sync + 'static) -> Result<(), Error> {
    let server = variable(SERVER, "the server's address, such as http://127.0.0.1:4680")?;
    let tokens = variable(TOKEN, "the seat's token, as the answer to CreateMatch had it")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::System { what: "threads", problem: error.to_string() })?;
    let played = runtime.block_on(play(&server, &tokens, factory));
    // Bots that think on are not waited for.
    runtime.shutdown_background();
    played
}

fn variable(name: &'static str, meaning: &'static str) -> Result<String, Error> {
    let value = env::var(name).ok().filter(|value| !value.trim().is_empty());
    value.ok_or(Error::Environment { name, meaning })
}

async fn play<B: Bot + 'static>(
    server: &str,
    tokens: &str,
    factory: impl Fn(&MatchInfo) -> B + Send + Sync + 'static,
) -> Result<(), Error> {
    let settings = Settings { tls: Tls::from_environment()?, ..Settings::default() };
    let mut session = Session::open(server, settings, factory)?;
    let between = |c: char| c.is_whitespace() || c == ',';
    for token in tokens.split(between).filter(|token| !token.is_empty()) {
        session.play(token.into())?;
    }
    let mut failed = None;
    while let Some(outcome) = session.next().await {
        // Nobody may be reading; the match counts all the same.
        let _ = writeln!(io::stdout(), "{outcome}");
        if let crate::End::Failed(error) = outcome.end {
            failed = Some(error);
        }
    }
    failed.map_or(Ok(()), Err)
}
