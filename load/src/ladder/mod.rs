//! A run in which bots wait on a ladder, and play what it gives them.

mod accounts;
mod counted;
mod plan;
mod run;
mod seen;

pub use plan::{LadderPlan, LadderPlanError};
pub use run::run_ladder;
