//! Who is next with what is much work for one request: an address that asks for much of it at once waits for itself, so that
//! what others ask waits behind a few of its answers and not behind all of them.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Address;
use crate::limits;

/// So many at a time of each address. Addresses that fall into one slot share its turns.
#[derive(Debug)]
pub(super) struct Turns {
    hasher: RandomState,
    slots: Box<[Arc<Semaphore>]>,
}

/// What is much work may be done as long as this lives. Keep none while a client is waited for.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    pub(super) fn new() -> Self {
        let slot = |_| Arc::new(Semaphore::new(limits::LISTS_AT_WORK_PER_ADDRESS));
        Self { hasher: RandomState::new(), slots: (0..limits::TURN_SLOTS).map(slot).collect() }
    }

    /// Waits for a turn, behind those of the same address that asked before.
    pub(super) async fn next(&self, address: Address) -> Turn {
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(address) % slots).unwrap_or_default();
        // It is never closed.
        Turn { _permit: Arc::clone(&self.slots[slot]).acquire_owned().await.ok() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::IpAddr;

    use futures::FutureExt;

    use super::*;

    #[test]
    fn who_has_all_its_turns_waits_for_one_of_them_and_leaves_another_address_its_own() {
        let turns = Turns::new();
        let address = |ip: &str| Address::from(ip.parse::<IpAddr>().unwrap());
        let one = address("192.0.2.1");
        let mut others = (1..).map(|last: u8| address(&format!("198.51.100.{last}")));
        let mut taken: Vec<Turn> = std::iter::from_fn(|| turns.next(one).now_or_never()).collect();
        assert_eq!(taken.len(), limits::LISTS_AT_WORK_PER_ADDRESS);
        // Nearly every other address has a slot of its own.
        assert!(others.find_map(|other| turns.next(other).now_or_never()).is_some());
        taken.pop();
        assert!(turns.next(one).now_or_never().is_some());
    }
}
