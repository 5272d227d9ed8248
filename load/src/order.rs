//! What a driver of matches is told to do.

use crate::arrivals::Schedule;
use crate::lean::Created;

/// What a driver of matches is told to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Play one more match.
    Begin(Created),
    /// From here on answer by this schedule; without one, as players think.
    Follow(Option<Box<Schedule>>),
    /// Have the players of one of the matches, which this number draws, leave it and join it again.
    Rejoin(u64),
    /// Cut the connection, and come back.
    Drop,
}
