//! `zetema bot`.

use anyhow::{Result, bail};
use serde::Serialize;
use zetema_bots::House;
use zetema_sdk::{DealCheck, End, Outcome, SeatToken, Session, Settings};
use zetema_service::server::termination;

use crate::args::{AddressArgs, FormatArgs, house};
use crate::json::OutcomeJson;
use crate::output::{self, Format};

/// Let a house bot take seats on a server, until their matches are over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The connection is made again when it is lost, and the deals and the record are checked at the end. Ctrl-C
leaves the seats as they are: the same command takes them up again. With --format json each seat is a
line when it is done: match_id, seat, end, outcome, verified, message.

Example:
  zetema bot greedy --token TOKEN_OF_SEAT_0 --token TOKEN_OF_SEAT_1")]
pub(crate) struct Bot {
    /// Which house bot
    #[arg(value_name = "NAME", value_parser = house())]
    name: House,
    #[command(flatten)]
    address: AddressArgs,
    /// The token of a seat; repeatable
    #[arg(
        long = "token",
        env = "ZETEMA_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        value_delimiter = ',',
        required = true
    )]
    tokens: Vec<SeatToken>,
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
        Self {
            match_id: outcome.info.as_ref().map(|info| info.match_id.clone()),
            seat: outcome.info.as_ref().map(|info| info.seat.index()),
            end,
            outcome: result,
            verified: outcome.deal == DealCheck::Verified,
            message: outcome.to_string(),
        }
    }
}

impl Bot {
    pub(super) async fn run(self) -> Result<()> {
        crate::log::start_quietly("warn")?;
        let (house, seed) = (self.name, self.seed);
        let AddressArgs { server, tls } = self.address;
        let client_name = format!("zetema-{house}");
        let settings = Settings { client_name, tls: tls.settings()?, ..Settings::default() };
        let mut session = Session::open(&server, settings, move |info| house.make(info, seed))?;
        for token in &self.tokens {
            session.play(token.clone())?;
        }
        let stop = session.stopper();
        tokio::spawn(async move {
            if termination().await.is_ok() {
                stop.stop();
            }
        });
        let mut failed = 0;
        while let Some(outcome) = session.next().await {
            failed += usize::from(!is_right(&outcome));
            match self.format.format {
                Format::Table => output::print(&outcome)?,
                Format::Json => output::print_json_line(&SeatJson::new(&outcome))?,
            }
        }
        if failed > 0 {
            bail!(
                "{failed} of {} seats were not played to the end, or their deals don't verify",
                self.tokens.len()
            );
        }
        Ok(())
    }
}

/// A seat that was stopped is as its user wanted it.
const fn is_right(outcome: &Outcome) -> bool {
    match outcome.end {
        End::Result(_) | End::Aborted { .. } => !matches!(outcome.deal, DealCheck::Failed(_)),
        End::Stopped => true,
        _ => false,
    }
}
