//! `zetema match watch`.

use anyhow::{Result, bail};
use serde::Serialize;
use zetema_rules::{Rules, SeatEvent};

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::{EventJson, OutcomeJson, ViewJson};
use crate::output::{self, Format};
use crate::render::{self, Names};
use crate::watch::{Seen, Watching};

/// Watch a match as a spectator until it is over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --format json each line is an object with one key: start, observation or end.")]
pub(crate) struct Watch {
    /// The match's id
    #[arg(value_name = "ID")]
    match_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum SeenJson {
    Start { view: Option<ViewJson> },
    Observation { seq: u64, events: Vec<EventJson>, view: Option<ViewJson> },
    End { outcome: OutcomeJson },
}

impl SeenJson {
    fn new(seen: &Seen, rules: &Rules) -> Self {
        match seen {
            Seen::Start(view) => Self::Start { view: view.as_deref().map(ViewJson::new) },
            Seen::Observation { seq, events, view } => Self::Observation {
                seq: *seq,
                events: events.iter().map(|event| EventJson::new(event, rules)).collect(),
                view: view.as_deref().map(ViewJson::new),
            },
            Seen::End(outcome) => Self::End { outcome: OutcomeJson::new(outcome) },
        }
    }
}

impl Watch {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let (mut watching, mut seen) = Watching::start(&client, &self.match_id).await?;
        let names = Names::numbers(*watching.rules());
        let mut ended = false;
        loop {
            match self.format.format {
                Format::Json => output::print_json_line(&SeenJson::new(&seen, names.rules()))?,
                // The end of a match that was seen needs no telling again.
                Format::Table if ended => {}
                Format::Table => print(&seen, &names)?,
            }
            ended = is_end(&seen);
            if matches!(seen, Seen::End(_)) {
                return Ok(());
            }
            seen = match watching.next().await? {
                Some(seen) => seen,
                None => bail!("the stream ended before the match: watch it again"),
            };
        }
    }
}

fn is_end(seen: &Seen) -> bool {
    match seen {
        Seen::Observation { events, .. } => {
            events.iter().any(|event| matches!(event, SeatEvent::MatchOver { .. }))
        }
        Seen::Start(_) | Seen::End(_) => false,
    }
}

fn print(seen: &Seen, names: &Names) -> Result<()> {
    match seen {
        Seen::Start(None) => {
            output::note("waiting for the seats to join");
            Ok(())
        }
        Seen::Start(Some(view)) => output::print(render::view(view, names)),
        Seen::Observation { events, .. } => {
            for line in events.iter().filter_map(|event| render::event(event, names)) {
                output::print(line)?;
            }
            Ok(())
        }
        Seen::End(outcome) => output::print(render::outcome(outcome, names)),
    }
}
