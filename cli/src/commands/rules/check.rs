//! `zetema rules check`.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use zetema_rules::Rules;

use crate::args::FormatArgs;
use crate::commands::source;
use crate::failure::Usage;
use crate::json::RulesJson;
use crate::output::{self, Format};

/// Check rules of your own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema rules check sackson players=4 target=500
  zetema rules show quick --format json > mine.json; zetema rules check --file mine.json

The answer is the rules in their shortest form, or the option that is wrong and exit code 1.
A file holds either the short form or the JSON of `zetema rules show`.")]
pub(crate) struct Check {
    /// The rules in the short form: a preset and what differs from it
    #[arg(value_name = "WORD", required_unless_present = "file", conflicts_with = "file")]
    words: Vec<String>,
    /// A file with the rules; - for stdin
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl Check {
    pub(super) fn run(self) -> Result<()> {
        let rules = match &self.file {
            None => read(&self.words.join(" ")).map_err(|error| match self.words.as_slice() {
                [file] if Path::new(file).exists() => {
                    anyhow!("{error}; for the file of that name: --file {file}")
                }
                _ => anyhow!(error),
            })?,
            Some(file) => {
                let bytes = source::read_file(file)?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| Usage::new(format!("{file} is no text: give rules as text or JSON")))?;
                read(&text)
                    .map_err(|error| anyhow!(error))
                    .with_context(|| format!("{file} has no valid rules"))?
            }
        };
        match self.format.format {
            Format::Table => output::print(rules),
            Format::Json => output::print_json(&RulesJson::new(&rules)),
        }
    }
}

/// Rules as JSON or in the short form.
fn read(text: &str) -> Result<Rules, String> {
    if text.trim_start().starts_with('{') {
        let json: RulesJson = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return json.rules();
    }
    text.parse::<Rules>().map_err(|error| error.to_string())
}
