//! What a match is created with, as flags.

use std::time::Duration;

use anyhow::Result;
use zetema_proto::{Wire, v1};
use zetema_rules::Rules;
use zetema_rules::fair::ServerSeed;

use super::RulesArgs;
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
    join_timeout: Option<u64>,
    /// How long the match waits for one decision, in seconds; unless given, 24 hours
    #[arg(long, value_name = "SECONDS")]
    idle_timeout: Option<u64>,
}

impl SpecArgs {
    /// The match to ask for. With a seed its deals are fixed, else joint.
    pub(crate) fn spec(&self, seed: Option<&ServerSeed>) -> Result<v1::MatchSpec, Usage> {
        let visibility = if self.public { v1::Visibility::Public } else { v1::Visibility::Private };
        let time_control = v1::TimeControl {
            join_timeout_ms: milliseconds("--join-timeout", self.join_timeout)?,
            idle_timeout_ms: milliseconds("--idle-timeout", self.idle_timeout)?,
            decisions: Some(v1::time_control::Decisions::Named(v1::NamedTimeControl::None.into())),
        };
        Ok(v1::MatchSpec {
            time_control: Some(time_control),
            visibility: Some(visibility.into()),
            client_reference: self.reference.clone(),
            ..spec(&self.rules.rules()?, seed)
        })
    }
}

/// A match by these rules, every seat for whoever holds its token. With a seed its deals are fixed,
/// else joint.
pub(crate) fn spec(rules: &Rules, seed: Option<&ServerSeed>) -> v1::MatchSpec {
    let kind = match seed {
        Some(seed) => v1::deals::Kind::Fixed(v1::FixedDeals { server_seed: seed.reveal().to_vec() }),
        None => v1::deals::Kind::Joint(v1::JointDeals {}),
    };
    let token_seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
    v1::MatchSpec {
        rules: Some(v1::match_spec::Rules::Own(rules.to_wire())),
        seats: rules.seats().map(|_| token_seat.clone()).collect(),
        time_control: None,
        deals: Some(v1::Deals { kind: Some(kind) }),
        visibility: None,
        client_reference: String::new(),
    }
}

fn milliseconds(flag: &str, seconds: Option<u64>) -> Result<Option<u32>, Usage> {
    let ms = seconds.map(|seconds| u32::try_from(Duration::from_secs(seconds).as_millis()));
    ms.transpose().map_err(|_| Usage::new(format!("{flag} is too long: give at most 4294967 seconds")))
}
