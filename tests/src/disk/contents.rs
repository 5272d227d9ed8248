//! The bytes of one file: as programs see them, and as the disk has them.

use rand::RngExt;
use rand::rngs::StdRng;

use super::Survival;

/// What a disk writes as a whole or not at all.
pub const SECTOR_BYTES: usize = 512;

/// The bytes of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// As programs see them.
    live: Vec<u8>,
    /// What no loss of power can take away.
    durable: Vec<u8>,
    /// What was done since, in order, and may get to the disk in any order, in part, or not at all.
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Resize(usize),
}

impl Contents {
    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.change(Change::Write { at, bytes: bytes.to_vec() });
    }

    pub(super) fn resize(&mut self, length: usize) {
        self.change(Change::Resize(length));
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    /// What Linux does when a sync fails: some of what was written did not get to the disk and never will, programs go on
    /// to see it, and the next sync has nothing to do.
    pub(super) fn fail_to_sync(&mut self, random: &mut StdRng) {
        for change in self.unsynced.drain(..) {
            if matches!(change, Change::Resize(_)) || random.random() {
                change.apply(&mut self.durable);
            }
        }
    }

    /// What is on the disk after a loss of power.
    pub(super) fn survive(self, survival: Survival, random: &mut StdRng) -> Self {
        let bytes = match survival {
            Survival::Nothing => self.durable,
            Survival::Everything => self.live_on_disk(),
            Survival::Torn => self.torn(random),
            Survival::Reordered => self.reordered(random),
        };
        Self { live: bytes.clone(), durable: bytes, unsynced: Vec::new() }
    }

    fn live_on_disk(mut self) -> Vec<u8> {
        self.sync();
        self.durable
    }

    /// The first changes, and of the one after them the first sectors.
    fn torn(self, random: &mut StdRng) -> Vec<u8> {
        let mut disk = self.durable;
        let whole = random.random_range(0..=self.unsynced.len());
        for change in &self.unsynced[..whole] {
            change.apply(&mut disk);
        }
        if let Some(Change::Write { at, bytes }) = self.unsynced.get(whole) {
            let sectors = (at + bytes.len()).div_ceil(SECTOR_BYTES) - at / SECTOR_BYTES;
            let end = (at / SECTOR_BYTES + random.random_range(0..=sectors)) * SECTOR_BYTES;
            let length = end.saturating_sub(*at).min(bytes.len());
            if length > 0 {
                Change::Write { at: *at, bytes: bytes[..length].to_vec() }.apply(&mut disk);
            }
        }
        disk
    }

    /// Each sector as it was at some time since the last sync, whatever the others are, and so the length.
    fn reordered(self, random: &mut StdRng) -> Vec<u8> {
        let mut lengths = vec![self.durable.len()];
        let mut all = self.durable.clone();
        for change in &self.unsynced {
            change.apply(&mut all);
            lengths.push(all.len());
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut disk = self.durable;
        disk.resize(longest, 0);
        // How many of the changes to a sector get to the disk.
        let mut left = vec![0_usize; longest.div_ceil(SECTOR_BYTES)];
        for change in &self.unsynced {
            for sector in change.sectors(longest) {
                left[sector] += 1;
            }
        }
        for count in &mut left {
            *count = random.random_range(0..=*count);
        }
        for change in &self.unsynced {
            for sector in change.sectors(longest) {
                if left[sector] > 0 {
                    left[sector] -= 1;
                    change.apply_to_sector(sector, &mut disk);
                }
            }
        }
        disk.truncate(lengths[random.random_range(0..lengths.len())]);
        disk
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => {
                let end = at + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*at..end].copy_from_slice(bytes);
            }
            Self::Resize(length) => to.resize(*length, 0),
        }
    }

    /// The bytes that it changes, in a file of this length.
    fn bytes(&self, length: usize) -> std::ops::Range<usize> {
        match self {
            Self::Write { at, bytes } => *at..at + bytes.len(),
            Self::Resize(to) => (*to).min(length)..length,
        }
    }

    fn sectors(&self, length: usize) -> std::ops::Range<usize> {
        let bytes = self.bytes(length);
        bytes.start / SECTOR_BYTES..bytes.end.div_ceil(SECTOR_BYTES)
    }

    fn apply_to_sector(&self, sector: usize, disk: &mut [u8]) {
        let bytes = self.bytes(disk.len());
        let start = bytes.start.max(sector * SECTOR_BYTES);
        let end = bytes.end.min((sector + 1) * SECTOR_BYTES);
        if start >= end {
            return;
        }
        match self {
            Self::Write { at, bytes } => disk[start..end].copy_from_slice(&bytes[start - at..end - at]),
            Self::Resize(_) => disk[start..end].fill(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    /// A file of two synced sectors of `a`, then changed by what was not synced.
    fn changed() -> Contents {
        let mut file = Contents::default();
        file.write(0, &[b'a'; 2 * SECTOR_BYTES]);
        file.sync();
        file.write(0, &[b'b'; 2 * SECTOR_BYTES]);
        file.write(SECTOR_BYTES, &[b'c'; 2 * SECTOR_BYTES]);
        file
    }

    /// The first byte of each sector, of all that can survive.
    fn outcomes(survival: Survival) -> BTreeSet<String> {
        let mut random = StdRng::seed_from_u64(1);
        let runs = (0..500).map(|_| {
            let file = changed().survive(survival, &mut random);
            file.live().chunks(SECTOR_BYTES).map(|sector| char::from(sector[0])).collect()
        });
        runs.collect()
    }

    fn check(survival: Survival, expected: &str) {
        let expected: BTreeSet<String> = expected.split(' ').map(str::to_owned).collect();
        assert_eq!(outcomes(survival), expected, "{survival:?}");
    }

    #[test]
    fn what_was_synced_survives_and_the_rest_in_every_way_it_can() {
        check(Survival::Nothing, "aa");
        check(Survival::Everything, "bcc");
        check(Survival::Torn, "aa ba bb bc bcc");
        // A sector that was never written, in a file that is as long as if it was, is zero.
        check(Survival::Reordered, "aa ab ac ba bb bc aa\0 ab\0 ac\0 ba\0 bb\0 bc\0 aac abc acc bac bbc bcc");
    }

    #[test]
    fn a_sync_that_fails_loses_what_programs_go_on_to_see() {
        let mut random = StdRng::seed_from_u64(1);
        let lost = (0..50).filter(|_| {
            let mut file = changed();
            file.fail_to_sync(&mut random);
            assert_eq!(file.live()[SECTOR_BYTES], b'c');
            file.sync();
            file.survive(Survival::Everything, &mut random).live() != changed().live()
        });
        assert!(lost.count() > 10);
    }

    #[test]
    fn a_file_that_was_cut_short_is_as_before_or_cut_or_zero_where_it_was_cut() {
        let mut random = StdRng::seed_from_u64(1);
        let mut seen = BTreeSet::new();
        for _ in 0..200 {
            let mut file = changed();
            file.sync();
            file.resize(SECTOR_BYTES);
            let bytes = file.survive(Survival::Reordered, &mut random);
            let sectors = bytes.live().chunks(SECTOR_BYTES).map(|sector| char::from(sector[0]));
            seen.insert(sectors.collect::<String>());
        }
        let expected = ["b", "bcc", "b\0c", "bc\0", "b\0\0"].map(str::to_owned);
        assert_eq!(seen, expected.into());
    }
}
