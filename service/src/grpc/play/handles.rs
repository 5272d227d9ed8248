//! Which seats a Play stream carries, and by which handles.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::Mutex;
use zetema_proto::{Wire, v1};
use zetema_rules::Seat;

use crate::{
    journal::MatchId,
    ladders::Occupied,
    limits,
    matches::Hold,
    table::{Receipt, SeatAccess},
};

/// A match and a seat of it.
pub(super) type SeatKey = (MatchId, Seat);

/// The seats of one stream. A handle is never given to another seat, so a message that crosses an end can't
/// meet the wrong match.
#[derive(Debug, Default)]
pub(super) struct Handles {
    held: HashMap<u32, Held>,
    of_seat: HashMap<SeatKey, u32>,
    /// Seats that are being joined.
    joining: HashMap<SeatKey, Joining>,
    last: u32,
    /// Actions that are owed to all seats.
    owed: usize,
}

/// A seat that is being joined.
#[derive(Debug)]
struct Joining {
    /// Joins that are not answered.
    unanswered: usize,
    /// What the stream's last join was given. Whose turn it is has it.
    turn: Arc<Mutex<Option<Hold>>>,
}

/// A seat of the stream.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) match_id: MatchId,
    pub(super) access: SeatAccess,
    pub(super) hold: Hold,
    /// The number of the last observation that the start of the subscription included.
    pub(super) start: u64,
    /// The number of the last observation that went into the stream.
    pub(super) shown: u64,
    /// Actions that are answered by observations still to come: the tag of each and its receipt.
    pub(super) owed: Vec<(u64, Receipt)>,
    /// Whether the subscription has ended, since the seat was joined anew, on this stream as it seems.
    pub(super) lost: bool,
    /// That the bot plays it by this stream, for the ladders.
    pub(super) _occupied: Option<Occupied>,
}

impl Held {
    /// The match and the seat.
    pub(super) const fn key(&self) -> SeatKey {
        (self.match_id, self.access.seat)
    }
}

impl Handles {
    /// How many seats there are, those that are being joined included.
    pub(super) fn taken(&self) -> usize {
        let new = self.joining.keys().filter(|seat| !self.of_seat.contains_key(*seat));
        self.held.len() + new.count()
    }

    /// Whether the stream has this seat, or is joining it.
    pub(super) fn has(&self, seat: &SeatKey) -> bool {
        self.of_seat.contains_key(seat) || self.joining.contains_key(seat)
    }

    /// A seat is being joined: by one join at a time, in the order in which they came, or each would take the
    /// seat from the one before while that is under way.
    pub(super) fn begin_join(&mut self, seat: SeatKey) -> Arc<Mutex<Option<Hold>>> {
        let held = self.of_seat.get(&seat).and_then(|handle| self.held.get(handle));
        let last = held.map(|held| held.hold);
        let joining = self
            .joining
            .entry(seat)
            .or_insert_with(|| Joining { unanswered: 0, turn: Arc::new(Mutex::new(last)) });
        joining.unanswered += 1;
        Arc::clone(&joining.turn)
    }

    /// A join was answered. The answer is the handle that the seat had, if it is lost by then.
    pub(super) fn end_join(&mut self, seat: &SeatKey) -> Option<u32> {
        if let Some(joining) = self.joining.get_mut(seat) {
            joining.unanswered -= 1;
            if joining.unanswered > 0 {
                return None;
            }
            self.joining.remove(seat);
        }
        let handle = *self.of_seat.get(seat)?;
        self.held.get(&handle).filter(|held| held.lost).map(|_| handle)
    }

    /// The seat of a handle was joined anew. `false`: not on this stream, so it is another's.
    pub(super) fn lose(&mut self, handle: u32) -> bool {
        let Some(held) = self.held.get_mut(&handle) else { return false };
        held.lost = self.joining.contains_key(&(held.match_id, held.access.seat));
        held.lost
    }

    /// The seat of a handle.
    pub(super) fn get(&self, handle: u32) -> Option<&Held> {
        self.held.get(&handle)
    }

    /// All seats of the stream.
    pub(super) fn seats(&self) -> impl Iterator<Item = SeatKey> {
        self.of_seat.keys().copied()
    }

    /// How far the stream has shown each of them.
    pub(super) fn cursors(&self) -> impl Iterator<Item = v1::SeatCursor> {
        self.held.values().map(|held| {
            let (match_id, seat) = held.key();
            v1::SeatCursor { match_id: match_id.to_string(), seat: seat.to_wire(), seq: held.shown }
        })
    }

    /// Notes how far the stream has shown a seat's observations.
    pub(super) fn shown(&mut self, handle: u32, seq: u64) {
        if let Some(held) = self.held.get_mut(&handle) {
            held.shown = seq;
            let before = held.owed.len();
            held.owed.retain(|(_, receipt)| receipt.seq > seq);
            self.owed -= before - held.owed.len();
            if held.owed.is_empty() {
                held.owed.shrink_to(limits::OWN_REQUESTS_IN_FLIGHT);
            }
        }
    }

    /// An action was done that was asked when the stream had shown `shown`. The answer is whether an observation of the
    /// stream tells of it, one that came since or is still to come.
    pub(super) fn is_told(&mut self, handle: u32, tag: u64, receipt: Receipt, shown: u64) -> bool {
        let Some(held) = self.held.get_mut(&handle) else { return false };
        let is_told = receipt.seq > shown.max(held.start);
        if is_told && receipt.seq > held.shown {
            held.owed.push((tag, receipt));
            self.owed += 1;
        }
        is_told
    }

    /// How many actions are answered by observations still to come: one that is sent again and again counts each time.
    pub(super) const fn owed(&self) -> usize {
        self.owed
    }

    /// Takes a seat in, by its handle if it has one: then its earlier subscription ends, and no observation answers
    /// the actions that are returned.
    pub(super) fn put(&mut self, held: Held) -> (u32, Vec<(u64, Receipt)>) {
        let handle = *self.of_seat.entry((held.match_id, held.access.seat)).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        let start = held.start;
        let earlier = self.held.insert(handle, held).map(|earlier| earlier.owed);
        let (owed, untold): (Vec<_>, Vec<_>) =
            earlier.into_iter().flatten().partition(|(_, receipt)| receipt.seq > start);
        self.owed -= untold.len();
        if let Some(held) = self.held.get_mut(&handle) {
            held.owed = owed;
        }
        (handle, untold)
    }

    /// Voids a handle.
    pub(super) fn remove(&mut self, handle: u32) -> Option<Held> {
        let held = self.held.remove(&handle)?;
        self.of_seat.remove(&(held.match_id, held.access.seat));
        self.owed -= held.owed.len();
        Some(held)
    }
}
