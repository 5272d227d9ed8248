//! Whose the rows were that the log has lost. A lost row may be the last of its match, which then looks whole. So each has
//! to be one that a match is known to lack.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::limits;
use super::live::Position;
use crate::journal::{MatchId, Version};

/// Records of a match that have to be in the log, since those around them are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) match_id: MatchId,
    /// The versions around them.
    pub(super) after: Version,
    pub(super) before: Version,
    /// The positions that they are between.
    pub(super) from: Position,
    pub(super) to: Position,
    /// How many they are.
    pub(super) records: usize,
}

/// How many of the lost rows no match is known to lack.
pub(super) fn unaccounted(lost: &[Range<Position>], gaps: &[Gap]) -> u64 {
    let count = lost.iter().map(|range| range.end.abs_diff(range.start)).sum::<u64>();
    if count > limits::ROWS_PROBED as u64 {
        return count;
    }
    let mut lost: Vec<Position> = lost.iter().cloned().flatten().collect();
    lost.sort_unstable();
    lost.dedup();
    let between = |gap: &Gap| {
        let upto = |position| lost.partition_point(|lost| *lost < position);
        upto(gap.to).saturating_sub(upto(gap.from + 1))
    };
    // A match that lacks more than was lost where they were lacks none: the version of one of its rows is damaged.
    let mut gaps: Vec<&Gap> = gaps.iter().filter(|gap| (1..=between(gap)).contains(&gap.records)).collect();
    gaps.sort_unstable_by_key(|gap| Reverse(gap.from));
    // Those that begin before a position, the one that ends first on top.
    let mut open: BinaryHeap<Reverse<(Position, usize)>> = BinaryHeap::new();
    let mut unaccounted = 0;
    for position in lost {
        while let Some(gap) = gaps.pop_if(|gap| gap.from < position) {
            open.push(Reverse((gap.to, gap.records)));
        }
        while open.peek().is_some_and(|Reverse((to, _))| *to <= position) {
            open.pop();
        }
        match open.pop() {
            Some(Reverse((to, records @ 2..))) => open.push(Reverse((to, records - 1))),
            Some(_) => {}
            None => unaccounted += 1,
        }
    }
    unaccounted
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn gap((from, to): (Position, Position), records: usize) -> Gap {
        let match_id = MatchId::from_bytes([0; 16]);
        Gap { match_id, after: Version::ZERO, before: Version::ZERO, from, to, records }
    }

    /// What is lost, what matches lack, and how many of the lost rows are nobody's.
    type Case<'a> = (&'a [(Position, Position)], &'a [Gap], u64);

    #[test]
    fn a_lost_row_is_one_that_a_match_lacks_there() {
        let cases: &[Case<'_>] = &[
            (&[], &[], 0),
            (&[], &[gap((1, 9), 1)], 0),
            (&[(5, 6)], &[], 1),
            (&[(5, 6)], &[gap((4, 6), 1)], 0),
            (&[(5, 6)], &[gap((5, 9), 1)], 1),
            (&[(5, 6)], &[gap((1, 5), 1)], 1),
            // Told twice, it is lost once.
            (&[(5, 6), (5, 6)], &[gap((4, 6), 1)], 0),
            (&[(5, 7)], &[gap((4, 7), 1)], 1),
            (&[(5, 7)], &[gap((4, 7), 2)], 0),
            // More than were lost there.
            (&[(5, 6)], &[gap((4, 7), 2)], 1),
            (&[(5, 6), (20, 21)], &[gap((4, 7), 2)], 2),
            // The one that can stand for fewer positions does.
            (&[(5, 6), (8, 9)], &[gap((1, 20), 1), gap((4, 6), 1)], 0),
            (&[(5, 6), (8, 9)], &[gap((4, 6), 1), gap((4, 6), 1)], 1),
            (&[(1, Position::MAX)], &[gap((0, Position::MAX), 1)], Position::MAX.unsigned_abs() - 1),
        ];
        for (lost, gaps, want) in cases {
            let lost: Vec<Range<Position>> = lost.iter().map(|(from, to)| *from..*to).collect();
            assert_eq!(unaccounted(&lost, gaps), *want, "{lost:?} {gaps:?}");
        }
    }
}
