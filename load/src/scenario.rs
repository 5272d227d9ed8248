//! A scenario: a file in TOML that says what is run.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use zetema_rules::{NamedTimeControl, Options, Preset, Rules, TimeControl};

use crate::outcome::{Client, Via, Work};
use crate::plan::{Kind, Load, OpenRate, Plan, PlanError, Stage};
use crate::think::Think;
use crate::time::duration;

/// What stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    warmup: Text,
    connections: Option<NonZeroU32>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    phase: Vec<PhaseTable>,
}

/// A time as text. Empty: none.
type Text = String;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseTable {
    name: String,
    duration: Text,
    #[serde(default)]
    ramp: Text,
    matches: Option<NonZeroU32>,
    rate: Option<String>,
    #[serde(default)]
    drop_every: Text,
    #[serde(default)]
    rejoin_every: Text,
    #[serde(default)]
    spectators: u32,
    #[serde(default)]
    slow_readers: u32,
    #[serde(default)]
    mix: Vec<MixTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixTable {
    #[serde(default = "one")]
    weight: NonZeroU32,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default = "two")]
    players: u8,
    /// Options that differ from the preset's.
    #[serde(default)]
    set: std::collections::BTreeMap<String, toml::Value>,
    time_control: Option<String>,
    #[serde(default)]
    client: Client,
    #[serde(default)]
    via: Via,
    #[serde(default)]
    think: Text,
}

const fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

const fn two() -> u8 {
    2
}

/// A file that is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It is no TOML, or has a key that no scenario has.
    #[error("{0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// A value can't be used.
    #[error("phase {phase:?}: {key}: {problem}")]
    Value {
        /// The name of its phase; empty outside of one.
        phase: String,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// It can't be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Reads a scenario.
///
/// ```
/// let plan = zetema_load::scenario(r#"
///     warmup = "5s"
///
///     [[phase]]
///     name = "steady"
///     duration = "30s"
///     rate = "50matches/s"
///     spectators = 20
///
///     [[phase.mix]]
///     weight = 9
///     think = "log-normal:200ms,0.8"
///
///     [[phase.mix]]
///     preset = "fosdick"
///     players = 4
///     client = "sdk"
/// "#).unwrap();
/// assert_eq!(plan.stages()[0].kinds.len(), 2);
/// ```
///
/// # Errors
/// [`ScenarioError`] if it is none. It names the phase and the key.
pub fn scenario(text: &str) -> Result<Plan, ScenarioError> {
    let File { warmup, connections, seed, phase } = toml::from_str(text).map_err(Box::new)?;
    let stages: Result<Vec<Stage>, ScenarioError> = phase.into_iter().map(stage).collect();
    let mut plan = Plan::new(time("", "warmup", &warmup)?, stages?)?;
    plan.connections = connections.unwrap_or(plan.connections);
    plan.seed = seed;
    plan.scenario = Some(text.to_owned());
    Ok(plan)
}

fn stage(table: PhaseTable) -> Result<Stage, ScenarioError> {
    let PhaseTable {
        name,
        duration,
        ramp,
        matches,
        rate,
        drop_every,
        rejoin_every,
        spectators,
        slow_readers,
        mix,
    } = table;
    let wrong = |key, problem: String| ScenarioError::Value { phase: name.clone(), key, problem };
    let rate: Option<OpenRate> = rate
        .map(|rate| rate.parse())
        .transpose()
        .map_err(|error: PlanError| wrong("rate", error.to_string()))?;
    let load = match (rate, matches) {
        (None, Some(matches)) => Load::Closed(matches),
        (Some(OpenRate { rate, of: Work::Actions }), Some(matches)) => Load::Actions(rate, matches),
        (Some(OpenRate { rate, of: Work::Matches }), None) => Load::Matches(rate),
        (None, None) => {
            return Err(wrong(
                "matches",
                "give matches, or a rate, or a rate of actions and matches".to_owned(),
            ));
        }
        (Some(OpenRate { of: Work::Actions, .. }), None) => {
            return Err(wrong(
                "matches",
                "say in how many matches so many actions a second are due".to_owned(),
            ));
        }
        (Some(OpenRate { of: Work::Matches, .. }), Some(_)) => {
            return Err(wrong(
                "matches",
                "how many are live follows from a rate of matches: leave one of them out".to_owned(),
            ));
        }
    };
    let mix = if mix.is_empty() { vec![toml::from_str("").map_err(Box::new)?] } else { mix };
    let kinds: Result<Vec<Kind>, ScenarioError> = mix.into_iter().map(|mix| kind(&name, mix)).collect();
    Ok(Stage {
        load,
        kinds: kinds?,
        ramp: time(&name, "ramp", &ramp)?,
        duration: time(&name, "duration", &duration)?,
        drop_every: Some(time(&name, "drop_every", &drop_every)?).filter(|_| !drop_every.is_empty()),
        rejoin_every: Some(time(&name, "rejoin_every", &rejoin_every)?).filter(|_| !rejoin_every.is_empty()),
        spectators,
        slow_readers,
        name,
    })
}

fn kind(phase: &str, table: MixTable) -> Result<Kind, ScenarioError> {
    let MixTable { weight, preset, players, set, time_control, client, via, think } = table;
    let wrong = |key, problem: String| ScenarioError::Value { phase: phase.to_owned(), key, problem };
    let preset = preset.map_or(Ok(Preset::default()), |name| name.parse::<Preset>());
    let preset = preset.map_err(|error| wrong("preset", error.to_string()))?;
    let rules = preset.rules(players.into(), None).map_err(|error| wrong("players", error.to_string()))?;
    let mut options: Options = *rules;
    for (name, value) in set {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        options = options.with(&name, &value).map_err(|error| wrong("set", error.to_string()))?;
    }
    let rules = Rules::new(options).map_err(|error| wrong("set", error.to_string()))?;
    let control =
        time_control.map_or(Ok(NamedTimeControl::Standard), |name| name.parse::<NamedTimeControl>());
    let control = control.map_err(|error| wrong("time_control", error.to_string()))?;
    let control = TimeControl::new(TimeControl::DEFAULT_JOIN_TIMEOUT_MS, control.decisions());
    let think = if think.is_empty() { Ok(Think::default()) } else { think.parse() };
    Ok(Kind {
        weight,
        preset: preset.to_string(),
        rules,
        time_control: control.map_err(|error| wrong("time_control", error.to_string()))?,
        client,
        via,
        think: think.map_err(|error| wrong("think", error.to_string()))?,
    })
}

/// A time that may be left out.
fn time(phase: &str, key: &'static str, text: &str) -> Result<Duration, ScenarioError> {
    if text.is_empty() {
        return Ok(Duration::ZERO);
    }
    let wrong = |problem| ScenarioError::Value { phase: phase.to_owned(), key, problem };
    duration(text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PHASE: &str = "[[phase]]\nname = \"p\"\nduration = \"10s\"\n";

    #[test]
    fn a_scenario_has_phases_and_each_its_mix() {
        let plan = scenario(
            "warmup = \"3s\"\nconnections = 8\nseed = 5\n\
             [[phase]]\nname = \"rise\"\nduration = \"1m\"\nramp = \"20s\"\nrate = \"100actions/s\"\nmatches = 50\n\
             [[phase.mix]]\nweight = 3\npreset = \"quick\"\nplayers = 3\nvia = \"unary\"\ntime_control = \"none\"\n\
             [phase.mix.set]\ntarget = 30\n\
             [[phase.mix]]\nthink = \"0s\"\n\
             [[phase]]\nname = \"trouble\"\nduration = \"5s\"\nmatches = 10\ndrop_every = \"500ms\"\nrejoin_every = \"20ms\"\nspectators = 7\nslow_readers = 2\n\
             [[phase.mix]]\nthink = \"200ms\"\n",
        )
        .unwrap();
        assert_eq!((plan.warm_up(), plan.connections.get(), plan.seed), (Duration::from_secs(3), 8, 5));
        let [rise, trouble] = plan.stages() else { panic!("two phases") };
        assert_eq!((rise.ramp, rise.duration), (Duration::from_secs(20), Duration::from_mins(1)));
        assert!(
            matches!(rise.load, Load::Actions(rate, live) if rate.to_string() == "100" && live.get() == 50)
        );
        assert_eq!(
            (rise.kinds[0].players(), rise.kinds[0].via, rise.kinds[0].weight.get()),
            (3, Via::Unary, 3)
        );
        assert_eq!(rise.kinds[0].rules.target, Some(30));
        assert_eq!(rise.kinds[1].think, Think::default());
        assert_eq!(trouble.kinds[0].think.mean(), Duration::from_millis(200));
        assert_eq!(trouble.drop_every, Some(Duration::from_millis(500)));
        assert_eq!(trouble.rejoin_every, Some(Duration::from_millis(20)));
        assert_eq!((trouble.spectators, trouble.slow_readers, trouble.kinds.len()), (7, 2, 1));
    }

    #[test]
    fn the_page_shows_one_that_can_be_run() {
        let page = include_str!("../../docs/load.md");
        let (_, shown) = page.split_once("```toml\n").unwrap();
        let plan = scenario(shown.split_once("```").unwrap().0).unwrap();
        let names: Vec<&str> = plan.stages().iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["evening", "night"]);
    }

    #[test]
    fn what_is_no_scenario_says_where_and_what_to_give() {
        let check = |text: &str, said: &[&str]| {
            let error = scenario(text).unwrap_err().to_string();
            assert!(said.iter().all(|said| error.contains(said)), "{error}");
        };
        let phase = |rest: &str| format!("{PHASE}{rest}");
        check("", &["one at least"]);
        check("wamrup = \"3s\"", &["wamrup", "warmup"]);
        check(&phase("matches = 5\nspeed = 3"), &["speed", "drop_every"]);
        check(&phase("matches = 5\n[[phase.mix]]\nplayer = 3"), &["player", "players"]);
        check(&phase(""), &["\"p\"", "matches"]);
        check(&phase("matches = 0"), &["matches = 0"]);
        check(&phase("rate = \"50\""), &["\"p\": rate", "50matches/s"]);
        check(&phase("rate = \"50actions/s\""), &["\"p\": matches"]);
        check(&phase("rate = \"5matches/s\"\nmatches = 5"), &["leave one"]);
        check(&phase("matches = 5\nramp = \"5\""), &["\"p\": ramp", "500ms"]);
        check(&phase("matches = 5\nramp = \"11s\""), &["\"p\"", "ramp"]);
        check(&phase("matches = 5\nramp = \"400d\""), &["\"p\": ramp", "a year at most"]);
        check(
            &phase("matches = 5\ndrop_every = \"9999999999999999999s\""),
            &["drop_every", "a year at most"],
        );
        let again = "[[phase]]\nname = \"q\"\nduration = \"9s\"\nmatches = 5\nramp = \"1s\"";
        check(&phase(&format!("matches = 5\n{again}")), &["\"q\"", "leave out its ramp"]);
        check(&phase("matches = 5\ndrop_every = \"0s\""), &["\"p\"", "cut"]);
        check(&phase("matches = 5\nrejoin_every = \"0s\""), &["\"p\"", "join again"]);
        check(
            &phase("matches = 5\nrejoin_every = \"1s\"\n[[phase.mix]]\nclient = \"sdk\""),
            &["\"p\"", "lean clients"],
        );
        check(&phase("matches = 5\n[[phase.mix]]\npreset = \"chess\""), &["\"p\": preset", "chess"]);
        check(&phase("matches = 5\n[[phase.mix]]\nplayers = 9"), &["\"p\": players", "9"]);
        check(&phase("matches = 5\n[[phase.mix]]\nvia = \"http\""), &["http", "unary"]);
        check(&phase("matches = 5\n[[phase.mix]]\nthink = \"long\""), &["\"p\": think", "exponential:200ms"]);
        check(
            &phase("matches = 5\n[[phase.mix]]\ntime_control = \"slow\""),
            &["\"p\": time_control", "slow"],
        );
        check(&phase("matches = 5\n[[phase.mix]]\n[phase.mix.set]\nspeed = 3"), &["\"p\": set", "speed"]);
        check(&phase("matches = 5\n[[phase.mix]]\nclient = \"sdk\"\nvia = \"unary\""), &["\"p\"", "sdk"]);
        check(
            &phase("rate = \"5actions/s\"\nmatches = 5\n[[phase.mix]]\nclient = \"sdk\""),
            &["\"p\"", "sdk"],
        );
        check(
            &phase("rate = \"5actions/s\"\nmatches = 5\n[[phase.mix]]\n[[phase.mix]]\nthink = \"5s\""),
            &["\"p\"", "leave out think"],
        );
    }
}
