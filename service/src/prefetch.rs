//! Memory that is fetched before it is needed.
//!
//! A server has thousands of matches, and whenever something comes for one of them its memory was not touched for a while: the processor
//! waits for it, a hundred times for an action. Where many things are to be done, what some of them need is fetched for all of these before
//! the first is done. Nothing waits for that, so the processor fetches all of it at the same time, and not piece by piece. It is fetched by
//! where it is, also the state of a task that only its own code knows, and what is behind a lock.

use std::task::Waker;

use prefetch_index::prefetch_index;

/// For how many it is fetched before the first has its turn: so many that the fetches overlap, and so few that what was fetched
/// for the last is still near when it is needed. Messages of a stream are so many at most, within its bounds of what is unanswered.
pub(crate) const AT_ONCE: usize = 16;

/// Bytes that the processor fetches at once.
const LINE: usize = 64;
/// As many as there are numbers for: no more is fetched of one thing.
const MOST_LINES: usize = LINE - 1;

/// Bytes of the counts of an `Arc`, which are before what is in it.
const COUNTS: usize = 2 * size_of::<usize>();
/// Bytes that are fetched of what is woken.
const WOKEN: usize = 96;

/// Where something is in memory, or the first part of it: its first line, and in the bits that are 0 in the
/// address of a line how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(usize);

impl Place {
    /// Where nothing is.
    pub(crate) const NOWHERE: Self = Self(0);

    /// Where this is. It is not to be moved.
    pub(crate) fn of<T: ?Sized>(value: &T) -> Self {
        Self::at((&raw const *value).addr(), size_of_val(value))
    }

    /// Where that is which this wakes, or as much of it as a task of a stream takes: an `Arc`, as a rule, with its counts before it.
    pub(crate) fn of_woken(waker: &Waker) -> Self {
        Self::at(waker.data().addr().saturating_sub(COUNTS), COUNTS + WOKEN)
    }

    const fn at(address: usize, bytes: usize) -> Self {
        let first = address - address % LINE;
        let lines = (address + bytes - first).div_ceil(LINE);
        Self(first | if lines < MOST_LINES { lines } else { MOST_LINES })
    }

    /// It as one number, to be kept where others read it.
    pub(crate) const fn bits(self) -> usize {
        self.0
    }

    /// The place that this is the number of.
    pub(crate) const fn from_bits(bits: usize) -> Self {
        Self(bits)
    }

    /// Has the processor fetch what is there, and waits for nothing. If it is there no more, nothing happens.
    pub(crate) fn fetch(self) {
        let here: &[u8] = &[0];
        let (first, lines) = (self.0 - self.0 % LINE, self.0 % LINE);
        for line in 0..lines {
            let address = first + line * LINE;
            prefetch_index(here, address.wrapping_sub(here.as_ptr().addr()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_every_line_of_what_is_there_up_to_the_most() {
        #[repr(align(64))]
        struct Lines([u8; 100 * LINE]);
        let lines = Lines([0; 100 * LINE]);
        let first = lines.0.as_ptr().addr();
        let cases = [
            (0, 1, 0, 1),
            (0, 64, 0, 1),
            (63, 2, 0, 2),
            (64, 65, 1, 2),
            (0, 63 * 64, 0, 63),
            (1, 99 * 64, 0, 63),
        ];
        for (from, length, line, count) in cases {
            let bits = Place::of(&lines.0[from..from + length]).bits();
            assert_eq!(
                (bits - bits % LINE, bits % LINE),
                (first + line * LINE, count),
                "{length} from {from}"
            );
            Place::from_bits(bits).fetch();
        }
        Place::NOWHERE.fetch();
    }
}
