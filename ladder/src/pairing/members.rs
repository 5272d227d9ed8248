//! Who plays a match together (`Pairing`).

use std::collections::BTreeSet;

use thiserror::Error;
use zetema_rules::{Players, Seat, Side, Teams};

use super::bot::{BotId, OwnerId};

/// One of those who play a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The bot.
    pub bot: BotId,
    /// Its owner.
    pub owner: OwnerId,
    /// Since when it had waited as it was paired, in milliseconds. Where that is not known any more, when the match was made.
    pub since_ms: u64,
}

/// Who plays a match together, seat by seat. No bot has two seats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pairing {
    members: Vec<Member>,
    players: Players,
    teams: Teams,
}

impl Pairing {
    /// A match with these members in seat order. It need not be one that the ladder would make today: its settings may have changed
    /// since.
    ///
    /// # Errors
    /// [`PairingError`] if a match can't have these members.
    pub fn new(teams: Teams, members: Vec<Member>) -> Result<Self, PairingError> {
        let count = members.len();
        let players = Players::new(count).map_err(|_| PairingError::Players { given: count })?;
        if !teams.allowed(players) {
            return Err(PairingError::Teams { teams, players });
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = members.iter().find(|member| !seen.insert(member.bot)) {
            return Err(PairingError::Twice { bot: twice.bot });
        }
        Ok(Self { members, players, teams })
    }

    /// The members in seat order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Each seat with its side and who sits there.
    pub fn seats(&self) -> impl Iterator<Item = (Seat, Side, Member)> {
        let at = |(seat, &member)| (seat, self.teams.side(seat, self.players), member);
        self.players.seats().zip(&self.members).map(at)
    }

    pub(super) fn known(teams: Teams, players: Players, members: Vec<Member>) -> Self {
        Self { members, players, teams }
    }
}

/// Members that no match can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PairingError {
    /// Too few or too many.
    #[error("there are {given} members: give 2 to 6")]
    Players {
        /// How many were given.
        given: usize,
    },
    /// A team form that the rules do not give for this number of players.
    #[error("there are {players} members and teams is {teams}: pairs need 4 or 6 players, trios 6 (R4)")]
    Teams {
        /// What was given.
        teams: Teams,
        /// How many were given.
        players: Players,
    },
    /// A bot has two seats.
    #[error("{bot} has two seats: give each bot one")]
    Twice {
        /// The bot.
        bot: BotId,
    },
}
