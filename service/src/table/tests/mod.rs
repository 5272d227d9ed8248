//! The table by itself: no clock, no journal, no task.

mod answers;
mod clocks;
mod faults;
mod harness;
mod hidden;
mod random;
mod replay;
mod waiting;
