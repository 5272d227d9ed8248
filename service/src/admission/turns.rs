//! Who is next with what is much work for one request: an address that asks for much of it at once waits for itself, so that
//! what others ask waits behind a few of its answers and not behind all of them.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Address;
use crate::limits;

/// So many at a time of each address, and of all. Addresses that fall into one slot share its turns.
#[derive(Debug)]
pub(super) struct Turns {
    hasher: RandomState,
    slots: Box<[Arc<Semaphore>]>,
    all: Arc<Semaphore>,
}

/// What the turn is for may be done as long as this lives. A large answer that takes it along has it until its first piece is made
/// and counted. Keep none while a client is waited for, but for a turn to read.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    _permits: Arc<[Option<OwnedSemaphorePermit>; 2]>,
}

impl Turns {
    pub(super) fn new(all: usize, of_address: usize) -> Self {
        let slot = |_| Arc::new(Semaphore::new(of_address));
        Self {
            hasher: RandomState::new(),
            slots: (0..limits::TURN_SLOTS).map(slot).collect(),
            all: Arc::new(Semaphore::new(all)),
        }
    }

    /// Waits for a turn, behind those of the same address that asked before.
    pub(super) async fn next(&self, address: Address) -> Turn {
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(address) % slots).unwrap_or_default();
        // Neither is ever closed.
        let of_address = Arc::clone(&self.slots[slot]).acquire_owned().await.ok();
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn { _permits: Arc::new([of_address, of_all]) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::IpAddr;

    use futures::FutureExt;

    use super::*;

    fn address(last: usize) -> Address {
        Address::from(format!("198.51.100.{last}").parse::<IpAddr>().unwrap())
    }

    #[test]
    fn who_has_all_its_turns_waits_for_one_of_them_and_leaves_another_address_its_own() {
        let turns = Turns::new(8, 4);
        let one = address(1);
        let mut taken: Vec<Turn> = std::iter::from_fn(|| turns.next(one).now_or_never()).collect();
        assert_eq!(taken.len(), 4);
        // Nearly every other address has a slot of its own.
        assert!((2..).find_map(|other| turns.next(address(other)).now_or_never()).is_some());
        taken.pop();
        assert!(turns.next(one).now_or_never().is_some());
    }

    #[test]
    fn all_addresses_together_have_no_more_turns_than_there_are() {
        let turns = Turns::new(8, 4);
        let taken: Vec<Turn> = (1..255).filter_map(|last| turns.next(address(last)).now_or_never()).collect();
        assert_eq!(taken.len(), 8);
        drop(taken);
        assert!(turns.next(address(255)).now_or_never().is_some());
    }
}
