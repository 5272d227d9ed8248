//! Deciding what is asked: refused, done already, or changes to make durable.

use std::sync::Arc;

use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{
    AbortReason, Action, Attendance, Event, ForfeitReason, Game, LedgerEntry, PlayError, PlayedBy, Seat,
    autoplay,
};

use super::state::{Join, Logged, Play, Stage};
use super::{
    Abort, Arrival, Change, Choice, ClosedBy, Command, Deals, Decided, Done, Entrant, Receipt, Rejection,
    SeatAccess, Started, Table,
};
use crate::limits::MAX_SEAT_TOKENS;
#[cfg(test)]
use crate::planted::{self, Bug};

impl Table {
    /// Decides a command that came in then, without changing anything. Once the changes that it answers are applied, deciding the
    /// same command again finds it done (I2).
    ///
    /// # Errors
    /// [`Rejection`] says why the match does not allow it.
    pub fn decide(&self, command: &Command, arrival: Arrival) -> Result<Decided, Rejection> {
        match command {
            Command::Join { access, nonce_hash } => self.decide_join(*access, *nonce_hash),
            Command::GiveNonce { access, nonce } => self.decide_nonce(*access, nonce),
            Command::Act { access, decision, choice } => {
                self.decide_act(*access, *decision, *choice, arrival)
            }
            Command::Resign { access } => self.decide_resign(*access),
            Command::Cancel => self.decide_abort(AbortReason::Cancelled),
            Command::AbortRestored => self.decide_abort(AbortReason::Restored),
            Command::RotateToken { seat } => self.decide_rotation(*seat),
            Command::DealSetJoined => Ok(match self.stage {
                Stage::Joining if self.all_joined() => Decided::Write(vec![Change::DealSetJoined]),
                _ => Decided::Already(Done::DealSetFollowed),
            }),
            Command::DealSetComplete { entrants } => Ok(match self.stage {
                Stage::Nonces => self.nonces().map_or(Decided::Already(Done::DealSetFollowed), |nonces| {
                    Decided::Write(vec![self.first_deal(nonces, entrants.clone())])
                }),
                _ => Decided::Already(Done::DealSetFollowed),
            }),
            Command::DealSetAborted(abort) => Ok(match self.stage {
                Stage::Joining | Stage::Nonces => Decided::Write(vec![Change::Aborted(abort.clone())]),
                Stage::Playing(_) | Stage::Over { .. } => Decided::Already(Done::DealSetFollowed),
            }),
        }
    }

    /// What an applied command came to; `None` if it was not applied.
    pub fn done(&self, command: &Command, arrival: Arrival) -> Option<Done> {
        if let Command::RotateToken { seat } = command {
            return self.generation(*seat).map(|generation| Done::TokenRotated { generation });
        }
        #[cfg(test)]
        if planted::is(Bug::NonceTwice) && matches!(command, Command::GiveNonce { .. }) {
            return Some(Done::NonceAccepted);
        }
        match self.decide(command, arrival) {
            Ok(Decided::Already(done)) => Some(done),
            Ok(Decided::Write(_) | Decided::TimedOut(_)) | Err(_) => None,
        }
    }

    /// The change that is due by itself, whatever the time: the first deal when every nonce is there, and the
    /// action of a seat that has forfeited (R25).
    pub fn next_change(&self) -> Option<Vec<Change>> {
        match &self.stage {
            Stage::Nonces if !matches!(self.created.deals, Deals::Shared(_)) => {
                self.nonces().map(|nonces| vec![self.first_deal(nonces, Arc::default())])
            }
            Stage::Playing(play) => match (play.game.public().result, play.game.to_act()) {
                (Some(result), _) => Some(vec![Change::Ended(result)]),
                (None, Some(seat)) if play.game.public().forfeited.contains(seat) => {
                    let action = autoplay(&play.game.legal_actions())?;
                    acted(&play.game, seat, action, PlayedBy::Autoplay, None).ok()
                }
                (None, _) => None,
            },
            Stage::Joining | Stage::Nonces | Stage::Over { .. } => None,
        }
    }

    /// The end of a match that has as many entries as it may have, and no result.
    pub fn too_long(&self, most_entries: usize) -> Option<Vec<Change>> {
        let has_result = self.game().is_some_and(|game| game.public().result.is_some());
        if self.log.len() < most_entries || has_result || self.outcome().is_some() {
            return None;
        }
        Some(vec![Change::Aborted(Abort { reason: AbortReason::TooLong, seats: Vec::new() })])
    }

    fn decide_join(&self, access: SeatAccess, nonce_hash: Option<NonceHash>) -> Result<Decided, Rejection> {
        self.check_access(access)?;
        let over = matches!(self.stage, Stage::Over { .. });
        match self.seats[access.seat.index()].joined {
            // Whoever comes late may still see how it ended.
            _ if over => Ok(Decided::Already(Done::Joined)),
            Join::NotYet => Ok(Decided::Write(vec![Change::SeatJoined { seat: access.seat, nonce_hash }])),
            Join::Joined(before) if nonce_hash.is_none() || nonce_hash == before => {
                Ok(Decided::Already(Done::Joined))
            }
            Join::Joined(_) => Err(Rejection::NonceFixed),
        }
    }

    fn decide_nonce(&self, access: SeatAccess, nonce: &Nonce) -> Result<Decided, Rejection> {
        self.check_access(access)?;
        let setup = &self.seats[access.seat.index()];
        let given = setup.nonce.as_ref();
        #[cfg(test)]
        let given = given.filter(|_| !planted::is(Bug::NonceTwice));
        match (given, setup.joined) {
            (Some(first), _) if first == nonce => Ok(Decided::Already(Done::NonceAccepted)),
            (Some(_), _) => Err(Rejection::NonceFixed),
            (None, Join::Joined(Some(hash))) => match self.stage {
                Stage::Over { .. } => Err(Rejection::MatchOver),
                Stage::Nonces if self.created.deals == Deals::Fixed => Err(Rejection::NonceNotWanted),
                Stage::Nonces if hash != nonce.hash() => Err(Rejection::NonceMismatch),
                Stage::Nonces => {
                    Ok(Decided::Write(vec![Change::NonceGiven { seat: access.seat, nonce: nonce.clone() }]))
                }
                Stage::Joining | Stage::Playing(_) => Err(Rejection::NonceNotWanted),
            },
            (None, Join::NotYet | Join::Joined(None)) => Err(Rejection::NonceNotWanted),
        }
    }

    fn decide_act(
        &self,
        access: SeatAccess,
        decision: u32,
        choice: Choice,
        arrival: Arrival,
    ) -> Result<Decided, Rejection> {
        self.check_access(access)?;
        let seat = access.seat;
        let current = self.decision();
        let answered = self.answer(seat, decision);
        #[cfg(test)]
        let answered = answered.filter(|_| !planted::forgets(self.match_id(), decision));
        if let Some((logged, answer)) = answered {
            let same = match choice {
                Choice::Action(action) => action == answer,
                Choice::LegalIndex(index) => logged.play.is_some_and(|play| play.legal_index == Some(index)),
            };
            if same {
                let receipt = Receipt { match_id: self.match_id(), decision, seq: logged.seq };
                return Ok(Decided::Already(Done::Acted(receipt)));
            }
            // Another answer to a decision that this seat has closed. After a fault it is still open (R28).
            if current != Some(decision) {
                let closed_by = self.closed(decision).map(|(_, closed_by)| closed_by);
                return Err(Rejection::DecisionOver { current, closed_by });
            }
        } else if current != Some(decision)
            && let Some((_, closed_by)) = self.closed(decision).filter(|(closed, _)| *closed == seat)
        {
            return Err(Rejection::DecisionOver { current, closed_by: Some(closed_by) });
        }
        let (play, current) = match (&self.stage, current) {
            (Stage::Joining | Stage::Nonces, _) => return Err(Rejection::NotStarted),
            (Stage::Playing(play), Some(current)) => (play, current),
            (Stage::Playing(_) | Stage::Over { .. }, _) => return Err(Rejection::MatchOver),
        };
        if decision < current {
            let closed_by = self.closed(decision).map(|(_, closed_by)| closed_by);
            return Err(Rejection::DecisionOver { current: Some(current), closed_by });
        }
        if decision > current {
            return Err(Rejection::DecisionAhead { current: Some(current) });
        }
        if play.game.public().forfeited.contains(seat) {
            return Err(Rejection::SeatForfeited);
        }
        match play.game.to_act() {
            Some(to_act) if to_act != seat => decide_fault(play, seat, to_act, choice),
            _ => {
                let Ok(ledger) = self.charge(play, seat, arrival) else {
                    // Whoever answers too late is there.
                    let timed_out = self.time_out(play, seat, Attendance::Present);
                    return timed_out.map(Decided::TimedOut).ok_or(Rejection::Damaged);
                };
                let action = match choice {
                    Choice::Action(action) => action,
                    Choice::LegalIndex(index) => pick(&play.game, current, index)?,
                };
                acted(&play.game, seat, action, PlayedBy::Player, Some(ledger))
                    .map(Decided::Write)
                    .map_err(|error| Rejection::Illegal { current, error })
            }
        }
    }

    fn decide_resign(&self, access: SeatAccess) -> Result<Decided, Rejection> {
        self.check_access(access)?;
        let seat = access.seat;
        if let Some(seq) = self.seats[seat.index()].forfeited_at {
            return Ok(Decided::Already(Done::Resigned { seq }));
        }
        match &self.stage {
            Stage::Joining | Stage::Nonces => Err(Rejection::NotStarted),
            Stage::Over { .. } => Err(Rejection::MatchOver),
            Stage::Playing(play) => {
                let current = play.game.public().decision;
                let mut after = play.game.clone();
                after
                    .forfeit(seat, &mut Vec::new())
                    .map_err(|error| Rejection::Illegal { current, error })?;
                let change = Change::SeatForfeited { seat, reason: ForfeitReason::Resigned, ledger: None };
                Ok(Decided::Write(with_end(change, &after)))
            }
        }
    }

    fn decide_abort(&self, reason: AbortReason) -> Result<Decided, Rejection> {
        let abort = Abort { reason, seats: Vec::new() };
        match self.outcome() {
            None => Ok(Decided::Write(vec![Change::Aborted(abort)])),
            Some(outcome) if *outcome == abort.into() => Ok(Decided::Already(Done::Cancelled)),
            Some(_) => Err(Rejection::MatchOver),
        }
    }

    fn decide_rotation(&self, seat: Seat) -> Result<Decided, Rejection> {
        let generation = self.generation(seat).ok_or(Rejection::NoSuchSeat { seat })?;
        match (&self.stage, generation.checked_add(1)) {
            (Stage::Over { .. }, _) => Err(Rejection::MatchOver),
            (_, None) => Err(Rejection::TooManyTokens { limit: MAX_SEAT_TOKENS }),
            (_, Some(generation)) if generation > MAX_SEAT_TOKENS => {
                Err(Rejection::TooManyTokens { limit: MAX_SEAT_TOKENS })
            }
            (_, Some(generation)) => Ok(Decided::Write(vec![Change::SeatTokenRotated { seat, generation }])),
        }
    }

    /// What this seat itself sent for a decision, faults included.
    pub(super) fn answer(&self, seat: Seat, decision: u32) -> Option<(&Logged, Action)> {
        self.log.at(decision).find_map(|logged| match logged.entry.change {
            Change::Acted { seat: by, action, by: PlayedBy::Player, .. } if by == seat => {
                Some((logged, action))
            }
            Change::Faulted { seat: by, card, .. } if by == seat => Some((logged, Action::Discard(card))),
            _ => None,
        })
    }

    /// Whose decision this was, and how it came to be over; `None` if it is not over, or there was none.
    pub(super) fn closed(&self, decision: u32) -> Option<(Seat, ClosedBy)> {
        // A seat whose time is out forfeits first, and then is played for.
        self.log.at(decision).find_map(|logged| match &logged.entry.change {
            Change::SeatForfeited { seat, ledger: Some(_), .. } => Some((*seat, ClosedBy::Clock)),
            Change::Acted { seat, by, ledger, .. } => Some((
                *seat,
                match (by, ledger) {
                    (PlayedBy::Player, _) => ClosedBy::Answer,
                    (PlayedBy::Autoplay, Some(_)) => ClosedBy::Clock,
                    (PlayedBy::Autoplay, None) => ClosedBy::Forfeit,
                },
            )),
            _ => None,
        })
    }

    fn first_deal(&self, nonces: Vec<Nonce>, entrants: Arc<[Entrant]>) -> Change {
        let rules = &self.created.rules;
        let seed = self.match_seed(&nonces, &entrants);
        let dealer = self.shuffler.dealer(&seed, rules.player_count());
        let deck = self.shuffler.deck(&seed, 0, rules.imperial_suit);
        Change::Started(Box::new(Started { nonces, entrants, dealer, deck }))
    }
}

/// A discard offered while another seat is to act (R28).
fn decide_fault(play: &Play, seat: Seat, to_act: Seat, choice: Choice) -> Result<Decided, Rejection> {
    let current = play.game.public().decision;
    let not_your_turn = Rejection::NotYourTurn { current, to_act };
    let Choice::Action(Action::Discard(card)) = choice else { return Err(not_your_turn) };
    match play.game.clone().fault(seat, card, &mut Vec::new()) {
        Ok(()) => Ok(Decided::Write(vec![Change::Faulted { seat, decision: current, card }])),
        Err(PlayError::NotYourTurn { .. }) => Err(not_your_turn),
        Err(error) => Err(Rejection::Illegal { current, error }),
    }
}

/// An action, and with it the end of the match if that is what it brings.
pub(super) fn acted(
    game: &Game,
    seat: Seat,
    action: Action,
    by: PlayedBy,
    ledger: Option<LedgerEntry>,
) -> Result<Vec<Change>, PlayError> {
    let mut after = game.clone();
    after.play(seat, &action, &mut Vec::<Event>::new())?;
    let decision = game.public().decision;
    Ok(with_end(Change::Acted { seat, decision, action, by, ledger }, &after))
}

pub(super) fn with_end(change: Change, after: &Game) -> Vec<Change> {
    let end = after.public().result.map(Change::Ended);
    std::iter::once(change).chain(end).collect()
}

fn pick(game: &Game, current: u32, index: u32) -> Result<Action, Rejection> {
    let legal = game.legal_actions();
    let action = usize::try_from(index).ok().and_then(|index| legal.get(index));
    action.ok_or(Rejection::NoSuchIndex { current, index, count: legal.len() })
}
