//! A program that is one bot.

use std::env;
use std::io::{self, Write};

use crate::bot::{Bot, MatchInfo};
use crate::client::{Session, Settings};
use crate::end::End;
use crate::error::Error;
use crate::nonce_secret::NonceSecret;
use crate::tls::Tls;
use crate::token::PlayerToken;

const SERVER: &str = "ZETEMA_SERVER";
const TOKEN: &str = "ZETEMA_TOKEN";
const NONCE_SECRET: &str = "ZETEMA_NONCE_SECRET";

/// Plays the seats that the environment names, and writes a line about each to the standard output:
/// the whole of a program that is one bot.
///
/// `ZETEMA_SERVER` is the server's address, such as `http://127.0.0.1:4680`. `ZETEMA_TOKEN` is the token of
/// the seat, or those of several, with blanks or commas between; or a bot's token alone: then all its seats are played,
/// until another program takes one (see [`Session::open_for_bot`]), and the program ends without an error, so that a
/// supervisor that starts what has failed does not start it again. `ZETEMA_NONCE_SECRET` may name the file of a
/// [`NonceSecret`]. For TLS there are the variables of [`Tls::from_environment`]. For more than this there is
/// [`Session`].
///
/// # Errors
/// [`Error`] if a variable is not set, the address is none, or a seat could not be played.
pub fn run<B: Bot + 'static>(factory: impl Fn(&MatchInfo) -> B + Send + Sync + 'static) -> Result<(), Error> {
    let server = variable(SERVER, "the server's address, such as http://127.0.0.1:4680")?;
    let tokens = variable(TOKEN, "the seat's token, as the answer to CreateMatch had it, or a bot's")?;
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
    let nonce_secret = env::var_os(NONCE_SECRET).filter(|path| !path.is_empty());
    let settings = Settings {
        tls: Tls::from_environment()?,
        nonce_secret: nonce_secret.map(NonceSecret::from_file).transpose()?,
        ..Settings::default()
    };
    let between = |c: char| c.is_whitespace() || c == ',';
    let tokens: Vec<PlayerToken> =
        tokens.split(between).filter(|token| !token.is_empty()).map(Into::into).collect();
    let mut session = if let [PlayerToken::Bot(token)] = &tokens[..] {
        Session::open_for_bot(server, settings, token.clone(), factory)?
    } else {
        let mut session = Session::open(server, settings, factory)?;
        for token in tokens {
            match token {
                PlayerToken::Seat(token) => session.play(token)?,
                PlayerToken::Bot(_) => return Err(Error::MixedTokens { name: TOKEN }),
            }
        }
        session
    };
    let stop = session.stopper();
    let mut failed = None;
    while let Some(outcome) = session.next().await {
        // Nobody may be reading; the match counts all the same.
        let _ = writeln!(io::stdout(), "{outcome}");
        match outcome.end {
            End::Failed(error) => failed = Some(error),
            // Who has the bot's token takes its new seats too.
            End::Superseded => stop.finish(),
            _ => {}
        }
    }
    session.closed()?;
    failed.map_or(Ok(()), Err)
}
