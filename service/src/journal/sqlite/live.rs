//! The writer's map of the log: where the records of every running match are. It lives in memory and is rebuilt at
//! every opening.

mod rows;

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::rows::LiveRows;
use super::young::{YOUNG, Young};
use crate::journal::redo::Written;
use crate::journal::row::ChainHash;
use crate::journal::{Epoch, MatchId, Version};

pub(super) use crate::journal::redo::Position;

/// The number of a segment, in the name of its table.
pub(super) type SegmentNumber = u32;

/// The last record of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) version: Version,
    pub(super) epoch: Epoch,
    pub(super) chain: ChainHash,
}

impl Head {
    /// Before the first record.
    pub(super) const START: Self =
        Self { version: Version::ZERO, epoch: Epoch::new(0), chain: ChainHash::START };
}

/// A match that has not ended.
#[derive(Debug)]
pub(super) struct LiveMatch {
    pub(super) head: Head,
    /// Where the record of each version is, that of version 1 first.
    pub(super) positions: Vec<Position>,
    /// What was found, if it is under quarantine.
    pub(super) damage: Option<Arc<str>>,
}

/// A table of the log. Rows are added to the last one only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) number: SegmentNumber,
    pub(super) first: Position,
    /// The position after its last; nothing while rows are added.
    pub(super) end: Option<Position>,
    pub(super) rows: u64,
    /// How many of the rows are the record of a running match.
    pub(super) live: u64,
    /// Whether there may be rows among them that were copied from elsewhere, or of matches whose next rows were written elsewhere.
    pub(super) copies: bool,
}

/// All of it. A change is kept by [`Live::keep`] or taken back by [`Live::take_back`].
#[derive(Debug)]
pub(super) struct Live {
    /// Their ids are made at random, so nobody can make many that meet.
    matches: FxHashMap<MatchId, LiveMatch>,
    segments: Vec<Segment>,
    alive: LiveRows,
    young: Young,
    next_position: Position,
    next_result: u64,
    undo: Vec<Undo>,
    before: (Vec<Segment>, Position, u64),
}

#[derive(Debug)]
enum Undo {
    Created(MatchId),
    Appended(MatchId, Head),
    Moved(MatchId, Version, Position),
    Ended(MatchId, Box<LiveMatch>),
}

impl Live {
    /// The map of these matches, in a log of these segments, of which there is at least one.
    pub(super) fn new(
        matches: HashMap<MatchId, LiveMatch>,
        segments: Vec<Segment>,
        next_position: Position,
        next_result: u64,
    ) -> Self {
        let mut live = Self {
            matches: matches.into_iter().collect(),
            segments,
            alive: LiveRows::default(),
            young: Young::new(),
            next_position,
            next_result,
            undo: Vec::new(),
            before: (Vec::new(), next_position, next_result),
        };
        let positions: Vec<Position> =
            live.matches.values().flat_map(|m| m.positions.iter().copied()).collect();
        for position in positions {
            live.lives(position);
        }
        live.keep();
        live
    }

    pub(super) fn get(&self, match_id: &MatchId) -> Option<&LiveMatch> {
        self.matches.get(match_id)
    }

    /// The running matches, without those under quarantine.
    pub(super) fn unfinished(&self) -> Vec<MatchId> {
        self.matches.iter().filter(|(_, m)| m.damage.is_none()).map(|(id, _)| *id).collect()
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(super) fn next_position(&self) -> Position {
        self.next_position
    }

    pub(super) fn next_result(&self) -> u64 {
        self.next_result
    }

    /// The first live row from a position on that is before `end`.
    pub(super) fn next_live_before(&self, from: Position, end: Position) -> Option<Position> {
        self.alive.next(from, end)
    }

    /// The next live row of a segment from a position on.
    pub(super) fn next_live(&self, number: SegmentNumber, from: Position) -> Option<Position> {
        let segment = self.segments.iter().find(|segment| segment.number == number)?;
        self.alive.next(from, segment.end.unwrap_or(self.next_position))
    }

    /// Whether the row at a position is live.
    pub(super) fn is_live(&self, position: Position) -> bool {
        self.alive.contains(position)
    }

    /// The segment that a position is in.
    pub(super) fn segment_of(&self, position: Position) -> Option<&Segment> {
        self.segments[..self.segments.partition_point(|s| s.first <= position)].last()
    }

    pub(super) fn started_segment(&mut self, number: SegmentNumber) {
        let first = self.next_position;
        if let Some(full) = self.segments.last_mut() {
            full.end = Some(first);
        }
        self.segments.push(Segment { number, first, end: None, rows: 0, live: 0, copies: false });
    }

    pub(super) fn dropped_segment(&mut self, number: SegmentNumber) {
        self.segments.retain(|s| s.number != number);
    }

    pub(super) fn created(&mut self, match_id: MatchId) {
        let new = LiveMatch { head: Head::START, positions: Vec::new(), damage: None };
        self.matches.insert(match_id, new);
        self.undo.push(Undo::Created(match_id));
    }

    /// Rows are not written where those before them were any more, in none of the segments.
    pub(super) fn may_have_copies(&mut self) {
        for segment in &mut self.segments {
            segment.copies = true;
        }
        self.keep();
    }

    pub(super) fn young(&self) -> &Young {
        &self.young
    }

    pub(super) fn young_mut(&mut self) -> &mut Young {
        &mut self.young
    }

    /// The row at the next position of the redo log is the next record of this match.
    pub(super) fn appended_young(&mut self, match_id: MatchId, head: Head) {
        let position = self.young.add_row();
        self.appended_at(match_id, head, position);
    }

    /// The row at the next position of the tables is the next record of this match.
    pub(super) fn appended(&mut self, match_id: MatchId, head: Head) {
        let position = self.add_row();
        self.appended_at(match_id, head, position);
    }

    fn appended_at(&mut self, match_id: MatchId, head: Head, position: Position) {
        if let Some(m) = self.matches.get_mut(&match_id) {
            self.undo.push(Undo::Appended(match_id, m.head));
            m.head = head;
            m.positions.push(position);
        }
        self.lives(position);
    }

    /// The row at the next position of the tables is a copy of a record of this match, and stands for it from now on.
    pub(super) fn moved(&mut self, match_id: MatchId, version: Version) {
        let to = self.add_row();
        if let Some(current) = self.segments.last_mut() {
            current.copies = true;
        }
        let Some(from) = self.matches.get_mut(&match_id).and_then(|m| m.position_mut(version)) else {
            return;
        };
        let old = std::mem::replace(from, to);
        self.undo.push(Undo::Moved(match_id, version, old));
        self.dies(old);
        self.lives(to);
    }

    /// The match has its result: its rows are dead.
    pub(super) fn ended(&mut self, match_id: MatchId) {
        if let Some(ended) = self.matches.remove(&match_id) {
            for position in &ended.positions {
                self.dies(*position);
            }
            self.undo.push(Undo::Ended(match_id, Box::new(ended)));
            self.next_result += 1;
        }
    }

    /// The changes are durable, with the rows that were appended there.
    pub(super) fn written(&mut self, written: Written) {
        self.young.written(written);
        self.keep();
    }

    /// The changes are durable.
    pub(super) fn keep(&mut self) {
        self.undo.clear();
        self.before.0.clone_from(&self.segments);
        self.before.1 = self.next_position;
        self.before.2 = self.next_result;
    }

    /// The changes since the last [`Live::keep`] did not happen.
    pub(super) fn take_back(&mut self) {
        while let Some(undo) = self.undo.pop() {
            match undo {
                Undo::Created(match_id) => {
                    self.matches.remove(&match_id);
                }
                Undo::Appended(match_id, head) => {
                    let position = self.matches.get_mut(&match_id).and_then(|m| {
                        m.head = head;
                        m.positions.pop()
                    });
                    if let Some(position) = position {
                        self.dies(position);
                    }
                }
                Undo::Moved(match_id, version, old) => {
                    let place = self.matches.get_mut(&match_id).and_then(|m| m.position_mut(version));
                    if let Some(place) = place {
                        let copy = std::mem::replace(place, old);
                        self.dies(copy);
                        self.lives(old);
                    }
                }
                Undo::Ended(match_id, ended) => {
                    for position in &ended.positions {
                        self.lives(*position);
                    }
                    self.matches.insert(match_id, *ended);
                }
            }
        }
        self.young.take_back();
        // With what was counted of them.
        self.segments.clone_from(&self.before.0);
        self.next_position = self.before.1;
        self.next_result = self.before.2;
        debug_assert!(self.segments.iter().all(|segment| self.alive_in(segment) == segment.live));
    }

    /// How many rows of a segment are live, counted anew.
    fn alive_in(&self, segment: &Segment) -> u64 {
        let next = |from| self.next_live(segment.number, from);
        std::iter::successors(next(segment.first), |position| next(position + 1)).count() as u64
    }

    fn add_row(&mut self) -> Position {
        let position = self.next_position;
        self.next_position += 1;
        if let Some(current) = self.segments.last_mut() {
            current.rows += 1;
        }
        position
    }

    fn lives(&mut self, position: Position) {
        self.alive.insert(position);
        self.count(position, 1);
    }

    fn dies(&mut self, position: Position) {
        self.alive.remove(position);
        self.count(position, -1);
    }

    fn count(&mut self, position: Position, change: i64) {
        if position >= YOUNG {
            self.young.count(position, change);
            return;
        }
        let after = self.segments.partition_point(|s| s.first <= position);
        if let Some(segment) = self.segments[..after].last_mut() {
            segment.live = segment.live.saturating_add_signed(change);
        }
    }
}

impl LiveMatch {
    /// Where the record of a version is.
    pub(super) fn position(&self, version: Version) -> Option<Position> {
        self.positions.get(index(version)?).copied()
    }

    fn position_mut(&mut self, version: Version) -> Option<&mut Position> {
        self.positions.get_mut(index(version)?)
    }
}

fn index(version: Version) -> Option<usize> {
    usize::try_from(version.get()).ok()?.checked_sub(1)
}
