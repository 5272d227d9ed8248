//! What came of playing one seat.

use std::fmt;
use std::sync::Arc;

use crate::bot::MatchInfo;
use crate::deal_check::DealCheck;
use crate::end::End;
use crate::fault::Fault;
use crate::token::SeatToken;

/// What came of playing one seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The seat's token.
    pub token: SeatToken,
    /// The match and the seat; `None` if it was never joined.
    pub info: Option<Arc<MatchInfo>>,
    /// How the match ended.
    pub end: End,
    /// Whether the deals were those that had been committed to.
    pub deal: DealCheck,
    /// What went wrong on the way, the first 64 such things. All are in the log.
    pub faults: Vec<Fault>,
}

/// One line for people.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.info {
            Some(info) => write!(f, "match {} seat {}: ", info.match_id, info.seat)?,
            None => f.write_str("a seat that was not joined: ")?,
        }
        write!(f, "{}; deals {}", self.end, self.deal)?;
        for fault in &self.faults {
            write!(f, "; {fault}")?;
        }
        Ok(())
    }
}
