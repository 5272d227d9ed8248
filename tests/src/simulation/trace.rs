//! What happened in a run, in order.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use tokio::time::Instant;

/// What happened, in order: always its hash, and its lines if they are wanted.
pub(super) struct Trace {
    start: Instant,
    hasher: DefaultHasher,
    lines: Option<Vec<String>>,
}

impl Trace {
    /// A trace that starts now.
    pub(super) fn new(lines: Lines) -> Self {
        let lines = match lines {
            Lines::Kept => Some(Vec::new()),
            Lines::Hashed => None,
        };
        Self { start: Instant::now(), hasher: DefaultHasher::new(), lines }
    }

    pub(super) fn note(&mut self, what: fmt::Arguments<'_>) {
        let line = format!("{:>8} {what}", self.start.elapsed().as_millis());
        self.hasher.write(line.as_bytes());
        if let Some(lines) = &mut self.lines {
            lines.push(line);
        }
    }

    pub(super) fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.clone().unwrap_or_default()
    }
}

/// What is kept of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Its hash.
    Hashed,
    /// Its lines too.
    Kept,
}
