//! How tables begin that are found in the journal at the start.

use std::collections::HashMap;
use std::sync::Arc;

use zetema_rules::Suit;

use super::run::Beginning;
use super::{Matches, OpenError, Recovered, not_aborted};
use crate::encoding::{DecodeError, decode_entry};
use crate::journal::{History, MatchId, StoredMatch};
#[cfg(test)]
use crate::planted::{self, Bug};
use crate::table::{Change, Created, DealSet, DealSetId, Deals, Entrant, Entry, Started, Table};

/// What the matches of a deal set have in common, in memory once for all of them: of each the journal has all of it.
#[derive(Default)]
pub(super) struct Common(HashMap<DealSetId, CommonOfSet>);

struct CommonOfSet {
    matches: Arc<[MatchId]>,
    entrants: Arc<[Entrant]>,
}

impl Common {
    /// The entries of a match.
    ///
    /// # Errors
    /// [`DecodeError`] if one can't be read.
    pub(super) fn decode(&mut self, history: &History) -> Result<Vec<Entry>, DecodeError> {
        let mut imperial = Suit::Spades;
        let mut set = None;
        let entry = |record: &crate::journal::StoredRecord| {
            let Entry { at, change } = decode_entry(record.payload.as_bytes(), imperial)?;
            let change = match change {
                Change::Created(created) => {
                    imperial = created.rules.imperial_suit;
                    let created = self.created(created);
                    set = match &created.deals {
                        Deals::Shared(DealSet { id, .. }) => Some(*id),
                        Deals::Joint | Deals::Fixed => None,
                    };
                    Change::Created(created)
                }
                Change::Started(started) => Change::Started(Box::new(self.started(set, *started))),
                other => other,
            };
            Ok(Entry { at, change })
        };
        history.records.iter().map(entry).collect()
    }

    fn created(&mut self, created: Arc<Created>) -> Arc<Created> {
        let Deals::Shared(DealSet { id, matches }) = &created.deals else { return created };
        let new = || CommonOfSet { matches: Arc::clone(matches), entrants: Arc::default() };
        let known = &self.0.entry(*id).or_insert_with(new).matches;
        if known != matches {
            return created;
        }
        let deals = Deals::Shared(DealSet { id: *id, matches: Arc::clone(known) });
        Arc::new(Created { deals, ..Arc::unwrap_or_clone(created) })
    }

    fn started(&mut self, set: Option<DealSetId>, started: Started) -> Started {
        let Some(known) = set.and_then(|set| self.0.get_mut(&set)) else { return started };
        if known.entrants.is_empty() {
            known.entrants = Arc::clone(&started.entrants);
        }
        if known.entrants != started.entrants {
            return started;
        }
        Started { entrants: Arc::clone(&known.entrants), ..started }
    }
}

impl Matches {
    /// Finds the matches that have not ended, and lets them go on.
    pub(super) async fn recover(&self) -> Result<Recovered, OpenError> {
        let mut recovered = Recovered::default();
        let mut common = Common::default();
        let mut tables = Vec::new();
        let not_aborted = not_aborted::read(self.journal()).await?;
        for match_id in self.journal().unfinished().await? {
            let stored = if not_aborted.contains(&match_id) {
                Err("it is of a backup that was restored, and could not be aborted".to_owned())
            } else {
                self.stored_table(match_id, &mut common).await?
            };
            match stored {
                Ok(table) => tables.push(table),
                Err(why) => {
                    let created = self.find_created(match_id).await?;
                    let set = created.as_ref().and_then(|info| info.deals.set());
                    let place = self.shared.places.keep(created.and_then(|info| info.owner));
                    self.lose(match_id, place, set, &why);
                    recovered.damaged.push(match_id);
                }
            }
        }
        recovered.running = tables.len();
        // Their clocks run when all are there and their players had time to come back.
        let from = self.shared.config.clock.now().after(self.shared.config.limits.restart_grace);
        let beginning = |table: Table| {
            let place = self.shared.places.keep(table.created().owner.clone());
            Beginning { table, place, taken: None }
        };
        self.run(tables.into_iter().map(beginning), from);
        Ok(recovered)
    }

    async fn stored_table(
        &self,
        match_id: MatchId,
        common: &mut Common,
    ) -> Result<Result<Table, String>, OpenError> {
        let Some(StoredMatch::Running(history)) = self.journal().read(match_id).await? else {
            return Ok(Err("it is not there to be run".to_owned()));
        };
        let entries = match common.decode(&history) {
            Ok(entries) => entries,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let replayed = Table::replay(entries, self.shuffler());
        #[cfg(test)]
        let replayed = replayed.map(|table| self.plant(table));
        Ok(replayed.map_err(|error| error.to_string()))
    }

    /// What the bugs of a restart make of a table.
    #[cfg(test)]
    fn plant(&self, mut table: Table) -> Table {
        planted::restarted(table.match_id(), table.decision());
        if let Some(last) = table.entries_from(0).last().filter(|_| planted::is(Bug::ClockRunsInOutage)) {
            let away_ms = self.wall().get().saturating_sub(last.at.get());
            table.count_outage(away_ms);
        }
        table
    }
}
