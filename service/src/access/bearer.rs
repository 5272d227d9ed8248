//! Who calls.

use super::SeatGrant;
use crate::journal::{BotName, Owner, Scope};

/// Whom the token of a request's metadata stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bearer {
    /// The admin.
    Admin,
    /// A backend that creates matches.
    Owner(Owner),
    /// A bot.
    Bot(BotName),
    /// Whoever plays a seat.
    Seat(SeatGrant),
    /// No token was given.
    Anonymous,
}

impl From<Scope> for Bearer {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Admin => Self::Admin,
            Scope::Owner(owner) => Self::Owner(owner),
            Scope::Bot(bot) => Self::Bot(bot),
        }
    }
}
