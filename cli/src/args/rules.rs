//! The rules of a match, as flags.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use zetema_rules::{Options, Preset, Rules, Teams};

use crate::failure::Usage;

/// Reads a preset's name.
pub(crate) fn preset() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

fn teams() -> impl TypedValueParser<Value = Teams> {
    PossibleValuesParser::new(Teams::ALL.map(Teams::word)).try_map(|word| word.parse::<Teams>())
}

/// How many play, who with whom, and what differs from the preset.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlayersAndTeams {
    /// Number of players, 2 to 6 as far as the preset allows
    #[arg(long, default_value_t = 2, value_name = "N")]
    players: usize,
    /// Who plays with whom; unless given, the preset's first choice
    #[arg(long, value_parser = teams())]
    teams: Option<Teams>,
    /// Change an option of the preset, as in target=500 (`zetema rules show` lists them); repeatable
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    changes: Vec<String>,
}

impl PlayersAndTeams {
    /// The rules of the preset with the changes.
    pub(crate) fn rules(&self, preset: Preset) -> Result<Rules, Usage> {
        let rules = preset.rules(self.players, self.teams).map_err(|error| Usage::new(error.to_string()))?;
        if self.changes.is_empty() {
            return Ok(rules);
        }
        let mut options: Options = *rules;
        for change in &self.changes {
            let (name, value) = change.split_once('=').ok_or_else(|| {
                Usage::new(format!("{change:?} is no change of an option: give --set OPTION=VALUE"))
            })?;
            if name == "players" || name == "teams" {
                return Err(Usage::new(format!("--set {change} is not possible: give --{name} {value}")));
            }
            options = options.with(name, value).map_err(|error| Usage::new(error.to_string()))?;
        }
        Rules::new(options).map_err(|error| Usage::new(error.to_string()))
    }
}

/// The rules of a match.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RulesArgs {
    /// The published description to play by
    #[arg(long, value_name = "NAME", default_value_t, value_parser = preset())]
    preset: Preset,
    #[command(flatten)]
    rest: PlayersAndTeams,
}

impl Default for RulesArgs {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            rest: PlayersAndTeams { players: 2, teams: None, changes: Vec::new() },
        }
    }
}

impl RulesArgs {
    /// The preset that they begin with.
    pub(crate) const fn preset(&self) -> Preset {
        self.preset
    }

    /// The rules.
    pub(crate) fn rules(&self) -> Result<Rules, Usage> {
        self.rest.rules(self.preset)
    }
}
