//! Random numbers that follow from a seed, the same in every release (`SplitMix64`).

use std::time::Duration;

use tokio::time::sleep;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of this seed with this name. Streams with other names have nothing in common.
    pub(super) fn new(seed: u64, name: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in name {
            random.0 = random.next() ^ part;
        }
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number of this range, both ends included.
    pub(super) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// Waits for less than so many milliseconds.
    pub(super) async fn wait_ms(&mut self, end: u64) {
        let time = Duration::from_millis(self.below(end));
        sleep(time).await;
    }
}
