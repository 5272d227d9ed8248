//! What has happened in a match, entry by entry, in chunks: an entry has no piece of memory of its own, few are moved when there
//! are more, and whoever reads the past shares what is full with the table.

use std::mem;
use std::sync::Arc;

use super::Entry;
use super::state::Logged;
use crate::prefetch::Place;

/// Entries of a chunk, which fill 2 KiB.
const CHUNK: usize = 15;
/// Entries that the first one has room for at first: a match of two without nonces has so many when it is dealt.
const FIRST: usize = 4;
/// Bytes that the log of a match takes at most beyond its entries.
pub(super) const OPEN_CHUNK_BYTES: usize = CHUNK * size_of::<Logged>();

/// The entries that were applied at a table, in order.
#[derive(Clone)]
pub(super) struct Log {
    full: Vec<Arc<Vec<Logged>>>,
    /// The last ones.
    open: Vec<Logged>,
    /// The decision of the very last: nearly always what is looked for is a later one, and no entry is touched for it.
    last_decision: u32,
}

impl Log {
    pub(super) fn new(first: Logged) -> Self {
        let (mut open, last_decision) = (Vec::with_capacity(FIRST), first.decision);
        open.push(first);
        Self { full: Vec::new(), open, last_decision }
    }

    pub(super) fn push(&mut self, logged: Logged) {
        let has = self.open.len();
        if has == CHUNK {
            let full = mem::replace(&mut self.open, Vec::with_capacity(CHUNK));
            self.full.push(Arc::new(full));
        } else if has == self.open.capacity() {
            self.open.reserve_exact(has.min(CHUNK - has));
        }
        self.last_decision = logged.decision;
        self.open.push(logged);
    }

    /// Has the last entry fetched.
    pub(super) fn prefetch(&self) {
        self.open.last().map(Place::of).into_iter().for_each(Place::fetch);
    }

    pub(super) const fn len(&self) -> usize {
        self.full.len() * CHUNK + self.open.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Logged> + Clone {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(&self.open)
    }

    /// What happened while this decision was open, in order.
    pub(super) fn at(&self, decision: u32) -> impl Iterator<Item = &Logged> {
        let is_ahead = decision > self.last_decision;
        (!is_ahead).then(|| self.passed(decision)).into_iter().flatten()
    }

    /// The same of a decision that is not ahead of all entries.
    fn passed(&self, decision: u32) -> impl Iterator<Item = &Logged> {
        let before = move |chunk: &[Logged]| chunk.iter().rposition(|logged| logged.decision < decision);
        let from = move |before: Option<usize>| before.map_or(0, |before| before + 1);
        // Nearly always it is the last: no chunk but the open one is touched then, and of that one its end.
        let open = before(&self.open);
        let full = if open.is_some() {
            &[]
        } else {
            let begins_before =
                |chunk: &[Logged]| chunk.first().is_some_and(|logged| logged.decision < decision);
            let before = self.full.partition_point(|chunk| begins_before(chunk));
            &self.full[before.saturating_sub(1)..]
        };
        let full = full.iter().flat_map(move |chunk| &chunk[from(before(chunk))..]);
        full.chain(&self.open[from(open)..]).take_while(move |logged| logged.decision == decision)
    }

    /// The entries from the one with this 0-based number on.
    pub(super) fn shared_from(&self, first: usize) -> Entries {
        let left = self.len().saturating_sub(first);
        let (mut chunks, mut at) = (self.full.as_slice(), first);
        while let Some((chunk, rest)) = chunks.split_first().filter(|(chunk, _)| at >= chunk.len()) {
            at -= chunk.len();
            chunks = rest;
        }
        let mut chunks = chunks.to_vec();
        chunks.push(Arc::new(self.open.clone()));
        Entries { chunks: chunks.into_iter(), at, left }
    }
}

/// Entries of a match, one after the other. They hold hidden state.
#[derive(Clone)]
pub(crate) struct Entries {
    chunks: std::vec::IntoIter<Arc<Vec<Logged>>>,
    /// Which of the first chunk is next.
    at: usize,
    left: usize,
}

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let chunk = self.chunks.as_slice().first()?;
        let entry = chunk.get(self.at)?.entry.clone();
        self.left -= 1;
        self.at += 1;
        if self.at == chunk.len() {
            self.chunks.next();
            self.at = 0;
        }
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Entries {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::UnixMillis;
    use crate::table::Change;

    /// One entry for each decision of the list, told apart by its time.
    fn log(decisions: &[u32]) -> Log {
        let logged = |(at, &decision): (usize, &u32)| {
            let entry = Entry { at: UnixMillis::new(at as u64), change: Change::DealSetJoined };
            Logged { entry, seq: 0, decision, play: None }
        };
        let mut all = decisions.iter().enumerate().map(logged);
        let mut log = Log::new(all.next().unwrap());
        all.for_each(|logged| log.push(logged));
        log
    }

    fn places<'a>(entries: impl IntoIterator<Item = &'a Logged>) -> Vec<u64> {
        entries.into_iter().map(|logged| logged.entry.at.get()).collect()
    }

    #[test]
    fn a_log_of_any_length_has_its_entries_in_order() {
        for length in 1..=4 * CHUNK {
            let log = log(&vec![0; length]);
            let all: Vec<u64> = (0..length as u64).collect();
            assert_eq!(log.len(), length);
            assert_eq!(places(log.iter()), all);
            for first in 0..=length + 1 {
                let entries = log.shared_from(first);
                assert_eq!(entries.len(), length.saturating_sub(first));
                let from: Vec<u64> = entries.map(|entry| entry.at.get()).collect();
                assert_eq!(from, all.get(first..).unwrap_or_default(), "{length} from {first}");
            }
        }
    }

    #[test]
    fn a_decision_has_what_happened_while_it_was_open_wherever_its_chunk_begins() {
        // Of one decision as much as three chunks, of others one entry, two or none.
        let counts = [4, 1, 1, 0, 2, 1, 3 * CHUNK, 1, 2, 0, 1, 1];
        for shift in 0..=CHUNK {
            let mut counts = counts.to_vec();
            counts[1] += shift;
            let numbered = (0u32..).zip(&counts);
            let decisions: Vec<u32> =
                numbered.flat_map(|(decision, &count)| std::iter::repeat_n(decision, count)).collect();
            for end in 1..=decisions.len() {
                let log = log(&decisions[..end]);
                for decision in 0..=20 {
                    let expected: Vec<u64> =
                        (0..end).filter(|&at| decisions[at] == decision).map(|at| at as u64).collect();
                    assert_eq!(places(log.at(decision)), expected, "{decision} of {end}, {shift}");
                }
            }
        }
    }

    #[test]
    fn what_is_read_of_a_log_is_what_it_was_and_full_chunks_are_shared() {
        let mut log = log(&[0; 2 * CHUNK + 2]);
        let before = log.shared_from(1);
        let length = log.len();
        log.push(Logged { entry: before.clone().next().unwrap(), seq: 0, decision: 0, play: None });
        assert_eq!(before.len(), length - 1);
        assert!(log.full.iter().zip(before.chunks.as_slice()).all(|(log, read)| Arc::ptr_eq(log, read)));
        assert_eq!(before.count(), length - 1);
    }

    #[test]
    fn a_chunk_fills_what_the_allocator_gives_for_it() {
        assert!((1_792..=2_048).contains(&OPEN_CHUNK_BYTES), "{}", size_of::<Logged>());
    }
}
