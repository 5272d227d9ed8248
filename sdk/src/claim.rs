//! By what a seat is taken.

use zetema_proto::{Wire, v1};
use zetema_rules::Seat;

use crate::token::SeatToken;

/// By what a seat is taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// By its token.
    Token(SeatToken),
    /// A match has it for the bot whose token the session was opened with.
    Assigned {
        /// The match's id: opaque text.
        match_id: String,
        /// The seat.
        seat: Seat,
    },
}

impl Claim {
    pub(crate) fn to_wire(&self) -> v1::join::By {
        match self {
            Self::Token(token) => v1::join::By::SeatToken(token.reveal().to_owned()),
            Self::Assigned { match_id, seat } => {
                v1::join::By::Assigned(v1::AssignedSeat { match_id: match_id.clone(), seat: seat.to_wire() })
            }
        }
    }
}

impl From<SeatToken> for Claim {
    fn from(token: SeatToken) -> Self {
        Self::Token(token)
    }
}
