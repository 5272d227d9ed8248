//! What the rows of one match come to: how far its chain holds, and what is wrong with the rest.

use std::cmp::Reverse;
use std::sync::Arc;

use super::account::Gap;
use super::live::{Head, LiveMatch, Position, Segment, SegmentNumber};
use super::segments;
use crate::journal::row::{ChainHash, ContentHash, RowHeader, RowKind};
use crate::journal::{MatchId, Version};

/// A row that was read, without its payload.
pub(super) struct Seen {
    pub(super) position: Position,
    /// Under which position it is written, alone or in a pack.
    pub(super) key: Position,
    pub(super) segment: SegmentNumber,
    /// It says that it was written elsewhere.
    pub(super) misplaced: bool,
    pub(super) header: RowHeader,
    pub(super) chain: ChainHash,
    pub(super) content: ContentHash,
}

/// The rows under one match id.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) seen: Vec<Seen>,
    /// Those that can't be read: where, and the version that each seems to be.
    pub(super) undecodable: Vec<(Position, Version)>,
    /// What the first of these is.
    pub(super) first_undecodable: Option<String>,
}

/// What they come to.
pub(super) struct Verified {
    pub(super) live: LiveMatch,
    /// Records that have to be somewhere, since a later one is there.
    pub(super) gaps: Vec<Gap>,
    /// Rows that stand where another row was.
    pub(super) overwriting: Vec<Position>,
    /// Whether these are among the rows that stand where another was, and nothing says that there is such a match.
    pub(super) nothing_else: bool,
    /// The only row of its match then, if it can be read.
    pub(super) stray: Option<Seen>,
    /// Where the only row of its match is, when it is a first record that is damaged: it may be the one of another match.
    pub(super) doubtful: Option<Position>,
}

/// The rows of a match of one version, read or not.
struct Places {
    version: Version,
    first: Position,
    last: Position,
}

impl Rows {
    /// Walks the chain of a match that has not ended as far as it holds. What comes after is damage.
    pub(super) fn verify(mut self, match_id: MatchId) -> Verified {
        // A row that was copied on, with its copy not yet alone, is there twice: the later one first.
        self.seen.sort_unstable_by_key(|seen| (seen.header.version, seen.misplaced, Reverse(seen.position)));
        let mut live = LiveMatch { head: Head::START, positions: Vec::new(), damage: None };
        let mut chosen: Vec<&Seen> = Vec::new();
        let mut unread: Vec<&Seen> = Vec::new();
        let mut overwriting = Vec::new();
        for seen in &self.seen {
            let RowHeader { version, epoch, .. } = seen.header;
            if live.head.version.next() == Some(version) && live.head.chain.then(seen.content) == seen.chain {
                live.head = Head { version, epoch, chain: seen.chain };
                live.positions.push(seen.position);
                chosen.push(seen);
            } else if let Some(original) = chosen.last()
                && original.header.version == version
                && (original.chain, original.content) == (seen.chain, seen.content)
            {
                // A copy goes from one segment to another, and says where it is.
                if seen.misplaced || seen.segment == original.segment {
                    overwriting.push(seen.position);
                }
            } else {
                unread.push(seen);
            }
        }
        let is_last = chosen.last().is_some_and(|seen| seen.header.kind == RowKind::Last);
        live.damage = self.damage(match_id, live.head.version, unread.len(), is_last);
        let nothing_else = match (self.seen.as_slice(), self.undecodable.as_slice()) {
            ([], unread) => unread.iter().any(|(_, version)| version.get() != 1),
            ([only], []) => live.head == Head::START && only.header.version.get() != 1,
            _ => false,
        };
        if nothing_else {
            overwriting.extend(self.seen.iter().map(|seen| seen.position));
            overwriting.extend(self.undecodable.iter().map(|(position, _)| *position));
            let stray = self.seen.pop();
            return Verified { live, gaps: Vec::new(), overwriting, nothing_else, stray, doubtful: None };
        }
        let gaps = self.gaps(match_id);
        let doubtful = match (self.seen.as_slice(), self.undecodable.as_slice()) {
            ([only], []) if live.head == Head::START => Some(only.position),
            ([], [(only, _)]) => Some(*only),
            _ => None,
        };
        Verified { live, gaps, overwriting, nothing_else, stray: None, doubtful }
    }

    /// Where the rows of each version are.
    fn places(&self) -> Vec<Places> {
        let seen = self.seen.iter().map(|seen| (seen.header.version, seen.position));
        let unread = self.undecodable.iter().map(|(position, version)| (*version, *position));
        let mut all: Vec<(Version, Position)> = seen.chain(unread).collect();
        all.sort_unstable();
        let mut places: Vec<Places> = Vec::new();
        for (version, position) in all {
            match places.last_mut() {
                Some(same) if same.version == version => same.last = position,
                _ => places.push(Places { version, first: position, last: position }),
            }
        }
        places
    }

    /// The versions of a match that has not ended that are missing before a later one. Copying may have changed the order of
    /// its rows.
    fn gaps(&self, match_id: MatchId) -> Vec<Gap> {
        let mut before = Places { version: Version::ZERO, first: 0, last: 0 };
        let mut gaps = Vec::new();
        for places in self.places() {
            let (from, to) = (before.first.min(places.first), before.last.max(places.last));
            gaps.extend(gap(match_id, (before.version, places.version), (from, to)));
            before = places;
        }
        gaps
    }

    fn damage(&self, match_id: MatchId, intact: Version, unread: usize, is_last: bool) -> Option<Arc<str>> {
        let damage = match (&self.first_undecodable, unread) {
            (Some(damage), _) => damage.clone(),
            (None, 1..) => {
                format!(
                    "match {match_id} has {intact} intact records, and after them {unread} that don't follow"
                )
            }
            (None, 0) if is_last => format!("match {match_id} has ended, but its finished record is missing"),
            (None, 0) => return None,
        };
        Some(damage.into())
    }

    /// As for a match that has ended at this version: its rows are dead, but one may stand where another was. The answer
    /// is the records that have to be in the segments that are there, and the rows that stand where another was.
    pub(super) fn verify_dead(
        &mut self,
        match_id: MatchId,
        end: Version,
        segments: &[Segment],
    ) -> (Vec<Gap>, Vec<Position>) {
        self.seen
            .sort_unstable_by_key(|seen| (seen.header.version, seen.segment, seen.misplaced, seen.position));
        let there = self.seen.iter().filter(|seen| (1..=end.get()).contains(&seen.header.version.get()));
        let mut overwriting = Vec::new();
        let mut before = None;
        for seen in there {
            let place = Some((seen.header.version, seen.segment));
            if seen.misplaced || before == place {
                overwriting.push(seen.position);
            }
            before = place;
        }
        let gaps =
            if self.are_as_written(end) { self.dead_gaps(match_id, end, segments) } else { Vec::new() };
        (gaps, overwriting)
    }

    /// Whether all rows of a match that has ended can be read and follow from each other where they should.
    fn are_as_written(&self, end: Version) -> bool {
        let follows = |[before, seen]: &[Seen; 2]| {
            let same = before.header.version == seen.header.version;
            let copy = (before.chain, before.content) == (seen.chain, seen.content);
            let next = before.header.version.next() == Some(seen.header.version);
            if same { copy } else { !next || before.chain.then(seen.content) == seen.chain }
        };
        let as_written = |seen: &Seen| {
            let version = seen.header.version.get();
            !seen.misplaced
                && (1..=end.get()).contains(&version)
                && (version > 1 || ChainHash::START.then(seen.content) == seen.chain)
        };
        self.undecodable.is_empty()
            && self.seen.iter().all(as_written)
            && self.seen.array_windows().all(follows)
    }

    /// Many of its rows may have gone with their segments. But a version that was written between two positions has to be
    /// there if all positions between them are. Where a row was written is known when its segment has no copies.
    fn dead_gaps(&self, match_id: MatchId, end: Version, segments: &[Segment]) -> Vec<Gap> {
        let mut before = Places { version: Version::ZERO, first: 0, last: 0 };
        let mut gaps = Vec::new();
        let after = end.next().map(|version| Places { version, first: END, last: END });
        for places in self.places().into_iter().chain(after) {
            let from = before.first;
            if let Some(gap) = gap(match_id, (before.version, places.version), (from, places.last)) {
                let holds =
                    |segment: &&Segment| segment.first <= from && segment.end.is_none_or(|end| from < end);
                let written_there =
                    from == 0 || segments.iter().find(holds).is_some_and(|segment| !segment.copies);
                if written_there && segments::are_whole(segments, from, places.last) {
                    gaps.push(gap);
                }
            }
            before = places;
        }
        gaps
    }
}

/// After every position.
const END: Position = Position::MAX;

fn gap(
    match_id: MatchId,
    (after, before): (Version, Version),
    (from, to): (Position, Position),
) -> Option<Gap> {
    let records = before.get().checked_sub(after.get() + 1).filter(|records| *records > 0)?;
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    Some(Gap { match_id, after, before, from, to, records })
}
