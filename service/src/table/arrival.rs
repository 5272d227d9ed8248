//! When something came in.

use super::Moment;

/// When something came in, and how long its way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it was received.
    pub at: Moment,
    /// The smallest round trip that was measured lately on the connection that brought it, in milliseconds; `None` if
    /// none was: then nothing is credited to the network.
    pub round_trip_ms: Option<u32>,
}
