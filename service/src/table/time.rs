//! How long a table waits, what it is charged to, and what comes of it.

use zetema_rules::{
    AbortReason, Attendance, Charge, DecisionTime, Game, LedgerEntry, PlayedBy, Seat, SeatClock, TimeControl,
    TimedOut, autoplay,
};

use super::apply::{Misfit, check_decision};
use super::decide::{acted, with_end};
use super::state::{Play, Stage};
use super::{Abort, Arrival, Change, Moment, Table};

/// What the clock of a decision shows to the seat that has to take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// What the decision has before it draws on the bank, in milliseconds.
    pub budget_ms: u32,
    /// What the seat's bank held when the decision began, in milliseconds.
    pub bank_ms: u64,
    /// How much of its time is over, in milliseconds: 0 in an observation, which is the same whenever it is read.
    pub elapsed_ms: u64,
    /// How many time-outs the seat has left: with the last it forfeits.
    pub strikes_left: u32,
}

/// An answer came when the time was out.
pub(super) struct Late;

impl Table {
    /// Lets the match's clock run from this moment on, which may lie ahead, if it stands. A new table's stands.
    pub fn run_clock(&mut self, from: Moment) {
        self.clock.run(from);
    }

    /// Stops the match's clock, as it was then: nothing can be asked of the table, and that is charged to nobody.
    pub fn stop_clock(&mut self, at: Moment) {
        self.clock.stop(at);
        // What came may have come before the decision was published that it meets now, which no clock runs back behind.
        self.clock.reach(self.waits_since_ms);
    }

    /// A bug: the time of an outage counts.
    #[cfg(test)]
    pub(crate) fn count_outage(&mut self, away_ms: u64) {
        self.clock.reach(self.waits_since_ms.saturating_add(away_ms));
    }

    /// When something happens by itself if nothing else does before; `None`: never, or not while the clock stands.
    pub fn deadline(&self) -> Option<Moment> {
        let limit_ms = self.limit_ms()?;
        self.clock.shows(self.waits_since_ms.saturating_add(limit_ms))
    }

    /// How much of the current decision's time is over, in milliseconds; `None` where no clock runs.
    pub fn elapsed_ms(&self, now: Moment) -> Option<u64> {
        match &self.stage {
            Stage::Playing(play) if !play.clocks.is_empty() && play.game.to_act().is_some() => {
                Some(self.clock.ms(now).saturating_sub(self.waits_since_ms))
            }
            _ => None,
        }
    }

    /// What the clock brings, if the deadline has passed: the current decision is closed, or the match ends.
    ///
    /// `is_here` says whether a seat has a player at this moment: it is written down with the time-out.
    pub fn expired(&self, now: Moment, is_here: impl FnOnce(Seat) -> bool) -> Option<Vec<Change>> {
        if self.deadline()? > now {
            return None;
        }
        match (&self.stage, self.to_act()) {
            (Stage::Playing(play), Some(seat)) if !play.clocks.is_empty() => {
                let attendance = if is_here(seat) { Attendance::Present } else { Attendance::Absent };
                self.time_out(play, seat, attendance)
            }
            _ => self.late_abort().map(|abort| vec![Change::Aborted(abort)]),
        }
    }

    /// How long the table waits for what it waits for now, in milliseconds; `None`: it waits for nobody.
    fn limit_ms(&self) -> Option<u64> {
        let idle_timeout_ms = || match self.created.time_control.decisions() {
            DecisionTime::Unlimited { idle_timeout_ms } => idle_timeout_ms,
            DecisionTime::Clock(_) => TimeControl::DEFAULT_IDLE_TIMEOUT_MS,
        };
        let for_seats = |waits: bool| {
            if waits { self.created.time_control.join_timeout_ms() } else { idle_timeout_ms() }
        };
        match &self.stage {
            // In the setup it may wait for other matches of its deal set, which have deadlines of their own.
            Stage::Joining => Some(for_seats(self.absent_seats().next().is_some()).into()),
            Stage::Nonces => Some(for_seats(self.missing_nonces().next().is_some()).into()),
            Stage::Playing(play) => {
                let seat = play.game.to_act()?;
                if play.game.public().forfeited.contains(seat) {
                    return None;
                }
                let clock = play.clocks.get(seat.index());
                Some(clock.map_or_else(|| idle_timeout_ms().into(), SeatClock::over_after_ms))
            }
            Stage::Over { .. } => None,
        }
    }

    /// How the match ends by those that it has waited for too long.
    fn late_abort(&self) -> Option<Abort> {
        let (reason, seats): (_, Vec<Seat>) = match self.stage {
            Stage::Joining => (AbortReason::NoShow, self.absent_seats().collect()),
            Stage::Nonces => (AbortReason::NonceMissing, self.missing_nonces().collect()),
            Stage::Playing(_) => (AbortReason::Idle, Vec::new()),
            Stage::Over { .. } => return None,
        };
        let reason = if seats.is_empty() { AbortReason::Idle } else { reason };
        Some(Abort { reason, seats })
    }

    /// What the current decision costs its seat if its answer came then.
    pub(super) fn charge(&self, play: &Play, seat: Seat, arrival: Arrival) -> Result<LedgerEntry, Late> {
        // Whoever guessed the number may have sent the answer before it was asked for.
        let received_ms = self.clock.ms(arrival.at).max(self.waits_since_ms);
        let elapsed_ms = received_ms - self.waits_since_ms;
        let charge = match play.clocks.get(seat.index()) {
            Some(&(mut clock)) => {
                clock.answer(elapsed_ms, arrival.round_trip_ms).map_err(|_out_of_time| Late)?
            }
            None => uncharged(elapsed_ms),
        };
        Ok(self.ledger(play, seat, Some(received_ms), charge, None))
    }

    /// What becomes of the current decision when its seat's time is out. A seat that forfeits is played for at once.
    pub(super) fn time_out(&self, play: &Play, seat: Seat, attendance: Attendance) -> Option<Vec<Change>> {
        let mut clock = *play.clocks.get(seat.index())?;
        let (charge, then) = clock.time_out();
        let ledger = Some(self.ledger(play, seat, None, charge, Some(attendance)));
        let play_for = |game: &Game, ledger| {
            let action = autoplay(&game.legal_actions())?;
            acted(game, seat, action, PlayedBy::Autoplay, ledger).ok()
        };
        match then {
            TimedOut::PlayedFor => play_for(&play.game, ledger),
            TimedOut::Forfeits(reason) => {
                let mut after = play.game.clone();
                after.forfeit(seat, &mut Vec::new()).ok()?;
                let mut changes = with_end(Change::SeatForfeited { seat, reason, ledger }, &after);
                if after.public().result.is_none() {
                    changes.extend(play_for(&after, None)?);
                }
                Some(changes)
            }
        }
    }

    /// Charges the current decision as a journaled ledger says. The answer is what became of the seat if its time was
    /// out, with its strikes.
    pub(super) fn apply_charge(
        &mut self,
        seat: Seat,
        ledger: &LedgerEntry,
    ) -> Result<Option<(TimedOut, u32)>, Misfit> {
        let LedgerEntry {
            decision,
            seat: charged,
            published_ms,
            received_ms,
            charge,
            interrupted: _,
            attendance,
        } = *ledger;
        let play = self.play_mut()?;
        check_decision(play, decision)?;
        if charged != seat {
            return Err(Misfit::Misplaced("the ledger charges another seat"));
        }
        if received_ms.is_some() && attendance.is_some() {
            return Err(Misfit::Misplaced("the ledger says who was there, and the seat has answered"));
        }
        let elapsed_ms = received_ms.map(|received_ms| received_ms.checked_sub(published_ms));
        let clock = play.clocks.get_mut(seat.index());
        let (right, timed_out) = match (clock, elapsed_ms) {
            (_, Some(None)) => return Err(Misfit::Misplaced("the ledger has an answer before its decision")),
            (None, None) => return Err(Misfit::Misplaced("time is out without a clock")),
            (None, Some(Some(elapsed_ms))) => (uncharged(elapsed_ms), None),
            (Some(clock), Some(Some(elapsed_ms))) => {
                let right = clock.answer_with_credit(elapsed_ms, charge.credit_ms);
                (right.map_err(|_| Misfit::Misplaced("the ledger has an answer that came too late"))?, None)
            }
            (Some(clock), None) => {
                let (right, then) = clock.time_out();
                (right, Some((then, clock.strikes())))
            }
        };
        if right != charge {
            return Err(Misfit::Misplaced("the ledger charges something else than the clock"));
        }
        self.clock.reach(received_ms.unwrap_or(published_ms.saturating_add(charge.charged_ms)));
        Ok(timed_out)
    }

    fn ledger(
        &self,
        play: &Play,
        seat: Seat,
        received_ms: Option<u64>,
        charge: Charge,
        attendance: Option<Attendance>,
    ) -> LedgerEntry {
        LedgerEntry {
            decision: play.game.public().decision,
            seat,
            published_ms: self.waits_since_ms,
            received_ms,
            charge,
            interrupted: self.interrupted,
            attendance,
        }
    }
}

impl Play {
    /// What the clock of a decision of this seat shows when it begins; `None` without a clock.
    pub(super) fn reading(&self, seat: Seat) -> Option<ClockReading> {
        self.clocks.get(seat.index()).map(|clock| ClockReading {
            budget_ms: clock.budget_ms(),
            bank_ms: clock.bank_ms(),
            elapsed_ms: 0,
            strikes_left: clock.strikes_left(),
        })
    }
}

/// What a decision costs in a match without a clock.
const fn uncharged(elapsed_ms: u64) -> Charge {
    Charge { credit_ms: 0, charged_ms: elapsed_ms, bank_ms: 0 }
}
