//! A program that is one bot.

use std::env;
use std::io::{self, Write};

use crate::bot::{Bot, MatchInfo};
use crate::challenges::Challenges;
use crate::client::{Session, Settings};
use crate::end::End;
use crate::error::Error;
use crate::ladder::{LadderQueue, SessionEvent};
use crate::nonce_secret::NonceSecret;
use crate::tls::Tls;
use crate::token::PlayerToken;

const SERVER: &str = "ZETEMA_SERVER";
const TOKEN: &str = "ZETEMA_TOKEN";
const NONCE_SECRET: &str = "ZETEMA_NONCE_SECRET";
const QUEUES: &str = "ZETEMA_QUEUES";
const CHALLENGES: &str = "ZETEMA_CHALLENGES";

/// Plays the seats that the environment names, and writes a line about each to the standard output:
/// the whole of a program that is one bot.
///
/// `ZETEMA_SERVER` is the server's address, such as `http://127.0.0.1:4680`. `ZETEMA_TOKEN` is the token of
/// the seat, or those of several, with blanks or commas between; or a bot's token alone: then all its seats are played,
/// until another program takes one (see [`Session::open_for_bot`]), and the program ends without an error, so that a
/// supervisor that starts what has failed does not start it again. `ZETEMA_NONCE_SECRET` may name the file of a
/// [`NonceSecret`]. With a bot's token, `ZETEMA_QUEUES` may name the ladders that the bot waits on, such as `sackson-2:3` for three
/// matches at once (see [`LadderQueue`]), with blanks or commas between, and `ZETEMA_CHALLENGES` whose challenges it accepts, such as
/// `everyone:3` (see [`Challenges`]). For TLS there are the variables of [`Tls::from_environment`]. For more than this there is
/// [`Session`].
///
/// # Errors
/// [`Error`] if a variable is not set or of no use, the address is none, a seat could not be played, or the bot can't wait on
/// its ladders or accept challenges.
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

/// The words of a variable, with blanks or commas between.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
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
    let tokens: Vec<PlayerToken> = words(tokens).map(Into::into).collect();
    let queues = env::var(QUEUES).unwrap_or_default();
    let queues: Vec<LadderQueue> = words(&queues).map(str::parse).collect::<Result<_, _>>()?;
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
    let challenges = env::var(CHALLENGES).ok().filter(|text| !text.trim().is_empty());
    let challenges: Challenges =
        challenges.as_deref().map_or(Ok(Challenges::FromNobody), |text| text.trim().parse())?;
    let stop = session.stopper();
    let mut failed = None;
    if challenges != Challenges::FromNobody
        && let Err(error) = session.challenges(challenges).await
    {
        failed = Some(error);
        // As below.
        stop.finish();
    }
    if failed.is_none()
        && !queues.is_empty()
        && let Err(error) = session.queue(queues).await
    {
        failed = Some(error);
        // What it has is played to the end all the same.
        stop.finish();
    }
    while let Some(event) = session.next_event().await {
        let outcome = match event {
            SessionEvent::Outcome(outcome) => outcome,
            SessionEvent::QueuesRefused(refusal) => {
                failed = Some(Error::Refused { asked: "wait on the ladders", refusal });
                stop.finish();
                continue;
            }
            // The log has it.
            SessionEvent::LadderNotice(_) | SessionEvent::Queued(_) | SessionEvent::TokenRotated(_) => {
                continue;
            }
        };
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
