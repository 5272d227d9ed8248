//! Memory that is fetched before it is needed.
//!
//! A session may have thousands of seats, and whenever something comes for one of them its memory was not touched for a while. Where many
//! things came together, the processor is told where all of them are before the first is seen to, so that it waits once and not for each.

use prefetch_index::prefetch_index;

/// Bytes that the processor fetches at once.
const LINE: usize = 64;
/// More than what is needed of a seat, or of most bots.
const MOST_LINES: usize = 16;

/// Has the processor fetch this value, or the first part of a large one, and waits for nothing.
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let here: &[u8] = &[0];
    let first = (&raw const *value).addr();
    let lines = (first % LINE + size_of_val(value)).div_ceil(LINE).min(MOST_LINES);
    for line in 0..lines {
        let address = first + line * LINE;
        prefetch_index(here, address.wrapping_sub(here.as_ptr().addr()));
    }
}
