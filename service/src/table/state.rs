//! The state of a table.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};
use zetema_rules::fair::{MatchSeed, Nonce, NonceHash};
use zetema_rules::{Game, Outcome, PlayedBy, Seat, SeatClock, Viewer};

use super::clock::MatchClock;
use super::log::Log;
use super::{
    Change, Created, Deals, DealsKind, Dealt, Entrant, Entries, Entry, MatchInfo, MatchStage, Moment,
    Rejection, ReplayError, SeatAccess, SeatInfo, SeatState, Shuffler,
};
use crate::journal::{MatchId, UnixMillis};
use crate::prefetch::Place;

/// Seats of which a table has all that an action needs in one piece of memory. Those of more are elsewhere.
const FEW_SEATS: usize = 2;

/// One match: what has happened, and the game with everything hidden in it.
///
/// It changes by [`Table::apply`] alone. `Debug` shows no card, no seed and no nonce.
#[derive(Clone)]
pub struct Table {
    pub(super) match_id: MatchId,
    pub(super) created: Arc<Created>,
    pub(super) shuffler: Arc<dyn Shuffler>,
    pub(super) seats: Box<[SeatSetup]>,
    /// The generation of the token of each seat.
    pub(super) generations: SmallVec<[u32; FEW_SEATS]>,
    pub(super) stage: Stage,
    /// The number of the last observation of each seat, and behind the seats that of the spectators.
    pub(super) seqs: SmallVec<[u64; FEW_SEATS + 1]>,
    pub(super) log: Log,
    pub(super) clock: MatchClock,
    /// Since when, by the match's clock, it waits for what it waits for: when the current decision was published.
    pub(super) waits_since_ms: u64,
    /// Whether the server was down while the current decision was open.
    pub(super) interrupted: bool,
}

/// How far a seat's setup is.
#[derive(Clone)]
pub(super) struct SeatSetup {
    pub(super) seat: Seat,
    pub(super) joined: Join,
    pub(super) nonce: Option<Nonce>,
    /// The number of the observation that shows the seat its own forfeit.
    pub(super) forfeited_at: Option<u64>,
}

/// Whether and how a seat joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    NotYet,
    Joined(Option<NonceHash>),
}

/// Where the match stands.
#[derive(Clone)]
pub(super) enum Stage {
    /// Not every seat (of the deal set) has joined.
    Joining,
    /// Not every nonce (of the deal set) is there.
    Nonces,
    /// Dealt.
    Playing(Play),
    /// Over, with the play if it was dealt.
    Over { play: Option<Play>, outcome: Outcome, at: UnixMillis },
}

/// The game, and what its decks come from.
#[derive(Clone)]
pub(super) struct Play {
    pub(super) game: Game,
    pub(super) seed: MatchSeed,
    pub(super) dealer: Seat,
    /// All seats of the deal set (`shared` deals only).
    pub(super) entrants: Arc<[Entrant]>,
    /// The points by side of each deal that is over.
    pub(super) deal_scores: Vec<[u16; Seat::MAX]>,
    /// The clock of each seat, seat 0 first; empty if the match has none.
    pub(super) clocks: SmallVec<[SeatClock; FEW_SEATS]>,
}

/// An entry, with what receipts and records need of the moment at which it was applied.
#[derive(Clone)]
pub(super) struct Logged {
    pub(super) entry: Entry,
    /// The number of the observation that shows it to the seat that it is about; 0 if it is about none.
    pub(super) seq: u64,
    /// The decision that was open, or was the last one; 0 before the first. It never falls from one entry to the next.
    pub(super) decision: u32,
    pub(super) play: Option<LoggedPlay>,
}

/// Of an action: which of the legal ones it was, what it scored, and who chose it.
#[derive(Clone, Copy)]
pub(super) struct LoggedPlay {
    pub(super) legal_index: Option<u32>,
    pub(super) points: u16,
    pub(super) by: PlayedBy,
}

/// The moment does not matter to a clock that stands.
const STANDS: Moment = Moment::since_start(Duration::ZERO);

impl Table {
    /// The table of a match that was just created, from its first entry. Its clock stands until [`Table::run_clock`].
    ///
    /// # Errors
    /// [`ReplayError::FirstEntry`] if the entry is not the creation of a match, [`ReplayError::Revision`] if the
    /// match needs rules of another revision.
    pub fn new(first: Entry, shuffler: Arc<dyn Shuffler>) -> Result<Self, ReplayError> {
        let table = Self::of_any_revision(first, shuffler)?;
        match table.created.rules_revision {
            zetema_rules::RULES_REVISION => Ok(table),
            found => Err(ReplayError::Revision { found }),
        }
    }

    /// What may be known of a match that was just created, from its first entry: of one that needs rules of another revision too.
    ///
    /// # Errors
    /// [`ReplayError::FirstEntry`] if the entry is not the creation of a match.
    pub fn info_as_created(first: Entry, shuffler: Arc<dyn Shuffler>) -> Result<MatchInfo, ReplayError> {
        Ok(Self::of_any_revision(first, shuffler)?.info())
    }

    fn of_any_revision(first: Entry, shuffler: Arc<dyn Shuffler>) -> Result<Self, ReplayError> {
        let Change::Created(created) = &first.change else {
            return Err(ReplayError::FirstEntry);
        };
        let created = Arc::clone(created);
        let setup = |seat| SeatSetup { seat, joined: Join::NotYet, nonce: None, forfeited_at: None };
        let seats: Box<[SeatSetup]> = created.rules.seats().map(setup).collect();
        Ok(Self {
            match_id: created.match_id,
            shuffler,
            generations: smallvec![1; seats.len()],
            stage: Stage::Joining,
            seqs: smallvec![0; seats.len() + 1],
            seats,
            log: Log::new(Logged { entry: first, seq: 0, decision: 0, play: None }),
            clock: MatchClock::NEW,
            waits_since_ms: 0,
            interrupted: false,
            created,
        })
    }

    /// The table of a match that goes on after a restart. What it waits for now begins anew, a decision with the bank
    /// that is journaled, since an outage is charged to nobody. Its clock stands until [`Table::run_clock`].
    ///
    /// # Errors
    /// [`ReplayError`] if the entries are none, or not those of a match.
    pub fn replay(
        entries: impl IntoIterator<Item = Entry>,
        shuffler: Arc<dyn Shuffler>,
    ) -> Result<Self, ReplayError> {
        let mut entries = entries.into_iter();
        let first = entries.next().ok_or(ReplayError::FirstEntry)?;
        let mut table = Self::new(first, shuffler)?;
        for entry in entries {
            table.apply(entry, STANDS)?;
        }
        table.interrupted = table.decision().is_some();
        Ok(table)
    }

    /// The table of the same match as it was just created, to replay [`Table::entries_from`] 1 on.
    ///
    /// # Errors
    /// None that this table did not have: see [`Table::new`].
    pub fn restart(&self) -> Result<Self, ReplayError> {
        let first = self.entries_from(0).next().ok_or(ReplayError::FirstEntry)?;
        Self::new(first.clone(), self.shuffler.clone())
    }

    /// The match's id.
    pub const fn match_id(&self) -> MatchId {
        self.match_id
    }

    /// How the match was created. It holds the seed.
    pub fn created(&self) -> &Created {
        &self.created
    }

    /// How many entries were applied, the creation included.
    pub fn entry_count(&self) -> usize {
        self.log.len()
    }

    /// Has fetched what an action needs that is not in here: see [`prefetch`](crate::prefetch).
    pub(crate) fn prefetch(&self) {
        self.log.prefetch();
        if self.seqs.spilled() {
            Place::of(&*self.seqs).fetch();
            Place::of(&*self.generations).fetch();
        }
        if let Stage::Playing(Play { clocks, .. }) = &self.stage
            && clocks.spilled()
        {
            Place::of(&**clocks).fetch();
        }
    }

    /// The entries that were applied, from the one with this 0-based number on. They hold hidden state.
    pub fn entries_from(&self, first: usize) -> impl Iterator<Item = &Entry> {
        self.log.iter().skip(first).map(|logged| &logged.entry)
    }

    /// The same, to be read while the table goes on.
    pub(crate) fn shared_entries_from(&self, first: usize) -> Entries {
        self.log.shared_from(first)
    }

    /// The number of the current decision; `None` while none is open.
    pub fn decision(&self) -> Option<u32> {
        let Stage::Playing(play) = &self.stage else { return None };
        play.game.to_act().map(|_| play.game.public().decision)
    }

    /// The seat that is to act, if one is.
    pub fn to_act(&self) -> Option<Seat> {
        let Stage::Playing(play) = &self.stage else { return None };
        play.game.to_act()
    }

    /// How the match ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Over { outcome, .. } => Some(outcome),
            Stage::Joining | Stage::Nonces | Stage::Playing(_) => None,
        }
    }

    /// The number of the last observation of this viewer, 0 if there was none yet.
    pub fn seq(&self, viewer: Viewer) -> u64 {
        self.viewer_index(viewer).map_or(0, |index| self.seqs[index])
    }

    /// The generation of a seat's token; `None` for a seat that the match does not have.
    pub fn generation(&self, seat: Seat) -> Option<u32> {
        self.generations.get(seat.index()).copied()
    }

    /// All seats of the deal set, once it is dealt; empty for other deals. They hold nonces.
    pub fn entrants(&self) -> Arc<[Entrant]> {
        match &self.stage {
            Stage::Playing(play) | Stage::Over { play: Some(play), .. } => Arc::clone(&play.entrants),
            Stage::Joining | Stage::Nonces | Stage::Over { play: None, .. } => Arc::default(),
        }
    }

    /// What everyone who may see the match may know of it besides the game.
    pub fn info(&self) -> MatchInfo {
        let created = &*self.created;
        let (stage, ended_at) = match &self.stage {
            Stage::Joining => (MatchStage::WaitingForSeats, None),
            Stage::Nonces => (MatchStage::WaitingForNonces, None),
            Stage::Playing(_) => (MatchStage::Playing, None),
            Stage::Over { outcome: Outcome::Result(_), at, .. } => (MatchStage::Finished, Some(*at)),
            Stage::Over { outcome: Outcome::Aborted { .. }, at, .. } => (MatchStage::Aborted, Some(*at)),
        };
        let forfeited = |seat| self.game().is_some_and(|game| game.public().forfeited.contains(seat));
        let seat_info = |setup: &SeatSetup| SeatInfo {
            seat: setup.seat,
            side: created.rules.side(setup.seat),
            bot: created.bot(setup.seat).cloned(),
            state: match setup.joined {
                _ if forfeited(setup.seat) => SeatState::Forfeited,
                Join::NotYet => SeatState::Open,
                Join::Joined(_) => SeatState::Joined,
            },
            generation: self.generation(setup.seat).unwrap_or_default(),
        };
        MatchInfo {
            match_id: created.match_id,
            stage,
            rules: created.rules,
            rules_revision: created.rules_revision,
            seats: self.seats.iter().map(seat_info).collect(),
            time_control: created.time_control,
            deals: match &created.deals {
                Deals::Joint => DealsKind::Joint,
                Deals::Shared(set) => DealsKind::Shared(set.id),
                Deals::Fixed => DealsKind::Fixed,
            },
            commitment: created.server_seed.commitment(),
            visibility: created.visibility,
            client_reference: created.client_reference.clone(),
            owner: created.owner.clone(),
            ladder: created.ladder.clone(),
            ladder_rates: created.ladder_rates,
            created_at: created.at,
            ended_at,
            outcome: self.outcome().cloned(),
            dealt: if self.is_dealt() { Dealt::Yes } else { Dealt::No },
        }
    }

    /// Checks that a token speaks for a seat of this match and was not replaced.
    ///
    /// # Errors
    /// [`Rejection::NoSuchSeat`] or [`Rejection::TokenReplaced`].
    pub fn check_access(&self, access: SeatAccess) -> Result<(), Rejection> {
        let SeatAccess { seat, generation } = access;
        match self.generation(seat) {
            None => Err(Rejection::NoSuchSeat { seat }),
            Some(current) if current != generation => Err(Rejection::TokenReplaced),
            Some(_) => Ok(()),
        }
    }

    /// Whether cards have been dealt.
    pub fn is_dealt(&self) -> bool {
        self.game().is_some()
    }

    pub(super) fn game(&self) -> Option<&Game> {
        match &self.stage {
            Stage::Playing(play) | Stage::Over { play: Some(play), .. } => Some(&play.game),
            Stage::Joining | Stage::Nonces | Stage::Over { play: None, .. } => None,
        }
    }

    /// What each seat committed to. Empty until all have joined, and for `fixed` deals.
    pub fn nonce_hashes(&self) -> Vec<Option<NonceHash>> {
        if self.created.deals == Deals::Fixed {
            return Vec::new();
        }
        let hash = |setup: &SeatSetup| match setup.joined {
            Join::NotYet => None,
            Join::Joined(hash) => Some(hash),
        };
        self.seats.iter().map(hash).collect::<Option<_>>().unwrap_or_default()
    }

    /// Each seat's nonce, empty for a seat that gave no hash; `None` until all have joined and all nonces are
    /// durable. Secret until the match has started.
    pub fn nonces(&self) -> Option<Vec<Nonce>> {
        let nonce = |setup: &SeatSetup| match setup.joined {
            Join::NotYet => None,
            Join::Joined(None) => Some(Nonce::EMPTY),
            Join::Joined(Some(_)) if self.created.deals == Deals::Fixed => Some(Nonce::EMPTY),
            Join::Joined(Some(_)) => setup.nonce.clone(),
        };
        self.seats.iter().map(nonce).collect()
    }

    /// Whether every seat of this match has joined.
    pub fn all_joined(&self) -> bool {
        self.seats.iter().all(|setup| setup.joined != Join::NotYet)
    }

    /// Whether every seat, of the whole deal set, has joined, so that everyone saw all hashes.
    pub(super) fn hashes_were_shown(&self) -> bool {
        match self.created.deals {
            Deals::Joint | Deals::Fixed => self.all_joined(),
            Deals::Shared(_) => {
                self.log.iter().any(|logged| matches!(logged.entry.change, Change::DealSetJoined))
            }
        }
    }

    /// The seats that have not joined.
    pub(super) fn absent_seats(&self) -> impl Iterator<Item = Seat> {
        self.seats.iter().filter(|setup| setup.joined == Join::NotYet).map(|setup| setup.seat)
    }

    /// The seats that owe their nonce.
    pub(super) fn missing_nonces(&self) -> impl Iterator<Item = Seat> {
        let owes = |setup: &&SeatSetup| {
            self.created.deals != Deals::Fixed
                && matches!(setup.joined, Join::Joined(Some(_)))
                && setup.nonce.is_none()
        };
        self.seats.iter().filter(owes).map(|setup| setup.seat)
    }

    /// Whether this seat has promised a nonce and not sent it, while nothing is dealt.
    pub fn awaits_nonce_of(&self, seat: Seat) -> bool {
        let in_setup = matches!(self.stage, Stage::Joining | Stage::Nonces);
        let owes = |setup: &SeatSetup| matches!(setup.joined, Join::Joined(Some(_))) && setup.nonce.is_none();
        in_setup && self.created.deals != Deals::Fixed && self.seats.get(seat.index()).is_some_and(owes)
    }

    pub(super) fn viewer_index(&self, viewer: Viewer) -> Option<usize> {
        match viewer {
            Viewer::Seat(seat) => Some(seat.index()).filter(|&index| index < self.seats.len()),
            Viewer::Spectator => Some(self.seats.len()),
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("match_id", &self.created.match_id)
            .field("entries", &self.log.len())
            .field("decision", &self.decision())
            .finish_non_exhaustive()
    }
}
