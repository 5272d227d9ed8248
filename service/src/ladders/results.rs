//! The results of a ladder, as it remembers them.

use zetema_ladder::Rating;
use zetema_rules::Side;

use super::query::Reason;
use crate::journal::{BotName, MatchId, ResultNumber, UnixMillis};

/// A match of a ladder that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedResult {
    /// Its place among all results of the server.
    pub number: ResultNumber,
    /// The match.
    pub match_id: MatchId,
    /// When it ended.
    pub ended_at: UnixMillis,
    /// How.
    pub reason: Reason,
    /// Who played, seat 0 first.
    pub seats: Vec<LoggedSeat>,
}

impl LoggedResult {
    /// Whether it is rated.
    pub fn is_rated(&self) -> bool {
        self.seats.iter().any(|seat| seat.rating.is_some())
    }
}

/// One seat of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedSeat {
    /// The bot.
    pub bot: BotName,
    /// Its side.
    pub side: Side,
    /// The rank of the side; 0 if the match was aborted.
    pub rank: u8,
    /// The points of the side; 0 if the match was aborted.
    pub total: u32,
    /// What became of its part.
    pub end: SeatEnd,
    /// Its rating before and after, if the match is rated.
    pub rating: Option<(Rating, Rating)>,
}

/// What became of a bot's part in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatEnd {
    /// It played as far as the match went.
    Played,
    /// It forfeited.
    Forfeited,
    /// It did not come.
    NoShow,
}

/// A bot's rating after one of its matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingAt {
    /// The result.
    pub number: ResultNumber,
    /// The match.
    pub match_id: MatchId,
    /// When it ended.
    pub ended_at: UnixMillis,
    /// The rating from then on.
    pub rating: Rating,
}
