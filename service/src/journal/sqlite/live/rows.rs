//! Which rows of the log are live, so that cleaning looks at no row that is dead.

use rustc_hash::FxHashMap;

use super::Position;

/// Rows of a word, a bit for each.
const ROWS: Position = 64;

/// The positions of all live rows: words with a live row, by the first position of each divided by [`ROWS`]. Positions go up one by
/// one, so nobody can choose some that meet.
#[derive(Debug, Default)]
pub(super) struct LiveRows(FxHashMap<Position, u64>);

impl LiveRows {
    /// The row at this position is live from now on.
    pub(super) fn insert(&mut self, position: Position) {
        let (word, bit) = place(position);
        *self.0.entry(word).or_default() |= bit;
    }

    /// It is dead from now on.
    pub(super) fn remove(&mut self, position: Position) {
        let (word, bit) = place(position);
        if let Some(bits) = self.0.get_mut(&word) {
            *bits &= !bit;
            if *bits == 0 {
                self.0.remove(&word);
            }
        }
    }

    /// Whether the row at this position is live.
    pub(super) fn contains(&self, position: Position) -> bool {
        let (word, bit) = place(position);
        self.0.get(&word).is_some_and(|bits| bits & bit != 0)
    }

    /// The first live row from this position on that is before `end`.
    pub(super) fn next(&self, from: Position, end: Position) -> Option<Position> {
        let (mut word, bit) = place(from);
        let mut from_there_on = !(bit - 1);
        while word * ROWS < end {
            let bits = self.0.get(&word).map_or(0, |bits| bits & from_there_on);
            if bits != 0 {
                let position = word * ROWS + Position::from(bits.trailing_zeros());
                return Some(position).filter(|position| *position < end);
            }
            (word, from_there_on) = (word + 1, u64::MAX);
        }
        None
    }
}

/// Its word, and its bit of that.
const fn place(position: Position) -> (Position, u64) {
    (position.div_euclid(ROWS), 1 << position.rem_euclid(ROWS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Change {
        Insert(Position),
        Remove(Position),
    }

    fn position() -> impl Strategy<Value = Position> {
        prop_oneof![0..200i64, 4000..4200i64, 0..40_000i64]
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![position().prop_map(Change::Insert), position().prop_map(Change::Remove)]
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_positions(
            changes in prop::collection::vec(change(), 0..200),
            looks in prop::collection::vec((position(), position()), 1..50),
        ) {
            let (mut rows, mut set) = (LiveRows::default(), BTreeSet::new());
            for change in changes {
                match change {
                    Change::Insert(position) => {
                        rows.insert(position);
                        set.insert(position);
                    }
                    Change::Remove(position) => {
                        rows.remove(position);
                        set.remove(&position);
                    }
                }
            }
            for (from, end) in looks {
                prop_assert_eq!(rows.contains(from), set.contains(&from));
                let next = set.iter().copied().find(|position| (from..end).contains(position));
                prop_assert_eq!(rows.next(from, end), next);
            }
            for position in set {
                rows.remove(position);
            }
            prop_assert!(rows.0.is_empty());
        }
    }
}
