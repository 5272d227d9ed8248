//! Who plays with whom on a ladder, and where they sit. `docs/pairing.md` says what is preferred, and how long one can wait.
//!
//! A [`Queue`] is one ladder's. [`Queue::pair`] makes the matches of a moment.

mod bot;
mod candidate;
mod field;
mod history;
mod hold;
mod members;
mod neighbours;
mod owners;
mod queue;
mod round;
mod seating;
mod settings;
mod share;
mod sides;

pub use bot::{BotId, OwnerId, Strength, StrengthError};
pub use history::SeatCounts;
pub use hold::Hold;
pub use members::{Member, Pairing, PairingError};
pub use queue::{Entrant, NotPlaying, Queue, StillPlaying, Waiting};
pub use settings::{PairingOptions, PairingSettings, PairingSettingsError, SameOwner};

#[cfg(test)]
mod tests;
