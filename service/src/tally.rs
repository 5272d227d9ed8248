//! How many there are, in all and of each key.

use std::{borrow::Borrow, collections::HashMap, hash::Hash};

/// How many there are, in all and of each key. A key of which there is none takes no memory.
#[derive(Debug)]
pub(crate) struct Tally<K> {
    all: usize,
    by_key: HashMap<K, usize>,
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self { all: 0, by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash> Tally<K> {
    /// How many there are.
    pub(crate) const fn all(&self) -> usize {
        self.all
    }

    /// How many there are of a key.
    pub(crate) fn of<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.by_key.get(key).copied().unwrap_or(0)
    }

    /// One more of a key, unless there are so many of it.
    pub(crate) fn add_below(&mut self, key: K, most: usize) -> bool {
        if most == 0 {
            return false;
        }
        let count = self.by_key.entry(key).or_default();
        let is_room = *count < most;
        if is_room {
            *count += 1;
            self.all += 1;
        }
        is_room
    }

    /// One more, of a key or of none.
    pub(crate) fn add(&mut self, key: Option<K>) {
        self.all += 1;
        if let Some(key) = key {
            *self.by_key.entry(key).or_default() += 1;
        }
    }

    /// One less, of the key with which it was added.
    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: Option<&Q>)
    where
        K: Borrow<Q>,
    {
        self.all = self.all.saturating_sub(1);
        let Some(key) = key else { return };
        match self.by_key.get_mut(key) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                self.by_key.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_key_there_are_as_many_as_may_be_and_of_another_all_the_same() {
        let mut tally = Tally::default();
        let added = ["one", "one", "one", "other"].map(|key| tally.add_below(key, 2));
        assert_eq!(added, [true, true, false, true]);
        assert!(!tally.add_below("nobody", 0));
        assert_eq!((tally.all(), tally.of("one"), tally.of("nobody")), (3, 2, 0));
        for key in ["one", "one", "other"] {
            tally.remove(Some(key));
        }
        assert!(tally.all() == 0 && tally.by_key.is_empty(), "{tally:?}");
    }

    #[test]
    fn what_is_added_and_removed_leaves_nothing() {
        let mut tally = Tally::default();
        for key in [Some("one"), Some("one"), Some("other"), None] {
            tally.add(key);
        }
        assert_eq!((tally.all(), tally.of("one"), tally.of("other"), tally.of("nobody")), (4, 2, 1, 0));
        tally.remove(Some("one"));
        assert_eq!((tally.all(), tally.of("one"), tally.of("other")), (3, 1, 1));
        for key in [Some("one"), Some("other"), None] {
            tally.remove(key);
        }
        assert!(tally.all() == 0 && tally.by_key.is_empty(), "{tally:?}");
    }
}
