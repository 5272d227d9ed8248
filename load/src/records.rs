//! Looks at the records of some matches: whether they replay, and say what the seats were told.

use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::{Code, Status};
use zetema_proto::v1::ErrorReason;
use zetema_proto::{record_from_wire, v1};

use crate::backoff::Backoff;
use crate::check::Ending;
use crate::fault::{Fault, Source, Wrong};
use crate::outcome::{Failure, Recorder};
use crate::target::Matches;

/// Matches whose records are looked at.
const RECORDS: usize = 20;

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
        if self.kept.len() < RECORDS {
            self.kept.push((match_id.to_owned(), ending.clone()));
            return;
        }
        let place = random.random_range(0..self.offered);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = (match_id.to_owned(), ending.clone());
        }
    }

    /// Reads their records, replays each, and holds its result against what the seats were told. A record that can't be had within this
    /// time is a fault, but for one whose deals are held until others are played.
    pub(crate) async fn check(self, mut matches: Matches, recorder: &Recorder, within: Duration) {
        let until = Instant::now() + within;
        for (match_id, mut ending) in self.kept {
            let had = timeout_at(until, record(&mut matches, recorder, &match_id)).await;
            let checked = match had {
                Ok(Ok(record)) => check(record, &mut ending),
                Ok(Err(status)) if Failure::of(&status) == ErrorReason::HeldUntilReveal.into() => Ok(()),
                Ok(Err(status)) => Err(Wrong::NoRecord { problem: status.message().to_owned() }),
                Err(_) => Err(Wrong::NoRecord { problem: format!("not within {} s", within.as_secs()) }),
            };
            if let Err(wrong) = checked {
                Fault { match_id, seat: None, wrong }.report(recorder);
            }
        }
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
        let may_pass = status.code() == Code::Unavailable
            || v1::Error::from_status(&status).is_some_and(|error| error.retry_after_ms.is_some());
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
}
