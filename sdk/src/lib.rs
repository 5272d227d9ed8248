//! Write a bot: the [`Bot`] trait, a session that reconnects and resumes, and local play for search.

mod bot;
mod determiniser;
mod end;
mod fault;
mod simulate;

/// The rules of the game: cards, actions, views and presets.
pub use zetema_rules as rules;
pub use zetema_rules::{Action, Declaration, LegalActions, MatchResult, Rules, Seat, SeatEvent, View};

pub use bot::{Bot, Decision, MatchInfo};
pub use determiniser::Determiniser;
pub use end::End;
pub use fault::Fault;
pub use simulate::{Simulated, Step, numbered_seed, simulate};
