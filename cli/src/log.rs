//! The program's log, which goes to stderr.

mod stderr;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};
use zetema_service::config::LogFormat;
use zetema_service::metrics;
use zetema_service::traces::Traces;

use crate::failure::Usage;
use stderr::{Dropped, Stderr};

/// The variable that says what commands other than `serve` log, as for the server.
const VARIABLE: &str = "ZETEMA_LOG";

/// How often it is looked whether lines were dropped.
const LOOK: Duration = Duration::from_secs(1);

/// Logs what this filter lets through, from here on, and traces if they are wanted. To be called on a tokio runtime, where it is told of lines
/// that nobody has read in time.
pub(crate) fn start(filter: &str, format: LogFormat, traces: Option<&Traces>) -> Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        let instead = "give a level such as info, or zetema_service=debug";
        Usage::new(format!("{filter:?} is no filter of a log: {instead} ({error})"))
    })?;
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let writer = Stderr::default();
    let dropped = writer.dropped();
    let log = fmt::layer().with_writer(writer).with_ansi(colours);
    let log = match format {
        LogFormat::Text => log.with_filter(filter).boxed(),
        LogFormat::Json => log.json().with_filter(filter).boxed(),
    };
    let started = registry().with(log).with(traces.map(Traces::layer)).try_init();
    started.map_err(|error| anyhow!("the log can't be started: {error}"))?;
    tokio::spawn(tell_of_dropped(dropped));
    Ok(())
}

/// Says this to people, beside the log. Where nobody reads that nobody waits for them.
pub(crate) fn say(text: String) {
    // Nothing can be done if stderr is closed.
    let _ = stderr::write((text + "\n").as_bytes());
}

/// Tells of lines that were dropped, by the metrics as they are and in the log when it is read again.
async fn tell_of_dropped(dropped: Arc<Dropped>) {
    let mut looks = tokio::time::interval(LOOK);
    let mut told = 0;
    loop {
        looks.tick().await;
        let lines = dropped.lines();
        metrics::log_lines_dropped(lines);
        if lines > told {
            tracing::warn!(
                lines = lines - told,
                "whoever reads the log was too slow, and lines of it were dropped"
            );
            // This one may have been too.
            if dropped.lines() == lines {
                told = lines;
            }
        }
    }
}

/// Logs for a command that is about something else: what `ZETEMA_LOG` says, or this.
pub(crate) fn start_quietly(otherwise: &str) -> Result<()> {
    let filter = std::env::var(VARIABLE).unwrap_or_else(|_| otherwise.to_owned());
    start(&filter, LogFormat::Text, None)
}
