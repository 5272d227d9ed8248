//! One match's place in the journal, and what to do when it fails.

use std::sync::Arc;
use std::time::Duration;

use crate::encoding::{decode_entry, encode_entry, encode_record, encode_summary};
use crate::journal::{
    Append, AppendRefusal, Finish, Journal, JournalValueError, Listing, MatchId, NewRecords, Outcome,
    Payload, RecordBytes, StoredMatch, Summary, Version,
};
use crate::table::{Entry, Moment, Table};

/// One match's place in the journal.
pub(super) struct Storage {
    journal: Arc<dyn Journal>,
    first_retry: Duration,
    last_retry: Duration,
    away: Option<Away>,
    /// The wait before the next retry, if there is one.
    wait: Duration,
}

/// What is stored is not known.
struct Away {
    retry_at: Moment,
    /// What was to be written.
    pending: Vec<Entry>,
}

/// How a write ended.
pub(super) enum Stored {
    /// These entries are durable.
    Durable(Vec<Entry>),
    /// It is not known. Nothing may be written until [`Storage::read_back`] has told.
    NotKnown,
    /// The match can't be written here any more.
    Lost,
}

/// The match can't be written here any more.
#[derive(Debug)]
pub(super) struct Lost;

impl Storage {
    pub(super) fn new(journal: Arc<dyn Journal>, first_retry: Duration, last_retry: Duration) -> Self {
        Self { journal, first_retry, last_retry, away: None, wait: first_retry }
    }

    /// When to look again at what is stored; `None` if that is known.
    pub(super) fn retry_at(&self) -> Option<Moment> {
        self.away.as_ref().map(|away| away.retry_at)
    }

    /// Makes entries durable that come next in a match. The last entries of a match file its record as well.
    pub(super) async fn write(&mut self, table: &Table, entries: Vec<Entry>, now: Moment) -> Stored {
        let match_id = table.match_id();
        let ends = entries.last().is_some_and(|entry| entry.change.ends_match());
        let append = match self.append(table, &entries) {
            Ok(append) => append,
            Err(error) => return lost(match_id, &error),
        };
        if !ends {
            let outcome = self.journal.append(append).await;
            return self.written(match_id, entries, outcome, now);
        }
        let finish = match finish(table, &entries, append) {
            Ok(finish) => finish,
            Err(error) => return lost(match_id, &*error),
        };
        let outcome = self.journal.finish(finish).await;
        if let Outcome::Done(number) = &outcome {
            tracing::info!(%match_id, result_number = number.get(), "a match is over");
        }
        self.written(match_id, entries, outcome, now)
    }

    /// Takes in how a write of entries that was begun then has ended.
    pub(super) fn written<T>(
        &mut self,
        match_id: MatchId,
        entries: Vec<Entry>,
        outcome: Outcome<T, AppendRefusal>,
        begun: Moment,
    ) -> Stored {
        match outcome {
            Outcome::Done(_) => {
                self.wait = self.first_retry;
                return Stored::Durable(entries);
            }
            // Something of ours is there already, or was once thought to be: it is to be read.
            Outcome::Refused(refusal @ (AppendRefusal::Version { .. } | AppendRefusal::Finished(_))) => {
                tracing::warn!(%match_id, %refusal, "an append was refused: reading back");
            }
            Outcome::Refused(refusal) => return lost(match_id, &refusal),
            Outcome::Damaged(cause) => return lost(match_id, &cause),
            Outcome::Failed(cause) => tracing::warn!(%match_id, %cause, "an append failed: reading back"),
            Outcome::Unknown(cause) => {
                tracing::warn!(%match_id, %cause, "an append may have failed: reading back");
            }
        }
        self.go_away(entries, begun);
        Stored::NotKnown
    }

    /// Looks at what is stored. The answer is the entries that the table lacks; `None` if the journal can't tell yet.
    pub(super) async fn read_back(&mut self, table: &Table, now: Moment) -> Result<Option<Vec<Entry>>, Lost> {
        let Some(away) = self.away.take() else { return Ok(Some(Vec::new())) };
        let match_id = table.match_id();
        let known = table.entry_count();
        match self.journal.read(match_id).await {
            Ok(Some(StoredMatch::Running(history))) => {
                let imperial = table.created().rules.imperial_suit;
                let decode =
                    |record: &crate::journal::StoredRecord| decode_entry(record.payload.as_bytes(), imperial);
                let entries: Result<Vec<_>, _> = history.records.iter().skip(known).map(decode).collect();
                match entries {
                    Ok(entries) if history.records.len() >= known => Ok(Some(entries)),
                    Ok(_) => Err(log_lost(match_id, &"the journal has lost entries that were durable")),
                    Err(error) => Err(log_lost(match_id, &error)),
                }
            }
            Ok(Some(StoredMatch::Finished(finished))) => {
                // Only this table ends the match, so what it meant to write is what is there.
                let written = known + away.pending.len();
                match usize::try_from(finished.version.get()) {
                    Ok(version) if version == written => Ok(Some(away.pending)),
                    _ => Err(log_lost(match_id, &"the match was ended elsewhere")),
                }
            }
            Ok(Some(StoredMatch::Quarantined { damage, .. })) => Err(log_lost(match_id, &damage)),
            Ok(None) => Err(log_lost(match_id, &"the match is not in the journal")),
            Err(error) => {
                tracing::warn!(%match_id, %error, "the journal can't be read back yet");
                self.go_away(away.pending, now);
                Ok(None)
            }
        }
    }

    fn go_away(&mut self, pending: Vec<Entry>, now: Moment) {
        self.away = Some(Away { retry_at: now.after(self.wait), pending });
        self.wait = (self.wait * 2).min(self.last_retry);
    }

    /// Where it is.
    pub(super) fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.journal)
    }

    /// The append that makes entries durable that come next in a match and do not end it.
    pub(super) fn append(&self, table: &Table, entries: &[Entry]) -> Result<Append, JournalValueError> {
        let payload = |entry: &Entry| Payload::new(encode_entry(entry));
        let records = match entries {
            // An action, as a rule: without a list of them.
            [entry] => payload(entry)?.into(),
            all => NewRecords::new(all.iter().map(payload).collect::<Result<_, _>>()?)?,
        };
        Ok(Append {
            match_id: table.match_id(),
            expected: Version::new(u32::try_from(table.entry_count()).unwrap_or(u32::MAX)),
            epoch: self.journal.epoch(),
            records,
        })
    }
}

/// The end of a match: its last entries, and the record as it is after them.
fn finish(
    table: &Table,
    entries: &[Entry],
    last: Append,
) -> Result<Finish, Box<dyn std::error::Error + Send + Sync>> {
    let mut after = table.clone();
    for entry in entries {
        after.apply(entry.clone(), Moment::since_start(Duration::ZERO))?;
    }
    let info = after.info();
    Ok(Finish {
        last,
        listing: Listing {
            owner: info.owner.clone(),
            visibility: info.visibility,
            client_reference: info.client_reference.clone(),
        },
        finished_at: info.ended_at.unwrap_or(info.created_at),
        summary: Summary::new(encode_summary(&info))?,
        record: RecordBytes::new(encode_record(&after)?)?,
    })
}

fn lost(match_id: MatchId, why: &dyn std::fmt::Display) -> Stored {
    let Lost = log_lost(match_id, why);
    Stored::Lost
}

fn log_lost(match_id: MatchId, why: &dyn std::fmt::Display) -> Lost {
    tracing::error!(%match_id, %why, "a match can't go on");
    Lost
}
