//! Matches that can't go on or can't be read, since they are not in the journal as they were written.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use zetema_rules::Suit;

use super::{Matches, OpenError};
use crate::encoding::decode_entry;
use crate::incident::Incident;
use crate::journal::{MatchId, Quarantine, ReadError};
use crate::limits;
use crate::table::{MatchInfo, Rejection, Table};

/// The incident of each damaged match that was found or asked for: the log tells of it once.
#[derive(Debug, Default)]
pub(super) struct Incidents(Mutex<HashMap<MatchId, Incident>>);

impl Incidents {
    /// The incident of a match. The first time, the log is told why.
    pub(super) fn of(&self, match_id: MatchId, why: &dyn fmt::Display) -> Incident {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(incident) = known.get(&match_id) {
            return *incident;
        }
        let incident = Incident::new();
        tracing::error!(%incident, %match_id, %why, "a match is damaged: whoever may see it is told this incident");
        if known.len() < limits::MAX_REMEMBERED_INCIDENTS {
            known.insert(match_id, incident);
        }
        incident
    }
}

impl Matches {
    /// Takes in what was found damaged when the journal was opened: it counts now, and not only when somebody asks for it.
    /// The cards of a deal set that it is of are held, if that can be read.
    ///
    /// # Errors
    /// [`OpenError`] if the journal can't be read now.
    pub(crate) async fn found_damaged(&self, quarantined: &[Quarantine]) -> Result<(), OpenError> {
        for Quarantine { match_id, intact, damage } in quarantined {
            let why = format_args!(
                "{damage}; its records are intact up to version {intact}, and it does not go on"
            );
            self.shared.incidents.of(*match_id, &why);
            if let Some(set) = self.find_created(*match_id).await?.and_then(|info| info.deals.set()) {
                self.shared.lost.hold(set);
            }
        }
        Ok(())
    }

    /// What whoever asks for a damaged match is told.
    pub(super) fn damaged(&self, match_id: MatchId, why: &dyn fmt::Display) -> Rejection {
        Rejection::MatchDamaged(self.shared.incidents.of(match_id, why))
    }

    /// A match as it was when it was created, if that much of it can be read: of a damaged one, so that it is known who
    /// may hear of it. Anybody may ask, so no more of it is read than that.
    pub async fn as_created(&self, match_id: MatchId) -> Option<MatchInfo> {
        self.find_created(match_id).await.ok().flatten()
    }

    /// The same; [`ReadError::Unavailable`] if it can't be told now whether that much can be read.
    pub(super) async fn find_created(&self, match_id: MatchId) -> Result<Option<MatchInfo>, ReadError> {
        let first = match self.journal().first(match_id).await {
            Ok(first) => first,
            Err(ReadError::Damaged(_)) => None,
            Err(error @ ReadError::Unavailable(_)) => return Err(error),
        };
        Ok(first.and_then(|first| {
            let first = decode_entry(first.payload.as_bytes(), Suit::Spades).ok()?;
            Table::info_as_created(first, self.shuffler()).ok()
        }))
    }
}
