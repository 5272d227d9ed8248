//! `zetema bot HOUSE_BOT`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use zetema_bots::House;
use zetema_sdk::{
    BotToken, Challenges, Claim, DealCheck, End, LadderQueue, NonceSecret, Outcome, PlayerToken, SeatToken,
    Session, Settings, Stop,
};
use zetema_service::server::Terminations;

use crate::args::{AddressArgs, FormatArgs, house};
use crate::failure::Usage;
use crate::house::Playing;
use crate::json::OutcomeJson;
use crate::output::{self, Format};

/// What `zetema bot --help` says beneath.
pub(super) const HELP: &str = "\
With the name of a house bot it takes seats on a server: those whose tokens are given, until their matches are
over, or all of a bot. With a bot's token it plays every seat that matches have for the bot, those of matches
under way and each new one as it comes, until it is stopped. The connection is made again when it is lost, and
the deals and the record are checked at the end. Ctrl-C leaves the seats as they are: the same command takes them up again,
and with --nonce-secret even those that are not dealt yet. With --queue or --challenges the first Ctrl-C leaves the
ladders, accepts no challenge and plays what runs to the end, and the second leaves the seats as they are. With
--format json each seat is a line when it is done: match_id, seat, end, outcome, verified, faults, message. What a
ladder has to say is on stderr.

Exit codes: 3 if another program took a seat, 4 if a token is not valid any more, or the bot's was rotated and the
seats of before are played, 1 if a seat could not be played to the end. A supervisor must not start it again
after 3, as two that are started again would take the seats from each other for ever, nor after 4.

Examples:
  zetema bot greedy --token TOKEN_OF_SEAT_0 --token TOKEN_OF_SEAT_1
  zetema bot random --token-file seat-tokens.txt
  zetema bot greedy --token TOKEN_OF_A_BOT --nonce-secret nonce-secret
  zetema bot greedy --token TOKEN_OF_A_BOT --queue sackson-2:3 --queue fosdick-4
  zetema bot greedy --token TOKEN_OF_A_BOT --challenges everyone:2
  zetema bot register rex";

/// Which house bot takes which seats on a server: those whose tokens are given, until their matches are over, or all of a bot.
#[derive(Debug, clap::Args)]
pub(super) struct HouseArgs {
    /// Which house bot
    #[arg(value_name = "NAME", value_parser = house(), required = true)]
    name: Option<House>,
    #[command(flatten)]
    address: AddressArgs,
    /// The token of a bot, or of a seat; of seats it is repeatable
    #[arg(
        long = "token",
        env = "ZETEMA_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        value_delimiter = ',',
        required_unless_present = "token_file"
    )]
    tokens: Vec<PlayerToken>,
    /// A file with tokens, one on each line, instead
    #[arg(long, value_name = "FILE", conflicts_with = "tokens")]
    token_file: Option<PathBuf>,
    /// A ladder that the bot waits on, and how many of its matches it plays at once at most, 1 unless given; repeatable
    #[arg(long = "queue", env = "ZETEMA_QUEUES", value_name = "LADDER[:MATCHES]", value_delimiter = ',')]
    queues: Vec<LadderQueue>,
    /// Whose challenges the bot accepts, matches that somebody else creates with a seat for it, and how many at once: nobody, everyone, or
    /// everyone:MATCHES. Its own owner may always create some
    #[arg(
        long,
        env = "ZETEMA_CHALLENGES",
        value_name = "nobody|everyone[:MATCHES]",
        default_value_t = Challenges::FromNobody,
        hide_default_value = true
    )]
    challenges: Challenges,
    /// The file of the secret from which nonces follow, so that they outlive the process; it is made if it is not there
    #[arg(long, env = "ZETEMA_NONCE_SECRET", value_name = "FILE")]
    nonce_secret: Option<PathBuf>,
    /// What random choices follow from
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    format: FormatArgs,
}

/// What came of one seat, on a line of its own.
#[derive(Serialize)]
struct SeatJson {
    match_id: Option<String>,
    seat: Option<usize>,
    /// `result`, `aborted`, `superseded`, `stopped` or `failed`.
    end: &'static str,
    outcome: Option<OutcomeJson>,
    /// Whether the deals were those that had been committed to, and nobody could choose them.
    verified: bool,
    /// What went wrong on the way, for people.
    faults: Vec<String>,
    /// What happened, for people.
    message: String,
}

impl SeatJson {
    fn new(outcome: &Outcome) -> Self {
        let (end, result) = match &outcome.end {
            End::Result(result) => ("result", Some(OutcomeJson::result(result))),
            End::Aborted { .. } => ("aborted", None),
            End::Superseded => ("superseded", None),
            End::Stopped => ("stopped", None),
            _ => ("failed", None),
        };
        let (match_id, seat) = match (&outcome.info, &outcome.claim) {
            (Some(info), _) => (Some(info.match_id.clone()), Some(info.seat.index())),
            (None, Claim::Assigned { match_id, seat }) => (Some(match_id.clone()), Some(seat.index())),
            (None, Claim::Token(_)) => (None, None),
        };
        Self {
            match_id,
            seat,
            end,
            outcome: result,
            verified: outcome.deal == DealCheck::Verified,
            faults: outcome.faults.iter().map(ToString::to_string).collect(),
            message: outcome.to_string(),
        }
    }
}

/// Which seats are played.
enum Played {
    OfBot(BotToken),
    Given(Vec<SeatToken>),
}

impl Played {
    fn new(tokens: Vec<PlayerToken>) -> Result<Self, Usage> {
        let mut seats = Vec::new();
        let mut bots = Vec::new();
        for token in tokens {
            match token {
                PlayerToken::Seat(token) if seats.contains(&token) => {
                    return Err(Usage::new("a seat's token is given twice: give each once"));
                }
                PlayerToken::Seat(token) => seats.push(token),
                PlayerToken::Bot(token) => bots.push(token),
            }
        }
        match bots.pop() {
            None => Ok(Self::Given(seats)),
            Some(bot) if bots.is_empty() && seats.is_empty() => Ok(Self::OfBot(bot)),
            Some(_) => Err(Usage::new(
                "--token is given a bot's token and others: give that one alone, or tokens of seats",
            )),
        }
    }
}

impl HouseArgs {
    pub(super) async fn run(self) -> Result<()> {
        crate::log::start_quietly("warn")?;
        let house = self.name.ok_or_else(|| Usage::new("name a house bot"))?;
        let seed = self.seed;
        let played = Played::new(match &self.token_file {
            Some(file) => read_tokens(file)?,
            None => self.tokens,
        })?;
        if let Played::Given(_) = &played {
            if !self.queues.is_empty() {
                return Err(
                    Usage::new("--queue (ZETEMA_QUEUES) is for a bot: give --token a bot's token").into()
                );
            }
            if self.challenges != Challenges::FromNobody {
                let problem = "--challenges (ZETEMA_CHALLENGES) is for a bot: give --token a bot's token";
                return Err(Usage::new(problem).into());
            }
        }
        let AddressArgs { server, tls } = self.address;
        let settings = Settings {
            client_name: format!("zetema-{house}"),
            tls: tls.settings()?,
            nonce_secret: self.nonce_secret.map(NonceSecret::from_file).transpose()?,
            ..Settings::default()
        };
        let factory = move |info: &_| house.make(info, seed);
        let session = match played {
            Played::OfBot(token) => Session::open_for_bot(&server, settings, token, factory)?,
            Played::Given(tokens) => {
                let mut session = Session::open(&server, settings, factory)?;
                for token in tokens {
                    session.play(token)?;
                }
                session
            }
        };
        let signals = Terminations::listen().context("signals can't be had")?;
        let waits = !self.queues.is_empty() || self.challenges != Challenges::FromNobody;
        tokio::spawn(stop_when_told(signals, session.stopper(), waits));
        let mut playing = Playing::new(session);
        // What the server has against it is the verdict.
        if let Ok(notes) = wait(&mut playing, self.queues, self.challenges).await {
            notes.into_iter().for_each(output::note);
        }
        while let Some(outcome) = playing.next().await {
            match self.format.format {
                Format::Table => output::print(&*outcome)?,
                Format::Json => output::print_json_line(&SeatJson::new(&outcome))?,
            }
        }
        playing.verdict()
    }
}

/// Waits for what the bot is to wait for. The answer is what people are told of it.
async fn wait(
    playing: &mut Playing,
    queues: Vec<LadderQueue>,
    challenges: Challenges,
) -> Result<Vec<String>, zetema_sdk::Error> {
    let mut notes = Vec::new();
    if challenges != Challenges::FromNobody {
        playing.challenges(challenges).await?;
        notes.push(format!("challenges from {challenges} at once"));
    }
    if !queues.is_empty() {
        notes.extend(playing.queue(queues).await?.iter().map(ToString::to_string));
    }
    Ok(notes)
}

/// Stops the session at the first signal; where the bot waits for matches, it finishes at the first and stops at the second.
async fn stop_when_told(mut signals: Terminations, stop: Stop, waits: bool) {
    signals.next().await;
    if waits {
        output::note(
            "waiting for no more matches, and playing what runs to the end; once more to stop at once",
        );
        stop.finish();
        signals.next().await;
    }
    stop.stop();
}

/// The tokens of a file, one on each line.
fn read_tokens(file: &Path) -> Result<Vec<PlayerToken>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
    let tokens: Vec<PlayerToken> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(PlayerToken::from).collect();
    ensure!(!tokens.is_empty(), "{} has no token: write one on each line", file.display());
    Ok(tokens)
}
