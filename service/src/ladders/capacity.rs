//! How many seats the bots that are there can take at once ([`Capacities`]).
//!
//! A stream that waits has room for all that it waits for, but maybe not now: it plays on what it was given on other ladders, and joins
//! other matches beside. A match that the bot could not join would be its no-show, so it is not paired before it has room. A stream that
//! waits on no ladder is given nothing more of ladders: it may be another program's.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::accounts::{Account, Accounts};
use crate::journal::BotName;

/// How many seats a bot can take by one way of being there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So many, as by a stream.
    Seats(u32),
    /// As many as there are, as by single calls.
    Unbounded,
}

/// Of what match a seat is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatOf {
    /// Of one that a ladder made.
    Ladder,
    /// Of another.
    NoLadder,
}

/// A seat that is played by a way of being there, until it is dropped.
#[derive(Debug)]
pub struct Occupied(Arc<AtomicU32>);

/// How many seats each bot that is there can take, by what it is there by.
#[derive(Debug, Default)]
pub(super) struct Capacities(Mutex<HashMap<BotName, BTreeMap<u64, Held>>>);

/// One way of being there.
#[derive(Debug)]
struct Held {
    capacity: Capacity,
    /// On how many ladders it waits.
    ladders: usize,
    /// How many seats in matches of ladders are played by it.
    of_ladders: Arc<AtomicU32>,
    /// How many seats in matches of no ladder are.
    beside: Arc<AtomicU32>,
}

impl Capacities {
    /// A bot is there by this from now on, and waits on no ladder by it.
    pub(super) fn open(&self, number: u64, bot: &BotName, capacity: Capacity) {
        let held = Held { capacity, ladders: 0, of_ladders: Arc::default(), beside: Arc::default() };
        self.all().entry(bot.clone()).or_default().insert(number, held);
    }

    /// A bot waits on so many ladders by this from now on.
    pub(super) fn wait(&self, number: u64, bot: &BotName, ladders: usize) {
        if let Some(held) = self.all().get_mut(bot).and_then(|ways| ways.get_mut(&number)) {
            held.ladders = ladders;
        }
    }

    /// A bot is there by this no more.
    pub(super) fn close(&self, number: u64, bot: &BotName) {
        let mut all = self.all();
        let Some(ways) = all.get_mut(bot) else { return };
        ways.remove(&number);
        if ways.is_empty() {
            all.remove(bot);
        }
    }

    /// A bot plays a seat by this from now on.
    pub(super) fn occupy(&self, number: u64, bot: &BotName, of: SeatOf) -> Option<Occupied> {
        let all = self.all();
        let held = all.get(bot)?.get(&number)?;
        let occupied = Arc::clone(match of {
            SeatOf::Ladder => &held.of_ladders,
            SeatOf::NoLadder => &held.beside,
        });
        occupied.fetch_add(1, Ordering::Relaxed);
        Some(Occupied(occupied))
    }

    /// How many matches of ladders a bot can play at once, by all that it is there by together.
    fn for_ladders(&self, bot: &BotName) -> Capacity {
        let all = self.all();
        let ways: Vec<&Held> = all.get(bot).into_iter().flat_map(BTreeMap::values).collect();
        // One that waits already may be told here a moment later.
        let none_waits = ways.iter().all(|held| held.ladders == 0);
        let for_ladders = |held: &Held| if none_waits { held.room() } else { held.for_ladders() };
        let sum = ways.into_iter().map(for_ladders).try_fold(None, |sum: Option<u32>, held| match held {
            Capacity::Seats(seats) => Some(Some(sum.unwrap_or(0).saturating_add(seats))),
            Capacity::Unbounded => None,
        });
        // Of who is not there nothing is known.
        sum.flatten().map_or(Capacity::Unbounded, Capacity::Seats)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<BotName, BTreeMap<u64, Held>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// How many matches of ladders are played by it at most.
    fn for_ladders(&self) -> Capacity {
        if self.ladders == 0 { Capacity::Seats(self.of_ladders.load(Ordering::Relaxed)) } else { self.room() }
    }

    /// How many it has room for, whatever it waits for.
    fn room(&self) -> Capacity {
        match self.capacity {
            Capacity::Seats(seats) => {
                Capacity::Seats(seats.saturating_sub(self.beside.load(Ordering::Relaxed)))
            }
            Capacity::Unbounded => Capacity::Unbounded,
        }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The accounts of bots, each with a quota of no more matches at once than the bot has room for. One that has room for none is like a
/// bot with no place left: it waits anew when it has.
pub(super) struct WithinCapacity {
    pub(super) accounts: Arc<dyn Accounts>,
    pub(super) capacities: Arc<Capacities>,
}

impl Accounts for WithinCapacity {
    fn account(&self, bot: &BotName) -> Option<Account> {
        let account = self.accounts.account(bot)?;
        match self.capacities.for_ladders(bot) {
            Capacity::Seats(seats) => {
                let quota = account.quota.at_most_at_once(NonZeroU32::new(seats)?);
                Some(Account { quota, ..account })
            }
            Capacity::Unbounded => Some(account),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn ann() -> BotName {
        BotName::new("ann").unwrap()
    }

    #[test]
    fn streams_add_up_and_what_they_play_beside_ladders_is_taken_off() {
        let capacities = Capacities::default();
        let check = |expected| assert_eq!(capacities.for_ladders(&ann()), expected);
        check(Capacity::Unbounded);
        capacities.open(1, &ann(), Capacity::Seats(2));
        check(Capacity::Seats(2));
        let occupied = [(); 3].map(|()| capacities.occupy(1, &ann(), SeatOf::NoLadder).unwrap());
        check(Capacity::Seats(0));
        capacities.open(2, &ann(), Capacity::Seats(5));
        check(Capacity::Seats(5));
        drop(occupied);
        check(Capacity::Seats(7));
        capacities.open(3, &ann(), Capacity::Unbounded);
        check(Capacity::Unbounded);
        capacities.close(3, &ann());
        capacities.close(1, &ann());
        check(Capacity::Seats(5));
        assert!(capacities.occupy(1, &ann(), SeatOf::NoLadder).is_none());
        capacities.close(2, &ann());
        check(Capacity::Unbounded);
        assert!(capacities.all().is_empty());
    }

    #[test]
    fn what_waits_on_no_ladder_has_room_for_what_it_plays_of_ladders_alone() {
        let capacities = Capacities::default();
        let check = |expected| assert_eq!(capacities.for_ladders(&ann()), Capacity::Seats(expected));
        capacities.open(1, &ann(), Capacity::Seats(2));
        capacities.open(2, &ann(), Capacity::Seats(5));
        check(7);
        capacities.wait(1, &ann(), 1);
        check(2);
        capacities.open(3, &ann(), Capacity::Unbounded);
        check(2);
        let played = capacities.occupy(2, &ann(), SeatOf::Ladder);
        let beside = capacities.occupy(2, &ann(), SeatOf::NoLadder);
        check(3);
        capacities.wait(2, &ann(), 2);
        check(6);
        capacities.wait(1, &ann(), 0);
        check(4);
        drop((played, beside));
        check(5);
    }
}
