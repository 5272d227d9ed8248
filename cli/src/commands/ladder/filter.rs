//! Which results of a ladder are wanted.

use clap::ValueEnum;
use prost_types::Timestamp;
use serde::{Deserialize, Serialize};
use zetema_proto::v1;

/// Which results of a ladder are wanted: those that meet every condition given.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// Only matches that this bot played
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Only those in which this bot was on another side than --bot
    #[arg(long, value_name = "NAME", requires = "bot")]
    opponent: Option<String>,
    /// Only those that ended then or later, as in 2026-11-21T03:04:01Z or 2026-11-21
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Only those that ended before
    #[arg(long, value_name = "TIME", value_parser = time)]
    before: Option<Timestamp>,
    /// Only those that ended in this way; repeatable
    #[arg(long, value_enum)]
    reason: Vec<Reason>,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Reason {
    /// A side reached the target
    Target,
    /// The only deal of a match without a target was over
    DealOver,
    /// One side was left without a forfeit
    Forfeit,
    /// It ended without a result and is not rated
    Aborted,
}

impl Reason {
    const fn to_wire(self) -> v1::LadderResultReason {
        match self {
            Self::Target => v1::LadderResultReason::Target,
            Self::DealOver => v1::LadderResultReason::DealOver,
            Self::Forfeit => v1::LadderResultReason::Forfeit,
            Self::Aborted => v1::LadderResultReason::Aborted,
        }
    }
}

/// A time in UTC, or a day, which begins at midnight.
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "give a time as in 2026-11-21T03:04:01Z, or a day as in 2026-11-21".to_owned())
}

/// The same as it is kept, to be compared with what is given later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilterJson {
    bot: Option<String>,
    opponent: Option<String>,
    since: Option<String>,
    before: Option<String>,
    reasons: Vec<String>,
}

impl FilterArgs {
    /// As it is kept.
    pub(super) fn to_json(&self) -> FilterJson {
        let Self { bot, opponent, since, before, reason } = self;
        let names = reason.iter().filter_map(ValueEnum::to_possible_value);
        let mut reasons: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        FilterJson {
            bot: bot.clone(),
            opponent: opponent.clone(),
            since: since.as_ref().map(ToString::to_string),
            before: before.as_ref().map(ToString::to_string),
            reasons,
        }
    }

    /// As the server takes it.
    pub(super) fn to_wire(&self) -> v1::LadderResultFilter {
        let Self { bot, opponent, since, before, reason } = self;
        v1::LadderResultFilter {
            bot_name: bot.clone().unwrap_or_default(),
            opponent_name: opponent.clone().unwrap_or_default(),
            since: *since,
            before: *before,
            reasons: reason.iter().map(|reason| reason.to_wire().into()).collect(),
        }
    }
}
