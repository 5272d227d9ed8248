//! `zetema rules time-controls`.

use anyhow::Result;
use serde::Serialize;
use zetema_rules::{DecisionTime, NamedTimeControl};

use crate::args::FormatArgs;
use crate::json::ClockJson;
use crate::output::{self, Format};
use crate::render;

/// List the named time controls with their numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A decision that takes longer than its budget draws on the seat's bank; when that is empty too, the seat's
time is out. docs/clocks.md has the details.

The JSON is a list: name and clock, which is null for none.")]
pub(crate) struct TimeControls {
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Serialize)]
struct NamedJson {
    name: &'static str,
    clock: Option<ClockJson>,
}

impl TimeControls {
    pub(super) fn run(self) -> Result<()> {
        match self.format.format {
            Format::Table => print_table(),
            Format::Json => {
                let named = NamedTimeControl::ALL.map(|named| NamedJson {
                    name: named.name(),
                    clock: match named.decisions() {
                        DecisionTime::Clock(clock) => Some(ClockJson::new(&clock)),
                        DecisionTime::Unlimited { .. } => None,
                    },
                });
                output::print_json(&named)
            }
        }
    }
}

fn print_table() -> Result<()> {
    let headings =
        ["time control", "decision", "first", "bank", "increment", "network", "when the time is out"];
    let mut table = output::table(headings);
    for named in NamedTimeControl::ALL {
        let default = if named == NamedTimeControl::Standard { " (default)" } else { "" };
        let name = format!("{named}{default}");
        table.add_row(match named.decisions() {
            DecisionTime::Clock(clock) => [
                name,
                render::time(clock.budget_ms),
                render::time(clock.first_budget_ms),
                render::time(clock.bank_ms),
                render::time(clock.increment_ms),
                render::network_credit(&clock),
                render::time_out(clock.time_out),
            ],
            DecisionTime::Unlimited { idle_timeout_ms } => {
                let idle = format!("aborted when nothing happens for {}", render::time(idle_timeout_ms));
                let none = String::new;
                [name, none(), none(), none(), none(), none(), idle]
            }
        });
    }
    output::align_right(&mut table, 1..5);
    output::print(table)
}
