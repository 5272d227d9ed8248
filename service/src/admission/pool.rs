//! An amount that all connections share, such as bytes that wait, and what one address may have of it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Address, Full};

/// What all connections share.
#[derive(Debug)]
pub(super) struct Pool {
    most: u64,
    most_of_address: u64,
    taken: AtomicU64,
    /// Those with a connection: how many, and what they have taken.
    addresses: Mutex<HashMap<Address, (usize, Arc<AtomicU64>)>>,
}

/// What one address has of it, as one of its connections sees it.
#[derive(Debug)]
pub(super) struct Part {
    pool: Arc<Pool>,
    address: Address,
    taken: Arc<AtomicU64>,
}

impl Pool {
    pub(super) fn new(most: u64, most_of_address: u64) -> Arc<Self> {
        Arc::new(Self { most, most_of_address, taken: AtomicU64::new(0), addresses: Mutex::default() })
    }

    /// The part of an address, for one more of its connections.
    pub(super) fn part(self: &Arc<Self>, address: Address) -> Part {
        let mut addresses = self.addresses();
        let (connections, taken) = addresses.entry(address).or_default();
        *connections += 1;
        Part { pool: Arc::clone(self), address, taken: Arc::clone(taken) }
    }

    /// What is taken in all.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    pub(super) fn is_half_full(&self) -> bool {
        self.taken() >= self.most / 2
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<Address, (usize, Arc<AtomicU64>)>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// Whether less is taken than may be, in all and of this address.
    pub(super) fn room(&self) -> Result<(), Full> {
        if self.pool.taken() >= self.pool.most {
            return Err(Full::All);
        }
        if self.taken.load(Ordering::Relaxed) >= self.pool.most_of_address {
            return Err(Full::Address);
        }
        Ok(())
    }

    /// Takes so much, whether there is room or not.
    pub(super) fn add(&self, amount: u64) {
        self.pool.taken.fetch_add(amount, Ordering::Relaxed);
        self.taken.fetch_add(amount, Ordering::Relaxed);
    }

    /// Takes so much if there is room for it.
    fn take(&self, amount: u64) -> bool {
        let all = self.pool.taken.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        let own = self.taken.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        let enough = all <= self.pool.most && own <= self.pool.most_of_address;
        if !enough {
            self.remove(amount);
        }
        enough
    }

    /// Gives so much back.
    pub(super) fn remove(&self, amount: u64) {
        self.pool.taken.fetch_sub(amount, Ordering::Relaxed);
        self.taken.fetch_sub(amount, Ordering::Relaxed);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut addresses = self.pool.addresses();
        match addresses.get_mut(&self.address) {
            Some((connections, _)) if *connections > 1 => *connections -= 1,
            _ => {
                addresses.remove(&self.address);
            }
        }
    }
}

/// What one has taken of the part of its address, until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    part: Part,
    amount: u64,
}

impl Taken {
    /// Nothing yet.
    pub(super) const fn new(part: Part) -> Self {
        Self { part, amount: 0 }
    }

    /// Takes so much more, if there is room for all of it.
    pub(crate) fn more(&mut self, amount: u64) -> bool {
        let enough = self.part.take(amount);
        if enough {
            self.amount += amount;
        }
        enough
    }

    /// Gives back what is more than this.
    pub(crate) fn keep(&mut self, amount: u64) {
        let more = self.amount.saturating_sub(amount);
        self.part.remove(more);
        self.amount -= more;
    }

    pub(crate) const fn amount(&self) -> u64 {
        self.amount
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.part.remove(self.amount);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn an_address_that_has_all_that_it_may_leaves_another_its_part() {
        let pool = Pool::new(100, 40);
        let [one, again, other, third] = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"]
            .map(|ip| pool.part(Address::from(ip.parse::<IpAddr>().unwrap())));
        one.add(39);
        assert_eq!(one.room(), Ok(()));
        again.add(1);
        assert_eq!((one.room(), again.room()), (Err(Full::Address), Err(Full::Address)));
        assert_eq!(other.room(), Ok(()));
        assert!(!pool.is_half_full());
        other.add(39);
        assert!(pool.is_half_full());
        third.add(21);
        assert_eq!((other.room(), third.room()), (Err(Full::All), Err(Full::All)));
        third.remove(21);
        one.remove(39);
        assert_eq!((one.room(), other.room()), (Ok(()), Ok(())));
        drop(one);
        again.remove(1);
        other.remove(39);
        drop((again, other, third));
        assert!(pool.taken() == 0 && pool.addresses().is_empty(), "{pool:?}");
    }

    #[test]
    fn what_there_is_no_room_for_is_not_taken_in_part() {
        let pool = Pool::new(100, 40);
        let taken = |ip: &str| Taken::new(pool.part(Address::from(ip.parse::<IpAddr>().unwrap())));
        let [mut one, mut again, mut other] = ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map(taken);
        assert!(one.more(30) && !again.more(11) && again.more(10) && !one.more(1));
        assert!(other.more(40));
        assert_eq!((one.amount(), again.amount(), other.amount(), pool.taken()), (30, 10, 40, 80));
        assert!(!taken("192.0.2.3").more(21));
        again.keep(11);
        assert_eq!((again.amount(), pool.taken()), (10, 80));
        again.keep(9);
        assert_eq!((again.amount(), pool.taken()), (9, 79));
        drop(one);
        assert!(again.more(31));
        drop((again, other));
        assert_eq!(pool.taken(), 0);
    }
}
