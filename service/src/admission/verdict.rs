//! Why the server closes a connection.

/// Why the server closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing was asked on it for so long.
    Idle,
    /// The client takes nothing of what it is sent, or next to nothing.
    Stalled,
    /// The client sends frames that carry nothing, or asks on in spite of being refused.
    Flooding,
}
