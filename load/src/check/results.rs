//! The results of matches, held against what their seats and spectators were told.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};

use prost::Message;
use tokio::time::Instant;
use zetema_proto::v1;

use super::{Ending, shown};
use crate::fault::{Fault, Source, Wrong};

/// Whether the result of each match came, once, and says what its seats and spectators were told.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Matches that are over for their seats and whose result has not come, with when they were over.
    awaited: HashMap<String, (Ending, Instant)>,
    /// Results that came.
    come: HashMap<String, Come>,
    /// What results say until the seats say it too, with when they came.
    untold: HashMap<String, (v1::Outcome, Instant)>,
    /// Matches of which the server knows a seat no more, and whose result has not come, with what it said.
    lost: HashMap<String, String>,
    /// What spectators were told of matches whose result has not come.
    watched: HashMap<String, v1::Outcome>,
    /// The number of the last one.
    last: u64,
}

/// A result that came.
#[derive(Debug)]
struct Come {
    number: u64,
    /// Of the outcome: so that a long run keeps no outcomes.
    hash: u64,
}

impl Results {
    /// A match is over for all its seats.
    ///
    /// # Errors
    /// If its result, which has come, says otherwise.
    pub(crate) fn over(&mut self, now: Instant, match_id: &str, mut ending: Ending) -> Result<(), Fault> {
        if let Some((outcome, _)) = self.untold.remove(match_id) {
            return ending.told(Source::Result, outcome).map_err(|wrong| of(match_id, wrong));
        }
        self.awaited.insert(match_id.to_owned(), (ending, now));
        Ok(())
    }

    /// A match is played no more: nobody will say how it ended.
    pub(crate) fn given_up(&mut self, match_id: &str) {
        self.untold.remove(match_id);
    }

    /// The server knows a seat of this match no more, and says so: without a result it has lost it.
    pub(crate) fn unknown(&mut self, match_id: &str, said: String) {
        self.given_up(match_id);
        if !self.come.contains_key(match_id) {
            self.lost.insert(match_id.to_owned(), said);
        }
    }

    /// A spectator was told how a match ended.
    ///
    /// # Errors
    /// If its result, which has come, says otherwise.
    pub(crate) fn watched(&mut self, match_id: String, outcome: v1::Outcome) -> Result<(), Fault> {
        match self.come.get(&match_id) {
            Some(come) if come.hash != hash(&outcome) => {
                Err(of(&match_id, Wrong::SpectatorOutcome { told: shown(&outcome) }))
            }
            Some(_) => Ok(()),
            // Another spectator may have been told as well.
            None => match self.watched.entry(match_id) {
                Entry::Occupied(known) if *known.get() != outcome => {
                    Err(of(known.key(), Wrong::SpectatorOutcome { told: shown(&outcome) }))
                }
                Entry::Occupied(_) => Ok(()),
                Entry::Vacant(place) => {
                    place.insert(outcome);
                    Ok(())
                }
            },
        }
    }

    /// A result has come.
    ///
    /// # Errors
    /// If it came before, or says something else than the seats, or a spectator, were told.
    pub(crate) fn came(
        &mut self,
        now: Instant,
        number: u64,
        match_id: &str,
        outcome: v1::Outcome,
    ) -> Result<(), Fault> {
        let before = std::mem::replace(&mut self.last, number);
        if before >= number {
            return Err(of(match_id, Wrong::ResultOrder { before, found: number }));
        }
        match self.come.entry(match_id.to_owned()) {
            Entry::Occupied(come) => {
                let first = come.get().number;
                return Err(of(match_id, Wrong::ResultTwice { first, again: number }));
            }
            Entry::Vacant(come) => come.insert(Come { number, hash: hash(&outcome) }),
        };
        self.lost.remove(match_id);
        let watched = self.watched.remove(match_id).filter(|watched| *watched != outcome);
        if let Some((mut ending, _)) = self.awaited.remove(match_id) {
            ending.told(Source::Result, outcome).map_err(|wrong| of(match_id, wrong))?;
        } else {
            self.untold.insert(match_id.to_owned(), (outcome, now));
        }
        watched.map_or(Ok(()), |told| Err(of(match_id, Wrong::SpectatorOutcome { told: shown(&told) })))
    }

    /// How many are waited for.
    pub(crate) fn awaited(&self) -> usize {
        self.awaited.len()
    }

    /// The matches whose result has come, and of which not all seats were told that they are over, with when it came.
    pub(crate) fn untold(&self) -> impl Iterator<Item = (&str, Instant)> {
        self.untold.iter().map(|(match_id, (_, came))| (match_id.as_str(), *came))
    }

    /// What is not waited for any more.
    pub(crate) fn give_up(&mut self, now: Instant) -> impl Iterator<Item = Fault> + use<'_> {
        let missing = self.awaited.drain().map(move |(match_id, (_, since))| {
            let waited_s = now.saturating_duration_since(since).as_secs();
            Fault { match_id, seat: None, wrong: Wrong::MissingResult { waited_s } }
        });
        let lost = self.lost.drain();
        missing.chain(lost.map(|(match_id, said)| Fault {
            match_id,
            seat: None,
            wrong: Wrong::Lost { said },
        }))
    }
}

fn hash(outcome: &v1::Outcome) -> u64 {
    let mut hasher = DefaultHasher::new();
    outcome.encode_to_vec().hash(&mut hasher);
    hasher.finish()
}

fn of(match_id: &str, wrong: Wrong) -> Fault {
    Fault { match_id: match_id.to_owned(), seat: None, wrong }
}
