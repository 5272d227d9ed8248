//! A run that is over.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{
    Count, Description, Failure, Faults, Generator, Machine, Part, PhaseRun, Second, Server, Totals,
};

/// All that a run has measured, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub(super) description: Description,
    /// Milliseconds since 1970.
    pub(super) started_ms: u64,
    pub(super) machines: Vec<Machine>,
    /// Empty where there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) generators: Vec<Generator>,
    pub(super) phases: Vec<PhaseRun>,
    pub(super) seconds: Vec<Second>,
    /// The first text of each kind.
    pub(super) examples: BTreeMap<Failure, String>,
    pub(super) faults: Faults,
    pub(super) server: Server,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_stopped: bool,
}

/// What can't be added up, as it was not one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these generators were not in one run: the phases of one are {ours}, of another {theirs}")]
pub struct NotOneRun {
    ours: String,
    theirs: String,
}

impl Outcome {
    /// What it was asked to do.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Whether an action was acknowledged while it was measured.
    pub fn has_done(&self) -> bool {
        self.measured().any(|second| second.counts.of(Count::ActionAcknowledged) > 0)
    }

    /// Whether it was ended before its time.
    pub const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// When it began.
    pub fn started(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.started_ms)
    }

    /// The machines that the load came from, one for each generator.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// What each of several generators has measured. Empty where there was one.
    pub fn generators(&self) -> &[Generator] {
        &self.generators
    }

    /// Its phases, those too that were not measured.
    pub fn phases(&self) -> &[PhaseRun] {
        &self.phases
    }

    /// Every second of all phases, in order of time.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// The seconds that were measured.
    pub fn measured(&self) -> impl Iterator<Item = &Second> {
        self.seconds.iter().filter(|second| self.part(second.phase) == Some(Part::Measured))
    }

    /// When a second of it began, since the run did.
    pub fn began(&self, second: &Second) -> Duration {
        let phase = self.phases.get(second.phase).map_or(Duration::ZERO, PhaseRun::began);
        phase + Duration::from_secs(second.number.into())
    }

    /// What came of all that was measured.
    pub fn totals(&self) -> Totals {
        self.measured().collect()
    }

    /// What a ladder had to say to bots of the run, of no-shows and forfeits, in all phases. `None`: they were on none, or had no seat
    /// and nothing to hear.
    pub fn notices(&self) -> Option<u64> {
        self.description.ladder.as_ref()?;
        let notices = self.in_all_phases(Count::LadderNotice);
        (notices > 0 || self.in_all_phases(Count::SeatAssigned) > 0).then_some(notices)
    }

    /// How many there were, whether it was measured or not.
    pub(crate) fn in_all_phases(&self, count: Count) -> u64 {
        self.seconds.iter().fold(0, |all, second| all.saturating_add(second.counts.of(count)))
    }

    /// What came of one phase, by its number.
    pub fn phase_totals(&self, phase: usize) -> Totals {
        self.seconds.iter().filter(|second| second.phase == phase).collect()
    }

    /// What the first error of this kind said.
    pub fn example(&self, failure: Failure) -> Option<&str> {
        self.examples.get(&failure).map(String::as_str)
    }

    /// What the server did that it must not, in whatever phase.
    pub const fn faults(&self) -> &Faults {
        &self.faults
    }

    /// What the server told of itself.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// By how many bytes a minute the server's memory grows over the last third of what was measured: what it takes when a run begins is not
    /// in it. `None` of fewer than two readings.
    pub(crate) fn late_memory_growth(&self) -> Option<f64> {
        let mut measured = self.phases.iter().filter(|run| run.phase().part() == Part::Measured);
        let first = measured.next()?;
        let last = measured.next_back().unwrap_or(first);
        let ended = last.began() + last.lasted();
        let third = ended.saturating_sub(first.began()) / 3;
        self.server.growth(ended.saturating_sub(third), ended)
    }

    /// What generators have measured in one run, each with its name: second by second, by the clock of the first.
    ///
    /// # Errors
    /// If there is none, or their phases are others.
    pub fn of_generators(parts: Vec<(String, Self)>) -> Result<Self, NotOneRun> {
        let generators = parts.iter().map(|(name, part)| Generator::of(name.clone(), part)).collect();
        let mut parts = parts.into_iter().map(|(_, part)| part);
        let nothing = || NotOneRun { ours: String::new(), theirs: String::new() };
        let mut whole = parts.next().ok_or_else(nothing)?;
        for part in parts {
            whole.merge(part)?;
        }
        Ok(Self { generators, ..whole })
    }

    /// Adds what another generator has measured in the same run, second by second. One that was stopped may have begun fewer phases than
    /// another.
    ///
    /// # Errors
    /// If its phases are others.
    pub fn merge(&mut self, mut other: Self) -> Result<(), NotOneRun> {
        if other.phases.len() > self.phases.len() {
            std::mem::swap(&mut self.phases, &mut other.phases);
            std::mem::swap(&mut self.seconds, &mut other.seconds);
        }
        let not_one = || NotOneRun { ours: names(&self.phases), theirs: names(&other.phases) };
        let places = places(&self.phases, &other.phases).ok_or_else(not_one)?;
        for second in other.seconds {
            let phase = *places.get(second.phase).ok_or_else(|| NotOneRun {
                ours: names(&self.phases),
                theirs: format!("{}, and one more", names(&other.phases)),
            })?;
            // What is of a last second by one clock may be of the one after it by another.
            let last = self.phases.get(phase).map_or(0, |run| run.seconds() - 1);
            let number = second.number.min(last);
            let place = |known: &Second| (known.phase, known.number).cmp(&(phase, number));
            match self.seconds.binary_search_by(place) {
                Ok(found) => self.seconds[found].add(&second),
                Err(place) => self.seconds.insert(place, Second { phase, number, ..second }),
            }
        }
        self.machines.extend(other.machines);
        self.description.generators = u32::try_from(self.machines.len()).unwrap_or(u32::MAX);
        for (failure, text) in other.examples {
            self.examples.entry(failure).or_insert(text);
        }
        self.faults.merge(other.faults);
        self.server.merge(other.server);
        self.is_stopped |= other.is_stopped;
        Ok(())
    }

    /// Takes the seconds out.
    pub(crate) fn take_seconds(&mut self) -> Vec<Second> {
        std::mem::take(&mut self.seconds)
    }

    /// The same with these seconds.
    pub(crate) fn with_seconds(self, seconds: Vec<Second>) -> Self {
        Self { seconds, ..self }
    }

    fn part(&self, phase: usize) -> Option<Part> {
        self.phases.get(phase).map(|run| run.phase().part())
    }
}

fn names(phases: &[PhaseRun]) -> String {
    phases.iter().map(|run| run.phase().name()).collect::<Vec<_>>().join(", ")
}

/// Where each of the fewer phases is among the more. `None` if they are others, or in another order.
fn places(more: &[PhaseRun], fewer: &[PhaseRun]) -> Option<Vec<usize>> {
    let mut all = more.iter().enumerate();
    fewer
        .iter()
        .map(|run| all.find(|(_, known)| known.phase() == run.phase()).map(|(place, _)| place))
        .collect()
}
