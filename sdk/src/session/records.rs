//! The records of matches that are over: each is fetched and replayed once, for all its seats of the session.

use zetema_rules::Record;

use super::tag::Key;
use super::{Core, Output};
use crate::deal_check::Replayed;
use crate::error::{ErrorReason, Refusal};
use crate::fault::Fault;

impl Core {
    /// Has the record of a seat's match fetched, or waits for it with another seat of the match.
    pub(super) fn want_record(&mut self, key: Key) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        let Some(match_id) = seat.info().map(|info| info.match_id.clone()) else {
            seat.close(None);
            return;
        };
        let claim = seat.claim().clone();
        let waiting = self.wanted.entry(match_id.clone()).or_default();
        waiting.push(key);
        if waiting.len() == 1 {
            self.out.push_back(Output::FetchRecord { match_id, claim });
        }
    }

    /// The record of a match, or why there is none.
    pub(crate) fn record(&mut self, match_id: &str, record: Result<Box<Record>, Refusal>) {
        let waiting = self.wanted.remove(match_id).unwrap_or_default();
        match record {
            Ok(record) => {
                let replayed = Replayed::new(*record);
                for key in waiting {
                    self.close_seat(key, Some(&replayed), None);
                }
            }
            Err(refusal) => {
                // It was asked for with the token of the first. Those of the others may be better.
                let refused = if is_about_token(&refusal) { 1 } else { waiting.len() };
                for (i, key) in waiting.into_iter().enumerate() {
                    if i < refused {
                        self.close_seat(key, None, Some(refusal.clone()));
                    } else {
                        self.want_record(key);
                    }
                }
            }
        }
    }

    fn close_seat(&mut self, key: Key, record: Option<&Replayed>, refusal: Option<Refusal>) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        if let Some(refusal) = refusal {
            seat.fault(Fault::Refused { asked: "show the record", refusal });
        }
        seat.close(record);
        self.advance(key);
    }
}

/// Whether the same may be shown to the holder of another token.
const fn is_about_token(refusal: &Refusal) -> bool {
    matches!(refusal.reason, ErrorReason::Unauthenticated | ErrorReason::TokenRotated | ErrorReason::NotFound)
}
