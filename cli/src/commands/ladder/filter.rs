//! Which results of a ladder are wanted.

use clap::ValueEnum;
use prost_types::Timestamp;
use serde::{Deserialize, Serialize};
use zetema_proto::v1;

use crate::failure::Usage;

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
    /// Refuses a span in which nothing can have ended: an empty list would look like an answer.
    pub(super) fn check(&self) -> Result<(), Usage> {
        let moment = |time: &Timestamp| (time.seconds, time.nanos);
        match (&self.since, &self.before) {
            (Some(since), Some(before)) if moment(since) >= moment(before) => Err(Usage::new(format!(
                "nothing ends from --since {since} on and before --before {before}: give a --before that is later than \
                 --since"
            ))),
            _ => Ok(()),
        }
    }

    /// The bots that are named, each with its flag.
    pub(super) fn bots(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = [("--bot", &self.bot), ("--opponent", &self.opponent)];
        named.into_iter().filter_map(|(flag, bot)| Some((flag, bot.as_deref()?)))
    }

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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        filter: FilterArgs,
    }

    #[test]
    fn a_span_in_which_nothing_can_have_ended_is_refused_by_the_names_of_both_flags() {
        let refused = |since: &str, before: &str| {
            let line = Line::try_parse_from(["results", "--since", since, "--before", before]).unwrap();
            line.filter.check().err().map(|usage| usage.to_string())
        };
        assert_eq!(refused("2026-11-21", "2026-11-21T00:00:00.001Z"), None);
        for since in ["2026-11-22", "2026-11-23"] {
            let told = refused(since, "2026-11-22").unwrap();
            let flags = format!("--since {since}T00:00:00Z on and before --before 2026-11-22T00:00:00Z");
            assert!(told.contains(&flags) && told.contains("give a --before that is later"), "{told}");
        }
    }
}
