//! `zetema record replay`.

use anyhow::{Context, Result};
use zetema_rules::{Event, Replay as Replaying, Viewer};

use super::source::Finder;
use crate::args::{FormatArgs, ServerArgs};
use crate::json::{EventJson, ViewJson};
use crate::output::{self, Format};
use crate::render::{self, Names};

/// Play a record again, step by step.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every step is checked as it comes. With --format json each is a line: its number, its events, and the
view of a spectator after it.

Examples:
  zetema record replay MATCH_ID | less
  zetema record replay match.txt --until 40        the table before step 40")]
pub(crate) struct Replay {
    /// The match's id, or a file; - for stdin
    #[arg(value_name = "ID|FILE")]
    record: String,
    /// Stop before this step, from 0, and show the table there
    #[arg(long, value_name = "STEP")]
    until: Option<usize>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(serde::Serialize)]
struct StepJson {
    step: usize,
    events: Vec<EventJson>,
    view: Option<ViewJson>,
}

impl Replay {
    pub(super) async fn run(self) -> Result<()> {
        let found = Finder::new(&self.server).find(&self.record).await?;
        let record = &found.record;
        let names = Names::numbers(record.rules);
        let mut replay = Replaying::new(record).context("the record differs before the first step")?;
        let until = self.until.unwrap_or(usize::MAX);
        let mut next = 0;
        if self.format.format == Format::Table {
            print_events(None, replay.events(), &names)?;
        }
        while next < until
            && let Some(step) = replay.step().context("the record differs from here on")?
        {
            match self.format.format {
                Format::Table => print_events(Some(step), replay.events(), &names)?,
                Format::Json => output::print_json_line(&StepJson {
                    step,
                    events: seen(replay.events())
                        .map(|event| EventJson::new(&event, &record.rules))
                        .collect(),
                    view: replay.game().map(|game| ViewJson::new(&game.view(Viewer::Spectator))),
                })?,
            }
            next = step + 1;
        }
        if self.format.format == Format::Table
            && let Some(game) = replay.game()
        {
            output::print("")?;
            output::print(render::view(&game.view(Viewer::Spectator), &names))?;
        }
        if self.until.is_none() {
            replay.finish().context("the record differs at its end")?;
        }
        Ok(())
    }
}

fn seen(events: &[Event]) -> impl Iterator<Item = zetema_rules::SeatEvent> {
    events.iter().map(|event| event.seen_by(Viewer::Spectator))
}

fn print_events(step: Option<usize>, events: &[Event], names: &Names) -> Result<()> {
    let mut number = step.map_or_else(String::new, |step| step.to_string());
    for event in seen(events) {
        if let Some(line) = render::event(&event, names) {
            output::print(format!("{number:>5}  {line}"))?;
            number.clear();
        }
    }
    Ok(())
}
