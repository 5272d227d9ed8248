//! Who is next to have a match replayed: who asks for many of them waits for itself, and nobody waits without end.

use std::sync::Arc;

use tokio::time::timeout;

use super::{
    Address, Crowd,
    turns::{Turn, Turns},
};
use crate::{
    config::{Number, Numbers},
    limits,
};

/// The queues of those who have matches replayed.
#[derive(Debug)]
pub(super) struct Replays {
    /// All who wait in one of them.
    waiting: Arc<Crowd>,
    made: Turns,
    read: Turns,
    /// Those of seats, of matches that run: who comes back to its clock waits for no spectator.
    read_by_seats: Turns,
}

/// It would be too long until it is somebody's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongQueue;

impl Replays {
    pub(super) fn new(numbers: &Numbers) -> Self {
        let read =
            || Turns::new(numbers.count(Number::MaxReplays), numbers.count(Number::MaxReplaysPerAddress));
        Self {
            waiting: Crowd::new(limits::MAX_WAITING_FOR_REPLAYS, limits::MAX_WAITING_FOR_REPLAYS_PER_ADDRESS),
            made: Turns::new(limits::REPLAYS_AT_WORK, limits::REPLAYS_AT_WORK_PER_ADDRESS),
            read: read(),
            read_by_seats: read(),
        }
    }

    /// Waits for a turn to have one made.
    pub(super) async fn to_make(&self, address: Address) -> Result<Turn, LongQueue> {
        self.next(&self.made, address, 1).await
    }

    /// Waits for a turn to read one of so many places, observation by observation: it may be kept as long as that takes.
    pub(super) async fn to_read(&self, address: Address, places: usize) -> Result<Turn, LongQueue> {
        self.next(&self.read, address, places).await
    }

    /// The same for a seat of a match that runs.
    pub(super) async fn to_read_by_seat(&self, address: Address, places: usize) -> Result<Turn, LongQueue> {
        self.next(&self.read_by_seats, address, places).await
    }

    async fn next(&self, turns: &Turns, address: Address, places: usize) -> Result<Turn, LongQueue> {
        let _waits = self.waiting.room(address).map_err(|_| LongQueue)?;
        timeout(limits::REPLAY_PATIENCE, turns.next_of(address, places)).await.map_err(|_| LongQueue)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::IpAddr;

    use futures::{FutureExt, future::join_all, poll};

    use super::*;

    fn address(text: &str) -> Address {
        Address::from(text.parse::<IpAddr>().unwrap())
    }

    fn replays() -> Replays {
        let numbers = Numbers::default().with(Number::MaxReplays, 3).unwrap();
        Replays::new(&numbers.with(Number::MaxReplaysPerAddress, 2).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_as_many_as_it_may_waits_and_is_refused_in_the_end() {
        let (replays, one) = (replays(), address("192.0.2.1"));
        let mut read = vec![replays.to_read(one, 1).await.unwrap(), replays.to_read(one, 1).await.unwrap()];
        let mut waits = Box::pin(replays.to_read(one, 1));
        assert!(poll!(&mut waits).is_pending());
        // Another address reads meanwhile, and to make one is another queue.
        let other = (2..9).find_map(|last| {
            replays.to_read(address(&format!("192.0.2.{last}")), 1).now_or_never().transpose().unwrap()
        });
        assert!(other.is_some());
        replays.to_make(one).await.unwrap();
        replays.to_read_by_seat(one, 1).await.unwrap();
        read.pop();
        drop(other);
        read.push(waits.await.unwrap());
        assert_eq!(replays.to_read(one, 1).await.unwrap_err(), LongQueue);
        read.clear();
        replays.to_read(one, 1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn of_an_address_no_more_wait_than_may_and_who_leaves_makes_room() {
        let (replays, one) = (replays(), address("192.0.2.1"));
        let _read = [replays.to_read(one, 1).await.unwrap(), replays.to_read(one, 1).await.unwrap()];
        let most = limits::MAX_WAITING_FOR_REPLAYS_PER_ADDRESS;
        let mut waiting: Vec<_> = (0..most).map(|_| Box::pin(replays.to_read(one, 1))).collect();
        for waits in &mut waiting {
            assert!(poll!(waits).is_pending());
        }
        assert_eq!(replays.to_read(one, 1).now_or_never().unwrap().unwrap_err(), LongQueue);
        waiting.pop();
        waiting.push(Box::pin(replays.to_read(one, 1)));
        assert!(join_all(waiting).await.iter().all(Result::is_err), "their patience is over");
    }
}
