//! `zetema record show`.

use anyhow::Result;
use zetema_rules::{Attendance, Clocks, LedgerEntry, Record, Step};

use super::source::{Finder, Found};
use crate::args::{FormatArgs, ServerArgs};
use crate::json::{RecordJson, hex};
use crate::output::{self, Format};
use crate::render::{self, Names};

/// How many entries of a ledger are shown without being asked for.
const SHORT: usize = 40;

/// Show what a record holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The ledger says how the time of each decision was charged, in milliseconds on the match's own clock: when it
was published, when its answer was received, how long that took, what of it was credited to the network, what
was charged, and what the seat's bank held then.

Examples:
  zetema record show MATCH_ID --ledger | less
  zetema record show MATCH_ID --format json | jq '.ledger[] | select(.received_ms == null)'")]
pub(crate) struct Show {
    /// The match's id, or a file; - for stdin
    #[arg(value_name = "ID|FILE")]
    record: String,
    /// Show the ledger however long it is; else only up to 40 decisions
    #[arg(long)]
    ledger: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let found = Finder::new(&self.server).find(&self.record).await?;
        match self.format.format {
            Format::Table => print_table(&found, if self.ledger { usize::MAX } else { SHORT }),
            Format::Json => output::print_json(&RecordJson::new(&found.record, found.header.as_ref())),
        }
    }
}

fn print_table(found: &Found, ledger_up_to: usize) -> Result<()> {
    let Found { record, header } = found;
    let names = Names::numbers(record.rules);
    let mut about = output::table(["record", ""]);
    if let Some(header) = header {
        about.add_row(["match", &header.match_id]);
        if !header.client_reference.is_empty() {
            about.add_row(["reference", &output::plain(&header.client_reference)]);
        }
    }
    let dealing = &record.dealing;
    about
        .add_row(["rules", &format!("{}, revision {}", record.rules, record.revision)])
        .add_row(["deals", &format!("{} ({})", record.deals.len(), dealing.kind)])
        .add_row(["commitment", &hex(&dealing.commitment.0)])
        .add_row(["server seed", &hex(dealing.server_seed.reveal())]);
    if let Some(Clocks { control, .. }) = &record.clocks {
        about.add_row(["time control", &render::time_control(control)]);
    }
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
    if let Some(Clocks { ledger: entries, .. }) = &record.clocks {
        if entries.len() > ledger_up_to {
            output::note(format!("the ledger of {}: --ledger", render::counted(entries.len(), "decision")));
        } else if !entries.is_empty() {
            output::print(ledger(entries, &names))?;
        }
    }
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

/// How the time of each decision was charged, in milliseconds.
fn ledger(entries: &[LedgerEntry], names: &Names) -> comfy_table::Table {
    let mut table = output::table([
        "decision",
        "seat",
        "published",
        "received",
        "elapsed",
        "credit",
        "charged",
        "bank",
        "remark",
    ]);
    for entry in entries {
        let LedgerEntry { decision, seat, published_ms, received_ms, charge, interrupted, attendance } =
            entry;
        let elapsed_ms = received_ms.map(|received_ms| received_ms.saturating_sub(*published_ms));
        let number = |ms: Option<u64>| ms.map(|ms| ms.to_string()).unwrap_or_default();
        let absent = *attendance == Some(Attendance::Absent);
        let remarks =
            [(received_ms.is_none(), "time out"), (*interrupted, "interrupted"), (absent, "nobody there")];
        let remarks: Vec<&str> =
            remarks.into_iter().filter(|(so, _)| *so).map(|(_, remark)| remark).collect();
        table.add_row([
            decision.to_string(),
            names.seat(*seat),
            published_ms.to_string(),
            number(*received_ms),
            number(elapsed_ms),
            charge.credit_ms.to_string(),
            charge.charged_ms.to_string(),
            charge.bank_ms.to_string(),
            remarks.join(", "),
        ]);
    }
    output::align_right(&mut table, 2..8);
    output::align_right(&mut table, [0]);
    table
}
