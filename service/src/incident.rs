//! Incidents: what a client is told of a fault of the server, which the log has under the same id.

use std::fmt;

use metrics::counter;

use crate::metrics::INCIDENTS;

/// Names a fault of the server, to its log and to the client. `Display` is 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Incident(Option<u64>);

impl Incident {
    /// Another one, which is counted. It has no id when the system has no randomness.
    pub(crate) fn new() -> Self {
        counter!(INCIDENTS).increment(1);
        let mut bytes = [0; 8];
        Self(getrandom::fill(&mut bytes).is_ok().then_some(u64::from_be_bytes(bytes)))
    }
}

impl fmt::Display for Incident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => write!(f, "{id:016x}"),
            None => f.write_str("without an id"),
        }
    }
}
