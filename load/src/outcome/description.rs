//! What a run was asked to do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run was asked to do, as it stands in its report. Two runs with the same description can be compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The server's address; of an embedded one `embedded`.
    pub server: String,
    /// When work comes.
    pub arrivals: Arrivals,
    /// How seats are played.
    pub via: Via,
    /// What plays them.
    pub client: Client,
    /// The preset of the rules. Empty on a ladder.
    pub preset: String,
    /// The ladder, if bots have waited on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<String>,
    /// Seats of a match.
    pub players: u8,
    /// How long a player thinks, as it was given: `exponential 20ms`.
    pub think: String,
    /// Connections to the server.
    pub connections: u32,
    /// Programs that made the load.
    pub generators: u32,
    /// What was said of the load's growth: its length in milliseconds.
    #[serde(with = "ms", rename = "ramp_ms")]
    pub ramp: Duration,
    /// What is not measured at the beginning, in milliseconds.
    #[serde(with = "ms", rename = "warm_up_ms")]
    pub warm_up: Duration,
    /// What is measured, in milliseconds.
    #[serde(with = "ms", rename = "duration_ms")]
    pub duration: Duration,
    /// The scenario file, if there was one: its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Every setting of the plan by its name, as text: `stages.0.duration.secs`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// The leaves of a value by their paths.
pub(crate) fn settings(value: &Value) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Object(fields) => open.extend(fields.iter().map(|(name, value)| (below(name), value))),
            Value::Array(values) => {
                open.extend(values.iter().enumerate().map(|(at, value)| (below(&at.to_string()), value)));
            }
            Value::Null => {}
            Value::String(text) => drop(settings.insert(path, text.clone())),
            leaf => drop(settings.insert(path, leaf.to_string())),
        }
    }
    settings
}

/// When work comes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// So many matches are live at once: the next one begins when one is over, so that a slow server is asked for less.
    Closed {
        /// How many.
        matches: u32,
    },
    /// On a schedule, whatever the server does.
    Open {
        /// How many are due each second.
        per_second: f64,
        /// Of what.
        of: Work,
    },
    /// As each phase of the scenario says.
    Scenario,
    /// When a ladder pairs the bots that wait on it.
    Ladder {
        /// How many bots.
        bots: u32,
        /// How many matches at once each plays at most.
        places: u32,
    },
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::Closed { matches: 1 }
    }
}

/// What comes on a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Actions.
    #[default]
    Actions,
    /// Matches.
    Matches,
}

/// How seats are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// On Play streams.
    #[default]
    Play,
    /// By `JoinSeat`, `Observe` and `Act`.
    Unary,
}

/// What plays the seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    /// Sessions of the SDK, as bots have them.
    Sdk,
    /// Clients that do no more than they must.
    #[default]
    Lean,
}

mod ms {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
