//! `zetema record verify`.

use anyhow::{Result, bail};
use serde::Serialize;
use zetema_rules::{Place, Record, ReplayError};

use super::source::{Finder, Found};
use crate::args::{FormatArgs, ServerArgs};
use crate::json::OutcomeJson;
use crate::output::{self, Format};
use crate::render::{self, Names};

/// Replay records by the rules and check every part.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Checked are the seed against its commitment, every nonce against its hash, the dealer, every deck,
every step with its points, the scores of each deal, the ledger of the clocks, and the result. What differs
first is named, and the exit code is 1. The JSON is a list: record, verified, error, rules, deals, steps, outcome.

Examples:
  zetema record verify MATCH_ID
  zetema record verify match.txt other.json --format json")]
pub(crate) struct Verify {
    /// The match's id, or a file; - for stdin
    #[arg(value_name = "ID|FILE", required = true)]
    records: Vec<String>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Serialize)]
struct VerifiedJson {
    record: String,
    verified: bool,
    /// What differs first, if it does not verify.
    error: Option<String>,
    rules: String,
    deals: usize,
    steps: usize,
    outcome: OutcomeJson,
}

impl Verify {
    pub(super) async fn run(self) -> Result<()> {
        let mut finder = Finder::new(&self.server);
        let (mut count, mut failed) = (0, 0);
        let mut answers = Vec::new();
        for source in &self.records {
            let all = finder.find_all(source).await?;
            count += all.len();
            for (i, found) in all.iter().enumerate() {
                let name =
                    if all.len() == 1 { source.clone() } else { format!("record {} of {source}", i + 1) };
                let error = problem(found);
                failed += usize::from(error.is_some());
                match self.format.format {
                    Format::Table => output::print(line(&name, found, error.as_deref()))?,
                    Format::Json => answers.push(VerifiedJson {
                        record: name,
                        verified: error.is_none(),
                        error,
                        rules: found.record.rules.to_string(),
                        deals: found.record.deals.len(),
                        steps: found.record.steps.len(),
                        outcome: OutcomeJson::new(&found.record.outcome),
                    }),
                }
            }
        }
        if self.format.format == Format::Json {
            output::print_json(&answers)?;
        }
        if failed > 0 {
            bail!("{failed} of {} did not verify", render::counted(count, "record"));
        }
        Ok(())
    }
}

/// What differs first, and the step or the entry itself if it is one.
pub(crate) fn problem(found: &Found) -> Option<String> {
    difference(found).map(|(_, text)| text)
}

/// The same, and the difference itself.
pub(crate) fn difference(found: &Found) -> Option<(ReplayError, String)> {
    let Record { steps, clocks, .. } = &found.record;
    let error = found.record.verify().err()?;
    let itself = match error.place {
        Place::Step(number) => steps.get(number).map(|step| format!("the step is: {step}")),
        Place::Ledger(number) => {
            let entry = clocks.as_ref().and_then(|clocks| clocks.ledger.get(number));
            entry.map(|entry| format!("the entry is: {entry}"))
        }
        _ => None,
    };
    let text = match itself {
        Some(itself) => format!("{error} ({itself})"),
        None => error.to_string(),
    };
    Some((error, text))
}

fn line(name: &str, found: &Found, error: Option<&str>) -> String {
    let record = &found.record;
    let counts = format!(
        "{}, {}",
        render::counted(record.deals.len(), "deal"),
        render::counted(record.steps.len(), "step")
    );
    match error {
        None => {
            let outcome = render::outcome(&record.outcome, &Names::numbers(record.rules));
            format!("{} {name}: {counts}; {outcome}", console::style("verified").green().bold())
        }
        Some(error) => format!("{} {name}: {error}", console::style("DIFFERS ").red().bold()),
    }
}
