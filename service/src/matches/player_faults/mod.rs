//! What went wrong for the players of seats, for their authors: remembered in bounded memory, and kept in a file over a restart.
//!
//! An action waits for the memory alone. The file is written behind it, by a task of its own.

mod file;
mod keeper;
mod remembered;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use zetema_proto::v1::player_fault::Kind;
use zetema_rules::Seat;

use super::Matches;
use crate::journal::{BotName, MatchId, UnixMillis};
use crate::table::MatchInfo;
pub(super) use keeper::FaultKeeper;
use remembered::{KeptSeat, Remembered, SeatKey, Whose, seats_of};

/// Something that went wrong for the player of a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerFault {
    /// When, the last time.
    pub at: UnixMillis,
    /// How often it came in a row.
    pub count: u32,
    /// The match.
    pub match_id: MatchId,
    /// The seat.
    pub seat: Seat,
    /// What it was, as the wire says it.
    pub kind: Kind,
}

/// Whose faults are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultsOf {
    /// Those of one seat.
    Seat(MatchId, Seat),
    /// Those of all seats of a bot.
    Bot(BotName),
}

/// The place of a fault among all, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultNumber(u64);

/// As page tokens carry it: at most 64 ASCII characters.
impl fmt::Display for FaultNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// A text that is no place of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of this list: give the next_page_token of the page before, or none")]
pub struct NoFaultNumber;

impl FromStr for FaultNumber {
    type Err = NoFaultNumber;

    fn from_str(text: &str) -> Result<Self, NoFaultNumber> {
        let digits = text.strip_prefix('f').ok_or(NoFaultNumber)?;
        let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| only_digits).map(Self).ok_or(NoFaultNumber)
    }
}

/// Faults, the latest first.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPage {
    /// The faults.
    pub faults: Vec<PlayerFault>,
    /// Where the next page begins. `None`: this is the last.
    pub next: Option<FaultNumber>,
}

/// How much is remembered.
///
/// A seat that is to be forgotten is the one whose latest fault is the oldest: of the same bot or owner, if that has as many as it may,
/// else of whoever has the most. So nobody with less than others can have anything forgotten by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultLimits {
    /// Faults of one seat; the oldest is forgotten first.
    pub per_seat: usize,
    /// Seats with faults.
    pub seats: usize,
    /// Those of one bot, and the others in the matches of one owner. The others of the admin have no such limit.
    pub seats_of_one: usize,
    /// How long after the end of its match the faults of a seat are remembered that is no bot's. Those of bots are, however long it is
    /// over: what came of them, such as that it is benched, lasts long.
    pub kept: Duration,
}

/// The faults of all seats.
pub(super) struct PlayerFaults {
    limits: FaultLimits,
    remembered: Mutex<Remembered>,
    /// There is something that is not in the file.
    changed: Notify,
}

/// Whether all that is remembered is in the file, or about to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Saved {
    #[default]
    Yes,
    No,
}

impl PlayerFaults {
    pub(super) fn new(limits: FaultLimits) -> Self {
        Self { limits, remembered: Mutex::default(), changed: Notify::new() }
    }

    /// Remembers a fault, if the match runs: `runs` is asked under the lock, so that none comes in behind its end.
    pub(super) fn note(&self, info: &MatchInfo, fault: PlayerFault, runs: impl FnOnce() -> bool) {
        let mut remembered = self.lock();
        remembered.forget_over();
        if runs() {
            remembered.note(&Whose::of(info, fault.seat), fault, &self.limits);
            self.changed.notify_one();
        }
    }

    /// A match is over: the faults of seats that are no bot's are remembered for a while.
    pub(super) fn over(&self, match_id: MatchId) {
        let mut remembered = self.lock();
        remembered.forget_over();
        if remembered.has_any_to_forget(match_id) {
            remembered.is_over(match_id, Instant::now() + self.limits.kept);
            self.changed.notify_one();
        }
    }

    /// Takes up what was kept, before any match runs. What is not `saved` as it is now is written again.
    fn take_up(&self, seats: Vec<KeptSeat>, wall: UnixMillis, saved: Saved) {
        let mut remembered = self.lock();
        remembered.take_up(seats, wall, &self.limits);
        remembered.saved = saved;
        if saved == Saved::No {
            self.changed.notify_one();
        }
    }

    /// The matches that go on are known: all others are over, and it may be news that they are.
    pub(super) fn settle(&self, runs: impl Fn(MatchId) -> bool) {
        let mut remembered = self.lock();
        let matches: BTreeSet<MatchId> = remembered.matches_to_forget().collect();
        for match_id in matches {
            if runs(match_id) {
                remembered.goes_on(match_id);
            } else if !remembered.is_known_to_be_over(match_id) {
                remembered.is_over(match_id, Instant::now() + self.limits.kept);
                self.changed.notify_one();
            }
        }
    }

    /// All seats, if anything has changed since they were asked for.
    fn unsaved(&self) -> Option<Vec<SeatKey>> {
        let mut remembered = self.lock();
        remembered.forget_over();
        match std::mem::replace(&mut remembered.saved, Saved::Yes) {
            Saved::No => Some(remembered.seats().collect()),
            Saved::Yes => None,
        }
    }

    /// What was asked for is not in the file.
    fn not_saved(&self) {
        self.lock().saved = Saved::No;
        self.changed.notify_one();
    }

    /// What is kept of these seats, those that are forgotten left out. Tables wait for the lock: a few at a time.
    fn kept(&self, seats: &[SeatKey], wall: UnixMillis) -> Vec<KeptSeat> {
        let remembered = self.lock();
        seats.iter().filter_map(|key| remembered.kept(*key, wall)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(
        &self,
        of: &FaultsOf,
        match_id: Option<MatchId>,
        before: Option<FaultNumber>,
        most: usize,
    ) -> FaultPage {
        let (listed, next) = self.listed(of, match_id, before, most);
        FaultPage { faults: listed.into_iter().map(Arc::unwrap_or_clone).collect(), next }
    }

    fn listed(
        &self,
        of: &FaultsOf,
        match_id: Option<MatchId>,
        before: Option<FaultNumber>,
        most: usize,
    ) -> Listed {
        let mut remembered = self.lock();
        remembered.forget_over();
        let before = before.map_or(u64::MAX, |FaultNumber(number)| number);
        let seats: Vec<SeatKey> = match (of, match_id) {
            (FaultsOf::Seat(own, seat), wanted) => {
                wanted.is_none_or(|wanted| wanted == *own).then_some((*own, *seat)).into_iter().collect()
            }
            (FaultsOf::Bot(bot), Some(wanted)) => {
                let is_own = |key: &SeatKey| {
                    remembered.of_seat.get(key).is_some_and(|seat| seat.whose.bot() == Some(bot))
                };
                seats_of(wanted).filter(is_own).collect()
            }
            (FaultsOf::Bot(bot), None) => {
                let all = remembered.of_bot.get(bot).into_iter().flat_map(|of_bot| of_bot.range(..before));
                let faults = all.rev().filter_map(|(&number, key)| {
                    Some((number, Arc::clone(remembered.of_seat.get(key)?.get(number)?)))
                });
                return page(faults, most);
            }
        };
        let mut faults: Vec<&(u64, Arc<PlayerFault>)> = seats
            .iter()
            .filter_map(|key| remembered.of_seat.get(key))
            .flat_map(|seat| &seat.faults)
            .collect();
        faults.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
        page(faults.into_iter().filter(|(number, _)| *number < before).cloned(), most)
    }
}

/// The faults of a page, and where the next one begins.
type Listed = (Vec<Arc<PlayerFault>>, Option<FaultNumber>);

fn page(mut faults: impl Iterator<Item = (u64, Arc<PlayerFault>)>, most: usize) -> Listed {
    let listed: Vec<(u64, Arc<PlayerFault>)> = faults.by_ref().take(most).collect();
    let next = listed.last().map(|(number, _)| FaultNumber(*number)).filter(|_| faults.next().is_some());
    (listed.into_iter().map(|(_, fault)| fault).collect(), next)
}

impl Matches {
    /// Remembers that something went wrong for the player of a seat. What comes after the match's end is not
    /// remembered.
    pub fn note_fault(&self, match_id: MatchId, seat: Seat, kind: Kind) {
        let Some(handle) = self.handle(match_id) else { return };
        let info = handle.info.borrow().clone();
        let fault = PlayerFault { at: self.wall(), count: 1, match_id, seat, kind };
        self.shared.faults.note(&info, fault, || self.handle(match_id).is_some());
    }

    /// What went wrong, the latest first: at most `most` faults before a place, in one match or in all.
    pub fn faults(
        &self,
        of: &FaultsOf,
        match_id: Option<MatchId>,
        before: Option<FaultNumber>,
        most: usize,
    ) -> FaultPage {
        self.shared.faults.list(of, match_id, before, most)
    }
}
