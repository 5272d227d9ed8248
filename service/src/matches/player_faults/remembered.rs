//! What is remembered of what went wrong for players, and what is forgotten first.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use zetema_proto::v1::player_fault::Kind;
use zetema_rules::Seat;

use super::{FaultLimits, PlayerFault, Saved};
use crate::journal::{BotName, MatchId, Owner, UnixMillis};
use crate::table::MatchInfo;

/// A seat of a match.
pub(super) type SeatKey = (MatchId, Seat);

/// What is kept of a seat over a restart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeptSeat {
    pub(super) key: SeatKey,
    pub(super) whose: Whose,
    /// Until when it is remembered, if it is no bot's and its match is known to be over.
    pub(super) until: Option<UnixMillis>,
    /// By number, the oldest first.
    pub(super) faults: Vec<(u64, Arc<PlayerFault>)>,
}

/// The faults of all seats, found by seat and by bot.
#[derive(Default)]
pub(super) struct Remembered {
    last: u64,
    pub(super) saved: Saved,
    pub(super) of_seat: HashMap<SeatKey, SeatFaults>,
    /// Of each bot, the seat of each fault.
    pub(super) of_bot: HashMap<BotName, BTreeMap<u64, SeatKey>>,
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
pub(super) enum Whose {
    Bot(BotName),
    /// Of the owner of the match, as its seats are no bot's.
    Owner(Owner),
    Admin,
}

impl Whose {
    pub(super) fn of(info: &MatchInfo, seat: Seat) -> Self {
        let bot = info.seats.get(seat.index()).and_then(|seat| seat.bot.clone());
        match (bot, &info.owner) {
            (Some(bot), _) => Self::Bot(bot),
            (None, Some(owner)) => Self::Owner(owner.clone()),
            (None, None) => Self::Admin,
        }
    }

    pub(super) const fn bot(&self) -> Option<&BotName> {
        match self {
            Self::Bot(bot) => Some(bot),
            Self::Owner(_) | Self::Admin => None,
        }
    }
}

/// The faults of a seat.
pub(super) struct SeatFaults {
    pub(super) whose: Whose,
    /// By number, the oldest first. Tables wait for the lock: whoever lists them takes handles under it, and copies afterwards.
    pub(super) faults: VecDeque<(u64, Arc<PlayerFault>)>,
}

impl SeatFaults {
    pub(super) fn get(&self, number: u64) -> Option<&Arc<PlayerFault>> {
        let place = self.faults.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.faults.get(place).map(|(_, fault)| fault)
    }

    fn latest(&self) -> Option<u64> {
        self.faults.back().map(|(number, _)| *number)
    }
}

const fn is_panic(fault: &PlayerFault) -> bool {
    matches!(fault.kind, Kind::Panicked(_))
}

/// All seats that a match may have.
pub(super) fn seats_of(match_id: MatchId) -> impl Iterator<Item = SeatKey> {
    (0..Seat::MAX).filter_map(Seat::new).map(move |seat| (match_id, seat))
}

impl Remembered {
    /// Remembers a fault of a seat.
    pub(super) fn note(&mut self, whose: &Whose, fault: PlayerFault, limits: &FaultLimits) {
        // It is said again with the resignation, until that is acknowledged.
        if is_panic(&fault) && self.has_panicked((fault.match_id, fault.seat)) {
            return;
        }
        self.saved = Saved::No;
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
    pub(super) fn has_any_to_forget(&self, match_id: MatchId) -> bool {
        self.to_forget(match_id).next().is_some()
    }

    fn to_forget(&self, match_id: MatchId) -> impl Iterator<Item = SeatKey> {
        let is_no_bots =
            move |key: &SeatKey| self.of_seat.get(key).is_some_and(|seat| seat.whose.bot().is_none());
        seats_of(match_id).filter(is_no_bots)
    }

    /// A match is over, and the faults of its seats that are no bot's are remembered until then.
    pub(super) fn is_over(&mut self, match_id: MatchId, until: Instant) {
        if let Some(before) = self.over_until.insert(match_id, until) {
            self.over.remove(&(before, match_id));
        }
        self.over.insert((until, match_id));
        self.saved = Saved::No;
    }

    /// A match is not over.
    pub(super) fn goes_on(&mut self, match_id: MatchId) {
        if let Some(until) = self.over_until.remove(&match_id) {
            self.over.remove(&(until, match_id));
        }
    }

    /// Whether it is known until when the faults of a match are remembered.
    pub(super) fn is_known_to_be_over(&self, match_id: MatchId) -> bool {
        self.over_until.contains_key(&match_id)
    }

    /// The matches of seats that are no bot's.
    pub(super) fn matches_to_forget(&self) -> impl Iterator<Item = MatchId> {
        let of_no_bot = self.of_seat.iter().filter(|(_, seat)| seat.whose.bot().is_none());
        of_no_bot.map(|((match_id, _), _)| *match_id)
    }

    /// All seats.
    pub(super) fn seats(&self) -> impl Iterator<Item = SeatKey> {
        self.of_seat.keys().copied()
    }

    /// What is kept of a seat.
    pub(super) fn kept(&self, key: SeatKey, wall: UnixMillis) -> Option<KeptSeat> {
        let SeatFaults { whose, faults } = self.of_seat.get(&key)?;
        let (match_id, _) = key;
        let until = self.over_until.get(&match_id).filter(|_| whose.bot().is_none());
        let until = until.map(|until| {
            let left_ms = until.saturating_duration_since(Instant::now()).as_millis();
            UnixMillis::new(wall.get().saturating_add(u64::try_from(left_ms).unwrap_or(u64::MAX)))
        });
        Some(KeptSeat { key, whose: whose.clone(), until, faults: faults.iter().cloned().collect() })
    }

    /// Takes up what was kept, within the limits, with the numbers that it had: the places of pages still hold.
    pub(super) fn take_up(&mut self, mut seats: Vec<KeptSeat>, wall: UnixMillis, limits: &FaultLimits) {
        seats.retain(|seat| seat.whose.bot().is_some() || seat.until.is_none_or(|until| until > wall));
        let ends: Vec<(MatchId, UnixMillis)> =
            seats.iter().filter_map(|seat| Some((seat.key.0, seat.until?))).collect();
        let mut faults: Vec<(u64, Whose, Arc<PlayerFault>)> = Vec::new();
        for KeptSeat { whose, faults: of_seat, .. } in seats {
            faults.extend(of_seat.into_iter().map(|(number, fault)| (number, whose.clone(), fault)));
        }
        faults.sort_unstable_by_key(|(number, ..)| *number);
        for (number, whose, fault) in faults {
            self.last = number.saturating_sub(1).max(self.last);
            self.note(&whose, Arc::unwrap_or_clone(fault), limits);
        }
        let now = Instant::now();
        for (match_id, until) in ends {
            if self.has_any_to_forget(match_id) {
                // No longer than from now, if the wall clock was set back.
                let left = Duration::from_millis(until.get().saturating_sub(wall.get())).min(limits.kept);
                self.is_over(match_id, now + left);
            }
        }
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
    pub(super) fn forget_over(&mut self) {
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
