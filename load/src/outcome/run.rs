//! A run that is over.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Description, Failure, Faults, Machine, Part, PhaseRun, Second, Server, Totals};

/// All that a run has measured, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub(super) description: Description,
    /// Milliseconds since 1970.
    pub(super) started_ms: u64,
    pub(super) machines: Vec<Machine>,
    pub(super) phases: Vec<PhaseRun>,
    pub(super) seconds: Vec<Second>,
    /// The first text of each kind.
    pub(super) examples: BTreeMap<Failure, String>,
    pub(super) faults: Faults,
    pub(super) server: Server,
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

    /// When it began.
    pub fn started(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.started_ms)
    }

    /// The machines that the load came from, one for each generator.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
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

    /// Adds what another generator has measured in the same run, second by second.
    ///
    /// # Errors
    /// If its phases are others.
    pub fn merge(&mut self, other: Self) -> Result<(), NotOneRun> {
        if !self.phases.iter().map(PhaseRun::phase).eq(other.phases.iter().map(PhaseRun::phase)) {
            return Err(NotOneRun { ours: names(&self.phases), theirs: names(&other.phases) });
        }
        self.machines.extend(other.machines);
        self.description.generators = u32::try_from(self.machines.len()).unwrap_or(u32::MAX);
        for second in other.seconds {
            let place = |known: &Second| (known.phase, known.number).cmp(&(second.phase, second.number));
            match self.seconds.binary_search_by(place) {
                Ok(found) => self.seconds[found].merge(&second),
                Err(place) => self.seconds.insert(place, second),
            }
        }
        for (failure, text) in other.examples {
            self.examples.entry(failure).or_insert(text);
        }
        self.faults.merge(other.faults);
        self.server.merge(other.server);
        Ok(())
    }

    fn part(&self, phase: usize) -> Option<Part> {
        self.phases.get(phase).map(|run| run.phase().part())
    }
}

fn names(phases: &[PhaseRun]) -> String {
    phases.iter().map(|run| run.phase().name()).collect::<Vec<_>>().join(", ")
}
