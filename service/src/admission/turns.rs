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
    /// As many as one may take at most.
    most: usize,
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
            most: of_address.min(all),
        }
    }

    /// Waits for a turn, behind those of the same address that asked before.
    pub(super) async fn next(&self, address: Address) -> Turn {
        self.next_of(address, 1).await
    }

    /// The same for what counts as so many, or as all that an address may have at once, if those are fewer.
    pub(super) async fn next_of(&self, address: Address, count: usize) -> Turn {
        let count = u32::try_from(count.min(self.most)).unwrap_or(u32::MAX);
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(address) % slots).unwrap_or_default();
        // Neither is ever closed.
        let of_address = Arc::clone(&self.slots[slot]).acquire_many_owned(count).await.ok();
        let of_all = Arc::clone(&self.all).acquire_many_owned(count).await.ok();
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
    fn what_counts_as_several_waits_until_so_many_are_there_and_what_counts_as_too_many_takes_all_of_an_address()
     {
        let turns = Turns::new(8, 4);
        let one = address(1);
        let small = turns.next(one).now_or_never().unwrap();
        assert!(turns.next_of(one, 4).now_or_never().is_none());
        let large = turns.next_of(one, 3).now_or_never().unwrap();
        assert!(turns.next(one).now_or_never().is_none());
        drop((small, large));
        let largest = turns.next_of(one, 1_000_000).now_or_never().unwrap();
        assert!(turns.next(one).now_or_never().is_none());
        assert_eq!(turns.all.available_permits(), 4);
        drop(largest);
        assert_eq!(turns.all.available_permits(), 8);
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
