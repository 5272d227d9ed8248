//! Memory that is read before it is needed.
//!
//! A server has thousands of matches, and whenever something comes for one of them its memory was not touched for a while: the processor
//! waits for it, a hundred times for an action. Where many things are to be done, what some of them need is read for all of these before
//! the first is done. Nothing waits for what was read, so the processor fetches it at once, and not piece by piece.

use std::hint::black_box;

/// For how many it is read before the first has its turn: so many that the fetches overlap, and so few that what was fetched for the last
/// is still near when it is needed. Messages of a stream are so many at most, within its bounds of what is unanswered.
pub(crate) const AT_ONCE: usize = 16;

/// Reads these: values, not references to them.
pub(crate) fn read<T: Copy>(values: T) {
    black_box(values);
}
