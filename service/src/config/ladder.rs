//! Ladders in the file of a configuration: `[[ladder]]`.

use serde::Deserialize;
use zetema_ladder::conduct::{ConductOptions, ConductSettings};
use zetema_ladder::pairing::{PairingOptions, PairingSettings, SameOwner};
use zetema_ladder::{RatingOptions, RatingSettings};
use zetema_rules::{NamedTimeControl, Preset, Rules, RulesError, Teams, TimeControl};

use crate::journal::{LadderName, Owner};
use crate::ladders::{Entry, LadderSpec, LadderSpecs};

/// How long a bot has to come to its match unless it is said, in milliseconds: it waits for that, so it is there.
const JOIN_TIMEOUT_MS: u32 = 20_000;

/// A ladder as the file has it. What is left out is as usual.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    description: String,
    preset: Option<String>,
    players: Option<usize>,
    teams: Option<String>,
    rules: Option<String>,
    time_control: Option<String>,
    join_timeout_ms: Option<u32>,
    same_owner: Option<String>,
    owners: Option<Vec<String>>,
    #[serde(default)]
    rating: Rating,
    #[serde(default)]
    pairing: Pairing,
    #[serde(default)]
    conduct: Conduct,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rating {
    mu: Option<f64>,
    sigma: Option<f64>,
    beta: Option<f64>,
    kappa: Option<f64>,
    tau: Option<f64>,
    provisional_sigma: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pairing {
    reach_at_start: Option<f64>,
    reach_per_second: Option<f64>,
    patience_ms: Option<u64>,
    nearer_by_uncertainty: Option<f64>,
    further_by_repeat: Option<f64>,
    remembered_matches: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conduct {
    first_cool_down_ms: Option<u64>,
    cool_down_factor: Option<u32>,
    longest_cool_down_ms: Option<u64>,
    matches_to_clear: Option<u32>,
    strikes_last_ms: Option<u64>,
    forfeits_to_bench: Option<u32>,
    of_last_matches: Option<u32>,
    first_bench_ms: Option<u64>,
    bench_factor: Option<u32>,
    bench_until_author: Option<u32>,
    benches_last_ms: Option<u64>,
}

/// The ladders that the file has in the place of the usual ones.
///
/// # Errors
/// What is wrong, with the name of the ladder and the key.
pub(super) fn read(value: toml::Value) -> Result<LadderSpecs, String> {
    let toml::Value::Array(written) = value else {
        return Err("ladders are written as tables: begin each with [[ladder]]".to_owned());
    };
    let specs = written.into_iter().enumerate().map(|(at, value)| {
        let name = value.get("name").and_then(toml::Value::as_str).unwrap_or("").to_owned();
        let whose = if name.is_empty() { format!("ladder {}", at + 1) } else { format!("ladder {name}") };
        // With the key, on a line of its own.
        let badly = |error: toml::de::Error| error.to_string().trim_end().replace('\n', ", ");
        let spec = Written::deserialize(value).map_err(badly).and_then(spec);
        spec.map_err(|problem| format!("{whose}: {problem}"))
    });
    LadderSpecs::new(specs.collect::<Result<_, _>>()?).map_err(|error| error.to_string())
}

fn at(key: &str, problem: impl std::fmt::Display) -> String {
    format!("{key}: {problem}")
}

fn spec(written: Written) -> Result<LadderSpec, String> {
    let name = LadderName::new(written.name.as_str()).map_err(|error| at("name", error))?;
    if written.description.len() > LadderSpec::MAX_DESCRIPTION_BYTES {
        let most = LadderSpec::MAX_DESCRIPTION_BYTES;
        return Err(at(
            "description",
            format!("has {} bytes: give at most {most}", written.description.len()),
        ));
    }
    let rules = rules(&written)?;
    let time_control = time_control(written.time_control.as_deref(), written.join_timeout_ms)?;
    let same_owner = match written.same_owner.as_deref() {
        None | Some("apart") => SameOwner::Apart,
        Some("opponents") => SameOwner::Opponents,
        Some("anywhere") => SameOwner::Anywhere,
        Some(other) => {
            return Err(at("same_owner", format!("is {other:?}: give apart, opponents or anywhere")));
        }
    };
    if same_owner != SameOwner::Anywhere && time_control.clock().is_none() {
        let problem = "has no clock, so whoever is about to lose need not play on: give one, or same_owner = \"anywhere\", which is \
                       not rated";
        return Err(at("time_control", problem));
    }
    let entry = match written.owners {
        None => Entry::Registered,
        Some(owners) if owners.is_empty() => {
            return Err(at("owners", "is empty: name those who may enter, or leave it out"));
        }
        Some(owners) => {
            let owners = owners.into_iter().map(Owner::new).collect::<Result<_, _>>();
            Entry::Owners(owners.map_err(|error| at("owners", error))?)
        }
    };
    Ok(LadderSpec {
        name,
        description: written.description,
        rules,
        time_control,
        rating: rating(&written.rating, &rules).map_err(|problem| at("rating", problem))?,
        pairing: pairing(&written.pairing, &rules, same_owner).map_err(|problem| at("pairing", problem))?,
        conduct: conduct(&written.conduct).map_err(|problem| at("conduct", problem))?,
        entry,
    })
}

fn rules(written: &Written) -> Result<Rules, String> {
    let Written { preset, players, teams, rules, .. } = written;
    match (preset, rules) {
        (Some(preset), None) => {
            let preset: Preset = preset.parse().map_err(|error| at("preset", error))?;
            let teams = teams.as_deref().map(str::parse::<Teams>).transpose();
            let teams = teams.map_err(|error| at("teams", error))?;
            let players = players.ok_or_else(|| at("players", "is missing: give 2 to 6"))?;
            preset.rules(players, teams).map_err(|error| match error {
                RulesError::PresetTeams { .. } => at("teams", error),
                _ => at("players", error),
            })
        }
        (None, Some(rules)) => {
            for (key, is_given) in [("players", players.is_some()), ("teams", teams.is_some())] {
                if is_given {
                    return Err(at(key, "is in rules already: leave it out"));
                }
            }
            rules.parse().map_err(|error| at("rules", error))
        }
        (Some(_), Some(_)) | (None, None) => {
            Err("give preset and players, or rules as a record has them".to_owned())
        }
    }
}

fn time_control(text: Option<&str>, join_timeout_ms: Option<u32>) -> Result<TimeControl, String> {
    let text = text.unwrap_or("blitz");
    if text.contains('=') {
        if join_timeout_ms.is_some() {
            return Err(at("join_timeout_ms", "is in time_control already: leave it out"));
        }
        return text.parse().map_err(|error| at("time_control", error));
    }
    let named: NamedTimeControl = text.parse().map_err(|error| at("time_control", error))?;
    let named = TimeControl::named(named);
    let join_timeout_ms = join_timeout_ms.unwrap_or(JOIN_TIMEOUT_MS);
    TimeControl::new(join_timeout_ms, named.decisions()).map_err(|error| at("join_timeout_ms", error))
}

fn rating(written: &Rating, rules: &Rules) -> Result<RatingSettings, String> {
    let Rating { mu, sigma, beta, kappa, tau, provisional_sigma } = *written;
    let usual = RatingOptions::usual(rules.player_count(), rules.teams);
    let options = RatingOptions {
        mu: mu.unwrap_or(usual.mu),
        sigma: sigma.unwrap_or(usual.sigma),
        beta: beta.unwrap_or(usual.beta),
        kappa: kappa.unwrap_or(usual.kappa),
        tau: tau.unwrap_or(usual.tau),
        provisional_sigma: provisional_sigma.unwrap_or(usual.provisional_sigma),
    };
    RatingSettings::new(options).map_err(|error| error.to_string())
}

fn pairing(written: &Pairing, rules: &Rules, same_owner: SameOwner) -> Result<PairingSettings, String> {
    let Pairing {
        reach_at_start,
        reach_per_second,
        patience_ms,
        nearer_by_uncertainty,
        further_by_repeat,
        remembered_matches,
    } = *written;
    let usual = PairingOptions::usual(rules.player_count(), rules.teams);
    let options = PairingOptions {
        same_owner,
        reach_at_start: reach_at_start.unwrap_or(usual.reach_at_start),
        reach_per_second: reach_per_second.unwrap_or(usual.reach_per_second),
        patience_ms: patience_ms.unwrap_or(usual.patience_ms),
        nearer_by_uncertainty: nearer_by_uncertainty.unwrap_or(usual.nearer_by_uncertainty),
        further_by_repeat: further_by_repeat.unwrap_or(usual.further_by_repeat),
        remembered_matches: remembered_matches.unwrap_or(usual.remembered_matches),
        ..usual
    };
    PairingSettings::new(options).map_err(|error| error.to_string())
}

fn conduct(written: &Conduct) -> Result<ConductSettings, String> {
    let Conduct {
        first_cool_down_ms,
        cool_down_factor,
        longest_cool_down_ms,
        matches_to_clear,
        strikes_last_ms,
        forfeits_to_bench,
        of_last_matches,
        first_bench_ms,
        bench_factor,
        bench_until_author,
        benches_last_ms,
    } = *written;
    let usual = ConductOptions::default();
    let options = ConductOptions {
        first_cool_down_ms: first_cool_down_ms.unwrap_or(usual.first_cool_down_ms),
        cool_down_factor: cool_down_factor.unwrap_or(usual.cool_down_factor),
        longest_cool_down_ms: longest_cool_down_ms.unwrap_or(usual.longest_cool_down_ms),
        matches_to_clear: matches_to_clear.unwrap_or(usual.matches_to_clear),
        strikes_last_ms: strikes_last_ms.unwrap_or(usual.strikes_last_ms),
        forfeits_to_bench: forfeits_to_bench.unwrap_or(usual.forfeits_to_bench),
        of_last_matches: of_last_matches.unwrap_or(usual.of_last_matches),
        first_bench_ms: first_bench_ms.unwrap_or(usual.first_bench_ms),
        bench_factor: bench_factor.unwrap_or(usual.bench_factor),
        bench_until_author: bench_until_author.unwrap_or(usual.bench_until_author),
        benches_last_ms: benches_last_ms.unwrap_or(usual.benches_last_ms),
    };
    ConductSettings::new(options).map_err(|error| error.to_string())
}

/// The ladders of a server whose file names none.
pub(super) fn usual() -> LadderSpecs {
    let of = |name: &str, preset: &str, players: usize, description: &str| {
        format!(
            "[[ladder]]\nname = \"{name}\"\npreset = \"{preset}\"\nplayers = {players}\ndescription = \"{description}\"\n"
        )
    };
    let text = [
        of("sackson-2", "sackson", 2, "Sackson's rules for two"),
        of("sackson-4", "sackson", 4, "Sackson's rules for four"),
        of("quick-2", "quick", 2, "One quick deal for two"),
    ]
    .concat();
    let table = text.parse::<toml::Table>().ok().and_then(|mut table| table.remove("ladder"));
    let read = table.map(read).and_then(Result::ok);
    read.unwrap_or_else(LadderSpecs::none)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<LadderSpecs, String> {
        read(text.parse::<toml::Table>().unwrap().remove("ladder").unwrap())
    }

    #[test]
    fn the_usual_ladders_are_three() {
        let names: Vec<String> = usual().iter().map(|spec| spec.name.to_string()).collect();
        assert_eq!(names, ["sackson-2", "sackson-4", "quick-2"]);
    }

    /// One opponent, or two: √2 as much luck.
    #[test]
    fn the_usual_luck_goes_with_the_opponents() {
        let betas: Vec<f64> = usual().iter().map(|spec| spec.rating.beta).collect();
        assert_eq!(betas, [10.0, 200_f64.sqrt(), 10.0]);
    }

    #[test]
    fn a_ladder_is_all_that_its_table_says() {
        let specs = check(
            "[[ladder]]\nname = \"pairs\"\npreset = \"sackson\"\nplayers = 4\nteams = \"pairs\"\ntime_control = \"bullet\"\n\
             join_timeout_ms = 5000\nsame_owner = \"opponents\"\nowners = [\"ada\", \"bob\"]\nrating.beta = 12.0\n\
             pairing.patience_ms = 1000\nconduct.forfeits_to_bench = 2\n",
        );
        let specs = specs.unwrap();
        let spec = specs.iter().next().unwrap();
        assert_eq!((spec.rules.teams, spec.rules.player_count().count()), (Teams::Pairs, 4));
        assert_eq!(spec.time_control.join_timeout_ms(), 5_000);
        assert_eq!(
            (spec.rating.beta, spec.pairing.patience_ms, spec.conduct.forfeits_to_bench),
            (12.0, 1_000, 2)
        );
        assert_eq!(spec.pairing.same_owner, SameOwner::Opponents);
        assert!(matches!(&spec.entry, Entry::Owners(owners) if owners.len() == 2));
    }

    #[test]
    fn a_ladder_that_is_not_rated_may_have_no_clock() {
        let text = "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\ntime_control = \"none\"\nsame_owner = \"anywhere\"\n";
        assert!(!check(text).unwrap().iter().next().unwrap().is_rated());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_ladder_and_key() {
        for (text, named) in [
            ("ladder = 3", "[[ladder]]"),
            ("[[ladder]]\npreset = \"sackson\"\nplayers = 2\n", "name"),
            ("[[ladder]]\nname = \"A\"\npreset = \"sackson\"\nplayers = 2\n", "ladder A: name: "),
            ("[[ladder]]\nname = \"a\"\npreset = \"saxon\"\nplayers = 2\n", "ladder a: preset: \"saxon\""),
            ("[[ladder]]\nname = \"a\"\npreset = \"sackson\"\n", "ladder a: players: is missing"),
            ("[[ladder]]\nname = \"a\"\n", "ladder a: give preset"),
            ("[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nspeed = 3\n", "speed"),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nrating.beta = -1\n",
                "rating: beta is -1",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nsame_owner = \"near\"\n",
                "same_owner: is \"near\"",
            ),
            ("[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = \"two\"\n", "in `players`"),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nrating.beta = \"wide\"\n",
                "in `rating.beta`",
            ),
            ("[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 7\n", "ladder a: players: "),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 3\nteams = \"pairs\"\n",
                "ladder a: teams: ",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\njoin_timeout_ms = 0\n",
                "ladder a: join_timeout_ms: ",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\ntime_control = \"none\"\n",
                "ladder a: time_control: has no clock",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nowners = []\n",
                "ladder a: owners: is empty",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\nowners = [\"two words\"]\n",
                "ladder a: owners: ",
            ),
            (
                "[[ladder]]\nname = \"a\"\npreset = \"sackson\"\nplayers = 2\n[[ladder]]\nname = \"a\"\npreset = \"quick\"\nplayers = 2\n",
                "two ladders are named a",
            ),
        ] {
            let problem = check(text).unwrap_err();
            assert!(problem.contains(named), "{text}: {problem}");
        }
    }
}
