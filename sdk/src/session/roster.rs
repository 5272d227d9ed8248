//! The seats of a session, by their keys.

use rustc_hash::FxHashMap;

use super::seat::SeatCore;
use super::tag::Key;
use crate::prefetch::prefetch;

/// The seats of a session.
///
/// They lie side by side, and where each is stands in a small table: to find many of them touches none of them, so that the
/// processor can fetch all at the same time.
#[derive(Default)]
pub(super) struct Roster {
    seats: Vec<(Key, SeatCore)>,
    places: FxHashMap<Key, usize>,
}

impl Roster {
    /// Adds a seat, by a key that no other has.
    pub(super) fn insert(&mut self, key: Key, seat: SeatCore) {
        let earlier = self.places.insert(key, self.seats.len());
        debug_assert_eq!(earlier, None, "each seat has a key of its own");
        self.seats.push((key, seat));
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<SeatCore> {
        let place = self.places.remove(&key)?;
        let (_, seat) = self.seats.swap_remove(place);
        if let Some((moved, _)) = self.seats.get(place) {
            self.places.insert(*moved, place);
        }
        Some(seat)
    }

    pub(super) fn get(&self, key: Key) -> Option<&SeatCore> {
        self.seats.get(*self.places.get(&key)?).map(|(_, seat)| seat)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut SeatCore> {
        self.seats.get_mut(*self.places.get(&key)?).map(|(_, seat)| seat)
    }

    pub(super) const fn len(&self) -> usize {
        self.seats.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// All of them, in no order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut SeatCore)> {
        self.seats.iter_mut().map(|(key, seat)| (*key, seat))
    }

    /// All keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.seats.iter().map(|(key, _)| *key)
    }

    /// Has the processor fetch these seats, all at once.
    pub(super) fn prefetch(&self, keys: impl Iterator<Item = Key>) {
        keys.filter_map(|key| self.get(key)).for_each(prefetch);
    }
}

#[cfg(test)]
mod tests {
    use zetema_rules::Seat;
    use zetema_rules::fair::Nonce;

    use super::*;
    use crate::claim::Claim;

    fn seat(match_id: String) -> SeatCore {
        let claim = Claim::Assigned { match_id, seat: Seat::new(0).unwrap() };
        SeatCore::new(claim, Nonce::EMPTY)
    }

    /// Of which match the seat with this key is.
    fn of(roster: &Roster, key: Key) -> Option<String> {
        roster.get(key).map(|seat| match seat.claim() {
            Claim::Assigned { match_id, .. } => match_id.clone(),
            Claim::Token(_) => panic!("no seat is claimed so"),
        })
    }

    #[test]
    fn each_seat_is_found_by_its_key_whichever_others_go() {
        for removed in [vec![], vec![1], vec![5], vec![3], vec![5, 1], vec![2, 4, 1], vec![1, 2, 3, 4, 5]] {
            let mut roster = Roster::default();
            for key in 1..=5 {
                roster.insert(Key(key), seat(key.to_string()));
            }
            for key in &removed {
                assert!(roster.remove(Key(*key)).is_some());
                assert!(roster.remove(Key(*key)).is_none());
            }
            roster.insert(Key(6), seat(6.to_string()));
            roster.prefetch((0..=7).map(Key));
            let expected: Vec<u64> = (1..=6).filter(|key| !removed.contains(key)).collect();
            assert_eq!((roster.len(), roster.is_empty()), (expected.len(), expected.is_empty()));
            let mut keys: Vec<u64> = roster.keys().map(|key| key.0).collect();
            keys.sort_unstable();
            assert_eq!(keys, expected);
            for key in 0..=7 {
                let there = expected.contains(&key).then(|| key.to_string());
                assert_eq!(of(&roster, Key(key)), there);
                assert_eq!(roster.get_mut(Key(key)).is_some(), there.is_some());
            }
        }
    }
}
