//! Matches over a journal that can be told to fail.

mod failures;
mod fake;
mod harness;
mod lifecycle;
mod streams;
