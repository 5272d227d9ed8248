//! A match that was played to its end, with the bots that played it.

use std::collections::BTreeMap;

use thiserror::Error;
use zetema_rules::{MatchResult, Players, Seat, Seats, Side, Teams};

/// A match that was played to its end, with the bots that played it.
///
/// A bot is whatever names it: `B` is a type of the caller's, and its order is that of the standings where all else is equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played<B> {
    bots: Vec<B>,
    players: Players,
    teams: Teams,
    result: MatchResult,
    forfeited: Seats,
}

/// Bots and a result that don't go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlayedError {
    /// No match has so many seats.
    #[error("{given} bots are given: a match has 2 to 6 seats, give the bot of each")]
    Players {
        /// How many were given.
        given: usize,
    },
    /// The bots can't form such sides.
    #[error("{players} players don't form {teams:?}: give the teams of the match's rules")]
    Teams {
        /// How many play.
        players: Players,
        /// What they were to form.
        teams: Teams,
    },
    /// One bot has two seats, and can't be compared with itself.
    #[error("seats {first} and {second} are one bot: a rated match has another on each seat")]
    BotTwice {
        /// The one seat.
        first: Seat,
        /// The other seat.
        second: Seat,
    },
    /// The rank of a side is not one more than the number of those before it.
    #[error(
        "side {side} has rank {given}, but {ahead} sides are ahead of it: give the ranks as the rules do, such as 1, 1, 3"
    )]
    Rank {
        /// The side.
        side: Side,
        /// Its rank.
        given: u8,
        /// How many have a lower rank.
        ahead: usize,
    },
    /// A seat forfeited that the match does not have.
    #[error("seat {seat} forfeited, but there are {players} players: give the seats of the match")]
    Forfeited {
        /// The seat.
        seat: Seat,
        /// How many play.
        players: Players,
    },
}

impl<B: Ord> Played<B> {
    /// A match of these bots, seat 0 first.
    ///
    /// ```
    /// # use zetema_ladder::Played;
    /// # use zetema_rules::{EndReason, MatchResult, Seats, Teams};
    /// let result =
    ///     MatchResult { reason: EndReason::Target, ranks: [2, 1, 0, 0, 0, 0], totals: [260, 310, 0, 0, 0, 0] };
    /// let played = Played::new(vec!["ada", "bob"], Teams::Individual, result, Seats::EMPTY)?;
    /// assert_eq!(played.bots(), ["ada", "bob"]);
    /// # Ok::<(), zetema_ladder::PlayedError>(())
    /// ```
    ///
    /// # Errors
    /// [`PlayedError`] if they don't go together.
    pub fn new(
        bots: Vec<B>,
        teams: Teams,
        result: MatchResult,
        forfeited: Seats,
    ) -> Result<Self, PlayedError> {
        let players = Players::new(bots.len()).map_err(|_| PlayedError::Players { given: bots.len() })?;
        if !teams.allowed(players) {
            return Err(PlayedError::Teams { players, teams });
        }
        let mut seats = BTreeMap::new();
        for (bot, second) in bots.iter().zip(players.seats()) {
            if let Some(first) = seats.insert(bot, second) {
                return Err(PlayedError::BotTwice { first, second });
            }
        }
        if let Some(seat) = forfeited.iter().find(|seat| seat.index() >= players.count()) {
            return Err(PlayedError::Forfeited { seat, players });
        }
        let played = Self { bots, players, teams, result, forfeited };
        for side in played.sides() {
            let given = played.rank(side);
            let ahead = played.sides().filter(|&other| played.rank(other) < given).count();
            if usize::from(given) != ahead + 1 {
                return Err(PlayedError::Rank { side, given, ahead });
            }
        }
        Ok(played)
    }
}

impl<B> Played<B> {
    /// The bots, seat 0 first.
    pub fn bots(&self) -> &[B] {
        &self.bots
    }

    /// Each seat with its bot and its side.
    pub fn seats(&self) -> impl Iterator<Item = (Seat, &B, Side)> + Clone {
        self.players
            .seats()
            .zip(&self.bots)
            .map(|(seat, bot)| (seat, bot, self.teams.side(seat, self.players)))
    }

    /// The sides.
    pub fn sides(&self) -> impl Iterator<Item = Side> + Clone + use<B> {
        (0..self.teams.sides(self.players)).filter_map(Side::new)
    }

    /// The seats of one side with their bots.
    pub fn members(&self, side: Side) -> impl Iterator<Item = (Seat, &B)> {
        self.seats().filter(move |&(_, _, of)| of == side).map(|(seat, bot, _)| (seat, bot))
    }

    /// The rank of a side, 1 for the best; level sides share one.
    pub fn rank(&self, side: Side) -> u8 {
        self.result.ranks[side.index()]
    }

    /// How many points one side has more than another, negative if it has fewer. Who forfeited may have more and be behind.
    pub fn margin(&self, side: Side, other: Side) -> i64 {
        let total = |side: Side| i64::from(self.result.totals[side.index()]);
        total(side) - total(other)
    }

    pub(crate) const fn result(&self) -> &MatchResult {
        &self.result
    }

    /// The same bots with another result, whose ranks are as ranks are.
    pub(crate) fn with_result(&self, result: MatchResult) -> Self
    where
        B: Clone,
    {
        Self { bots: self.bots.clone(), result, ..*self }
    }

    /// The seats that forfeited.
    pub fn forfeited(&self) -> Seats {
        self.forfeited
    }
}
