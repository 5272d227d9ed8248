//! Write a bot: the [`Bot`] trait, a session that reconnects and resumes, and local play for search.
//!
//! A whole bot, which plays the seat whose token is in the environment (see [`run`]):
//!
//! ```no_run
//! use zetema_sdk::{Action, Bot, Decision, Error};
//! struct Hello;
//! impl Bot for Hello {
//!     fn choose(&mut self, decision: &Decision) -> Action {
//!         decision.best(|action| matches!(action, Action::Declare(_)))
//!     }
//! }
//! fn main() -> Result<(), Error> {
//!     zetema_sdk::run(|_| Hello)
//! }
//! ```
//!
//! - [`Session`] plays any number of seats at once, over a connection that may be cut anywhere, and waits on ladders.
//! - [`simulate`] plays the same bots in this process, without a server.
//! - [`Determiniser`] deals the cards that a seat can't see, for bots that search.
//!
//! The crate says what it does through [`tracing`](https://docs.rs/tracing): connections, faults, outcomes.

mod alarm;
mod bot;
mod challenges;
mod claim;
mod client;
mod clock;
mod deal_check;
mod determiniser;
mod driver;
mod end;
mod error;
mod fault;
mod ladder;
mod nonce_secret;
mod outcome;
mod prefetch;
mod random;
mod reported;
mod run;
mod seat_bot;
mod session;
mod simulate;
mod thinkers;
mod tls;
mod token;
mod transport;
mod wire;
mod work;

/// The rules of the game: cards, actions, views and presets.
pub use zetema_rules as rules;
pub use zetema_rules::{
    Action, DealingKind, Declaration, LegalActions, MatchResult, Rules, Seat, SeatEvent, View,
};

pub use bot::{Bot, Decision, MatchInfo};
pub use challenges::Challenges;
pub use claim::Claim;
pub use client::{Session, Settings, Stop};
pub use clock::Clock;
pub use deal_check::{DealCheck, DealError, EventPlace, Unchecked};
pub use determiniser::Determiniser;
pub use end::End;
pub use error::{Disconnect, Error, ErrorReason, Refusal};
pub use fault::Fault;
pub use ladder::{Conduct, LadderNotice, LadderQueue, QueueState, SessionEvent};
pub use nonce_secret::NonceSecret;
pub use outcome::Outcome;
pub use reported::{ReportedFault, ReportedKind, list_faults, list_faults_of_bot};
pub use run::run;
pub use session::Records;
pub use simulate::{Simulated, numbered_seed, simulate};
pub use thinkers::BotThreads;
pub use tls::{Tls, TlsProblem};
pub use token::{BotToken, PlayerToken, SeatToken};

/// The README's bot compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
