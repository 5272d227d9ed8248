//! Whether the disk of the data folder has room for new matches: those that run keep the rest.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use metrics::counter;

use crate::{limits, metrics::THROTTLED};

/// Whether there is room, as it was measured last.
#[derive(Debug)]
pub(crate) struct DiskRoom {
    least: u64,
    is_short: AtomicBool,
}

/// There is not enough room for new matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiskShort;

impl DiskRoom {
    /// There is room when so many bytes are free, or a part of a disk that is small.
    pub(crate) const fn new(least: u64) -> Self {
        Self { least, is_short: AtomicBool::new(false) }
    }

    /// So many bytes are free of so many.
    pub(crate) fn measured(&self, free: u64, size: u64) {
        let is_short = free < self.least.min(size / limits::PART_OF_DISK_KEPT_FREE);
        let was_short = self.is_short.swap(is_short, Relaxed);
        if is_short && !was_short {
            tracing::warn!(
                free,
                size,
                "the disk of the data folder is nearly full: no match is created until there is room"
            );
        } else if was_short && !is_short {
            tracing::info!(free, size, "the disk of the data folder has room again");
        }
    }

    /// Whether a match may be created, or another record begun that nobody waits for.
    pub(crate) fn check(&self) -> Result<(), DiskShort> {
        if self.is_short.load(Relaxed) {
            counter!(THROTTLED, "what" => "create", "by" => "disk").increment(1);
            return Err(DiskShort);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_created_while_less_is_free_than_has_to_be() {
        const GIB: u64 = 1 << 30;
        let check = |free, size, expected| {
            let room = DiskRoom::new(GIB);
            assert_eq!(room.check(), Ok(()), "nothing is measured yet");
            room.measured(0, 100 * GIB);
            room.measured(free, size);
            assert_eq!(room.check(), expected, "{free} of {size}");
        };
        check(GIB, 100 * GIB, Ok(()));
        check(GIB - 1, 100 * GIB, Err(DiskShort));
        // A tenth of a small disk is enough.
        check(GIB / 10, GIB, Ok(()));
        check(GIB / 10 - 1, GIB, Err(DiskShort));
        // A disk that says nothing of itself.
        check(0, 0, Ok(()));
    }
}
