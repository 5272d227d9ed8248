//! Time controls, for people.

use zetema_rules::{ClockOptions, DecisionClock, DecisionTime, TimeControl, TimeOut};

/// All about a time control, in a line.
pub(crate) fn time_control(control: &TimeControl) -> String {
    let name = control.decisions().name().map_or("own", |named| named.name());
    match control.decisions() {
        DecisionTime::Unlimited { idle_timeout_ms } => {
            format!("{name}: aborted when nothing happens for {}", time(idle_timeout_ms))
        }
        DecisionTime::Clock(clock) => {
            let ClockOptions { budget_ms, first_budget_ms, bank_ms, increment_ms, .. } = *clock;
            format!(
                "{name}: {} a decision, {} the first, {} in the bank, {} more with each; network {}; {}",
                time(budget_ms),
                time(first_budget_ms),
                time(bank_ms),
                time(increment_ms),
                network_credit(&clock),
                time_out(clock.time_out)
            )
        }
    }
}

/// How much of an overrun is charged to the network.
pub(crate) fn network_credit(clock: &DecisionClock) -> String {
    format!("{} up to {}", time(clock.network_credit_ms), time(clock.network_credit_total_ms))
}

/// What comes of a time-out.
pub(crate) fn time_out(time_out: TimeOut) -> String {
    match time_out {
        TimeOut::Forfeit => "a time-out forfeits".to_owned(),
        TimeOut::Autoplay { strikes: 1 } => "the first time-out forfeits".to_owned(),
        TimeOut::Autoplay { strikes } => format!("played for, time-out {strikes} forfeits"),
    }
}

/// A time in the largest unit in which it is whole.
pub(crate) fn time(ms: u32) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];
    let (unit, length_ms) = units
        .into_iter()
        .find(|(_, length_ms)| ms > 0 && ms.is_multiple_of(*length_ms))
        .unwrap_or(("s", 1_000));
    format!("{} {unit}", ms / length_ms)
}
