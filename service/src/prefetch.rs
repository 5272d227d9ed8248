//! Memory that is read before it is needed.
//!
//! A server has thousands of matches, and whenever something comes for one of them its memory was not touched for a while: the processor
//! waits for it, a hundred times for an action. Where many things are to be done, what some of them need is read for all of these before
//! the first is done. Nothing waits for what was read, so the processor fetches it at once, and not piece by piece. What can't be read, as
//! the state of a task that only its own code knows, is fetched by where it is.

use std::hint::black_box;

use prefetch_index::prefetch_index;

/// For how many it is read before the first has its turn: so many that the fetches overlap, and so few that what was fetched for the last
/// is still near when it is needed. Messages of a stream are so many at most, within its bounds of what is unanswered.
pub(crate) const AT_ONCE: usize = 16;

/// Reads these: values, not references to them.
pub(crate) fn read<T: Copy>(values: T) {
    black_box(values);
}

/// Bytes that the processor fetches at once.
const LINE: usize = 64;
/// More than what is fetched for one task: some processors have as many fetches under way at once.
const MOST_LINES: usize = 64;

/// Where something is in memory, or the first part of it, for what can't be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    first: usize,
    lines: usize,
}

impl Place {
    /// Where this is. It is not to be moved.
    pub(crate) fn of<T>(value: &T) -> Self {
        let address = (&raw const *value).addr();
        let first = address - address % LINE;
        Self { first, lines: (address + size_of::<T>() - first).div_ceil(LINE).min(MOST_LINES) }
    }

    /// Has the processor fetch what is there, and waits for nothing. If it is there no more, nothing happens.
    pub(crate) fn fetch(self) {
        let here: &[u8] = &[0];
        for line in 0..self.lines {
            let address = self.first + line * LINE;
            prefetch_index(here, address.wrapping_sub(here.as_ptr().addr()));
        }
    }
}
