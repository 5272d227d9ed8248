//! Looks at the records of some matches: whether they replay, and say what the seats were told.

use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::Status;
use zetema_proto::v1::ErrorReason;
use zetema_proto::{record_from_wire, v1};

use crate::backoff::Backoff;
use crate::check::Ending;
use crate::fault::{Fault, Source, Wrong};
use crate::outcome::{Count, Failure, Recorder};
use crate::target::Matches;

/// Matches whose records are looked at, whatever time that takes.
const LEAST: usize = 20;
/// Matches whose records are looked at if there is time.
const MOST: usize = 2_000;
/// How much time there is for more than the least.
const MORE_WITHIN: Duration = Duration::from_secs(3);

/// Some of the matches that were played, each as likely as any other.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    offered: usize,
    kept: Vec<(String, Ending)>,
}

impl Sample {
    /// One more match was played.
    pub(crate) fn offer(&mut self, match_id: &str, ending: &Ending, random: &mut StdRng) {
        self.offered += 1;
        if self.kept.len() < MOST {
            self.kept.push((match_id.to_owned(), ending.clone()));
            return;
        }
        let place = random.random_range(0..self.offered);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = (match_id.to_owned(), ending.clone());
        }
    }

    /// Reads their records, replays each, and holds its result against what the seats were told: of twenty, and of as many more as there
    /// is a short time for. One of the twenty that can't be had within this time is a fault, but for one whose deals are held until
    /// others are played.
    pub(crate) async fn check(mut self, mut matches: Matches, recorder: &Recorder, within: Duration) {
        let more = self.kept.split_off(self.kept.len().min(LEAST));
        let until = Instant::now() + within;
        for (match_id, ending) in self.kept {
            let had = timeout_at(until, record(&mut matches, recorder, &match_id)).await;
            let had = had.unwrap_or_else(|_| {
                Err(Status::deadline_exceeded(format!("not within {} s", within.as_secs())))
            });
            looked_at(had, match_id, ending, recorder);
        }
        let until = Instant::now() + MORE_WITHIN;
        for (match_id, ending) in more {
            let Ok(had) = timeout_at(until, record(&mut matches, recorder, &match_id)).await else { break };
            looked_at(had, match_id, ending, recorder);
        }
    }
}

/// Tells the fault that is in a record, if there is one.
fn looked_at(had: Result<v1::Record, Status>, match_id: String, mut ending: Ending, recorder: &Recorder) {
    let checked = match had {
        Ok(record) => check(record, &mut ending),
        Err(status) if Failure::of(&status) == ErrorReason::HeldUntilReveal.into() => return,
        Err(status) => Err(Wrong::NoRecord { problem: status.message().to_owned() }),
    };
    match checked {
        Ok(()) => recorder.count(Count::RecordReplayed),
        Err(wrong) => Fault { match_id, seat: None, wrong }.report(recorder),
    }
}

/// Asks for a record until it comes, or is refused for good.
async fn record(matches: &mut Matches, recorder: &Recorder, match_id: &str) -> Result<v1::Record, Status> {
    let mut backoff = Backoff::default();
    loop {
        let request = v1::GetRecordRequest { match_id: match_id.to_owned() };
        let status = match matches.get_record(request).await {
            Ok(answer) => return Ok(answer.into_inner().record.unwrap_or_default()),
            Err(status) => status,
        };
        // What the server does not say itself comes of the connection.
        let may_pass = v1::Error::from_status(&status).is_none_or(|error| error.retry_after_ms.is_some());
        if !may_pass {
            return Err(status);
        }
        recorder.failed(Failure::of(&status), status.message());
        sleep(backoff.next()).await;
    }
}

fn check(record: v1::Record, ending: &mut Ending) -> Result<(), Wrong> {
    let problem = |problem: String| Wrong::Record { problem };
    let (read, _) = record_from_wire(&record).map_err(|error| problem(error.to_string()))?;
    read.verify().map_err(|error| problem(error.to_string()))?;
    ending.told(Source::Record, record.outcome.unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;
    use tonic::transport::Endpoint;
    use zetema_sdk::Tls;

    use super::*;
    use crate::outcome::{Description, Phase};
    use crate::target::Target;

    #[tokio::test]
    async fn a_record_that_can_t_be_had_is_a_fault() {
        const NOBODY: &str = "http://127.0.0.1:9";
        let target = Target::new(NOBODY, Endpoint::from_static(NOBODY), Tls::default(), "t").unwrap();
        let recorder = Recorder::start(Description::default(), Phase::drain());
        let mut sample = Sample::default();
        sample.offer("m", &Ending::default(), &mut StdRng::seed_from_u64(1));
        sample.check(target.matches_lazy(), &recorder, Duration::from_millis(300)).await;
        let faults = recorder.finish().faults().clone();
        assert_eq!(faults.first()[0].text, "match m: its record can't be had: not within 0 s");
        assert_eq!(faults.all(), 1);
    }

    #[test]
    fn of_many_matches_any_may_be_looked_at() {
        let mut random = StdRng::seed_from_u64(1);
        let mut sample = Sample::default();
        for number in 0..10 * MOST {
            sample.offer(&number.to_string(), &Ending::default(), &mut random);
        }
        let kept: BTreeSet<usize> =
            sample.kept.iter().map(|(match_id, _)| match_id.parse().unwrap()).collect();
        assert_eq!(kept.len(), MOST);
        for tenth in 0..10 {
            let within = kept.range(tenth * MOST..(tenth + 1) * MOST).count();
            // 200 are to be expected, with a standard deviation of 13.
            assert!((130..270).contains(&within), "{within} of tenth {tenth}");
        }
    }
}
