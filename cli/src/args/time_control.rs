//! How long a match waits for its players, as flags.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use zetema_rules::{
    ClockOptions, DecisionClock, DecisionTime, NamedTimeControl, TimeControl, TimeControlError, TimeOut,
};

use crate::failure::Usage;

fn named() -> impl TypedValueParser<Value = NamedTimeControl> {
    PossibleValuesParser::new(NamedTimeControl::ALL.map(NamedTimeControl::name))
        .try_map(|name| name.parse::<NamedTimeControl>())
}

/// The flags of a clock of one's own. Each is named where it conflicts: what it requires is not asked for there.
const OWN: [&str; 7] =
    ["budget", "first_budget", "bank", "increment", "network_credit", "network_credit_total", "on_time_out"];

/// The clock of every decision: a named one, or numbers.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Clock")]
pub(crate) struct TimeControlArgs {
    /// The clock of every decision; unless given, standard (`zetema rules time-controls` has the numbers)
    #[arg(long, value_name = "NAME", value_parser = named(), conflicts_with_all = OWN)]
    time_control: Option<NamedTimeControl>,
    /// A clock of your own: how long each decision has, in seconds, as in 0.5
    #[arg(long, value_name = "SECONDS")]
    budget: Option<Seconds>,
    /// How long the first decision of each seat has; unless given, --budget
    #[arg(long, value_name = "SECONDS", requires = "budget")]
    first_budget: Option<Seconds>,
    /// What each seat has for all that goes beyond; unless given, nothing
    #[arg(long, value_name = "SECONDS", requires = "budget")]
    bank: Option<Seconds>,
    /// What the bank gains with each decision that is answered; unless given, nothing
    #[arg(long, value_name = "SECONDS", requires = "budget")]
    increment: Option<Seconds>,
    /// How much of an overrun is charged to the network at most; unless given, 0.1
    #[arg(long, value_name = "SECONDS", requires = "budget")]
    network_credit: Option<Seconds>,
    /// How much of that a seat may have in the whole match; unless given, 10
    #[arg(long, value_name = "SECONDS", requires = "budget")]
    network_credit_total: Option<Seconds>,
    /// What comes of a time-out: forfeit, or autoplay:N to forfeit with the Nth; unless given, forfeit
    #[arg(long, value_name = "WHAT", requires = "budget")]
    on_time_out: Option<TimeOut>,
    /// Without a clock (--time-control none): how long the match waits for one decision, in seconds; unless given, 24 hours
    #[arg(long, value_name = "SECONDS", conflicts_with_all = OWN)]
    idle_timeout: Option<Seconds>,
}

impl TimeControlArgs {
    /// The time control; by default the named one.
    pub(crate) fn control(
        &self,
        join_timeout: Option<Seconds>,
        default: NamedTimeControl,
    ) -> Result<TimeControl, Usage> {
        let join_timeout_ms = join_timeout.map_or(TimeControl::DEFAULT_JOIN_TIMEOUT_MS, |time| time.ms);
        TimeControl::new(join_timeout_ms, self.decisions(default)?).map_err(usage)
    }

    fn decisions(&self, default: NamedTimeControl) -> Result<DecisionTime, Usage> {
        let Self {
            time_control,
            budget,
            first_budget,
            bank,
            increment,
            network_credit,
            network_credit_total,
            on_time_out,
            idle_timeout,
        } = *self;
        let ms = |time: Option<Seconds>, default_ms| time.map_or(default_ms, |time: Seconds| time.ms);
        if let Some(Seconds { ms: budget_ms }) = budget {
            let clock = DecisionClock::new(ClockOptions {
                budget_ms,
                first_budget_ms: ms(first_budget, budget_ms),
                bank_ms: ms(bank, 0),
                increment_ms: ms(increment, 0),
                network_credit_ms: ms(network_credit, DecisionClock::DEFAULT_NETWORK_CREDIT_MS),
                network_credit_total_ms: ms(
                    network_credit_total,
                    DecisionClock::DEFAULT_NETWORK_CREDIT_TOTAL_MS,
                ),
                time_out: on_time_out.unwrap_or(TimeOut::Forfeit),
            });
            return clock.map(DecisionTime::Clock).map_err(usage);
        }
        let named = time_control.unwrap_or(default);
        match (named.decisions(), idle_timeout) {
            (decisions, None) => Ok(decisions),
            (DecisionTime::Unlimited { .. }, Some(Seconds { ms })) => {
                Ok(DecisionTime::Unlimited { idle_timeout_ms: ms })
            }
            (DecisionTime::Clock(_), Some(_)) => Err(Usage::new(format!(
                "--idle-timeout is for matches without a clock, and {named} has one: give --time-control none, or \
                 leave it out"
            ))),
        }
    }
}

/// Names the flag of the number.
fn usage(error: TimeControlError) -> Usage {
    let TimeControlError { field, given, least, most } = error;
    if field == "strikes" {
        return Usage::new(format!(
            "--on-time-out autoplay:{given}: give autoplay:{least} to autoplay:{most}"
        ));
    }
    let flag = field.trim_end_matches("_ms").replace('_', "-");
    let [given, least, most] = [given, least, most].map(|ms| Seconds { ms });
    Usage::new(format!("--{flag} is {given} seconds: give {least} to {most}"))
}

/// A time in seconds, as fine as milliseconds: `600`, `0.25`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seconds {
    ms: u32,
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, below) = (self.ms / 1_000, self.ms % 1_000);
        match below {
            0 => write!(f, "{whole}"),
            _ => f.write_str(format!("{whole}.{below:03}").trim_end_matches('0')),
        }
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (whole, below) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(below) || below.len() > 3 {
            return Err("give seconds, with up to three decimals".to_owned());
        }
        let ms = format!("{whole}{below:0<3}").parse().ok();
        ms.map(|ms| Self { ms }).ok_or_else(|| "is too long: give at most 4294967 seconds".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Seconds;

    #[test]
    fn seconds_are_read_to_the_millisecond() {
        for (text, ms) in
            [("600", 600_000), ("0.5", 500), ("0.05", 50), ("1.005", 1_005), ("4294967.295", u32::MAX)]
        {
            assert_eq!(text.parse(), Ok(Seconds { ms }), "{text}");
            assert_eq!(Seconds { ms }.to_string(), text);
        }
        for text in
            ["", ".5", "5.", "-1", "+1", "1e3", "0.0005", "1,5", "4294967.296", "99999999999999999999"]
        {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
