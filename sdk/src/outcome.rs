//! What came of playing one seat.

use std::fmt;
use std::sync::Arc;

use crate::bot::MatchInfo;
use crate::claim::Claim;
use crate::deal_check::DealCheck;
use crate::end::End;
use crate::fault::Fault;

/// What came of playing one seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// By what the seat was taken.
    pub claim: Claim,
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
        match (&self.info, &self.claim) {
            (Some(info), _) => write!(f, "match {} seat {}: ", info.match_id, info.seat)?,
            (None, Claim::Assigned { match_id, seat }) => {
                write!(f, "match {match_id} seat {seat}, which was not joined: ")?;
            }
            (None, Claim::Token(_)) => f.write_str("a seat that was not joined: ")?,
        }
        write!(f, "{}; deals {}", self.end, self.deal)?;
        for fault in &self.faults {
            write!(f, "; {fault}")?;
        }
        Ok(())
    }
}
