//! The program's log, which goes to stderr.

use std::io::{self, IsTerminal};

use anyhow::{Result, anyhow};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};
use zetema_service::config::LogFormat;
use zetema_service::traces::Traces;

use crate::failure::Usage;

/// The variable that says what commands other than `serve` log, as for the server.
const VARIABLE: &str = "ZETEMA_LOG";

/// Logs what this filter lets through, from here on, and traces if they are wanted.
pub(crate) fn start(filter: &str, format: LogFormat, traces: Option<&Traces>) -> Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        let instead = "give a level such as info, or zetema_service=debug";
        Usage::new(format!("{filter:?} is no filter of a log: {instead} ({error})"))
    })?;
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = fmt::layer().with_writer(io::stderr).with_ansi(colours);
    let log = match format {
        LogFormat::Text => log.with_filter(filter).boxed(),
        LogFormat::Json => log.json().with_filter(filter).boxed(),
    };
    let started = registry().with(log).with(traces.map(Traces::layer)).try_init();
    started.map_err(|error| anyhow!("the log can't be started: {error}"))
}

/// Logs for a command that is about something else: what `ZETEMA_LOG` says, or this.
pub(crate) fn start_quietly(otherwise: &str) -> Result<()> {
    let filter = std::env::var(VARIABLE).unwrap_or_else(|_| otherwise.to_owned());
    start(&filter, LogFormat::Text, None)
}
