//! How matches end, in a line.

use console::style;
use zetema_rules::{AbortReason, EndReason, MatchResult, Outcome, Side};

use super::Names;

/// How a match ended.
pub(crate) fn outcome(outcome: &Outcome, names: &Names) -> String {
    match outcome {
        Outcome::Result(given) => result(given, names),
        Outcome::Aborted { reason, seats } => {
            let why = match reason {
                AbortReason::NoShow => "not every seat joined in time",
                AbortReason::NonceMissing => "not every nonce came in time",
                AbortReason::Idle => "nothing happened for too long",
                AbortReason::Cancelled => "it was cancelled",
                AbortReason::Restored => "the server was restored from a backup",
                AbortReason::TooLong => "it was longer than the server keeps a match",
            };
            let seats: Vec<String> = seats.iter().map(|&seat| names.seat(seat)).collect();
            let whose = if seats.is_empty() { String::new() } else { format!(": {}", seats.join(", ")) };
            format!("the match ended without a result: {why}{whose}")
        }
    }
}

/// Who won, with how much.
pub(crate) fn result(result: &MatchResult, names: &Names) -> String {
    let why = match result.reason {
        EndReason::Target => "the target is reached",
        EndReason::DealOver => "the deal is over",
        EndReason::Forfeit => "the others forfeited",
    };
    let mut ranked: Vec<Side> = names.sides().collect();
    ranked.sort_by_key(|side| result.ranks[side.index()]);
    let (won, lost): (Vec<Side>, Vec<Side>) =
        ranked.into_iter().partition(|side| result.ranks[side.index()] == 1);
    let winners = won.iter().map(|&side| names.side(side)).collect::<Vec<_>>().join(" and ");
    let verb = if won.len() > 1 { "share the win" } else { "wins" };
    let totals: Vec<String> =
        won.iter().take(1).chain(&lost).map(|side| result.totals[side.index()].to_string()).collect();
    format!("{why}: {} {verb}, {}", style(winners).green().bold(), totals.join(" to "))
}
