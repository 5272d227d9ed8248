//! Whether the deals of a match were fair: the check that each seat makes when the seed is revealed.

mod replayed;
mod seen;

use std::{fmt, mem};

use thiserror::Error;
use zetema_rules::fair::{Commitment, MatchSeed, Nonce, NonceHash, ServerSeed};
use zetema_rules::{
    Action, Dealing, DealingKind, Entrant, Event, Game, Outcome, Phase, PlayError, ReplayError, Rules, Seat,
    SeatEvent, Step, Viewer,
};

pub(crate) use replayed::Replayed;
use seen::Rest;
pub(crate) use seen::{Latest, Seen};

/// Whether the deals of a match were those that server and seats had committed to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DealCheck {
    /// They were: seed, nonces and hashes fit, and every card, score and draw that the seat saw follows
    /// from them by the rules.
    Verified,
    /// They were not, or the server's record says something else.
    Failed(DealError),
    /// It could not be checked.
    Unchecked(Unchecked),
}

/// Why deals could not be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unchecked {
    /// Nothing was dealt.
    NotDealt,
    /// The seat's part ended before the seed was revealed.
    NotRevealed,
    /// The seat was joined after the deal, and there was no record to fill in what came before.
    NoRecord,
}

/// How deals differ from what was committed to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DealError {
    /// The seed is not the one of the commitment.
    #[error("the revealed seed is not the one that the server committed to")]
    Commitment,
    /// The hashes or nonces are not one for each seat.
    #[error("there are {hashes} hashes and {nonces} nonces for {players} seats")]
    Seats {
        /// Hashes that came.
        hashes: usize,
        /// Nonces that came.
        nonces: usize,
        /// Seats of the match.
        players: usize,
    },
    /// A nonce is not that of its hash.
    #[error("the nonce of seat {seat} is not the one that it committed to")]
    Nonce {
        /// Whose.
        seat: Seat,
    },
    /// What the seat joined with is not what the server shows for it.
    #[error(
        "this seat joined with the nonce hash {sent}, and the server shows {} for it",
        .shown.map_or_else(|| "none".to_owned(), |shown| shown.to_string())
    )]
    OwnHash {
        /// The hash that the server took with the join.
        sent: NonceHash,
        /// The one that it showed to the seats, or that the record has; `None`: none for this seat, or of shared deals
        /// for any.
        shown: Option<NonceHash>,
    },
    /// The server committed to one seed, and later to another.
    #[error("the server's commitment was {first}, and is {later} now")]
    OtherCommitment {
        /// The first that the seat saw.
        first: Commitment,
        /// What it saw when it had joined again.
        later: Commitment,
    },
    /// What was settled before the deal is shown otherwise later.
    #[error("the server shows another {what} than before")]
    OtherSetup {
        /// What differs: `set of nonce hashes`, for instance.
        what: &'static str,
    },
    /// What the seat saw is not what the seed gives.
    #[error("what came {place} is not what the seed gives by the rules")]
    Event {
        /// Which event of those that the seat saw, from 0.
        place: EventPlace,
    },
    /// The rules don't allow an action that was seen.
    #[error("the rules don't allow what came {place}: {error}")]
    Play {
        /// Which event, from 0.
        place: EventPlace,
        /// What the rules say.
        error: PlayError,
    },
    /// The record does not replay.
    #[error("the record does not replay: {0}")]
    Record(ReplayError),
    /// The record is not of what the seat saw.
    #[error("the record has another {what} than the seat saw")]
    OtherRecord {
        /// What differs: `seed`, for instance.
        what: &'static str,
    },
}

/// The place of an event among those that a seat saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace(pub usize);

impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "as event {}", self.0)
    }
}

impl fmt::Display for DealCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified => f.write_str("verified"),
            Self::Failed(error) => write!(f, "NOT FAIR: {error}"),
            Self::Unchecked(Unchecked::NotDealt) => f.write_str("unchecked: nothing was dealt"),
            Self::Unchecked(Unchecked::NotRevealed) => f.write_str("unchecked: the seed was not revealed"),
            Self::Unchecked(Unchecked::NoRecord) => {
                f.write_str("unchecked: joined after the deal, and there was no record")
            }
        }
    }
}

/// What a seat saw of a match that bears on its deals.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    pub(crate) kind: DealingKind,
    pub(crate) commitment: Commitment,
    /// What this seat committed to; `None`: the server took no hash from this session.
    pub(crate) own_hash: Option<NonceHash>,
    /// What the seats committed to, once that was published.
    pub(crate) hashes: Vec<Option<NonceHash>>,
    pub(crate) nonces: Vec<Nonce>,
    pub(crate) seed: Option<ServerSeed>,
    /// What happened in the game.
    pub(crate) events: Seen,
    pub(crate) from: From,
}

/// Where a transcript begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Before the first deal.
    Start,
    /// Later.
    Middle,
}

impl Transcript {
    /// Goes on from what the seat saw before it joined anew: what was settled then stays so.
    pub(crate) fn go_on_from(&mut self, earlier: &Self) -> Result<(), DealError> {
        self.own_hash = earlier.own_hash.or(self.own_hash);
        self.hashes.clone_from(&earlier.hashes);
        if self.commitment != earlier.commitment {
            return Err(DealError::OtherCommitment { first: earlier.commitment, later: self.commitment });
        }
        if self.kind != earlier.kind {
            return Err(DealError::OtherSetup { what: "kind of deals" });
        }
        Ok(())
    }

    /// Takes what the server shows to every seat as all that was committed to.
    pub(crate) fn show_hashes(&mut self, seat: Seat, shown: Vec<Option<NonceHash>>) -> Result<(), DealError> {
        let before = mem::replace(&mut self.hashes, shown);
        if self.kind == DealingKind::Fixed {
            return Ok(());
        }
        self.check_own_hash(self.hash_of(seat))?;
        if !before.is_empty() && self.hashes != before {
            return Err(DealError::OtherSetup { what: "set of nonce hashes" });
        }
        Ok(())
    }

    /// What this seat committed to, as the server shows it.
    pub(crate) fn hash_of(&self, seat: Seat) -> Option<NonceHash> {
        self.hashes.get(seat.index()).copied().flatten().filter(|_| self.kind != DealingKind::Fixed)
    }

    fn check_own_hash(&self, shown: Option<NonceHash>) -> Result<(), DealError> {
        match self.own_hash {
            Some(sent) if shown != Some(sent) => Err(DealError::OwnHash { sent, shown }),
            _ => Ok(()),
        }
    }

    /// Checks what the seat saw against the seed, and against the record if there is one.
    pub(crate) fn check(&self, rules: &Rules, seat: Seat, record: Option<&Replayed>) -> DealCheck {
        let Some(seed) = &self.seed else { return DealCheck::Unchecked(Unchecked::NotRevealed) };
        match self.check_with(seed, rules, seat, record) {
            Ok(None) => DealCheck::Verified,
            Ok(Some(unchecked)) => DealCheck::Unchecked(unchecked),
            Err(error) => DealCheck::Failed(error),
        }
    }

    fn check_with(
        &self,
        seed: &ServerSeed,
        rules: &Rules,
        seat: Seat,
        replayed: Option<&Replayed>,
    ) -> Result<Option<Unchecked>, DealError> {
        if seed.commitment() != self.commitment {
            return Err(DealError::Commitment);
        }
        let events = replayed.map(|replayed| self.check_record(seed, rules, seat, replayed)).transpose()?;
        match self.from {
            From::Start if self.events.is_empty() => return Ok(Some(Unchecked::NotDealt)),
            From::Start if self.kind != DealingKind::Shared => {
                let nonces = self.checked_nonces(rules)?;
                match events.flatten() {
                    // The record has the same seed, nonces and course.
                    Some(events) => self.compare_all(events, seat)?,
                    None => replay(rules, seat, &MatchSeed::derive(seed, &nonces), self.events.iter())?,
                }
            }
            _ if replayed.is_none() => return Ok(Some(Unchecked::NoRecord)),
            _ => {}
        }
        Ok(None)
    }

    /// The nonces, each the one that its seat had committed to.
    fn checked_nonces(&self, rules: &Rules) -> Result<Vec<Nonce>, DealError> {
        let players = rules.player_count().count();
        if self.kind == DealingKind::Fixed {
            return Ok(vec![Nonce::EMPTY; players]);
        }
        let (hashes, nonces) = (self.hashes.len(), self.nonces.len());
        if hashes != players || nonces != players {
            return Err(DealError::Seats { hashes, nonces, players });
        }
        for (seat, (hash, nonce)) in rules.seats().zip(self.hashes.iter().zip(&self.nonces)) {
            let fits = match hash {
                Some(hash) => nonce.hash() == *hash,
                None => nonce.reveal().is_empty(),
            };
            if !fits {
                return Err(DealError::Nonce { seat });
            }
        }
        Ok(self.nonces.clone())
    }

    /// Checks the record, and gives the events that it makes, if they are all that there are.
    fn check_record<'a>(
        &self,
        seed: &ServerSeed,
        rules: &Rules,
        seat: Seat,
        replayed: &'a Replayed,
    ) -> Result<Option<&'a [Event]>, DealError> {
        let Replayed { record, events } = replayed;
        let events = events.as_ref().map_err(|error| DealError::Record(error.clone()))?;
        let Dealing { kind, commitment, server_seed, entrants } = &record.dealing;
        let nonces = || entrants.iter().map(|entrant| entrant.nonce.as_ref());
        let other = |what| Err(DealError::OtherRecord { what });
        if record.rules != *rules {
            return other("set of rules");
        }
        if *kind != self.kind {
            return other("kind of deals");
        }
        if *commitment != self.commitment || server_seed != seed {
            return other("seed");
        }
        self.check_recorded_hashes(seat, entrants)?;
        if self.kind == DealingKind::Joint
            && !self.nonces.is_empty()
            && !nonces().eq(self.nonces.iter().map(Some))
        {
            return other("set of nonces");
        }
        let played = self.events.iter().filter_map(|event| Deed::seen(&event));
        let recorded = record.steps.iter().map(Deed::recorded);
        let fits = match self.from {
            From::Start => recorded.eq(played),
            From::Middle => {
                let played: Vec<_> = played.collect();
                recorded.collect::<Vec<_>>().ends_with(&played)
            }
        };
        if !fits {
            return other("course");
        }
        // With the last deal of a match that was aborted no step came.
        let whole = matches!(record.outcome, Outcome::Result(_));
        Ok(whole.then_some(events))
    }

    /// Compares all that the seat saw with what happened.
    fn compare_all(&self, events: &[Event], seat: Seat) -> Result<(), DealError> {
        let mut seen = self.events.iter();
        compare(events, seat, &mut seen)?;
        let place = EventPlace(seen.place());
        seen.next().map_or(Ok(()), |_| Err(DealError::Event { place }))
    }

    fn check_recorded_hashes(&self, seat: Seat, entrants: &[Entrant]) -> Result<(), DealError> {
        let mut hashes = entrants.iter().map(|entrant| entrant.hash);
        match self.kind {
            DealingKind::Fixed => Ok(()),
            // The match was aborted before all had joined.
            _ if entrants.is_empty() => Ok(()),
            // The record does not say which places are those of this match's seats.
            DealingKind::Shared => self.check_own_hash(hashes.find(|hash| *hash == self.own_hash).flatten()),
            DealingKind::Joint => {
                self.check_own_hash(hashes.clone().nth(seat.index()).flatten())?;
                if !self.hashes.is_empty() && !hashes.eq(self.hashes.iter().copied()) {
                    return Err(DealError::OtherRecord { what: "set of nonce hashes" });
                }
                Ok(())
            }
        }
    }
}

/// What a seat did, as a record and as an event tell it.
#[derive(PartialEq)]
enum Deed {
    Play(Action),
    Expose(zetema_rules::Card),
    Forfeit,
}

impl Deed {
    fn seen(event: &SeatEvent) -> Option<(Seat, Self)> {
        match *event {
            SeatEvent::Declared { seat, declaration, .. } => {
                Some((seat, Self::Play(Action::Declare(declaration))))
            }
            SeatEvent::Discarded { seat, card } => Some((seat, Self::Play(Action::Discard(card)))),
            SeatEvent::Exposed { seat, card } => Some((seat, Self::Expose(card))),
            SeatEvent::Forfeited { seat } => Some((seat, Self::Forfeit)),
            SeatEvent::DealStarted { .. }
            | SeatEvent::Drew { .. }
            | SeatEvent::Zetema { .. }
            | SeatEvent::ExtraTurn { .. }
            | SeatEvent::DealOver { .. }
            | SeatEvent::MatchOver { .. } => None,
        }
    }

    fn recorded(step: &Step) -> (Seat, Self) {
        match *step {
            Step::Play { seat, action, .. } => (seat, Self::Play(action)),
            Step::Fault { seat, card } => (seat, Self::Expose(card)),
            Step::Forfeit { seat, .. } => (seat, Self::Forfeit),
        }
    }
}

/// Plays what was seen again with the decks of this seed, and compares every event.
fn replay(rules: &Rules, seat: Seat, decks: &MatchSeed, mut seen: Rest<'_>) -> Result<(), DealError> {
    let mut events = Vec::new();
    let place = EventPlace(0);
    let dealer = decks.dealer(rules.player_count());
    let deck = decks.deck(0, rules.imperial_suit);
    let mut game =
        Game::new(*rules, dealer, &deck, &mut events).map_err(|error| DealError::Play { place, error })?;
    compare(&events, seat, &mut seen)?;
    while let Some(event) = seen.clone().next() {
        events.clear();
        let place = EventPlace(seen.place());
        let played = match (event, Deed::seen(&event)) {
            (SeatEvent::DealStarted { .. }, _) if game.public().phase == Phase::DealOver => {
                let deck = decks.deck(game.public().deal + 1, rules.imperial_suit);
                game.deal(&deck, &mut events)
            }
            (_, Some((actor, Deed::Play(action)))) => game.play(actor, &action, &mut events),
            (_, Some((actor, Deed::Expose(card)))) => game.fault(actor, card, &mut events),
            (_, Some((actor, Deed::Forfeit))) => game.forfeit(actor, &mut events),
            (_, None) => return Err(DealError::Event { place }),
        };
        played.map_err(|error| DealError::Play { place, error })?;
        compare(&events, seat, &mut seen)?;
    }
    Ok(())
}

/// Compares events with what was seen next, which goes on behind them.
fn compare(events: &[Event], seat: Seat, seen: &mut Rest<'_>) -> Result<(), DealError> {
    for event in events {
        let place = EventPlace(seen.place());
        if seen.next() != Some(event.seen_by(Viewer::Seat(seat))) {
            return Err(DealError::Event { place });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
