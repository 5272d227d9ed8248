//! Applying an entry that is durable.

use std::sync::Arc;

use smallvec::SmallVec;
use zetema_rules::fair::{MatchSeed, Nonce};
use zetema_rules::{
    Event, ForfeitReason, Game, LedgerEntry, Outcome, Phase, PlayError, PlayedBy, Seat, SeatClock, SeatEvent,
    TimedOut, Viewer,
};

use super::state::{Join, Logged, LoggedPlay, Play, SeatSetup, Stage};
use super::{Change, Deals, Entrant, Entry, Moment, Started, Table, TableEvent};
#[cfg(test)]
use crate::planted::{self, Bug};

/// What an entry came to, for [`Table::observe`]. It may hold hidden cards.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// What everyone sees as it is. All of it comes before what happened in the game.
    pub(super) table_events: Vec<TableEvent>,
    /// Each viewer sees what [`Event::seen_by`] gives it.
    pub(super) game_events: Vec<Event>,
    /// The seat whose own action it was, with the number of the decision that it answered.
    pub(super) actor: Option<(Seat, u32)>,
    pub(super) new_decision: bool,
}

impl Effect {
    /// What everyone sees of it beside the game.
    pub(crate) fn table_events(&self) -> &[TableEvent] {
        &self.table_events
    }

    /// Whether nobody sees anything of it.
    pub(super) const fn is_unseen(&self) -> bool {
        self.table_events.is_empty() && self.game_events.is_empty()
    }
}

/// Why entries are not those of a match: the journal's fault, or a bug, never a client's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The first entry is not the creation of a match, or there is none.
    #[error("the first entry is not the creation of a match")]
    FirstEntry,
    /// The match needs rules of another revision.
    #[error("the match needs revision {found} of the rules, this is {}", zetema_rules::RULES_REVISION)]
    Revision {
        /// Which.
        found: u32,
    },
    /// An entry does not follow from the ones before.
    #[error("entry {number} does not follow from those before: {why}")]
    Misplaced {
        /// The entry's number, from 1.
        number: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The rules don't allow an action.
    #[error("the rules don't allow entry {number}: {}", .error.kind())]
    Play {
        /// The entry's number, from 1.
        number: usize,
        /// Why not.
        error: PlayError,
    },
}

/// Why one entry can't be applied, before its number is known.
pub(super) enum Misfit {
    Misplaced(&'static str),
    Play(PlayError),
}

impl From<PlayError> for Misfit {
    fn from(error: PlayError) -> Self {
        Self::Play(error)
    }
}

impl Table {
    /// Applies an entry that is durable.
    ///
    /// # Errors
    /// [`ReplayError`] if it is not an entry that this match could have next. The table must not be used after it.
    pub fn apply(&mut self, entry: Entry, now: Moment) -> Result<Effect, ReplayError> {
        let number = self.log.len() + 1;
        let before = self.decision();
        let decision = self.game().map_or(0, |game| game.public().decision);
        let mut play = None;
        let mut effect = self.change(&entry, &mut play).map_err(|misfit| match misfit {
            Misfit::Misplaced(why) => ReplayError::Misplaced { number, why },
            Misfit::Play(error) => ReplayError::Play { number, error },
        })?;
        effect.new_decision = self.decision() != before;
        // Every event has a form for every viewer, so whatever has an event counts for all.
        if !effect.is_unseen() {
            self.seqs.iter_mut().for_each(|seq| *seq += 1);
        }
        let seq = entry.change.seat().map_or(0, |seat| self.seq(Viewer::Seat(seat)));
        if let Change::SeatForfeited { seat, .. } = entry.change
            && let Some(setup) = self.seats.get_mut(seat.index())
        {
            setup.forfeited_at = Some(seq);
        }
        if matches!(entry.change, Change::Started(_)) {
            self.clock.reset(now);
        }
        if self.waits_anew(&entry.change) {
            self.waits_since_ms = self.clock.ms(now);
            self.interrupted = false;
        }
        self.log.push(Logged { entry, seq, decision, play });
        Ok(effect)
    }

    /// Whether it waits for something else after a change. In the setup every seat has the same time, from the creation
    /// to join, and from the last join to send its nonce.
    fn waits_anew(&self, change: &Change) -> bool {
        match change {
            Change::SeatJoined { .. } => self.all_joined(),
            Change::NonceGiven { .. } => self.missing_nonces().next().is_none(),
            Change::DealSetJoined | Change::Started(_) | Change::Acted { .. } => true,
            Change::Created(_)
            | Change::Faulted { .. }
            | Change::SeatForfeited { .. }
            | Change::Aborted(_)
            | Change::Ended(_)
            | Change::SeatTokenRotated { .. } => false,
        }
    }

    fn change(&mut self, entry: &Entry, played: &mut Option<LoggedPlay>) -> Result<Effect, Misfit> {
        let mut effect = Effect::default();
        match &entry.change {
            Change::Created(_) => return Err(Misfit::Misplaced("the match is created")),
            Change::SeatJoined { seat, nonce_hash } => {
                let Stage::Joining = self.stage else { return Err(Misfit::Misplaced("all have joined")) };
                let setup = self.seat_mut(*seat)?;
                if setup.joined != Join::NotYet {
                    return Err(Misfit::Misplaced("the seat has joined"));
                }
                setup.joined = Join::Joined(*nonce_hash);
                if self.all_joined() && !matches!(self.created.deals, Deals::Shared(_)) {
                    self.everyone_joined(&mut effect);
                }
            }
            Change::DealSetJoined => {
                match (&self.stage, &self.created.deals) {
                    (Stage::Joining, Deals::Shared(_)) if self.all_joined() => {}
                    _ => return Err(Misfit::Misplaced("it awaits no deal set")),
                }
                self.everyone_joined(&mut effect);
            }
            Change::NonceGiven { seat, nonce } => {
                let Stage::Nonces = self.stage else { return Err(Misfit::Misplaced("no nonce is wanted")) };
                let setup = self.seat_mut(*seat)?;
                let given = setup.nonce.is_some();
                #[cfg(test)]
                let given = given && !planted::is(Bug::NonceTwice);
                if given || setup.joined != Join::Joined(Some(nonce.hash())) {
                    return Err(Misfit::Misplaced("it is not the seat's nonce"));
                }
                setup.nonce = Some(nonce.clone());
            }
            Change::Started(started) => self.start(started, &mut effect)?,
            Change::Acted { seat, decision, action, by, ledger } => {
                let shuffler = self.shuffler.clone();
                check_decision(self.play_mut()?, *decision)?;
                self.charge_action(*seat, *by, ledger.as_ref(), &mut effect)?;
                let play = self.play_mut()?;
                let legal_index = play.game.legal_actions().iter().position(|legal| legal == *action);
                let events = &mut effect.game_events;
                play.game.play(*seat, action, events)?;
                *played = Some(LoggedPlay {
                    legal_index: legal_index.and_then(|index| u32::try_from(index).ok()),
                    points: points(events),
                    by: *by,
                });
                if *by == PlayedBy::Player {
                    effect.actor = Some((*seat, *decision));
                }
                if play.game.public().phase == Phase::DealOver {
                    play.deal_scores.push(play.game.public().deal_scores);
                    let next = play.game.public().deal.saturating_add(1);
                    let deck = shuffler.deck(&play.seed, next, play.game.rules().imperial_suit);
                    play.game.deal(&deck, events)?;
                }
            }
            Change::Faulted { seat, decision, card } => {
                let play = self.play_mut()?;
                check_decision(play, *decision)?;
                play.game.fault(*seat, *card, &mut effect.game_events)?;
                effect.actor = Some((*seat, *decision));
            }
            Change::SeatForfeited { seat, reason, ledger } => {
                self.charge_forfeit(*seat, *reason, ledger.as_ref(), &mut effect)?;
                self.play_mut()?.game.forfeit(*seat, &mut effect.game_events)?;
            }
            Change::Aborted(abort) => {
                effect.table_events.push(TableEvent::Aborted(abort.clone()));
                self.end(abort.clone().into(), entry, &mut effect)?;
            }
            Change::Ended(result) => {
                if self.game().and_then(|game| game.public().result) != Some(*result) {
                    return Err(Misfit::Misplaced("the game has not this result"));
                }
                self.end(Outcome::Result(*result), entry, &mut effect)?;
            }
            Change::SeatTokenRotated { seat, generation } => {
                let current = self.generations.get_mut(seat.index());
                let current = current.ok_or(Misfit::Misplaced("there is no such seat"))?;
                if current.checked_add(1) != Some(*generation) {
                    return Err(Misfit::Misplaced("it is not the seat's next token"));
                }
                *current = *generation;
            }
        }
        Ok(effect)
    }

    /// Charges the decision that an action closes.
    fn charge_action(
        &mut self,
        seat: Seat,
        by: PlayedBy,
        ledger: Option<&LedgerEntry>,
        effect: &mut Effect,
    ) -> Result<(), Misfit> {
        let timed_out = ledger.map(|ledger| self.apply_charge(seat, ledger)).transpose()?;
        match (by, timed_out) {
            (PlayedBy::Player, Some(None)) => Ok(()),
            // Before there were clocks, nothing was charged.
            (PlayedBy::Player, None) if self.play_mut()?.clocks.is_empty() => Ok(()),
            (PlayedBy::Autoplay, Some(Some((TimedOut::PlayedFor, strikes)))) => {
                effect.table_events.push(self.timed_out(seat, strikes));
                Ok(())
            }
            (PlayedBy::Autoplay, None) if self.play_mut()?.game.public().forfeited.contains(seat) => Ok(()),
            _ => Err(Misfit::Misplaced("the ledger does not fit who chose the action")),
        }
    }

    /// Charges the decision that a seat did not take before it forfeited, and says why it did.
    fn charge_forfeit(
        &mut self,
        seat: Seat,
        reason: ForfeitReason,
        ledger: Option<&LedgerEntry>,
        effect: &mut Effect,
    ) -> Result<(), Misfit> {
        let timed_out = ledger.map(|ledger| self.apply_charge(seat, ledger)).transpose()?;
        effect.table_events.push(match (reason, timed_out) {
            (ForfeitReason::Resigned, None) => TableEvent::Resigned { seat },
            (reason, Some(Some((TimedOut::Forfeits(why), strikes)))) if reason == why => {
                self.timed_out(seat, strikes)
            }
            _ => return Err(Misfit::Misplaced("the ledger does not fit why the seat forfeited")),
        });
        Ok(())
    }

    fn timed_out(&self, seat: Seat, strikes: u32) -> TableEvent {
        let decision = self.decision().unwrap_or_default();
        TableEvent::TimedOut { seat, decision, strikes }
    }

    fn everyone_joined(&mut self, effect: &mut Effect) {
        self.stage = Stage::Nonces;
        if self.created.deals != Deals::Fixed {
            let hashes = self.nonce_hashes();
            effect.table_events.push(TableEvent::NoncesWanted { hashes });
        }
    }

    fn start(&mut self, started: &Started, effect: &mut Effect) -> Result<(), Misfit> {
        let Stage::Nonces = self.stage else { return Err(Misfit::Misplaced("it can't start now")) };
        if self.nonces().as_ref() != Some(&started.nonces) {
            return Err(Misfit::Misplaced("it starts with other nonces"));
        }
        let seed = self.match_seed(&started.nonces, &started.entrants);
        let rules = self.created.rules;
        let dealer = self.shuffler.dealer(&seed, rules.player_count());
        let deck = self.shuffler.deck(&seed, 0, rules.imperial_suit);
        if (dealer, &deck) != (started.dealer, &started.deck) {
            return Err(Misfit::Misplaced("the seed gives another dealer or deck"));
        }
        let game = Game::new(rules, dealer, &deck, &mut effect.game_events)?;
        if self.created.deals != Deals::Fixed {
            let nonces = started.nonces.clone();
            effect.table_events.push(TableEvent::NoncesPublished { nonces });
        }
        let entrants = Arc::clone(&started.entrants);
        let clocks = match self.created.time_control.clock() {
            Some(control) => rules.seats().map(|_| SeatClock::new(*control)).collect(),
            None => SmallVec::new(),
        };
        let play = Play { game, seed, dealer, entrants, deal_scores: Vec::new(), clocks };
        self.stage = Stage::Playing(play);
        Ok(())
    }

    /// The seed of all deals: by the nonces of the deal set's seats, or of this match's.
    pub(super) fn match_seed(&self, nonces: &[Nonce], entrants: &[Entrant]) -> MatchSeed {
        match self.created.deals {
            Deals::Shared(_) => {
                let nonces: Vec<Nonce> = entrants.iter().map(|entrant| entrant.nonce.clone()).collect();
                MatchSeed::derive(&self.created.server_seed, &nonces)
            }
            Deals::Joint | Deals::Fixed => MatchSeed::derive(&self.created.server_seed, nonces),
        }
    }

    fn end(&mut self, outcome: Outcome, entry: &Entry, effect: &mut Effect) -> Result<(), Misfit> {
        let play = match std::mem::replace(&mut self.stage, Stage::Joining) {
            Stage::Joining | Stage::Nonces => None,
            Stage::Playing(play) => Some(play),
            Stage::Over { .. } => return Err(Misfit::Misplaced("the match is over")),
        };
        self.stage = Stage::Over { play, outcome, at: entry.at };
        // The seed of a deal set is shown when its last match is over, which no single match can tell.
        if !matches!(self.created.deals, Deals::Shared(_)) {
            let server_seed = self.created.server_seed.clone();
            effect.table_events.push(TableEvent::Revealed { server_seed });
        }
        Ok(())
    }

    fn seat_mut(&mut self, seat: Seat) -> Result<&mut SeatSetup, Misfit> {
        self.seats.get_mut(seat.index()).ok_or(Misfit::Misplaced("there is no such seat"))
    }

    pub(super) fn play_mut(&mut self) -> Result<&mut Play, Misfit> {
        match &mut self.stage {
            Stage::Playing(play) => Ok(play),
            Stage::Joining | Stage::Nonces | Stage::Over { .. } => {
                Err(Misfit::Misplaced("the match is not being played"))
            }
        }
    }
}

pub(super) fn check_decision(play: &Play, decision: u32) -> Result<(), Misfit> {
    if play.game.public().decision == decision {
        Ok(())
    } else {
        Err(Misfit::Misplaced("it is for another decision"))
    }
}

/// The points that an action scored, its zetema's included.
fn points(events: &[Event]) -> u16 {
    let scored = events.iter().map(|event| match event.seen_by(Viewer::Spectator) {
        SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => points,
        _ => 0,
    });
    scored.sum()
}

impl Change {
    /// The seat that it is about, if it is about one.
    pub(super) const fn seat(&self) -> Option<Seat> {
        match self {
            Self::SeatJoined { seat, .. }
            | Self::NonceGiven { seat, .. }
            | Self::Acted { seat, .. }
            | Self::Faulted { seat, .. }
            | Self::SeatForfeited { seat, .. }
            | Self::SeatTokenRotated { seat, .. } => Some(*seat),
            Self::Created(_) | Self::DealSetJoined | Self::Started(_) | Self::Aborted(_) | Self::Ended(_) => {
                None
            }
        }
    }
}
