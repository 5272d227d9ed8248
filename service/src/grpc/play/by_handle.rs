//! What a stream has for each of its seats, by the handle of the seat.

use rustc_hash::FxHashMap;

/// Of a stream with one seat it is in the memory of the stream. Of those with many that of one is, as a rule, and of each other it is in
/// one piece of memory of its own, which can be fetched.
#[derive(Debug)]
pub(super) struct ByHandle<T> {
    first: Option<(u32, T)>,
    /// The server gives the handles: nobody can choose some that fall together.
    others: FxHashMap<u32, Box<T>>,
}

impl<T> Default for ByHandle<T> {
    fn default() -> Self {
        Self { first: None, others: FxHashMap::default() }
    }
}

impl<T> ByHandle<T> {
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn get(&self, handle: u32) -> Option<&T> {
        match &self.first {
            Some((of, first)) if *of == handle => Some(first),
            _ => self.others.get(&handle).map(|other| &**other),
        }
    }

    pub(super) fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        match &mut self.first {
            Some((of, first)) if *of == handle => Some(first),
            _ => self.others.get_mut(&handle).map(|other| &mut **other),
        }
    }

    /// Puts it in the place of what the handle stood for before, which is returned.
    pub(super) fn insert(&mut self, handle: u32, value: T) -> Option<T> {
        let before = self.remove(handle);
        if self.first.is_none() {
            self.first = Some((handle, value));
        } else {
            self.others.insert(handle, Box::new(value));
        }
        before
    }

    pub(super) fn remove(&mut self, handle: u32) -> Option<T> {
        let removed = match self.first.take_if(|(of, _)| *of == handle) {
            Some((_, first)) => Some(first),
            None => self.others.remove(&handle).map(|other| *other),
        };
        if self.first.is_none() && self.others.len() == 1 {
            self.first = self.others.drain().next().map(|(handle, only)| (handle, *only));
        }
        removed
    }

    /// The only one, if there is one alone.
    pub(super) fn only(&self) -> Option<&T> {
        let mut values = self.values();
        values.next().filter(|_| values.next().is_none())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.first.iter().map(|(_, first)| first).chain(self.others.values().map(|other| &**other))
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        let first = self.first.into_iter().map(|(_, first)| first);
        first.chain(self.others.into_values().map(|other| *other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_has_what_a_map_has(steps in prop::collection::vec((any::<bool>(), 1u32..5), 0..100)) {
            let (mut by_handle, mut map) = (ByHandle::default(), BTreeMap::new());
            for (number, (puts, handle)) in steps.into_iter().enumerate() {
                if puts {
                    prop_assert_eq!(by_handle.insert(handle, number), map.insert(handle, number));
                } else {
                    prop_assert_eq!(by_handle.remove(handle), map.remove(&handle));
                }
                for handle in 1..5 {
                    prop_assert_eq!(by_handle.get(handle), map.get(&handle));
                    prop_assert_eq!(by_handle.get_mut(handle), map.get_mut(&handle));
                }
                let mut values: Vec<_> = by_handle.values().collect();
                values.sort_unstable_by_key(|value| map.values().position(|of| of == *value));
                prop_assert_eq!(values, map.values().collect::<Vec<_>>());
                prop_assert_eq!((by_handle.len(), by_handle.is_empty()), (map.len(), map.is_empty()));
                prop_assert_eq!(by_handle.only(), map.values().next().filter(|_| map.len() == 1));
                prop_assert!(by_handle.first.is_some() || map.len() != 1, "the only one is at hand");
            }
            let mut values: Vec<_> = by_handle.into_values().collect();
            values.sort_unstable();
            let mut expected: Vec<_> = map.into_values().collect();
            expected.sort_unstable();
            prop_assert_eq!(values, expected);
        }
    }
}
