//! What shows that an outcome that was read can't be what a run has measured.

use std::fmt::Display;
use std::time::Duration;

use super::{Arrivals, FAULTS_KEPT, LONGEST, Outcome, Packed, PhaseRun, Second};

/// No phase of a run ends later: 285 years.
const LONGEST_RUN_US: u64 = 1 << 53;

/// A value that no run has measured, beside the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, and {instead}")]
pub struct Damage {
    field: String,
    value: String,
    instead: String,
}

impl Damage {
    pub(crate) fn new(field: impl Into<String>, value: impl Display, instead: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.to_string(), instead: instead.into() }
    }
}

impl Outcome {
    /// Whether its parts go together, as those of every run do.
    ///
    /// # Errors
    /// The first [`Damage`]: which field, its value, and what it should be.
    pub(crate) fn check(&self) -> Result<(), Damage> {
        if let Arrivals::Open { per_second, .. } = self.description.arrivals {
            positive("outcome.description.arrivals.open.per_second", per_second)?;
        }
        self.check_phases()?;
        self.check_seconds()?;
        self.check_readings()?;
        let (all, kept) = (self.faults.all(), self.faults.first().len());
        if kept > FAULTS_KEPT || all < kept as u64 || (all > 0 && kept == 0) {
            let instead = format!("{kept} of them are there, of which up to {FAULTS_KEPT} are kept");
            return Err(Damage::new("outcome.faults.all", all, instead));
        }
        for (number, generator) in self.generators.iter().enumerate() {
            generator.seen.check(&format!("outcome.generators[{number}].seen"))?;
        }
        Ok(())
    }

    fn check_phases(&self) -> Result<(), Damage> {
        let mut ended = 0;
        for (number, run) in self.phases.iter().enumerate() {
            let field = |name: &str| format!("outcome.phases[{number}].{name}");
            let (began, lasted) = (us(run.began()), us(run.lasted()));
            if began != ended {
                let instead = format!("it began when the one before was over, at {ended}");
                return Err(Damage::new(field("began_us"), began, instead));
            }
            ended = began.saturating_add(lasted);
            if ended > LONGEST_RUN_US {
                let instead = format!("no run is longer than {LONGEST_RUN_US}");
                return Err(Damage::new(field("lasted_us"), lasted, instead));
            }
        }
        Ok(())
    }

    /// Each second of each phase is there once.
    fn check_seconds(&self) -> Result<(), Damage> {
        let phases = self.phases.iter().map(PhaseRun::seconds).enumerate();
        let mut expected =
            phases.flat_map(|(phase, seconds)| (0..seconds).map(move |number| (phase, number)));
        for (place, second) in self.seconds.iter().enumerate() {
            let field = format!("outcome.seconds[{place}]");
            let found = (second.phase, second.number);
            let shown = |(phase, number): (usize, u32)| format!("number {number} of phase {phase}");
            match expected.next() {
                Some(next) if next == found => {}
                Some(next) => {
                    return Err(Damage::new(field, shown(found), format!("{} is next", shown(next))));
                }
                None => return Err(Damage::new(field, shown(found), "there is none after the last phase")),
            }
            second.check(&field)?;
            let lasted = self.phases.get(found.0).map_or(0, |run| run.second_lasted_us(found.1));
            if second.lasted_us != lasted {
                let instead = format!("by its phase it was {lasted} long");
                return Err(Damage::new(format!("{field}.lasted_us"), second.lasted_us, instead));
            }
        }
        match expected.next() {
            None => Ok(()),
            Some((phase, number)) => {
                let instead = format!("second {number} of phase {phase} is not there");
                Err(Damage::new("outcome.seconds", format!("{} seconds", self.seconds.len()), instead))
            }
        }
    }

    fn check_readings(&self) -> Result<(), Damage> {
        let mut before = 0;
        for (number, reading) in self.server.readings.iter().enumerate() {
            let field = |name: &str| format!("outcome.server.readings[{number}].{name}");
            if reading.at_us < before {
                let instead = format!("the one before it is of {before}");
                return Err(Damage::new(field("at_us"), reading.at_us, instead));
            }
            before = reading.at_us;
            if let Some(busy) = reading.processor_seconds.filter(|busy| *busy < 0.0) {
                return Err(Damage::new(
                    field("processor_seconds"),
                    busy,
                    "no processor is busy for less than 0",
                ));
            }
        }
        Ok(())
    }
}

impl Second {
    /// Whether what is in it goes together. `field` is where it stands.
    pub(crate) fn check(&self, field: &str) -> Result<(), Damage> {
        for (measure, packed) in &self.latencies {
            if packed.beyond() > at_longest(packed) {
                let instead = format!("{} of its times are as long as that", at_longest(packed));
                let field = format!("{field}.latencies.{}.beyond", measure.name());
                return Err(Damage::new(field, packed.beyond(), instead));
            }
        }
        Ok(())
    }
}

/// How many stand for the longest time that is told apart, or for more.
fn at_longest(packed: &Packed) -> u64 {
    let longest = packed.values().iter().rev().take_while(|(value, _)| *value >= us(LONGEST));
    longest.fold(0, |all, (_, count)| all.saturating_add(*count))
}

/// A rate above 0.
pub(crate) fn positive(field: &str, number: f64) -> Result<(), Damage> {
    if number > 0.0 && number.is_finite() {
        Ok(())
    } else {
        Err(Damage::new(field, number, "a rate is more than 0"))
    }
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
