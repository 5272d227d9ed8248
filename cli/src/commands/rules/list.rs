//! `zetema rules list`.

use anyhow::Result;
use zetema_rules::{Players, Preset};

use crate::args::FormatArgs;
use crate::json::PresetJson;
use crate::output::{self, Format};

/// List the presets.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    format: FormatArgs,
}

impl List {
    pub(super) fn run(self) -> Result<()> {
        match self.format.format {
            Format::Table => print_table(),
            Format::Json => {
                let presets: Result<Vec<_>, _> = Preset::ALL.into_iter().map(PresetJson::new).collect();
                output::print_json(&presets?)
            }
        }
    }
}

fn print_table() -> Result<()> {
    let mut table = output::table(["preset", "players", "teams", "after"]);
    for preset in Preset::ALL {
        let mut players = Vec::new();
        let mut teams = Vec::new();
        for &count in preset.players() {
            let allowed = preset.teams(Players::new(usize::from(count))?);
            players.push(count.to_string());
            if count >= 4 && count != 5 {
                let words: Vec<&str> = allowed.iter().map(|teams| teams.word()).collect();
                teams.push(format!("{count}: {}", words.join(", ")));
            }
        }
        let default = if preset == Preset::default() { " (default)" } else { "" };
        table.add_row([
            format!("{preset}{default}"),
            players.join(" "),
            teams.join("\n"),
            preset.source().to_owned(),
        ]);
    }
    output::print(table)
}
