//! `zetema record show`.

use anyhow::Result;
use zetema_rules::{Record, Step};

use super::source::{Finder, Found};
use crate::args::{FormatArgs, ServerArgs};
use crate::json::{RecordJson, hex};
use crate::output::{self, Format};
use crate::render::{self, Names};

/// Show what a record holds.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The match's id, or a file; - for stdin
    #[arg(value_name = "ID|FILE")]
    record: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let found = Finder::new(&self.server).find(&self.record).await?;
        match self.format.format {
            Format::Table => print_table(&found),
            Format::Json => output::print_json(&RecordJson::new(&found.record, found.header.as_ref())),
        }
    }
}

fn print_table(found: &Found) -> Result<()> {
    let Found { record, header } = found;
    let names = Names::numbers(record.rules);
    let mut about = output::table(["record", ""]);
    if let Some(header) = header {
        about.add_row(["match", &header.match_id]);
        if !header.client_reference.is_empty() {
            about.add_row(["reference", &header.client_reference]);
        }
    }
    let dealing = &record.dealing;
    about
        .add_row(["rules", &format!("{}, revision {}", record.rules, record.revision)])
        .add_row(["deals", &format!("{} ({})", record.deals.len(), dealing.kind)])
        .add_row(["commitment", &hex(&dealing.commitment.0)])
        .add_row(["server seed", &hex(dealing.server_seed.reveal())]);
    for (seat, entrant) in dealing.entrants.iter().enumerate() {
        let nonce = match &entrant.nonce {
            Some(nonce) if nonce.reveal().is_empty() => "empty".to_owned(),
            Some(nonce) => hex(nonce.reveal()),
            None => "missing".to_owned(),
        };
        about.add_row([format!("nonce {seat}"), nonce]);
    }
    about.add_row(["outcome", &console::strip_ansi_codes(&render::outcome(&record.outcome, &names))]);
    output::print(about)?;
    output::print(seats(record, &names))?;
    output::note("the steps: `zetema record replay`; to check it all: `zetema record verify`");
    Ok(())
}

fn seats(record: &Record, names: &Names) -> comfy_table::Table {
    let mut table = output::table(["seat", "side", "actions", "declarations", "points"]);
    for seat in record.rules.seats() {
        let (mut actions, mut declarations, mut scored) = (0, 0, 0_u32);
        for step in &record.steps {
            if let Step::Play { seat: by, action, points, .. } = step
                && *by == seat
            {
                actions += 1;
                declarations += usize::from(matches!(action, zetema_rules::Action::Declare(_)));
                scored += u32::from(*points);
            }
        }
        table.add_row([
            names.seat(seat),
            record.rules.side(seat).to_string(),
            actions.to_string(),
            declarations.to_string(),
            scored.to_string(),
        ]);
    }
    output::align_right(&mut table, 1..5);
    table
}
