//! Accounts of bots and of their owners.

use serde::Serialize;
use zetema_proto::v1;

use super::BotOnLadderJson;

/// A registered bot.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BotJson {
    pub(crate) name: String,
    pub(crate) owner: String,
    pub(crate) description: String,
    pub(crate) version: String,
    /// Empty unless the bot is the caller's.
    pub(crate) fault_contact: String,
    /// `active` or `retired`.
    pub(crate) state: &'static str,
    /// As in 2026-11-21T03:04:01.250Z, as is the next.
    pub(crate) create_time: Option<String>,
    pub(crate) retire_time: Option<String>,
    pub(crate) matches_at_once: u32,
    pub(crate) matches_a_day: u32,
}

/// A bot, and how it behaves on ladders.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShownBotJson {
    #[serde(flatten)]
    pub(crate) bot: BotJson,
    /// `None` if the ladders don't say now.
    pub(crate) on_ladders: Option<Vec<BotOnLadderJson>>,
}

/// A bot with its token.
#[derive(Clone, Serialize)]
pub(crate) struct RegisteredBotJson {
    pub(crate) bot: BotJson,
    pub(crate) secret: String,
}

impl std::fmt::Debug for RegisteredBotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegisteredBotJson({})", self.bot.name)
    }
}

/// A bot with another token.
#[derive(Clone, Serialize)]
pub(crate) struct RotatedBotJson {
    pub(crate) bot: BotJson,
    pub(crate) secret: String,
    /// Of the tokens that it had: `play_on`, `void`, or `unspecified` by a server that doesn't say.
    pub(crate) old_tokens: &'static str,
    /// From when on the last of them is void, where they play on.
    pub(crate) void_time: Option<String>,
}

impl std::fmt::Debug for RotatedBotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RotatedBotJson({})", self.bot.name)
    }
}

/// An owner with its token.
#[derive(Clone, Serialize)]
pub(crate) struct RegisteredOwnerJson {
    pub(crate) owner: String,
    pub(crate) secret: String,
}

impl std::fmt::Debug for RegisteredOwnerJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegisteredOwnerJson({})", self.owner)
    }
}

impl BotJson {
    /// The JSON form of a bot.
    pub(crate) fn new(message: &v1::Bot) -> Self {
        let v1::BotQuota { matches_at_once, matches_a_day } = message.quota.unwrap_or_default();
        Self {
            name: message.name.clone(),
            owner: message.owner.clone(),
            description: message.description.clone(),
            version: message.version.clone(),
            fault_contact: message.fault_contact.clone(),
            state: match message.state() {
                v1::BotState::Active => "active",
                v1::BotState::Retired => "retired",
                // Of a later version.
                v1::BotState::Unspecified => "unknown",
            },
            create_time: message.create_time.as_ref().map(ToString::to_string),
            retire_time: message.retire_time.as_ref().map(ToString::to_string),
            matches_at_once,
            matches_a_day,
        }
    }
}
