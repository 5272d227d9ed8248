//! Playing honestly: what the results of a season show that honest play is very unlikely to give. It only lists, for a person to look at.

mod abandoned;
mod alike;
mod bar;
mod feeding;
mod finding;
mod fingerprint;
mod finished;
mod losing;
mod margins;
mod question;
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
    Cause, Choice, Departure, Ending, FinishedError, FinishedMatch, FinishedSeat, Lead, SeatDecision, Taken,
};
pub use record::{SeatsError, finished_seats};
pub use settings::{HonestyOptions, HonestySettings};
pub use suspicion::{Cited, Significance, Suspicion};
pub use suspicions::suspicions;
