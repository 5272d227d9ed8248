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
    of_address: usize,
    of_all: usize,
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
            of_address,
            of_all: all,
        }
    }

    /// Waits for a turn, behind those of the same address that asked before.
    pub(super) async fn next(&self, address: Address) -> Turn {
        self.next_of(address, 1).await
    }

    /// The same for what counts as so many: of the address as all that it may have at once, if those are fewer, and of all as all that
    /// there are. However few an address may have, what it has counts in full among all.
    pub(super) async fn next_of(&self, address: Address, count: usize) -> Turn {
        let places = |most: usize| u32::try_from(count.min(most)).unwrap_or(u32::MAX);
        let slots = self.slots.len() as u64;
        let slot = usize::try_from(self.hasher.hash_one(address) % slots).unwrap_or_default();
        // Neither is ever closed.
        let of_address = Arc::clone(&self.slots[slot]).acquire_many_owned(places(self.of_address)).await.ok();
        let of_all = Arc::clone(&self.all).acquire_many_owned(places(self.of_all)).await.ok();
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
    fn what_counts_as_several_waits_until_so_many_are_there_and_what_counts_as_too_many_takes_all_there_are()
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
        assert_eq!(turns.all.available_permits(), 0);
        drop(largest);
        assert_eq!(turns.all.available_permits(), 8);
    }

    #[test]
    fn what_counts_as_several_counts_so_many_of_all_however_few_an_address_may_have() {
        for (of_address, count, left) in
            [(1, 5, 3), (1, 1, 7), (4, 5, 3), (100, 5, 3), (1, 8, 0), (100, 9, 0)]
        {
            let turns = Turns::new(8, of_address);
            let large = turns.next_of(address(1), count).now_or_never().unwrap();
            assert_eq!(turns.all.available_permits(), left, "{count} of {of_address}");
            drop(large);
            assert_eq!(turns.all.available_permits(), 8, "{count} of {of_address}");
        }
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
