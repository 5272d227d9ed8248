//! What a driver of matches is told to do.

use tokio::sync::mpsc::Sender;

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
    /// Wait on no ladder any more, and end when what runs is over. This is dropped when it is measured how long places were free.
    LeaveQueues(Sender<()>),
    /// Cut the connection, and come back.
    Drop,
}
