//! `zetema bot HOUSE_BOT`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use zetema_bots::House;
use zetema_sdk::{
    BotToken, Claim, DealCheck, End, ErrorReason, LadderQueue, NonceSecret, Outcome, PlayerToken, SeatToken,
    Session, SessionEvent, Settings, Stop,
};
use zetema_service::server::Terminations;

use crate::args::{AddressArgs, FormatArgs, house};
use crate::failure::{Superseded, TokenVoid, Usage};
use crate::json::OutcomeJson;
use crate::output::{self, Format};

/// What `zetema bot --help` says beneath.
pub(super) const HELP: &str = "\
With the name of a house bot it takes seats on a server: those whose tokens are given, until their matches are
over, or all of a bot. With a bot's token it plays every seat that matches have for the bot, those of matches
under way and each new one as it comes, until it is stopped. The connection is made again when it is lost, and
the deals and the record are checked at the end. Ctrl-C leaves the seats as they are: the same command takes them up again,
and with --nonce-secret even those that are not dealt yet. With --queue the first Ctrl-C leaves the ladders and
plays what runs to the end, and the second leaves the seats as they are. With --format json each seat is a line
when it is done: match_id, seat, end, outcome, verified, faults, message. What a ladder has to say is on stderr.

Exit codes: 3 if another program took a seat, 4 if a token is not valid any more, 1 if a seat could not be
played to the end. A supervisor must not start it again after 3, as two that are started again would take the
seats from each other for ever, nor after 4.

Examples:
  zetema bot greedy --token TOKEN_OF_SEAT_0 --token TOKEN_OF_SEAT_1
  zetema bot random --token-file seat-tokens.txt
  zetema bot greedy --token TOKEN_OF_A_BOT --nonce-secret nonce-secret
  zetema bot greedy --token TOKEN_OF_A_BOT --queue sackson-2:3 --queue fosdick-4
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
    /// Whether the deals were those that had been committed to.
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

/// How many seats did not end as they should.
#[derive(Default)]
struct Count {
    seats: usize,
    failed: usize,
    superseded: usize,
    /// Why a token is not valid.
    void: Option<zetema_sdk::Error>,
}

/// Whether a token is at fault.
fn is_void(error: &zetema_sdk::Error) -> bool {
    matches!(error, zetema_sdk::Error::Refused { refusal, .. } if refusal.reason == ErrorReason::Unauthenticated)
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
        if let (Played::Given(_), false) = (&played, self.queues.is_empty()) {
            return Err(Usage::new("--queue (ZETEMA_QUEUES) is for a bot: give --token a bot's token").into());
        }
        let AddressArgs { server, tls } = self.address;
        let settings = Settings {
            client_name: format!("zetema-{house}"),
            tls: tls.settings()?,
            nonce_secret: self.nonce_secret.map(NonceSecret::from_file).transpose()?,
            ..Settings::default()
        };
        let factory = move |info: &_| house.make(info, seed);
        let mut session = match played {
            Played::OfBot(token) => Session::open_for_bot(&server, settings, token, factory)?,
            Played::Given(tokens) => {
                let mut session = Session::open(&server, settings, factory)?;
                for token in tokens {
                    session.play(token)?;
                }
                session
            }
        };
        let stop = session.stopper();
        let signals = Terminations::listen().context("signals can't be had")?;
        tokio::spawn(stop_when_told(signals, stop.clone(), self.queues.len()));
        let mut refused = None;
        if !self.queues.is_empty() {
            match session.queue(self.queues).await {
                Ok(states) => states.iter().for_each(output::note),
                Err(zetema_sdk::Error::Finished) => {}
                // What it has is played to the end all the same.
                Err(error) => {
                    refused = Some(error);
                    stop.finish();
                }
            }
        }
        let mut count = Count::default();
        while let Some(event) = session.next_event().await {
            let outcome = match event {
                SessionEvent::Outcome(outcome) => outcome,
                SessionEvent::QueuesRefused(refusal) => {
                    refused = Some(zetema_sdk::Error::Refused { asked: "wait on the ladders", refusal });
                    stop.finish();
                    continue;
                }
                // The log has it.
                _ => continue,
            };
            count.seats += 1;
            match outcome.end {
                End::Superseded => {
                    count.superseded += 1;
                    // Who has the bot's token takes its new seats too.
                    stop.finish();
                }
                End::Failed(ref error) if is_void(error) => count.void = Some(error.clone()),
                _ => count.failed += usize::from(!is_right(&outcome)),
            }
            match self.format.format {
                Format::Table => output::print(&*outcome)?,
                Format::Json => output::print_json_line(&SeatJson::new(&outcome))?,
            }
        }
        let Count { seats, failed, superseded, void } = count;
        if superseded > 0 {
            return Err(Superseded { superseded, seats }.into());
        }
        if let Some(error) = void.or_else(|| session.closed().err().filter(is_void)) {
            return Err(TokenVoid(error).into());
        }
        session.closed()?;
        if let Some(error) = refused {
            return Err(error.into());
        }
        if failed > 0 {
            bail!("{failed} of {seats} seats were not played to the end, or their deals don't verify");
        }
        Ok(())
    }
}

/// Stops the session at the first signal; where the bot waits on ladders, it finishes at the first and stops at the second.
async fn stop_when_told(mut signals: Terminations, stop: Stop, ladders: usize) {
    signals.next().await;
    if ladders > 0 {
        output::note("leaving the ladders, and playing what runs to the end; once more to stop at once");
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

/// A seat that was stopped is as its user wanted it.
const fn is_right(outcome: &Outcome) -> bool {
    match outcome.end {
        End::Result(_) | End::Aborted { .. } => !matches!(outcome.deal, DealCheck::Failed(_)),
        End::Stopped => true,
        _ => false,
    }
}
