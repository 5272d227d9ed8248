//! What a proxy does to one frame.

use std::time::Duration;

use clap::ValueEnum;

/// How long a frame that is delayed is held: longer than [`Backend`](crate::fault_runs::Backend) waits for an
/// answer, so that what it sends again overtakes what was held.
pub const DELAY: Duration = Duration::from_millis(400);

/// What is done to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Fault {
    /// The frame is lost, and both sides find the connection reset.
    Cut,
    /// The frame and what follows it are held for [`DELAY`].
    Delay,
    /// The frame is passed on twice. Where it holds a whole message, the message comes twice.
    Duplicate,
    /// The first half of the frame is passed on, and both sides find the connection closed.
    Truncate,
    /// The frame and what follows it are lost, and its receiver finds this direction closed; the other goes on.
    HalfClose,
}

/// Whose frames they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Direction {
    /// The client's.
    ToServer,
    /// The server's.
    ToClient,
}

/// One fault at one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is done.
    pub fault: Fault,
    /// Whose frame it is.
    pub direction: Direction,
    /// Which frame of that direction, from 1, counted over all connections.
    pub frame: u64,
}
