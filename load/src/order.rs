//! What a driver of matches is told to do.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::arrivals::Schedule;
use crate::lean::Created;

/// What a driver of matches is told to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Play one more match.
    Begin(Created),
    /// Another load begins: leave all matches, and follow no schedule. This is dropped when it is measured what the load has left.
    EndLoad(Sender<()>),
    /// From here on answer by this schedule.
    Follow(Box<Schedule>),
    /// From here on this part of the schedule falls to this driver: from 0 to 1.
    Share(f64),
    /// Have the players of one of the matches, which this number draws, leave it and join it again.
    Rejoin(u64),
    /// Wait on no ladder any more, and end when what runs is over. This is dropped when it is measured how long places were free.
    LeaveQueues(Sender<()>),
    /// The load is over: answer no decision any more, and hear what comes.
    Rest {
        /// Dropped when it is measured how long that has waited which has no answer.
        noted: Sender<()>,
        /// Dropped when all that was sent has its answer.
        answered: Sender<()>,
    },
    /// Say what has not come.
    GiveUp {
        /// Matches that are over by their results.
        ended: Arc<HashSet<String>>,
        /// Dropped when that is done.
        noted: Sender<()>,
    },
    /// Cut the connection, and come back.
    Drop,
}
