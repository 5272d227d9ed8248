//! What a ladder is made of: ratings, pairing, and what its results say.
//!
//! All of it is a pure function of what it is given: no clock, no randomness, no I/O.

pub mod conduct;
pub mod pairing;
pub mod quota;
