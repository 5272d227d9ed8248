//! What programs read: the JSON forms, one noun a file. They are part of the program's interface.
//!
//! Cards are texts such as `"KS"`, seats and sides numbers from 0, bytes hexadecimal texts, and words
//! those of the text notation.

mod action;
mod backup;
mod bots;
mod bytes;
mod clock;
mod conduct;
pub(crate) mod demo;
mod event;
mod fault;
mod journal;
pub(crate) mod ladders;
pub(crate) mod matches;
mod outcome;
mod recomputed;
mod record;
mod rules;
mod suspicions;
mod tokens;
mod view;
mod webhooks;

pub(crate) use action::ActionJson;
pub(crate) use backup::{BackupJson, RestoredJson};
pub(crate) use bots::{BotJson, RegisteredBotJson, RegisteredOwnerJson, RotatedBotJson, ShownBotJson};
pub(crate) use bytes::{bytes_from_hex, hex};
pub(crate) use clock::{ClockJson, TimeControlJson};
pub(crate) use conduct::{BotOnLadderJson, ConductJson};
pub(crate) use event::EventJson;
pub(crate) use fault::FaultJson;
pub(crate) use journal::{CheckedJson, RepairedJson};
pub(crate) use ladders::{
    AdjustedScoreJson, EstimateJson, HeadToHeadJson, IntervalJson, LadderJson, LadderResultJson,
    LadderSeatJson, RatingJson, RatingPointJson, ScoredSeatJson, StandingJson, StandingsJson,
};
pub(crate) use matches::{CreatedJson, MatchJson};
pub(crate) use outcome::OutcomeJson;
pub(crate) use recomputed::{EntryJson, RecomputedJson};
pub(crate) use record::RecordJson;
pub(crate) use rules::{PresetJson, RulesJson};
pub(crate) use suspicions::{SuspicionsJson, UncomparedJson};
pub(crate) use tokens::{CreatedTokenJson, TokenJson};
pub(crate) use view::ViewJson;
pub(crate) use webhooks::{CreatedWebhookJson, DeadLetterJson, WebhookJson};

use zetema_rules::{Cards, Ranks};

/// What a server of a later version says and this program does not know.
const UNKNOWN: &str = "unknown";

/// The cards as texts.
fn cards(cards: Cards) -> Vec<String> {
    cards.iter().map(|card| card.to_string()).collect()
}

/// The ranks as texts.
fn ranks(ranks: Ranks) -> Vec<String> {
    ranks.iter().map(|rank| rank.letter().to_string()).collect()
}
