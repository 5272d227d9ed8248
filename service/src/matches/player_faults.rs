//! What went wrong for the players of seats, for their authors: remembered in bounded memory, until a restart.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use zetema_proto::v1::player_fault::Kind;
use zetema_rules::Seat;

use super::Matches;
use crate::journal::{BotName, MatchId, Owner, UnixMillis};
use crate::table::MatchInfo;

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

type SeatKey = (MatchId, Seat);

/// The faults of all seats.
pub(super) struct PlayerFaults {
    limits: FaultLimits,
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    last: u64,
    of_seat: HashMap<SeatKey, SeatFaults>,
    /// Of each bot, the seat of each fault.
    of_bot: HashMap<BotName, BTreeMap<u64, SeatKey>>,
    /// The seats of each, by the latest fault.
    of_each: HashMap<Whose, BTreeMap<u64, SeatKey>>,
    /// Who has how many, the most last.
    by_count: BTreeSet<(usize, Whose)>,
    /// The matches that are over with seats that are no bot's, the first that ended first, and until when the faults of these are
    /// remembered.
    over: BTreeSet<(Instant, MatchId)>,
    over_until: HashMap<MatchId, Instant>,
}

/// Whose the faults of a seat are: they are bounded together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Whose {
    Bot(BotName),
    /// Of the owner of the match, as its seats are no bot's.
    Owner(Owner),
    Admin,
}

impl Whose {
    fn of(info: &MatchInfo, seat: Seat) -> Self {
        let bot = info.seats.get(seat.index()).and_then(|seat| seat.bot.clone());
        match (bot, &info.owner) {
            (Some(bot), _) => Self::Bot(bot),
            (None, Some(owner)) => Self::Owner(owner.clone()),
            (None, None) => Self::Admin,
        }
    }

    const fn bot(&self) -> Option<&BotName> {
        match self {
            Self::Bot(bot) => Some(bot),
            Self::Owner(_) | Self::Admin => None,
        }
    }
}

struct SeatFaults {
    whose: Whose,
    /// By number, the oldest first. Tables wait for the lock: whoever lists them takes handles under it, and copies afterwards.
    faults: VecDeque<(u64, Arc<PlayerFault>)>,
}

impl SeatFaults {
    fn get(&self, number: u64) -> Option<&Arc<PlayerFault>> {
        let place = self.faults.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.faults.get(place).map(|(_, fault)| fault)
    }

    fn latest(&self) -> Option<u64> {
        self.faults.back().map(|(number, _)| *number)
    }
}

impl PlayerFaults {
    pub(super) fn new(limits: FaultLimits) -> Self {
        Self { limits, remembered: Mutex::default() }
    }

    /// Remembers a fault, if the match runs: `runs` is asked under the lock, so that none comes in behind its end.
    pub(super) fn note(&self, info: &MatchInfo, fault: PlayerFault, runs: impl FnOnce() -> bool) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.forget_over();
        if runs() {
            remembered.note(&Whose::of(info, fault.seat), fault, &self.limits);
        }
    }

    /// A match is over: the faults of seats that are no bot's are remembered for a while.
    pub(super) fn over(&self, match_id: MatchId) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.forget_over();
        if remembered.has_any_to_forget(match_id) {
            remembered.is_over(match_id, Instant::now() + self.limits.kept);
        }
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
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
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

const fn is_panic(fault: &PlayerFault) -> bool {
    matches!(fault.kind, Kind::Panicked(_))
}

fn seats_of(match_id: MatchId) -> impl Iterator<Item = SeatKey> {
    (0..Seat::MAX).filter_map(Seat::new).map(move |seat| (match_id, seat))
}

impl Remembered {
    fn note(&mut self, whose: &Whose, fault: PlayerFault, limits: &FaultLimits) {
        // It is said again with the resignation, until that is acknowledged.
        if is_panic(&fault) && self.has_panicked((fault.match_id, fault.seat)) {
            return;
        }
        self.last += 1;
        let (number, key) = (self.last, (fault.match_id, fault.seat));
        let seat = self
            .of_seat
            .entry(key)
            .or_insert_with(|| SeatFaults { whose: whose.clone(), faults: VecDeque::new() });
        let latest = seat.latest();
        // The same again must not drive out the others.
        let before = seat.faults.pop_back_if(|(_, latest)| latest.kind == fault.kind);
        let count =
            before.as_ref().map_or(fault.count, |(_, latest)| latest.count.saturating_add(fault.count));
        seat.faults.push_back((number, Arc::new(PlayerFault { count, ..fault })));
        let forgotten = if seat.faults.len() > limits.per_seat { seat.faults.pop_front() } else { None };
        if let Some(bot) = whose.bot() {
            self.of_bot.entry(bot.clone()).or_default().insert(number, key);
            self.forget_of_bot(bot, before.into_iter().chain(forgotten).map(|(number, _)| number));
        }
        self.change(whose, |own| {
            if let Some(latest) = latest {
                own.remove(&latest);
            }
            own.insert(number, key);
        });
        let own = self.of_each.get(whose);
        let oldest = own.filter(|own| *whose != Whose::Admin && own.len() > limits.seats_of_one);
        if let Some((_, &oldest)) = oldest.and_then(BTreeMap::first_key_value) {
            self.forget(oldest);
        }
        while self.of_seat.len() > limits.seats
            && let Some((_, most)) = self.by_count.last()
            && let Some((_, &oldest)) = self.of_each.get(most).and_then(BTreeMap::first_key_value)
        {
            self.forget(oldest);
        }
    }

    /// Changes which seats somebody has.
    fn change(&mut self, whose: &Whose, change: impl FnOnce(&mut BTreeMap<u64, SeatKey>)) {
        let own = self.of_each.entry(whose.clone()).or_default();
        let before = own.len();
        change(own);
        let now = own.len();
        if now == 0 {
            self.of_each.remove(whose);
        }
        if now != before {
            self.by_count.remove(&(before, whose.clone()));
            if now > 0 {
                self.by_count.insert((now, whose.clone()));
            }
        }
    }

    fn has_panicked(&self, key: SeatKey) -> bool {
        self.of_seat.get(&key).is_some_and(|seat| seat.faults.iter().any(|(_, fault)| is_panic(fault)))
    }

    fn forget(&mut self, key: SeatKey) {
        let Some(SeatFaults { whose, faults }) = self.of_seat.remove(&key) else { return };
        if let Some((latest, _)) = faults.back() {
            self.change(&whose, |own| {
                own.remove(latest);
            });
        }
        if let Some(bot) = whose.bot() {
            self.forget_of_bot(bot, faults.iter().map(|(number, _)| *number));
        }
        let (match_id, _) = key;
        if !self.has_any_to_forget(match_id)
            && let Some(until) = self.over_until.remove(&match_id)
        {
            self.over.remove(&(until, match_id));
        }
    }

    /// Whether there are faults of seats of a match that are no bot's.
    fn has_any_to_forget(&self, match_id: MatchId) -> bool {
        self.to_forget(match_id).next().is_some()
    }

    fn to_forget(&self, match_id: MatchId) -> impl Iterator<Item = SeatKey> {
        let is_no_bots =
            move |key: &SeatKey| self.of_seat.get(key).is_some_and(|seat| seat.whose.bot().is_none());
        seats_of(match_id).filter(is_no_bots)
    }

    /// A match is over, and the faults of its seats that are no bot's are remembered until then.
    fn is_over(&mut self, match_id: MatchId, until: Instant) {
        if let Some(before) = self.over_until.insert(match_id, until) {
            self.over.remove(&(before, match_id));
        }
        self.over.insert((until, match_id));
    }

    fn forget_of_bot(&mut self, bot: &BotName, numbers: impl IntoIterator<Item = u64>) {
        let Some(of_bot) = self.of_bot.get_mut(bot) else { return };
        for number in numbers {
            of_bot.remove(&number);
        }
        if of_bot.is_empty() {
            self.of_bot.remove(bot);
        }
    }

    /// Forgets the faults of matches that have been over for long enough.
    fn forget_over(&mut self) {
        let now = Instant::now();
        while self.over.first().is_some_and(|(until, _)| *until <= now)
            && let Some((_, match_id)) = self.over.pop_first()
        {
            self.over_until.remove(&match_id);
            let forgotten: Vec<SeatKey> = self.to_forget(match_id).collect();
            for key in forgotten {
                self.forget(key);
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_that_are_over_are_forgotten_with_the_last_of_their_faults() {
        let limits = FaultLimits { per_seat: 1, seats: 2, seats_of_one: 2, kept: Duration::from_hours(1) };
        let mut remembered = Remembered::default();
        let (kind, count) = (Kind::Cut(zetema_proto::v1::StreamCut::default()), 1);
        for number in 0..100 {
            let match_id = MatchId::from_bytes([number; 16]);
            for seat in seats_of(match_id).take(2).map(|(_, seat)| seat) {
                let fault = PlayerFault { at: UnixMillis::new(1), count, match_id, seat, kind: kind.clone() };
                remembered.note(&Whose::Admin, fault, &limits);
            }
            remembered.is_over(match_id, Instant::now() + limits.kept);
        }
        let Remembered { of_seat, of_each, by_count, over, over_until, .. } = &remembered;
        assert_eq!((of_seat.len(), over.len(), over_until.len()), (2, 1, 1));
        assert_eq!(of_each.values().map(BTreeMap::len).collect::<Vec<_>>(), [2]);
        assert_eq!(by_count.iter().collect::<Vec<_>>(), [&(2, Whose::Admin)]);
    }
}
