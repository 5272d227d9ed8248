//! The program's log, which goes to stderr.

mod lines;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{panic, thread};

use anyhow::{Context, Result, anyhow};
use tokio::time::{MissedTickBehavior, interval};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};
use zetema_service::config::LogFormat;
use zetema_service::metrics;
use zetema_service::traces::Traces;

use crate::failure::Usage;
use lines::{Goes, Lines, Writer};

/// The variable that says what commands other than `serve` log, as for the server.
const VARIABLE: &str = "ZETEMA_LOG";

/// How often it is looked whether lines were dropped.
const LOOK: Duration = Duration::from_secs(1);

/// The lines of the log, once that has started.
static LINES: OnceLock<Arc<Lines>> = OnceLock::new();

/// Reads what a log lets through.
pub(crate) fn parse(filter: &str) -> Result<EnvFilter, Usage> {
    EnvFilter::try_new(filter).map_err(|error| {
        let instead = "give a level such as info, or zetema_service=debug";
        Usage::new(format!("{filter:?} is no filter of a log: {instead} ({error})"))
    })
}

/// Logs what this filter lets through, from here on, panics too, and traces if they are wanted. To be called on a tokio runtime, where it is told
/// of lines that were dropped as nobody had read them in time.
pub(crate) fn start(filter: &str, format: LogFormat, traces: Option<&Traces>) -> Result<()> {
    let filter = parse(filter)?;
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let lines = Lines::to_stderr().context("no thread can be started for the log")?;
    let log = fmt::layer().with_writer(Writer(Arc::clone(&lines))).with_ansi(colours);
    let log = match format {
        LogFormat::Text => log.with_filter(filter).boxed(),
        LogFormat::Json => log.json().with_filter(filter).boxed(),
    };
    let started = registry().with(log).with(traces.map(Traces::layer)).try_init();
    started.map_err(|error| anyhow!("the log can't be started: {error}"))?;
    let lines = Arc::clone(LINES.get_or_init(|| lines));
    // By itself it is written to stderr, however long that takes.
    panic::set_hook(Box::new(|panic| {
        let thread = thread::current();
        let backtrace = Backtrace::capture();
        let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
        if tracing::enabled!(tracing::Level::ERROR) {
            tracing::error!(thread = thread.name(), backtrace, "{panic}");
        } else {
            say(format!("{panic}\n{}", backtrace.unwrap_or_default()));
        }
    }));
    tokio::spawn(tell_of_dropped(lines));
    Ok(())
}

/// Says this to people beside the log, on a way of its own if there is none.
pub(crate) fn say(text: String) {
    let line = text + "\n";
    match LINES.get() {
        Some(lines) => lines.put(line.as_bytes()),
        // Nothing can be done if stderr is closed.
        None => drop(io::stderr().write_all(line.as_bytes())),
    }
}

/// Waits for the last lines, but for no longer than a second.
pub(crate) fn finish() {
    if let Some(lines) = LINES.get() {
        lines.finish();
    }
}

/// Tells of lines that were dropped: by the metrics, and in the log when it is read again.
async fn tell_of_dropped(lines: Arc<Lines>) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = 0;
    loop {
        looks.tick().await;
        let (dropped, goes) = lines.dropped();
        metrics::log_lines_dropped(dropped);
        if dropped > told && goes == Goes::Out {
            tracing::warn!(
                lines = dropped - told,
                "whoever reads the log was too slow, and lines of it were dropped"
            );
            // Else this one may have been too.
            if lines.dropped() == (dropped, Goes::Out) {
                told = dropped;
            }
        }
    }
}

/// Logs for a command that is about something else: what `ZETEMA_LOG` says, or this.
pub(crate) fn start_quietly(otherwise: &str) -> Result<()> {
    let filter = std::env::var(VARIABLE).ok().filter(|filter| !filter.is_empty());
    start(filter.as_deref().unwrap_or(otherwise), LogFormat::Text, None)
}
