//! `zetema rules show`.

use anyhow::Result;
use zetema_rules::Preset;

use crate::args;
use crate::args::{FormatArgs, PlayersAndTeams};
use crate::json::RulesJson;
use crate::output::{self, Format};
use crate::render::option;

/// Show every option of a preset.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema rules show quick --players 4
  zetema rules show sackson --set target=500 --format json > mine.json")]
pub(crate) struct Show {
    /// The preset
    #[arg(value_name = "PRESET", default_value_t, value_parser = args::preset())]
    preset: Preset,
    #[command(flatten)]
    rest: PlayersAndTeams,
    #[command(flatten)]
    format: FormatArgs,
}

impl Show {
    pub(super) fn run(self) -> Result<()> {
        let rules = self.rest.rules(self.preset)?;
        match self.format.format {
            Format::Table => {
                let mut table = output::table(["option", "value", "clause", "what it is"]);
                for (name, value) in rules.as_text() {
                    let (clause, meaning) = option::meaning(name);
                    table.add_row([name, &value, clause, meaning]);
                }
                output::print(rules)?;
                output::print(table)
            }
            Format::Json => output::print_json(&RulesJson::new(&rules)),
        }
    }
}
