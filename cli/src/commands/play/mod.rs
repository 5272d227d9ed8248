//! `zetema play`: a person at the terminal.

mod answer;
mod person;

use std::io::{self, BufReader};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail, ensure};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use zetema_proto::v1;
use zetema_rules::NamedTimeControl;
use zetema_sdk::{Bot, DealCheck, End, MatchInfo, Outcome, SeatToken, Session, Settings, Unchecked};
use zetema_service::server::termination;

use self::person::{Person, Resignation};
use crate::args::{AddressArgs, BotsArgs, RulesArgs, Seed, TimeControlArgs, spec};
use crate::client;
use crate::embedded::Embedded;
use crate::failure::Usage;
use crate::output;
use crate::render::Names;

/// Play against the house bots.
///
/// A server starts inside the program and the bots take the other seats. With --token you take the seat of
/// that token, of a match on a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
At each turn your choices are listed: give a number, or a card such as KS. ? explains the game, q
resigns.

Unless you give a clock, you may think as long as you like: the match has none.

Examples:
  zetema play
  zetema play --preset quick --players 4 --seat 2 --bots greedy,random
  zetema play --time-control blitz
  zetema play --server http://127.0.0.1:4680 --token TOKEN",
    mut_arg("time_control", |arg| arg.help("The clock of every decision; unless given, none"))
)]
pub(crate) struct Play {
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// Your seat, from 0
    #[arg(long, value_name = "SEAT", default_value_t = 0)]
    seat: usize,
    /// Deal fixed cards by this seed, a number or 64 hexadecimal digits
    #[arg(long)]
    seed: Option<Seed>,
    /// Keep the server's data in this folder; unless given, they are removed
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    address: AddressArgs,
    /// The token of your seat on that server; unless given, a server starts inside the program
    #[arg(
        long,
        value_name = "TOKEN",
        conflicts_with_all = [
            "preset", "players", "teams", "changes", "bots", "seat", "seed", "data", "time_control", "budget",
            "first_budget", "bank", "increment", "network_credit", "network_credit_total", "on_time_out",
            "idle_timeout",
        ]
    )]
    token: Option<SeatToken>,
    #[command(flatten)]
    time: TimeControlArgs,
}

impl Play {
    pub(super) async fn run(self) -> Result<()> {
        crate::log::start_quietly("error")?;
        match self.token {
            Some(token) => {
                if on_server(&self.address, token, Vec::new()).await? == Ending::Left {
                    output::note("The seat is still yours: the same token takes it up again.");
                }
                Ok(())
            }
            None => self.embedded().await,
        }
    }

    async fn embedded(self) -> Result<()> {
        let rules = self.rules.rules()?;
        let control = self.time.control(None, NamedTimeControl::None)?;
        let bots = self.bots.by_seat(&rules)?;
        let own = rules.seats().nth(self.seat).ok_or_else(|| {
            Usage::new(format!("--seat {} is none of the match: give 0 to {}", self.seat, bots.len() - 1))
        })?;
        let server = Embedded::start(self.data.as_deref()).await?;
        let seed = self.seed.map(|seed| seed.of_match(0));
        let request = v1::CreateMatchRequest {
            request_id: String::new(),
            r#match: Some(spec(&rules, &control, seed.as_ref())),
        };
        let created = server.client().await?.create_match(request).await?;
        let mut tokens: Vec<SeatToken> =
            created.seat_tokens.into_iter().map(|token| token.token.into()).collect();
        ensure!(
            tokens.len() == bots.len(),
            "the server gave {} tokens for {} seats",
            tokens.len(),
            bots.len()
        );
        let mut players: Vec<String> = bots.iter().map(ToString::to_string).collect();
        "you".clone_into(&mut players[own.index()]);
        let token = tokens.swap_remove(own.index());

        let make = move |info: &MatchInfo| bots[info.seat.index()].make(info, u64::from(std::process::id()));
        let mut others = Session::open(server.url(), Settings::default(), make)?;
        for token in tokens {
            others.play(token)?;
        }
        let done = on_server(&AddressArgs::plaintext(server.url()), token, players).await;
        drop(others);
        server.stop().await;
        match done? {
            Ending::Over => Ok(()),
            Ending::Left => bail!("stopped before the match was over"),
        }
    }
}

/// How a person was done.
#[derive(PartialEq, Eq)]
enum Ending {
    /// The match was over, or the person resigned.
    Over,
    /// The program was told to stop.
    Left,
}

/// Plays the seat of this token. `players` are the names of all seats, if they are known.
async fn on_server(address: &AddressArgs, token: SeatToken, players: Vec<String>) -> Result<Ending> {
    let (resign, mut resignations) = unbounded_channel();
    let make = move |info: &MatchInfo| -> Box<dyn Bot> {
        let mut players = players.clone();
        if players.is_empty() {
            players = vec![String::new(); info.rules.player_count().count()];
            if let Some(own) = players.get_mut(info.seat.index()) {
                "you".clone_into(own);
            }
        }
        let names = Names::players(info.rules, players);
        Box::new(Person::new(names, BufReader::new(io::stdin()), io::stdout(), resign.clone()))
    };
    let client_name = "zetema-play".to_owned();
    let settings = Settings { client_name, tls: address.tls.settings()?, ..Settings::default() };
    let mut session = Session::open(&address.server, settings, make)?;
    session.play(token.clone())?;
    output::note("joined: the match begins when every seat has");
    tokio::select! {
        outcome = session.next() => conclude(outcome.as_ref())?,
        resigned = resignation(&mut resignations) => {
            let waiting = resigned?;
            client::resign(address, token.reveal().to_owned()).await?;
            drop(waiting);
            output::print("You resigned.")?;
        }
        told = termination() => {
            told?;
            output::note("");
            return Ok(Ending::Left);
        }
    }
    Ok(Ending::Over)
}

async fn resignation(resignations: &mut UnboundedReceiver<Resignation>) -> Result<Resignation> {
    resignations.recv().await.context("the seat's player is gone")
}

fn conclude(outcome: Option<&Outcome>) -> Result<()> {
    let outcome = outcome.ok_or_else(|| anyhow!("the session ended before the match"))?;
    match (&outcome.end, &outcome.deal) {
        (End::Result(_), DealCheck::Verified) => {
            output::print("The deals were verified: nobody could choose them.")
        }
        (End::Result(_), DealCheck::Unchecked(Unchecked::Fixed)) => output::print(
            "The deals were fixed by whoever made the match, who could choose them. They were played as they were fixed.",
        ),
        (End::Result(_), DealCheck::Unchecked(Unchecked::Shared)) => output::print(
            "The deals were checked: no other player could choose them. They are shared, so an operator with a match of the set could.",
        ),
        (End::Result(_) | End::Aborted { .. }, DealCheck::Unchecked(_)) => Ok(()),
        _ => bail!("{outcome}"),
    }
}
