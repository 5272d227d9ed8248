//! How the time of each decision was charged (`LedgerEntry`), and whether that is right (`LedgerCheck`).

use crate::clock::{Charge, SeatClock, TimedOut};
use crate::record::Clocks;
use crate::replay_error::{Place, ReplayError};
use crate::rules::Rules;
use crate::seat::Seat;

/// How the time of one decision was charged. Times are milliseconds on the match's own clock, which starts with the first
/// decision at 0 and stands still while the server is down or stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The number of the decision.
    pub decision: u32,
    /// The seat that had to take it.
    pub seat: Seat,
    /// When it was durable and published.
    pub published_ms: u64,
    /// When its answer was received; `None` if the time was out before.
    pub received_ms: Option<u64>,
    /// What it cost. Without a clock all of the time is charged, and the bank is 0.
    pub charge: Charge,
    /// Whether the server was down while it was open. Its clock began anew when the server was back.
    pub interrupted: bool,
    /// Whether anybody was there to answer when the time was out. `None` where it was answered, and where it is not known:
    /// servers did not always write it.
    pub attendance: Option<Attendance>,
}

/// Whether a seat had a player when its time was out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attendance {
    /// A stream that shows what the seat sees was open, or its answer came too late.
    Present,
    /// None was open.
    Absent,
}

/// Goes through a ledger with the steps of its match.
///
/// Of the numbers of a ledger some are free, and only bounded: when a decision was published, when its answer was
/// received, what was credited of an overrun (the round trip is not in a record), whether the server was down, and whether the
/// player was there when the time was out. All others follow from these, the steps and the time control.
#[derive(Debug)]
pub(crate) struct LedgerCheck<'a> {
    ledger: &'a [LedgerEntry],
    /// By seat; none without a clock.
    clocks: Vec<SeatClock>,
    next: usize,
    /// When the decision before was over: the next one can't have been published earlier.
    over_ms: u64,
}

impl<'a> LedgerCheck<'a> {
    pub(crate) fn new(rules: &Rules, clocks: &'a Clocks) -> Self {
        let Clocks { control, ledger } = clocks;
        let seat_clocks =
            control.clock().map(|clock| rules.seats().map(|_| SeatClock::new(*clock)).collect());
        Self { ledger, clocks: seat_clocks.unwrap_or_default(), next: 0, over_ms: 0 }
    }

    /// Checks the entry of a decision that its seat answered.
    pub(crate) fn answered(&mut self, decision: u32, seat: Seat) -> Result<(), ReplayError> {
        let (place, entry) = self.entry(decision, seat)?;
        let Some(received_ms) = entry.received_ms else {
            return Err(place.differs("the received_ms of the seat's answer", "none"));
        };
        if let Some(attendance) = entry.attendance {
            let given = format!("attendance={attendance}");
            return Err(place.differs("no attendance, since it was answered,", given));
        }
        let Some(elapsed_ms) = received_ms.checked_sub(entry.published_ms) else {
            let published = format!("received_ms={} or later", entry.published_ms);
            return Err(place.differs(published, format!("received_ms={received_ms}")));
        };
        let charge = match self.clocks.get_mut(seat.index()) {
            None => Charge { credit_ms: 0, charged_ms: elapsed_ms, bank_ms: 0 },
            Some(clock) => clock.answer_with_credit(elapsed_ms, entry.charge.credit_ms).map_err(|late| {
                let in_time = format!("a time-out, or an answer before {} ms were over,", late.allowed_ms);
                place.differs(in_time, format!("an answer after {elapsed_ms} ms"))
            })?,
        };
        check_charge(place, charge, entry.charge)?;
        self.over_ms = received_ms;
        Ok(())
    }

    /// Checks the entry of a decision in which its seat's time was out. The answer is what became of the seat; `None` if
    /// there is no clock that could have run out.
    pub(crate) fn timed_out(&mut self, decision: u32, seat: Seat) -> Result<Option<TimedOut>, ReplayError> {
        if self.clocks.is_empty() {
            return Ok(None);
        }
        let (place, entry) = self.entry(decision, seat)?;
        if let Some(received_ms) = entry.received_ms {
            let given = format!("received_ms={received_ms}");
            return Err(place.differs("no received_ms, since the time was out,", given));
        }
        let Some(clock) = self.clocks.get_mut(seat.index()) else { return Ok(None) };
        let (charge, then) = clock.time_out();
        check_charge(place, charge, entry.charge)?;
        self.over_ms = entry.published_ms.saturating_add(charge.charged_ms);
        Ok(Some(then))
    }

    /// The next entry, which must be of this decision.
    fn entry(&mut self, decision: u32, seat: Seat) -> Result<(Place, &'a LedgerEntry), ReplayError> {
        let place = Place::Ledger(self.next);
        let Some(entry) = self.ledger.get(self.next) else {
            return Err(place.differs(format!("an entry for decision {decision} of seat {seat}"), "none"));
        };
        if entry.decision != decision {
            return Err(place.differs(format!("decision={decision}"), format!("decision={}", entry.decision)));
        }
        if entry.seat != seat {
            return Err(place.differs(format!("seat={seat}"), format!("seat={}", entry.seat)));
        }
        // The match's clock starts with the first decision. Where the server was down, that one began anew.
        let first = decision == 1 && !entry.interrupted;
        if entry.published_ms < self.over_ms || (first && entry.published_ms > 0) {
            let or_later = if first { "" } else { " or later" };
            let right = format!("published_ms={}{or_later}", self.over_ms);
            return Err(place.differs(right, format!("published_ms={}", entry.published_ms)));
        }
        self.next += 1;
        Ok((place, entry))
    }

    /// Checks that no entry is left after the last step.
    pub(crate) fn finish(&self) -> Result<(), ReplayError> {
        match self.ledger.get(self.next) {
            None => Ok(()),
            Some(entry) => {
                let given = format!("an entry for decision {}", entry.decision);
                Err(Place::Ledger(self.next).differs("none, since nobody took it or ran out of time,", given))
            }
        }
    }
}

fn check_charge(place: Place, right: Charge, given: Charge) -> Result<(), ReplayError> {
    let numbers = |Charge { credit_ms, charged_ms, bank_ms }| {
        [("credit_ms", u64::from(credit_ms)), ("charged_ms", charged_ms), ("bank_ms", bank_ms)]
    };
    for ((name, right), (_, given)) in numbers(right).into_iter().zip(numbers(given)) {
        if right != given {
            return Err(place.differs(format!("{name}={right}"), format!("{name}={given}")));
        }
    }
    Ok(())
}
