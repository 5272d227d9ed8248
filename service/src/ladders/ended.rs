//! What a match that is over says to the ladder that rates it.

use zetema_ladder::{Counted, LadderResult, Played, ResultNumber as Number, Unrated};
use zetema_rules::{AbortReason, EndReason, Outcome, Seats};

use super::query::Reason;
use super::results::SeatEnd;
use super::spec::LadderSpec;
use crate::journal::BotName;
use crate::matches::EndedMatch;
use crate::table::{DealsKind, LadderRates, MatchInfo, SeatState};

/// A match of a ladder that is over.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// Who played, seat 0 first.
    pub(super) bots: Vec<BotName>,
    /// How it ended.
    pub(super) reason: Reason,
    /// What became of each seat.
    pub(super) ends: Vec<SeatEnd>,
    /// What it counts for.
    pub(super) result: LadderResult<BotName>,
}

impl Ended {
    /// `None` if it has no outcome, or a seat without a bot, as no match of a ladder has.
    pub(super) fn of(spec: &LadderSpec, ended: &EndedMatch) -> Option<Self> {
        let MatchInfo { match_id, seats, outcome, rules, deals, ladder_rates, .. } = &ended.info;
        let bots: Vec<BotName> = seats.iter().map(|seat| seat.bot.clone()).collect::<Option<_>>()?;
        let number = Number::new(ended.number.get());
        let (counted, reason, ends) = match outcome.as_ref()? {
            Outcome::Aborted { reason, seats: blamed } => {
                let absent = matches!(reason, AbortReason::NoShow | AbortReason::NonceMissing);
                let end =
                    |seat| if absent && blamed.contains(&seat) { SeatEnd::NoShow } else { SeatEnd::Played };
                let ends = seats.iter().map(|seat| end(seat.seat)).collect();
                (Counted::Unrated(Unrated::Aborted(*reason)), Reason::Aborted, ends)
            }
            Outcome::Result(result) => {
                let forfeited = |state| state == SeatState::Forfeited;
                let ends = seats
                    .iter()
                    .map(|seat| if forfeited(seat.state) { SeatEnd::Forfeited } else { SeatEnd::Played })
                    .collect();
                let of_seats = seats.iter().filter(|seat| forfeited(seat.state)).map(|seat| seat.seat);
                let forfeited = of_seats.fold(Seats::EMPTY, Seats::with);
                let reason = match result.reason {
                    EndReason::Target => Reason::Target,
                    EndReason::DealOver => Reason::DealOver,
                    EndReason::Forfeit => Reason::Forfeit,
                };
                let counted = if *deals == DealsKind::Fixed {
                    Counted::Unrated(Unrated::FixedDeals)
                } else if !spec.is_rated() || *ladder_rates == LadderRates::No {
                    Counted::Unrated(Unrated::UnratedLadder)
                } else {
                    match Played::new(bots.clone(), rules.teams, *result, forfeited) {
                        Ok(played) => Counted::Rated(played),
                        Err(error) => {
                            tracing::error!(%match_id, %error, "a match of a ladder can't be rated");
                            return None;
                        }
                    }
                };
                (counted, reason, ends)
            }
        };
        Some(Self { bots, reason, ends, result: LadderResult { number, counted } })
    }
}
