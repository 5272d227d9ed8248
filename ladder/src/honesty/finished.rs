//! What is looked at of a match that is over.

use thiserror::Error;
use zetema_rules::Seat;

use super::preference::Preference;
use crate::ratings::{Played, ResultNumber};

/// A match that was played to its end, with what is looked at to see whether it was played honestly.
///
/// `B` names a bot and `O` an owner, as in [`Played`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedMatch<B, O> {
    number: ResultNumber,
    ended_ms: u64,
    played: Played<B>,
    seats: Vec<FinishedSeat<O>>,
}

/// What one seat did in a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedSeat<O> {
    /// Who owned its bot when the match was played.
    pub owner: O,
    /// How it ended.
    pub ending: Ending,
    /// Its decisions in their order, up to the end of the match or to its forfeit. Those that the server played for it are there
    /// as [`Taken::OutOfTime`].
    pub decisions: Vec<SeatDecision>,
    /// What its discards preferred, for comparing it with others; none where nobody wants to compare it.
    pub preferences: Vec<Preference>,
}

impl<O> FinishedSeat<O> {
    /// A seat that played to the end, and of whose decisions nothing is known.
    pub const fn played_on(owner: O) -> Self {
        Self { owner, ending: Ending::PlayedOn, decisions: Vec::new(), preferences: Vec::new() }
    }
}

/// How a match ended for one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It played to the end.
    PlayedOn,
    /// It forfeited.
    Forfeited(Departure),
}

/// A seat that forfeited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Departure {
    /// Why.
    pub cause: Cause,
    /// The points of its side less those of the best other side at that moment.
    pub lead: i32,
    /// How many decisions it had before it in the current deal, if that is known: the cards in its hand and in the stock tell it.
    pub decisions_left: Option<u32>,
}

/// Why a seat forfeited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Its time was out, once or as often as the time control allows. It was connected, or it is not known whether it was.
    OutOfTime,
    /// It resigned.
    Resigned,
    /// Its time was out, and it was not connected.
    Disconnected,
}

/// One decision of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeatDecision {
    /// How its side stood when it had to decide.
    pub standing: Lead,
    /// What came of it.
    pub taken: Taken,
}

/// How a side stands, against the best other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lead {
    /// It has fewer points.
    Behind,
    /// It has as many.
    Level,
    /// It has more.
    Ahead,
}

impl Lead {
    /// Of a side that has so many points more than the best other one.
    pub fn of(points: i32) -> Self {
        match points {
            ..0 => Self::Behind,
            0 => Self::Level,
            1.. => Self::Ahead,
        }
    }
}

/// What came of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// It was answered.
    Answered,
    /// Its time was out.
    OutOfTime,
}

/// Parts of a match that don't go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FinishedError {
    /// There are not as many seats as bots.
    #[error("result {number} has {given} seats and {bots} bots: give what each bot's seat did")]
    Seats {
        /// The result.
        number: ResultNumber,
        /// How many seats were given.
        given: usize,
        /// How many bots the match has.
        bots: usize,
    },
    /// A seat ended in another way than the match says.
    #[error(
        "result {number}: seat {seat} ended as {given:?}, the match says otherwise: both are to say whether it forfeited"
    )]
    Ending {
        /// The result.
        number: ResultNumber,
        /// The seat.
        seat: Seat,
        /// How it ended.
        given: Ending,
    },
}

impl<B, O> FinishedMatch<B, O> {
    /// A match with its place among the results, when it ended (milliseconds since 1970), and what its seats did, seat 0 first.
    ///
    /// ```
    /// # use zetema_ladder::{FinishedMatch, FinishedSeat, Played, ResultNumber};
    /// # use zetema_rules::{EndReason, MatchResult, Seats, Teams};
    /// let result = MatchResult { reason: EndReason::Target, ranks: [2, 1, 0, 0, 0, 0], totals: [260, 310, 0, 0, 0, 0] };
    /// let played = Played::new(vec!["ada", "bob"], Teams::Individual, result, Seats::EMPTY)?;
    /// let seats = ["lovelace", "kahn"].map(FinishedSeat::played_on).to_vec();
    /// let finished = FinishedMatch::new(ResultNumber::new(7), 1_760_000_000_000, played, seats)?;
    /// assert_eq!(finished.number().get(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FinishedError`] if they don't go together.
    pub fn new(
        number: ResultNumber,
        ended_ms: u64,
        played: Played<B>,
        seats: Vec<FinishedSeat<O>>,
    ) -> Result<Self, FinishedError> {
        if seats.len() != played.bots().len() {
            return Err(FinishedError::Seats { number, given: seats.len(), bots: played.bots().len() });
        }
        for ((seat, _, _), finished) in played.seats().zip(&seats) {
            let forfeited = matches!(finished.ending, Ending::Forfeited(_));
            if forfeited != played.forfeited().contains(seat) {
                return Err(FinishedError::Ending { number, seat, given: finished.ending });
            }
        }
        Ok(Self { number, ended_ms, played, seats })
    }

    /// Its place among all results of the server.
    pub fn number(&self) -> ResultNumber {
        self.number
    }

    /// When it ended, in milliseconds since 1970.
    pub fn ended_ms(&self) -> u64 {
        self.ended_ms
    }

    /// The bots, the sides and how they came in.
    pub fn played(&self) -> &Played<B> {
        &self.played
    }

    /// What each seat did, seat 0 first.
    pub fn seats(&self) -> &[FinishedSeat<O>] {
        &self.seats
    }
}
