//! Looks at the records of some matches: whether they replay, and say what the seats were told.

use rand::RngExt;
use rand::rngs::StdRng;
use zetema_proto::{record_from_wire, v1};

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

    /// Reads their records, replays each, and holds its result against what the seats were told.
    pub(crate) async fn check(self, mut matches: Matches, recorder: &Recorder) {
        for (match_id, mut ending) in self.kept {
            let request = v1::GetRecordRequest { match_id: match_id.clone() };
            let checked = match matches.get_record(request).await {
                Ok(answer) => check(answer.into_inner().record.unwrap_or_default(), &mut ending),
                // It may be that its deal set is held, or that the server is gone: that is no fault of the record.
                Err(status) => {
                    recorder.failed(Failure::of(&status), status.message());
                    Ok(())
                }
            };
            if let Err(wrong) = checked {
                Fault { match_id, seat: None, wrong }.report(recorder);
            }
        }
    }
}

fn check(record: v1::Record, ending: &mut Ending) -> Result<(), Wrong> {
    let problem = |problem: String| Wrong::Record { problem };
    let (read, _) = record_from_wire(&record).map_err(|error| problem(error.to_string()))?;
    read.verify().map_err(|error| problem(error.to_string()))?;
    ending.told(Source::Record, record.outcome.unwrap_or_default())
}
