//! A failing run with as few faults as can be found.

use super::fault::Fault;
use super::{Lines, Run, run};

/// Leaves out faults as long as the run fails: halves of them first, then ever smaller parts, down to each alone.
///
/// The answer is the last run that failed, and its faults. A run that does not fail is given back as it is.
pub fn shrink(seed: u64, faults: Vec<Fault>) -> (Run, Vec<Fault>) {
    let mut smallest = (run(seed, &faults, Lines::Hashed), faults);
    if smallest.0.problem.is_none() {
        return smallest;
    }
    let mut part = smallest.1.len().div_ceil(2);
    while part > 0 {
        let mut start = 0;
        while start < smallest.1.len() {
            let end = (start + part).min(smallest.1.len());
            let fewer = [&smallest.1[..start], &smallest.1[end..]].concat();
            let without = run(seed, &fewer, Lines::Hashed);
            if without.problem.is_some() {
                smallest = (without, fewer);
            } else {
                start = end;
            }
        }
        part = if part == 1 { 0 } else { part.div_ceil(2) };
    }
    smallest
}
