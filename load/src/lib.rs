//! Drive a server with thousands of matches, and measure it honestly.
//!
//! Any server will do: what is measured is what a client sees on the wire, and what the page of metrics tells where it can be
//! reached. `zetema load` is this crate on the command line.
//!
//! What a run has measured is an [`Outcome`](outcome::Outcome). Drivers tell a [`Recorder`](outcome::Recorder) what they see,
//! from as many tasks as they like:
//!
//! ```
//! use std::time::Duration;
//! use zetema_load::outcome::{Count, Description, Measure, Phase, Recorder};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let recorder = Recorder::start(Description::default(), Phase::warm_up());
//! recorder.took(Measure::ActionToReceipt, Duration::from_millis(900));
//!
//! recorder.enter(Phase::measured("steady"));
//! for ms in [2, 3, 4] {
//!     recorder.took(Measure::ActionToReceipt, Duration::from_millis(ms));
//!     recorder.count(Count::ActionAcknowledged);
//! }
//! tokio::time::advance(Duration::from_secs(2)).await;
//! let totals = recorder.finish().totals();
//!
//! assert_eq!(totals.counts().of(Count::ActionAcknowledged), 3);
//! assert_eq!(totals.per_second(Count::ActionAcknowledged), 1.5);
//! // What was seen while it warmed up is left out.
//! let receipts = totals.latencies(Measure::ActionToReceipt).expect("three were measured");
//! assert_eq!(receipts.quantile(0.5).as_millis(), 3);
//! # }
//! ```

pub mod amount;
mod arrivals;
mod backoff;
mod check;
mod client_name;
pub mod compare;
mod control;
mod divide;
mod fault;
mod find_limit;
mod finished;
pub mod hdr;
pub mod html;
pub mod join;
pub mod json;
mod ladder;
mod lanes;
mod lean;
pub mod live;
mod onlookers;
mod order;
pub mod outcome;
mod owed;
mod pacer;
mod plan;
mod records;
pub mod report;
mod results;
mod run;
mod scenario;
pub mod scrape;
mod sdk;
mod server_flags;
mod sheet;
pub mod slo;
pub mod table;
mod target;
mod think;
mod time;
mod wire_text;

pub use find_limit::{FindError, Resolution, ResolutionError, find_limit};
pub use ladder::{LadderPlan, LadderPlanError, run_ladder};
pub use plan::{Kind, Load, OpenRate, Plan, PlanError, Rate, Stage};
pub use run::{RunError, run};
pub use scenario::{ScenarioError, scenario};
pub use server_flags::SERVER_FLAGS;
pub use target::Target;
pub use think::{Think, ThinkError};
pub use time::{TimeError, duration};
