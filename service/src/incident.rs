//! Incidents: what a client is told of a fault of the server, which the log has under the same id.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use metrics::counter;

use crate::limits;
use crate::metrics::INCIDENTS;
use crate::seldom::Seldom;

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

    /// One with this cause, which is counted. The log tells it, or has told the like of it a moment ago: then that is the incident,
    /// so that what is named is always in the log, and nobody fills it by meeting a fault again and again.
    pub(crate) fn of(cause: &dyn fmt::Display) -> Self {
        static CAUSES: LazyLock<Causes> = LazyLock::new(Causes::new);
        CAUSES.tell(&cause.to_string())
    }
}

/// What the log was told of the causes that fall into one slot, by a hash that nobody can foresee.
struct Causes {
    hasher: RandomState,
    slots: [Mutex<Told>; limits::TOLD_CAUSES],
}

#[derive(Default)]
struct Told {
    seldom: Seldom,
    /// The incident of the last line.
    last: Option<Incident>,
}

impl Causes {
    fn new() -> Self {
        Self { hasher: RandomState::new(), slots: Default::default() }
    }

    fn tell(&self, cause: &str) -> Incident {
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(cause) % slots).unwrap_or_default();
        let mut told = self.slots[slot].lock().unwrap_or_else(PoisonError::into_inner);
        let incident = Incident::new();
        if let Some(times) = told.seldom.times() {
            tracing::error!(%incident, cause, times, "internal error");
            told.last = Some(incident);
        }
        told.last.unwrap_or(incident)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_cause_that_comes_again_and_again_has_a_line_in_a_second_and_other_causes_have_theirs() {
        let causes = Causes::new();
        let first = causes.tell("the first");
        assert!((0..1_000).all(|_| causes.tell("the first") == first));
        let others: HashSet<Incident> =
            (0..1_000).map(|number| causes.tell(&format!("no. {number}"))).collect();
        // Nearly every slot is met, and that of the first tells nothing new.
        assert!(others.len() > limits::TOLD_CAUSES / 2 && others.len() <= limits::TOLD_CAUSES);
        advance(limits::LOG_PAUSE + Duration::from_millis(1)).await;
        assert_ne!(causes.tell("the first"), first);
    }
}
