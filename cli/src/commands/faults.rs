//! What went wrong for a player, as `zetema match faults` and `zetema bot faults` show it.

use std::num::NonZeroUsize;

use anyhow::Result;
use zetema_sdk::ReportedFault;

use crate::args::{FormatArgs, from_one};
use crate::json::FaultJson;
use crate::output::{self, Format};

/// What both commands say of faults, before these examples.
pub(super) fn help(examples: &str) -> String {
    format!(
        "\
The latest comes first. The server remembers, over a restart too, those of a bot's latest 1,000 seats with faults,
and those of a seat with a token of its own until an hour after its match; 16 of each seat. When more than 10,000
seats have faults, whoever has the most loses its oldest. Time-outs are in the records too. The JSON is a list of
objects: time, count, match_id, seat, kind (rejected, cut, lost, timed-out, panicked, no-show or other), reason, message, decision
and strikes, of which the last four may be null.

Examples:
{examples}"
    )
}

/// How many faults are shown, and how.
#[derive(Debug, clap::Args)]
pub(super) struct FaultArgs {
    /// At most so many
    #[arg(long, value_name = "N", default_value = "100", value_parser = from_one(NonZeroUsize::MAX))]
    limit: NonZeroUsize,
    #[command(flatten)]
    format: FormatArgs,
}

impl FaultArgs {
    /// How many to ask for: one more than is shown tells whether there are more.
    pub(super) const fn most(&self) -> usize {
        self.limit.get().saturating_add(1)
    }

    /// Prints what was answered.
    pub(super) fn print(&self, faults: &[ReportedFault]) -> Result<()> {
        let shown: Vec<FaultJson> = faults.iter().take(self.limit.get()).map(FaultJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&shown)?,
            Format::Table => {
                let mut table = output::table(["time", "match", "seat", "fault"]);
                for (json, fault) in shown.iter().zip(faults) {
                    let seat = fault.seat.to_string();
                    let times =
                        if fault.count > 1 { format!(" ({} times)", fault.count) } else { String::new() };
                    let told = format!("{}{times}", fault.kind);
                    table.add_row([json.time.as_str(), &fault.match_id, &seat, &told]);
                }
                output::print(table)?;
            }
        }
        if faults.len() > self.limit.get() {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}
