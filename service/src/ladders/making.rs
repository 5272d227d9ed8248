//! How the matches of pairings are made.
//!
//! Each has its id before the journal is asked for it, and is known to the ladder by it from then on, whatever the journal answers. So its
//! result finds it, however early it comes, and what was not stored is given up by that id.

use std::mem;

use zetema_ladder::pairing::Pairing;

use super::state::{State, Usages};
use super::time::Now;
use crate::journal::MatchId;
use crate::limits;
use crate::matches::{CreateError, Matches};
use crate::table::{MatchSpec, Rejection};

/// Matches that were asked for together, and may be stored or not: all of them, or none.
pub(super) struct Doubt(Vec<MatchId>);

/// Has the matches of a ladder made, of which who has waited longest is first. What there is no room for is given up, and its members
/// wait on. The answer is what is in doubt.
pub(super) async fn make(
    state: &mut State,
    mut wanted: Vec<(Pairing, MatchSpec)>,
    matches: &Matches,
    usages: &mut Usages,
    now: Now,
) -> Option<Doubt> {
    let mut most = limits::MAX_BATCH_MATCHES;
    let mut doubt = None;
    while !wanted.is_empty() && doubt.is_none() {
        let size = wanted.len().min(most);
        let specs = wanted.iter().take(size).map(|(_, spec)| spec.clone()).collect();
        let proposal = match matches.propose(specs) {
            Ok(proposal) => proposal,
            Err(error) => {
                tracing::error!(ladder = %state.spec.name, %error, "there can be no matches of a ladder");
                break;
            }
        };
        let ids: Vec<MatchId> = proposal.ids().collect();
        match matches.create_proposed(proposal).await {
            Ok(()) => {}
            // Whatever it is, there may be something in the journal.
            Err(CreateError::OutcomeUnknown | CreateError::Fault) => doubt = Some(Doubt(ids.clone())),
            Err(CreateError::TooManyMatches { .. }) if size > 1 => {
                most = size / 2;
                continue;
            }
            Err(error) => {
                tracing::debug!(ladder = %state.spec.name, %error, "the ladder's matches are not made");
                break;
            }
        }
        let rest = wanted.split_off(size);
        for (match_id, (pairing, _)) in ids.into_iter().zip(mem::replace(&mut wanted, rest)) {
            state.begun(match_id, pairing, now);
        }
    }
    for (pairing, _) in wanted {
        state.not_begun(&pairing, usages, now);
    }
    doubt
}

impl Doubt {
    /// Asks the journal what is there. `None`: that is known.
    pub(super) async fn settle(
        self,
        state: &mut State,
        matches: &Matches,
        usages: &mut Usages,
    ) -> Option<Self> {
        let first = *self.0.first()?;
        match matches.get(first).await {
            Ok(_) | Err(Rejection::MatchDamaged(_)) => None,
            Err(Rejection::NotFound) => {
                for match_id in self.0 {
                    state.withdraw(match_id, usages);
                }
                None
            }
            Err(_) => Some(self),
        }
    }
}
