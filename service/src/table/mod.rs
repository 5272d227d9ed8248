//! One match as a state machine without a clock, randomness or I/O.
//!
//! A [`Table`] is made from the match's first journal entry and changes by [`Table::apply`] alone, entry after
//! entry. Whatever is asked of it ([`Command`]) is first decided ([`Table::decide`]): refused, found to be done
//! already, or turned into changes. The owner makes those durable, applies them, and only then shows what they came
//! to (I1):
//!
//! ```text
//! command ─► decide ─► changes ─► journal ─► apply ─► effect ─► observe, for each viewer
//!      now ─► too_long, next_change, expired ─┘          └─► deadline
//! ```
//!
//! What each viewer observes, and its numbers, follow from the entries alone, so a table that replays them shows the
//! same again. Views and events leave only as [`zetema_rules::Game::view`] and [`zetema_rules::Event::seen_by`]
//! give them to a viewer (I3).

mod apply;
mod arrival;
mod change;
mod clock;
mod command;
mod decide;
mod info;
mod log;
mod memory;
mod moment;
mod observation;
mod observe;
mod outcome;
mod record;
mod rejection;
mod shuffle;
mod spec;
mod state;
#[cfg(test)]
mod tests;
mod time;

pub use apply::{Effect, ReplayError};
pub use arrival::Arrival;
pub use change::{Change, Entrant, Entry, Started};
pub use command::{Choice, Command, Decided, Done, SeatAccess};
pub use info::{DealsKind, Dealt, MatchInfo, MatchStage, SeatInfo, SeatState};
pub(crate) use log::Entries;
pub use moment::Moment;
pub use observation::{Observation, Receipt, Setup, SetupStage, Snapshot, TableEvent};
pub use outcome::Abort;
pub use rejection::{ClosedBy, Rejection};
pub use shuffle::{FairShuffler, Shuffler};
pub use spec::{Created, DealSet, DealSetId, DealSpec, Deals, LadderRates, MatchSpec, NoDealSetId, SeatSpec};
pub use state::Table;
pub use time::ClockReading;
