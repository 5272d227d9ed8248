//! What went wrong at a seat without ending its match.

use std::panic;

/// Something that the author of a bot should know of. The match went on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The bot panicked: the seat was forfeited.
    Panicked {
        /// What it panicked with.
        message: String,
    },
    /// The bot chose an action that is not legal: the seat was forfeited. The action itself is not
    /// shown, since a log may hold this.
    IllegalChoice {
        /// The decision's number.
        decision: u32,
    },
}

/// What a panic was called with, as text.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}

/// Runs a bot's own code. A panic in it becomes a fault, and whatever it was working on is given up.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    panic::catch_unwind(panic::AssertUnwindSafe(run))
        .map_err(|panic| Fault::Panicked { message: panic_message(&*panic) })
}
