//! What a seat learnt with its first join, and has seen since.

use std::hint::black_box;
use std::sync::Arc;

use zetema_rules::{Rules, SeatEvent};

use crate::bot::MatchInfo;
use crate::deal_check::{Latest, Transcript};
use crate::prefetch::prefetch;

/// What was learnt with the first join.
pub(super) struct Known {
    pub(super) info: Arc<MatchInfo>,
    /// Those of the info, which is further away.
    pub(super) rules: Rules,
    /// But for the latest.
    pub(super) transcript: Box<Transcript>,
    latest: Latest,
    pub(super) joined: Joined,
}

/// When a seat was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    WhileItRan,
    /// When the match was over: nothing but the reveal may follow.
    AfterItsEnd,
}

impl Known {
    pub(super) fn new(info: Arc<MatchInfo>, transcript: Box<Transcript>, joined: Joined) -> Self {
        let rules = info.rules;
        Self { info, rules, transcript, latest: Latest::default(), joined }
    }

    /// Has the processor fetch what an observation needs beside this itself. Each decision shares the info.
    pub(super) fn prefetch_behind(&self) {
        black_box(Arc::strong_count(&self.info));
        prefetch(&self.transcript.events);
        if self.latest.is_nearly_full() {
            self.transcript.events.prefetch_end();
        }
    }

    /// Puts down what happened.
    pub(super) fn saw(&mut self, event: SeatEvent) {
        if let Err(event) = self.latest.add(event) {
            let events = &mut self.transcript.events;
            events.append(&mut self.latest);
            events.push(event);
        }
    }

    /// The transcript, with all that was seen.
    pub(super) fn whole_transcript(&mut self) -> &Transcript {
        self.transcript.events.append(&mut self.latest);
        &self.transcript
    }

    /// The same, for a seat that begins anew.
    pub(super) fn into_transcript(mut self) -> Transcript {
        self.transcript.events.append(&mut self.latest);
        *self.transcript
    }
}
