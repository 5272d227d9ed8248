//! What a bot has seen and felt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use zetema_proto::v1;
use zetema_proto::v1::bot_conduct::Kind as Conduct;

use super::line::Gone;

/// The longest round trip that is told apart, in microseconds.
const LONGEST_US: u64 = 60_000_000;
/// What is on its way at the end of a cool-down or a bench is no match within it.
const AT_THE_END: Duration = Duration::from_millis(500);

/// What a bot has seen and felt. A clone is the same.
#[derive(Clone, Debug, Default)]
pub struct Felt(Arc<Mutex<Seen>>);

/// What a bot has seen and felt until now.
#[derive(Clone, Debug)]
pub struct Seen {
    /// From an action to its own observation, in microseconds.
    pub round_trips: Histogram<u64>,
    /// Illegal actions that it has sent.
    pub illegal: u64,
    /// Messages that it has sent to flood the server, each with the next tag of its stream.
    pub flooded: u64,
    /// Answers to these that are not to the message after the one that was answered before, or are no rejection of it.
    pub out_of_turn: u64,
    /// Matches that it saw end.
    pub ended: u64,
    /// Streams that it has opened.
    pub streams: u64,
    /// Seats that waited for it when it came back, as the welcomes say.
    pub waited_for_it: u64,
    /// Connections and streams that were closed without a word.
    pub closed: u64,
    /// Connections that its own machine had no port for.
    pub without_port: u64,
    /// Streams that it did not get, or that the server ended, by the reason that was said.
    pub refused: BTreeMap<&'static str, u64>,
    /// Messages that were rejected, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Seats that it lost to another stream.
    pub superseded: u64,
    /// How long each cool-down was to last when its notice came.
    pub cool_downs: Vec<Duration>,
    /// The same of each bench. `None`: until its owner puts it back.
    pub benches: Vec<Option<Duration>>,
    /// Matches that it was given before the end of a cool-down or a bench.
    pub given_at_rest: u64,
    /// Why the server cut its last stream, as a welcome says, by reason.
    pub cuts: BTreeMap<&'static str, u64>,
    /// After how many ping intervals streams were ended on which it read nothing.
    pub unread_for: Vec<f64>,
    /// Streams on which it read nothing that were not ended while it looked.
    pub unread_and_open: u64,
    /// Until when it must not be given any.
    pub(super) rests_until: Option<SystemTime>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            round_trips: Histogram::new_with_bounds(1, LONGEST_US, 3).unwrap(),
            illegal: 0,
            flooded: 0,
            out_of_turn: 0,
            ended: 0,
            streams: 0,
            waited_for_it: 0,
            closed: 0,
            without_port: 0,
            refused: BTreeMap::new(),
            rejected: BTreeMap::new(),
            superseded: 0,
            cool_downs: Vec::new(),
            benches: Vec::new(),
            given_at_rest: 0,
            cuts: BTreeMap::new(),
            unread_for: Vec::new(),
            unread_and_open: 0,
            rests_until: None,
        }
    }
}

impl Felt {
    /// What was seen and felt until now.
    pub fn seen(&self) -> Seen {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.0.lock().unwrap());
    }

    /// An action had its receipt.
    pub(super) fn answered(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(LONGEST_US);
        self.note(|seen| seen.round_trips.saturating_record(took));
    }

    /// A message was rejected.
    pub(super) fn rejected(&self, error: &v1::Error) {
        self.note(|seen| *seen.rejected.entry(error.reason().name()).or_default() += 1);
    }

    /// There is no stream, or no longer one.
    pub(super) fn gone(&self, gone: Gone) {
        self.note(|seen| match gone {
            Gone::NoPort => seen.without_port += 1,
            Gone::Closed => seen.closed += 1,
            Gone::Refused(reason) => *seen.refused.entry(reason.name()).or_default() += 1,
        });
    }

    /// It was given a match.
    pub(super) fn given(&self) {
        self.note(|seen| {
            let now = SystemTime::now() + AT_THE_END;
            if seen.rests_until.is_some_and(|until| now < until) {
                seen.given_at_rest += 1;
            }
        });
    }

    /// A match has ended.
    pub(super) fn over(&self) {
        self.note(|seen| seen.ended += 1);
    }

    /// The ladder had something to say.
    pub(super) fn notice(&self, notice: &v1::LadderNotice) {
        let now = SystemTime::now();
        let left = |until: SystemTime| until.duration_since(now).unwrap_or_default();
        let at = |until: Option<prost_types::Timestamp>| until.map(|at| SystemTime::try_from(at).unwrap());
        self.note(|seen| match notice.conduct.as_ref().and_then(|conduct| conduct.kind) {
            Some(Conduct::CoolingDown(v1::CoolingDown { until })) => {
                let until = at(until).expect("a cool-down has its end");
                // It is told of it again when it comes back.
                if seen.rests_until.replace(until) != Some(until) {
                    seen.cool_downs.push(left(until));
                }
            }
            Some(Conduct::Benched(v1::Benched { until })) => {
                let until = at(until);
                seen.benches.push(until.map(left));
                seen.rests_until = until;
            }
            Some(Conduct::Free(_) | Conduct::OutOfQuota(_)) | None => {}
        });
    }

    /// A stream is open.
    pub(super) fn welcomed(&self, welcome: &v1::Welcome) {
        self.note(|seen| {
            if seen.streams > 0 {
                seen.waited_for_it += welcome.live_seats.len() as u64;
            }
            seen.streams += 1;
            if let Some(cut) = &welcome.previous_cut {
                *seen.cuts.entry(cut.reason().name()).or_default() += 1;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(kind: Conduct) -> v1::LadderNotice {
        let conduct = Some(v1::BotConduct { kind: Some(kind) });
        v1::LadderNotice { conduct, ..v1::LadderNotice::default() }
    }

    #[test]
    fn a_match_within_a_cool_down_or_a_bench_is_told_from_one_after_it() {
        let until = |seconds| Some((SystemTime::now() + Duration::from_secs(seconds)).into());
        let check = |kind, at_rest| {
            let felt = Felt::default();
            felt.notice(&notice(kind));
            felt.given();
            let seen = felt.seen();
            assert_eq!(seen.given_at_rest, at_rest, "{seen:?}");
            (seen.cool_downs, seen.benches)
        };
        let (cool_downs, _) = check(Conduct::CoolingDown(v1::CoolingDown { until: until(30) }), 1);
        assert!(matches!(&cool_downs[..], [left] if left.as_secs().abs_diff(30) <= 1), "{cool_downs:?}");
        let (_, benches) = check(Conduct::Benched(v1::Benched { until: until(600) }), 1);
        assert!(matches!(&benches[..], [Some(left)] if left.as_secs().abs_diff(600) <= 1), "{benches:?}");
        check(Conduct::CoolingDown(v1::CoolingDown { until: until(0) }), 0);
        check(Conduct::Free(v1::FreeToPlay {}), 0);
    }
}
