//! Playouts of the player of reference, a few at a time.

use std::time::Instant;

use zetema_ladder::{Baseline, BaselineComputation, DealComputation, DealValues, Step};

use crate::admission::Pressure;
use crate::ladders::idle_thread::{IdleError, calm, do_idly};
use crate::limits;

/// What is computed in small steps.
pub(super) trait Computation: Send + Sized + 'static {
    /// What comes of it.
    type Value: Send + 'static;

    /// Less than a millisecond of work.
    fn step(self) -> Step<Self, Self::Value>;
}

impl Computation for DealComputation {
    type Value = DealValues;

    fn step(self) -> Step<Self, DealValues> {
        Self::step(self)
    }
}

impl Computation for BaselineComputation {
    type Value = Baseline;

    fn step(self) -> Step<Self, Baseline> {
        Self::step(self)
    }
}

/// Does all steps, as long as the server has nothing more pressing to do. Dropped, it ends within a chunk.
pub(super) async fn finish<C: Computation>(
    computation: C,
    pressure: &Pressure,
) -> Result<C::Value, IdleError> {
    let mut computation = computation;
    loop {
        calm(pressure).await;
        match do_idly(move || steps(computation)).await? {
            Step::More(more) => computation = more,
            Step::Done(value) => return Ok(value),
        }
    }
}

/// As many as there is time for, one at least.
fn steps<C: Computation>(computation: C) -> Step<C, C::Value> {
    let begun = Instant::now();
    let mut step = computation.step();
    while let Step::More(more) = step {
        if begun.elapsed() >= limits::LUCK_CHUNK {
            return Step::More(more);
        }
        step = more.step();
    }
    step
}
