//! Who calls.

use super::SeatGrant;

/// Whom the token of a request's metadata stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bearer {
    /// The admin.
    Admin,
    /// Whoever plays a seat.
    Seat(SeatGrant),
    /// No token was given.
    Anonymous,
}
