//! Playing honestly: what the results of a season show that honest play is very unlikely to give. It only lists, for a person to look at.

mod abandoned;
mod alike;
mod bar;
mod feeding;
mod finding;
mod finished;
mod hopeless;
mod losing;
mod margins;
mod preference;
mod profile;
#[cfg(test)]
mod reach;
mod record;
mod season;
mod season_ratings;
mod settings;
mod suspicion;
mod suspicions;
mod tail;
mod time_outs;

pub use finding::{Finding, Shortfall};
pub use finished::{
    Cause, Departure, Ending, FinishedError, FinishedMatch, FinishedSeat, Lead, SeatDecision, Taken,
};
pub use preference::Preference;
pub use record::{SeatsError, finished_seats};
pub use settings::{HonestyOptions, HonestySettings};
pub use suspicion::{Cited, Significance, Suspicion};
pub use suspicions::{Suspicions, Uncompared, suspicions};
