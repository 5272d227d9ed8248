//! What a run has measured.

mod count;
mod damage;
mod description;
mod failure;
mod fault;
mod generator;
mod latencies;
mod machine;
mod measure;
mod phase;
mod recorder;
mod run;
#[cfg(test)]
pub(crate) mod sample;
mod second;
mod server;
mod shard;
#[cfg(test)]
mod tests;
mod totals;

pub use count::{Count, Counts};
pub use damage::Damage;
pub(crate) use damage::positive;
pub(crate) use description::settings;
pub use description::{Arrivals, Client, Description, Via, Work};
pub use failure::{Failure, Failures, UnknownFailure};
pub use fault::{Check, FAULTS_KEPT, Fault, Faults};
pub use generator::Generator;
pub use latencies::{LONGEST, Latencies, Packed};
pub use machine::Machine;
pub use measure::Measure;
pub use phase::{Part, Phase, PhaseRun};
pub use recorder::Recorder;
pub use run::{NotOneRun, Outcome};
pub use second::Second;
pub use server::{Reading, Server};
pub use totals::Totals;
