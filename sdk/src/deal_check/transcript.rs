//! What a seat saw of a match that bears on its deals, and the check of it.

use std::mem;

use zetema_rules::fair::{Commitment, MatchSeed, Nonce, NonceHash, ServerSeed};
use zetema_rules::{Dealing, DealingKind, Entrant, Event, Outcome, Rules, Seat};

use super::course::{Deed, compare_all, replay};
use super::{DealCheck, DealError, Replayed, Seen, Unchecked};

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
    /// How the match was seen to end.
    pub(crate) end: Option<Outcome>,
    /// What happened in the game before, and is lost to the server.
    pub(crate) lost: Vec<Lost>,
}

/// Where a transcript begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Before the first deal.
    Start,
    /// Later.
    Middle,
}

/// What a seat saw happen in the game, of which the server has lost the end or all.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) events: Seen,
    pub(crate) from: From,
}

impl Transcript {
    /// Goes on from what the seat saw before it joined anew: what was settled then stays so.
    pub(crate) fn go_on_from(&mut self, earlier: Self) -> Result<(), DealError> {
        let Self { kind, commitment, own_hash, hashes, nonces, events, from, lost, seed: _, end: _ } =
            earlier;
        self.own_hash = own_hash.or(self.own_hash);
        self.hashes = hashes;
        let shown = mem::replace(&mut self.nonces, nonces);
        self.lost = lost;
        if !events.is_empty() {
            self.lost.push(Lost { events, from });
        }
        if self.commitment != commitment {
            return Err(DealError::OtherCommitment { first: commitment, later: self.commitment });
        }
        if self.kind != kind {
            return Err(DealError::OtherSetup { what: "kind of deals" });
        }
        self.show_nonces(shown)
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

    /// Takes the nonces that the server publishes; none: it does not yet.
    pub(crate) fn show_nonces(&mut self, shown: Vec<Nonce>) -> Result<(), DealError> {
        if shown.is_empty() {
            return Ok(());
        }
        let before = mem::replace(&mut self.nonces, shown);
        if !before.is_empty() && self.nonces != before {
            return Err(DealError::OtherSetup { what: "set of nonces" });
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

    /// Checks what the seat saw against the end that it was told, the seed, and the record if there is one.
    pub(crate) fn check(
        &self,
        rules: &Rules,
        seat: Seat,
        told: &Outcome,
        record: Option<&Replayed>,
    ) -> DealCheck {
        match self.unchecked(rules, seat, told, record) {
            // What is shown of these binds nobody who could choose by it.
            Ok(None) if self.kind == DealingKind::Fixed => DealCheck::Unchecked(Unchecked::Fixed),
            Ok(None) if self.kind == DealingKind::Shared => DealCheck::Unchecked(Unchecked::Shared),
            Ok(None) => DealCheck::Verified,
            Ok(Some(unchecked)) => DealCheck::Unchecked(unchecked),
            Err(error) => DealCheck::Failed(error),
        }
    }

    /// Checks all that can be checked, and says why that is not all.
    fn unchecked(
        &self,
        rules: &Rules,
        seat: Seat,
        told: &Outcome,
        record: Option<&Replayed>,
    ) -> Result<Option<Unchecked>, DealError> {
        self.check_end(told)?;
        // Of shared deals the record alone reveals it, once the last match of the set is over.
        let recorded = record.filter(|_| self.kind == DealingKind::Shared);
        let recorded = recorded.map(|Replayed { record, .. }| &record.dealing.server_seed);
        let Some(seed) = self.seed.as_ref().or(recorded) else { return Ok(Some(Unchecked::NotRevealed)) };
        if seed.commitment() != self.commitment {
            return Err(DealError::Commitment);
        }
        let recorded = record.map(|record| self.check_record(seed, rules, seat, told, record)).transpose()?;
        if !self.is_dealt() && self.lost.is_empty() {
            return Ok(Some(Unchecked::NotDealt));
        }
        // Who joined in the middle saw no deal from its beginning.
        let decks = match (self.from, &self.lost[..]) {
            (From::Middle, []) => None,
            _ => self.decks(seed, rules, record)?,
        };
        let lost = self.check_lost(rules, seat, decks.as_ref())?;
        match (self.from, recorded.flatten(), &decks) {
            _ if !self.is_dealt() => {}
            // The record has the same seed, nonces and course.
            (From::Start, Some(events), _) => compare_all(events, seat, self.events.iter())?,
            (From::Middle, Some(events), _) => {
                let before = events.len().saturating_sub(self.events.len());
                compare_all(&events[before..], seat, self.events.iter())?;
            }
            (From::Start, None, Some(decks)) => replay(rules, seat, decks, self.events.iter())?,
            (From::Start | From::Middle, None, _) if record.is_none() => {
                return Ok(Some(Unchecked::NoRecord));
            }
            (From::Start | From::Middle, None, _) => {}
        }
        Ok(lost)
    }

    fn is_dealt(&self) -> bool {
        self.from == From::Middle || !self.events.is_empty()
    }

    /// Compares how the match was seen to end with the last that was said of it.
    fn check_end(&self, told: &Outcome) -> Result<(), DealError> {
        let fits = match (&self.end, told) {
            (Some(seen), told) => seen == told,
            // A result is an event of the game, too.
            (None, told) => matches!(told, Outcome::Aborted { .. }),
        };
        if fits {
            return Ok(());
        }
        Err(DealError::OtherEnd { seen: self.end.clone(), told: told.clone() })
    }

    /// What all deals follow from; `None`: the record alone could say.
    fn decks(
        &self,
        seed: &ServerSeed,
        rules: &Rules,
        record: Option<&Replayed>,
    ) -> Result<Option<MatchSeed>, DealError> {
        match (self.kind, record) {
            (DealingKind::Joint | DealingKind::Fixed, _) => {
                Ok(Some(MatchSeed::derive(seed, &self.checked_nonces(rules)?)))
            }
            (DealingKind::Shared, None) => Ok(None),
            // It was never dealt, as of a server that was restored to before the deal: its record has not the nonces of the others.
            (DealingKind::Shared, Some(Replayed { record, .. })) if record.dealer.is_none() => Ok(None),
            (DealingKind::Shared, Some(Replayed { record, .. })) => {
                let decks = record.dealing.match_seed(rules);
                decks.map(Some).ok_or(DealError::OtherRecord { what: "set of nonces" })
            }
        }
    }

    /// Checks what the server has lost since the seat saw it.
    ///
    /// A server that was restored goes on from an earlier point, and from there the match may take another course:
    /// how far the record still has the one that was seen, nothing says. So that course is held against no record. But
    /// seed and nonces outlive a loss, so every card, score and draw of it must follow from them as well, by the rules.
    fn check_lost(
        &self,
        rules: &Rules,
        seat: Seat,
        decks: Option<&MatchSeed>,
    ) -> Result<Option<Unchecked>, DealError> {
        let mut unchecked = None;
        for Lost { events, from } in &self.lost {
            match (from, decks) {
                (From::Start, Some(decks)) => replay(rules, seat, decks, events.iter())?,
                (From::Start, None) => unchecked = Some(Unchecked::NoRecord),
                (From::Middle, _) => unchecked = Some(Unchecked::Lost),
            }
        }
        Ok(unchecked)
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
        told: &Outcome,
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
        self.check_recorded_hashes(rules, seat, entrants)?;
        match record.dealer {
            // The nonces that were published may be lost.
            None if self.is_dealt() => return other("dealer"),
            None => {}
            Some(_) if self.kind != DealingKind::Joint || self.nonces.is_empty() => {}
            Some(_) if nonces().eq(self.nonces.iter().map(Some)) => {}
            Some(_) => return other("set of nonces"),
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
        if record.outcome != *told {
            return other("outcome");
        }
        // With the last deal of a match that was aborted no step came.
        let whole = matches!(record.outcome, Outcome::Result(_));
        Ok(whole.then_some(events))
    }

    /// Whether one match of the set has what this seat saw of its own. The record does not say which that is.
    pub(super) fn check_hashes_in_set(
        &self,
        rules: &Rules,
        seat: Seat,
        entrants: &[Entrant],
    ) -> Result<(), DealError> {
        let hash = |entrant: &Entrant| entrant.hash;
        let has_own = |of_match: &&[Entrant]| {
            let own = of_match.get(seat.index()).and_then(hash);
            self.check_own_hash(own).is_ok()
        };
        let mut possible = entrants.chunks(rules.player_count().count()).filter(has_own).peekable();
        if possible.peek().is_none() {
            return self.check_own_hash(None);
        }
        let has_all = |of_match: &[Entrant]| {
            // A nonce that was published may be lost to a server that was restored to before.
            let same = |(entrant, seen): (&Entrant, &Nonce)| {
                entrant.nonce.as_ref().is_none_or(|nonce| nonce == seen)
            };
            (self.hashes.is_empty() || of_match.iter().map(hash).eq(self.hashes.iter().copied()))
                && of_match.iter().zip(&self.nonces).all(same)
        };
        if possible.any(has_all) {
            return Ok(());
        }
        Err(DealError::OtherRecord { what: "set of nonce hashes or nonces" })
    }

    fn check_recorded_hashes(
        &self,
        rules: &Rules,
        seat: Seat,
        entrants: &[Entrant],
    ) -> Result<(), DealError> {
        let hashes = entrants.iter().map(|entrant| entrant.hash);
        match self.kind {
            DealingKind::Fixed => Ok(()),
            // The match was aborted before all had joined.
            _ if entrants.is_empty() => Ok(()),
            DealingKind::Shared => self.check_hashes_in_set(rules, seat, entrants),
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
