//! What the rows of one match come to: how far its chain holds, and what is wrong with the rest.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use super::live::{Head, LiveMatch, Position, SegmentNumber};
use crate::journal::row::{ChainHash, ContentHash, RowHeader, RowKind};
use crate::journal::{MatchId, Version};

/// A row that was read, without its payload.
pub(super) struct Seen {
    pub(super) position: Position,
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
    /// The first that can't be read: what it is, and the version that it seems to be.
    pub(super) undecodable: Option<(String, Version)>,
}

/// What they come to.
pub(super) struct Verified {
    pub(super) live: LiveMatch,
    /// Records that have to be somewhere, since a later one is there.
    pub(super) missing: u64,
    /// Rows that stand where another row was.
    pub(super) overwriting: u64,
    /// The only row of its match, when nothing says that there is such a match.
    pub(super) stray: Option<Seen>,
}

impl Rows {
    /// Walks the chain of a match that has not ended as far as it holds. What comes after is damage.
    pub(super) fn verify(mut self, match_id: MatchId) -> Verified {
        // A row that was copied on, with its copy not yet alone, is there twice: the later one first.
        self.seen.sort_unstable_by_key(|seen| (seen.header.version, seen.misplaced, Reverse(seen.position)));
        let mut live = LiveMatch { head: Head::START, positions: Vec::new(), damage: None };
        let mut chosen: Vec<&Seen> = Vec::new();
        let mut unread: Vec<&Seen> = Vec::new();
        let mut overwriting = 0;
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
                overwriting += u64::from(seen.misplaced || seen.segment == original.segment);
            } else {
                unread.push(seen);
            }
        }
        let versions: HashSet<Version> = self.seen.iter().map(|seen| seen.header.version).collect();
        let last = self.seen.last().map_or(0, |seen| u64::from(seen.header.version.get()));
        let missing = last.saturating_sub(versions.len() as u64);
        let is_last = chosen.last().is_some_and(|seen| seen.header.kind == RowKind::Last);
        live.damage = self.damage(match_id, live.head.version, unread.len(), is_last);
        let nothing_else = match self.seen.as_slice() {
            [] => self.undecodable.as_ref().is_some_and(|(_, version)| version.get() != 1),
            [only] => live.head == Head::START && only.header.version.get() != 1,
            _ => false,
        };
        let stray = if nothing_else { self.seen.pop() } else { None };
        let overwriting = overwriting + u64::from(nothing_else);
        Verified { live, missing: if nothing_else { 0 } else { missing }, overwriting, stray }
    }

    fn damage(&self, match_id: MatchId, intact: Version, unread: usize, is_last: bool) -> Option<Arc<str>> {
        let damage = match (&self.undecodable, unread) {
            (Some((damage, _)), _) => damage.clone(),
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
    /// is how many of its rows are missing, and how many stand where another was.
    pub(super) fn verify_dead(&self, end: Version) -> (u64, u64) {
        let there = || self.seen.iter().filter(|seen| (1..=end.get()).contains(&seen.header.version.get()));
        let versions: HashSet<Version> = there().map(|seen| seen.header.version).collect();
        let first = versions.iter().min().map_or(end.get() + 1, |version| version.get());
        let missing = u64::from(end.get() + 1 - first).saturating_sub(versions.len() as u64);
        let places: HashSet<(Version, SegmentNumber)> =
            there().map(|seen| (seen.header.version, seen.segment)).collect();
        let twice = there().count().saturating_sub(places.len());
        let misplaced = there().filter(|seen| seen.misplaced).count();
        (missing, twice.max(misplaced) as u64)
    }
}
