//! How bots behave on ladders.

use serde::Serialize;
use zetema_proto::v1;

use super::UNKNOWN;

/// Whether a bot is paired.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConductJson {
    /// `free`, `cooling-down`, `benched` or `out-of-quota`.
    pub(crate) state: &'static str,
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) until: Option<String>,
}

/// How a bot behaves on one ladder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BotOnLadderJson {
    pub(crate) ladder: String,
    pub(crate) conduct: ConductJson,
    /// `None` unless the bot is the caller's.
    pub(crate) counts: Option<ConductCountsJson>,
}

/// What a bot's conduct comes of.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConductCountsJson {
    pub(crate) strikes: u32,
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) cool_down_until: Option<String>,
    pub(crate) matches_to_clear: u32,
    pub(crate) forfeits: u32,
    pub(crate) of_last_matches: u32,
    pub(crate) forfeits_to_bench: u32,
    pub(crate) benches: u32,
}

impl ConductJson {
    /// The JSON form of a bot's conduct.
    pub(crate) fn new(message: Option<&v1::BotConduct>) -> Self {
        use v1::bot_conduct::Kind;
        let (state, until) = match message.and_then(|conduct| conduct.kind.as_ref()) {
            Some(Kind::Free(v1::FreeToPlay {})) => ("free", None),
            Some(Kind::CoolingDown(v1::CoolingDown { until })) => ("cooling-down", until.as_ref()),
            Some(Kind::Benched(v1::Benched { until })) => ("benched", until.as_ref()),
            Some(Kind::OutOfQuota(v1::OutOfQuota { until })) => ("out-of-quota", until.as_ref()),
            None => (UNKNOWN, None),
        };
        Self { state, until: until.map(ToString::to_string) }
    }
}

impl BotOnLadderJson {
    /// The JSON form of how a bot behaves.
    pub(crate) fn new(message: &v1::BotOnLadder) -> Self {
        Self {
            ladder: message.ladder.clone(),
            conduct: ConductJson::new(message.conduct.as_ref()),
            counts: message.counts.as_ref().map(ConductCountsJson::new),
        }
    }
}

impl ConductCountsJson {
    fn new(message: &v1::ConductCounts) -> Self {
        Self {
            strikes: message.strikes,
            cool_down_until: message.cool_down_until.as_ref().map(ToString::to_string),
            matches_to_clear: message.matches_to_clear,
            forfeits: message.forfeits,
            of_last_matches: message.of_last_matches,
            forfeits_to_bench: message.forfeits_to_bench,
            benches: message.benches,
        }
    }
}
