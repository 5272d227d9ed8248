//! What a ladder is made of: ratings, pairing, and what its results say.
//!
//! All of it is a pure function of what it is given: no clock, no randomness, no I/O.

pub mod conduct;
mod honesty;
mod luck;
pub mod pairing;
pub mod quota;
mod ratings;

pub use honesty::{
    Cause, Cited, Departure, Ending, Finding, FinishedError, FinishedMatch, FinishedSeat, HonestyOptions,
    HonestySettings, Lead, Preference, SeatDecision, SeatsError, Shortfall, Significance, Suspicion,
    Suspicions, Taken, Uncompared, finished_seats, suspicions,
};
pub use luck::{
    AdjustError, AdjustedScore, Baseline, BaselineComputation, BaselineKey, DealComputation, DealKey,
    DealValues, Estimate, Interval, MatchTimes, PointsPerMatch, Reference, ReferenceVersion, ScoresMissing,
    Step, SumsError, UnknownReferenceVersion,
};
pub use ratings::{
    Certainty, Counted, Deviation, Difference, Entry, HeadToHead, HeadToHeads, Ladder, LadderError,
    LadderResult, Mu, OutOfRange, Played, PlayedError, RankedSide, Rating, RatingChange, RatingOptions,
    RatingSettings, ResultNumber, SideSize, Sigma, Standing, Tally, Unrated, differences,
};
