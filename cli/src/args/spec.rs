//! What a match is created with, as flags.

use std::str::FromStr;

use zetema_proto::{Wire, v1};
use zetema_rules::fair::ServerSeed;
use zetema_rules::{NamedTimeControl, Rules, TimeControl};

use super::{RulesArgs, Seconds, TimeControlArgs};
use crate::failure::Usage;

/// What a match is created with, but for its seed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SpecArgs {
    #[command(flatten)]
    rules: RulesArgs,
    /// Let everyone watch the match and read its record
    #[arg(long)]
    public: bool,
    /// A name of your own, at most 64 bytes, which lists and records show
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reference: String,
    /// How long the seats have to join, in seconds; unless given, ten minutes
    #[arg(long, value_name = "SECONDS")]
    join_timeout: Option<Seconds>,
    /// Who takes seat 0, then seat 1 and so on: `token` for whoever holds the seat's token, or `bot:NAME`; those that are not named are by
    /// token. A bot of another owner must accept challenges
    #[arg(long = "seat", value_name = "token|bot:NAME")]
    seats: Vec<Seat>,
    #[command(flatten)]
    time: TimeControlArgs,
}

/// Who takes a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seat {
    Token,
    Bot(String),
}

impl FromStr for Seat {
    type Err = Usage;

    fn from_str(text: &str) -> Result<Self, Usage> {
        match text.split_once(':') {
            None if text == "token" => Ok(Self::Token),
            // Whether there is such a bot, the server knows.
            Some(("bot", name)) if !name.is_empty() => Ok(Self::Bot(name.to_owned())),
            _ => Err(Usage::new(format!("{text:?} takes no seat: give token, or bot:NAME"))),
        }
    }
}

impl Seat {
    fn kind(&self) -> v1::seat_spec::Kind {
        match self {
            Self::Token => v1::seat_spec::Kind::Token(v1::TokenSeat {}),
            Self::Bot(name) => v1::seat_spec::Kind::Bot(v1::BotSeat { name: name.clone() }),
        }
    }
}

impl SpecArgs {
    /// The match to ask for. With a seed its deals are fixed, else joint.
    pub(crate) fn spec(&self, seed: Option<&ServerSeed>) -> Result<v1::MatchSpec, Usage> {
        let visibility = if self.public { v1::Visibility::Public } else { v1::Visibility::Private };
        let control = self.time.control(self.join_timeout, NamedTimeControl::Standard)?;
        let mut spec = spec(&self.rules.rules()?, &control, seed);
        if self.seats.len() > spec.seats.len() {
            let (given, seats) = (self.seats.len(), spec.seats.len());
            return Err(Usage::new(format!(
                "--seat is given {given} times, and the match has {seats} seats"
            )));
        }
        for (wanted, seat) in self.seats.iter().zip(&mut spec.seats) {
            seat.kind = Some(wanted.kind());
        }
        spec.visibility = Some(visibility.into());
        spec.client_reference.clone_from(&self.reference);
        Ok(spec)
    }
}

/// A match by these rules, every seat for whoever holds its token. With a seed its deals are fixed,
/// else joint.
pub(crate) fn spec(rules: &Rules, control: &TimeControl, seed: Option<&ServerSeed>) -> v1::MatchSpec {
    let kind = match seed {
        Some(seed) => v1::deals::Kind::Fixed(v1::FixedDeals { server_seed: seed.reveal().to_vec() }),
        None => v1::deals::Kind::Joint(v1::JointDeals {}),
    };
    let token_seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
    v1::MatchSpec {
        rules: Some(v1::match_spec::Rules::Own(rules.to_wire())),
        seats: rules.seats().map(|_| token_seat.clone()).collect(),
        time_control: Some(control.to_wire()),
        deals: Some(v1::Deals { kind: Some(kind) }),
        visibility: None,
        client_reference: String::new(),
    }
}
