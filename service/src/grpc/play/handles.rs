//! Which seats a Play stream carries, and by which handles.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::Mutex;
use zetema_proto::{Wire, v1};
use zetema_rules::Seat;

use super::by_handle::ByHandle;
use crate::{
    journal::MatchId,
    ladders::Occupied,
    limits,
    matches::{Hold, Way},
    prefetch::Place,
    table::{Receipt, SeatAccess},
};

/// A match and a seat of it.
pub(super) type SeatKey = (MatchId, Seat);

/// The seats of one stream. A handle is never given to another seat, so a message that crosses an end can't
/// meet the wrong match.
#[derive(Debug, Default)]
pub(super) struct Handles {
    held: ByHandle<Held>,
    of_seat: HashMap<SeatKey, u32>,
    /// Seats that are being joined.
    joining: HashMap<SeatKey, Joining>,
    /// Seats that the stream has no longer, of whose actions some are still to be answered.
    left: HashMap<u32, Left>,
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

/// An action that a table has done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acted {
    pub(super) tag: u64,
    pub(super) receipt: Receipt,
    /// What the stream had shown of the seat when it was asked.
    pub(super) shown: u64,
}

impl Acted {
    /// Whether an observation tells of it that the stream had not shown when it was asked, and that comes after this one.
    fn is_after(&self, start: u64) -> bool {
        self.receipt.seq > self.shown.max(start)
    }
}

/// What a subscription that is over has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Showed {
    /// The number of the last observation that its start included.
    start: u64,
    /// That of the last one that went into the stream.
    shown: u64,
}

impl Showed {
    /// Whether an observation of it told of an action.
    fn told_of(self, acted: Acted) -> bool {
        acted.is_after(self.start) && acted.receipt.seq <= self.shown
    }
}

/// What is left of a seat that the stream has no longer.
#[derive(Debug)]
struct Left {
    showed: Showed,
    /// More than none.
    unanswered: usize,
}

/// A seat of the stream.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) match_id: MatchId,
    pub(super) way: Way,
    pub(super) access: SeatAccess,
    pub(super) hold: Hold,
    /// The number of the last observation that the start of the subscription included.
    pub(super) start: u64,
    /// The number of the last observation that went into the stream.
    pub(super) shown: u64,
    /// Actions that are answered by observations still to come: the tag of each and its receipt.
    pub(super) owed: Vec<(u64, Receipt)>,
    /// What a table was asked by this handle and has not answered.
    pub(super) unanswered: usize,
    /// The subscription before this one, if something that was asked then may be unanswered.
    pub(super) before: Option<Showed>,
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

    /// What its subscription has shown.
    const fn showed(&self) -> Showed {
        Showed { start: self.start, shown: self.shown }
    }
}

impl Handles {
    /// How many seats there are, those that are being joined included.
    pub(super) fn taken(&self) -> usize {
        let new = self.joining.keys().filter(|seat| !self.of_seat.contains_key(*seat));
        self.held.len() + new.count()
    }

    /// Whether the stream has more seats than one.
    pub(super) fn are_many(&self) -> bool {
        self.held.len() > 1
    }

    /// Whether the stream has this seat, or is joining it.
    pub(super) fn has(&self, seat: &SeatKey) -> bool {
        self.of_seat.contains_key(seat) || self.joining.contains_key(seat)
    }

    /// A seat is being joined: by one join at a time, in the order in which they came, or each would take the
    /// seat from the one before while that is under way.
    pub(super) fn begin_join(&mut self, seat: SeatKey) -> Arc<Mutex<Option<Hold>>> {
        let held = self.of_seat.get(&seat).and_then(|handle| self.held.get(*handle));
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
        self.held.get(handle).filter(|held| held.lost).map(|_| handle)
    }

    /// The seat of a handle was joined anew. `false`: not on this stream, so it is another's.
    pub(super) fn lose(&mut self, handle: u32) -> bool {
        let Some(held) = self.held.get_mut(handle) else { return false };
        held.lost = self.joining.contains_key(&(held.match_id, held.access.seat));
        held.lost
    }

    /// The seat of a handle.
    pub(super) fn get(&self, handle: u32) -> Option<&Held> {
        self.held.get(handle)
    }

    /// Has fetched what the stream has of a seat.
    pub(super) fn fetch(&self, handle: u32) {
        self.held.get(handle).map(Place::of).into_iter().for_each(Place::fetch);
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

    /// A table is asked for the seat of a handle.
    pub(super) fn ask(&mut self, handle: u32) {
        if let Some(held) = self.held.get_mut(handle) {
            held.unanswered += 1;
        }
    }

    /// A table has answered what was asked by a handle. The answer is whether an observation of the stream tells of the action, one
    /// that came since or is still to come.
    pub(super) fn answered(&mut self, handle: u32, acted: Option<Acted>) -> bool {
        if let Some(held) = self.held.get_mut(handle) {
            held.unanswered = held.unanswered.saturating_sub(1);
            let was_told = |acted: Acted| held.before.is_some_and(|before| before.told_of(acted));
            let is_told = acted.is_some_and(|acted| acted.is_after(held.start) || was_told(acted));
            if let Some(Acted { tag, receipt, .. }) =
                acted.filter(|acted| is_told && acted.receipt.seq > held.shown)
            {
                held.owed.push((tag, receipt));
                self.owed += 1;
            }
            return is_told;
        }
        let Some(left) = self.left.get_mut(&handle) else { return false };
        let is_told = acted.is_some_and(|acted| left.showed.told_of(acted));
        left.unanswered = left.unanswered.saturating_sub(1);
        if left.unanswered == 0 {
            self.left.remove(&handle);
        }
        is_told
    }

    /// Notes how far the stream has shown a seat's observations.
    pub(super) fn shown(&mut self, handle: u32, seq: u64) {
        if let Some(held) = self.held.get_mut(handle) {
            held.shown = seq;
            let before = held.owed.len();
            held.owed.retain(|(_, receipt)| receipt.seq > seq);
            self.owed -= before - held.owed.len();
            if held.owed.is_empty() {
                held.owed.shrink_to(limits::OWN_REQUESTS_IN_FLIGHT);
            }
        }
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
        let earlier = self.held.insert(handle, held);
        let before = earlier.as_ref().filter(|earlier| earlier.unanswered > 0).map(Held::showed);
        let (earlier, unanswered) =
            earlier.map_or_else(Default::default, |earlier| (earlier.owed, earlier.unanswered));
        let (owed, untold): (Vec<_>, Vec<_>) =
            earlier.into_iter().partition(|(_, receipt)| receipt.seq > start);
        self.owed -= untold.len();
        if let Some(held) = self.held.get_mut(handle) {
            held.owed = owed;
            held.unanswered = unanswered;
            held.before = before;
        }
        (handle, untold)
    }

    /// Voids a handle.
    pub(super) fn remove(&mut self, handle: u32) -> Option<Held> {
        let held = self.held.remove(handle)?;
        self.of_seat.remove(&(held.match_id, held.access.seat));
        self.owed -= held.owed.len();
        if held.unanswered > 0 {
            self.left.insert(handle, Left { showed: held.showed(), unanswered: held.unanswered });
        }
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLE: u32 = 1;

    fn seat(start: u64) -> Held {
        let access = SeatAccess { seat: Seat::new(0).unwrap(), generation: 1 };
        Held {
            match_id: MatchId::from_bytes([7; 16]),
            way: Way::nowhere(),
            access,
            hold: Hold::FIRST,
            start,
            shown: start,
            owed: Vec::new(),
            unanswered: 0,
            before: None,
            lost: false,
            _occupied: None,
        }
    }

    fn acted(seq: u64, shown: u64) -> Acted {
        Acted { tag: 5, receipt: Receipt { match_id: MatchId::from_bytes([7; 16]), decision: 1, seq }, shown }
    }

    /// An action is asked when the stream has shown 3 of its seat and shows the observations up to `shown_to` until the seat is given
    /// up, of which the table's answer is heard before or after.
    fn is_told(seq: u64, shown_to: u64) -> bool {
        let mut handles = Handles::default();
        handles.put(seat(3));
        handles.ask(HANDLE);
        handles.shown(HANDLE, shown_to);
        handles.remove(HANDLE);
        let is_told = handles.answered(HANDLE, Some(acted(seq, 3)));
        assert_eq!(handles.left.len(), 0, "nothing is left of a seat when all is answered");
        is_told
    }

    #[test]
    fn an_action_that_ends_its_match_is_answered_once_however_late_the_table_answers() {
        assert!(is_told(4, 5), "the observation that tells of it went out");
        assert!(!is_told(4, 3), "the seat was given up before that observation: only the answer tells of it");
        assert!(!is_told(3, 5), "an action that is sent again was shown before it was asked");
    }

    #[test]
    fn a_seat_that_is_joined_anew_answers_what_was_asked_before() {
        let mut handles = Handles::default();
        handles.put(seat(3));
        handles.ask(HANDLE);
        handles.put(seat(6));
        assert!(!handles.answered(HANDLE, Some(acted(5, 3))), "the snapshot has it, no observation does");

        let mut handles = Handles::default();
        handles.put(seat(3));
        handles.ask(HANDLE);
        handles.shown(HANDLE, 5);
        handles.put(seat(6));
        assert!(
            handles.answered(HANDLE, Some(acted(5, 3))),
            "an observation went out before the seat was joined anew"
        );
    }
}
