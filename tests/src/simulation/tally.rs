//! What a simulation did, in numbers.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a simulation did, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Faults that struck, by their names.
    pub faults: BTreeMap<&'static str, u64>,
    /// Matches, whatever their end.
    pub matches: u64,
    /// Matches with a result.
    pub results: u64,
    /// Actions that players were told are durable, each counted once.
    pub actions: u64,
    /// Requests that reached a server.
    pub requests: u64,
    /// Observations that reached a viewer.
    pub observations: u64,
    /// Snapshots that a server made.
    pub snapshots: u64,
    /// How often a server was opened again.
    pub restarts: u64,
    /// Decisions whose time was out.
    pub timeouts: u64,
    /// How often every card of a pack was looked for, in what all viewers of a match are shown.
    pub packs_counted: u64,
    /// Simulated time, in milliseconds.
    pub simulated_ms: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let Self {
            faults,
            matches,
            results,
            actions,
            requests,
            observations,
            snapshots,
            restarts,
            timeouts,
            packs_counted,
            simulated_ms,
        } = other;
        for (name, count) in faults {
            *self.faults.entry(name).or_default() += count;
        }
        self.matches += matches;
        self.results += results;
        self.actions += actions;
        self.requests += requests;
        self.observations += observations;
        self.snapshots += snapshots;
        self.restarts += restarts;
        self.timeouts += timeouts;
        self.packs_counted += packs_counted;
        self.simulated_ms += simulated_ms;
    }
}
