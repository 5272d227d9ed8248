//! When nobody may be charged.

use std::time::Duration;

use tokio::time::Instant;
use zetema_service::limits;

/// Times with a beginning each, and an end once they are over.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(Instant, Option<Instant>)>);

impl Spans {
    /// One begins now, unless one has begun.
    pub(super) fn begin(&mut self) {
        if self.0.last().is_none_or(|(_, end)| end.is_some()) {
            self.0.push((Instant::now(), None));
        }
    }

    /// It ends now, if one has begun.
    pub(super) fn end(&mut self) {
        if let Some((_, end @ None)) = self.0.last_mut() {
            *end = Some(Instant::now());
        }
    }
}

/// When no server ran, and when the one that ran stood still.
#[derive(Debug, Default)]
pub(super) struct TimeLine {
    pub(super) outages: Spans,
    stalls: Vec<(Instant, Instant)>,
}

impl TimeLine {
    /// Everything stands still between these.
    pub(super) fn stalled(&mut self, from: Instant, until: Instant) {
        self.stalls.push((from, until));
    }

    /// How long, in milliseconds, a decision that was opened then can have cost by now, at most. `away`: when the match's
    /// owner did not know what was stored.
    pub(super) fn chargeable_ms(&self, opened: Instant, away: &Spans) -> u64 {
        let now = Instant::now();
        let mut start = opened;
        let mut free: Vec<(Instant, Instant)> = Vec::new();
        for &(from, until) in &self.outages.0 {
            match until.map(|until| until + limits::RESTART_GRACE) {
                // The decision begins anew after it.
                Some(until) if until > opened => start = start.max(until),
                Some(_) => {}
                // What was being written is written before a server stops.
                None => free.push((from, now)),
            }
        }
        let away = away
            .0
            .iter()
            .map(|&(from, until)| (from, until.map_or(now, |until| until + limits::RESEND_GRACE)));
        free.extend(away);
        let beyond = |&(from, until): &(Instant, Instant)| (from + SEEN_OF_A_STALL, until);
        free.extend(self.stalls.iter().map(beyond));
        let stalls = self.stalls.iter().filter(|(_, until)| *until > start).count();
        let mut counted = now.saturating_duration_since(start);
        free.sort();
        let mut covered = start;
        for (from, until) in free {
            let (from, until) = (from.max(covered), until.min(now));
            counted = counted.saturating_sub(until.saturating_duration_since(from));
            covered = covered.max(until);
        }
        let slack = SLACK + SLACK * u32::try_from(stalls).unwrap_or(u32::MAX);
        u64::try_from((counted + slack).as_millis()).unwrap_or(u64::MAX)
    }
}

/// How much of a stall a clock sees.
const SEEN_OF_A_STALL: Duration = limits::HEARTBEAT_INTERVAL.saturating_add(limits::STALL_GAP);
/// What rounding and the waits around deadlines add up to.
const SLACK: Duration = Duration::from_millis(40);
