//! The rules of Zetema: cards, presets, legal actions, play, events and the view of one seat.
//!
//! Pure and deterministic: no clock, no randomness, no I/O. A match is a [`Game`]; decks come from
//! outside, from [`fair::MatchSeed`] for instance. R-numbers in the docs are the clauses of the
//! rules' reference.
//!
//! ```
//! use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
//! use zetema_rules::{Game, Phase, Preset};
//!
//! let rules = Preset::Sackson.rules(2, None)?;
//! let seed = MatchSeed::derive(&ServerSeed::new([7; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
//! let mut events = Vec::new();
//! let mut game = Game::new(
//!     rules,
//!     seed.dealer(rules.player_count()),
//!     &seed.deck(0, rules.imperial_suit),
//!     &mut events,
//! )?;
//! while game.public().result.is_none() {
//!     match game.public().phase {
//!         Phase::Turn { seat, .. } => {
//!             // The last one is a declaration whenever there is one.
//!             let action = game.legal_actions().iter().last().expect("a decision has a legal action");
//!             game.play(seat, &action, &mut events)?;
//!         }
//!         Phase::DealOver => {
//!             let deck = seed.deck(game.public().deal + 1, rules.imperial_suit);
//!             game.deal(&deck, &mut events)?;
//!         }
//!         Phase::MatchOver => break,
//!     }
//! }
//! let result = game.public().result.expect("the match is over");
//! assert!(result.totals.iter().any(|&total| total >= 300));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod autoplay;
mod card;
mod cards;
mod clock;
mod deck;
mod error;
mod event;
pub mod fair;
mod game;
mod ledger;
mod legal;
pub mod notation;
mod options;
mod play;
mod points;
mod preset;
mod public;
mod record;
mod replay;
mod replay_error;
mod rules;
mod seat;
mod time_control;
mod view;

pub use action::{Action, Declaration};
pub use autoplay::autoplay;
pub use card::{Card, ParseCardError, Rank, Suit};
pub use cards::{Cards, Ranks};
pub use clock::{Charge, OutOfTime, SeatClock, TimedOut};
pub use deck::{Deck, DeckError, PACK};
pub use error::PlayError;
pub use event::{Event, OwnCards, SeatEvent, Viewer};
pub use game::Game;
pub use ledger::{Attendance, LedgerEntry};
pub use legal::LegalActions;
pub use options::{
    Ace, Assembly, AssemblyScores, Draw, ExtraTurn, FlushSuits, ImperialBonus, MarriageHandMin, MatchEnd,
    MeldSize, Options, RoyalZetema,
};
pub use preset::{Preset, UnknownPreset};
pub use public::{EndReason, MatchResult, Phase, PublicState, Stage};
pub use record::{
    AbortReason, Clocks, Dealing, DealingKind, Entrant, ForfeitReason, Outcome, PlayedBy, Record, RecordDeal,
    Step,
};
pub use replay::Replay;
pub use replay_error::{Place, Problem, ReplayError};
pub use rules::{RULES_REVISION, Rules, RulesError};
pub use seat::{Players, Seat, Seats, Side, Teams};
pub use time_control::{
    ClockOptions, DecisionClock, DecisionTime, NamedTimeControl, TimeControl, TimeControlError, TimeOut,
    UnknownTimeControl,
};
pub use view::{CompleteError, View};
