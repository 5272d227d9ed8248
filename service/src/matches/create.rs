//! How tables begin that are created now.

use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::sync::Arc;

use metrics::counter;
use zetema_rules::RULES_REVISION;
use zetema_rules::fair::ServerSeed;

use super::places::Place;
use super::run::Beginning;
use super::{EntropyError, Matches};
use crate::challenges::Taken;
use crate::encoding::{decode_created, encode_created, encode_entry};
use crate::journal::{
    CreateRefusal, Created as CreatedBy, JournalValueError, MatchId, NewMatch, NewMatches, Outcome, Owner,
    Payload, ReadError, Request, RequestKey, RequestState, Response, UnixMillis,
};
use crate::limits;
use crate::metrics::MATCHES_CREATED;
use crate::own_task::to_its_end;
use crate::seldom::Seldom;
use crate::table::{
    Change, Created, DealSet, DealSetId, DealSpec, Deals, Entry, MatchInfo, MatchSpec, Rejection, Table,
};

/// Why matches can't be created. None was, except where it says that this is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// Too many or too few at once.
    #[error("{given} matches were asked for: give 1 to {most}")]
    Count {
        /// How many were asked for.
        given: usize,
        /// How many there may be.
        most: usize,
    },
    /// A deal set of one match.
    #[error("deal set {deal_set} has one match: give two or more")]
    LonelyDealSet {
        /// The number of the deal set.
        deal_set: u32,
        /// The match, from 0.
        index: usize,
    },
    /// The matches of a deal set are not all with the same number of players and the same imperial suit.
    #[error("deal set {deal_set} has matches of other players or another imperial suit: give them the same")]
    MixedDealSet {
        /// The number of the deal set.
        deal_set: u32,
        /// The first match that differs, from 0.
        index: usize,
    },
    /// The matches of a deal set have too many seats.
    #[error(
        "deal set {deal_set} has {seats} seats in all its matches, more than {most}: make several sets of them"
    )]
    LargeDealSet {
        /// The number of the deal set.
        deal_set: u32,
        /// How many seats its matches have.
        seats: usize,
        /// How many they may have.
        most: usize,
        /// The first match that is one too many, from 0.
        index: usize,
    },
    /// The request id was used for another request.
    #[error("the request id was used for another request: use a new one")]
    RequestReused,
    /// The matches that are not over take as much memory as they may.
    #[error("the matches that run take {limit} bytes of memory, the most that they may: try again later")]
    TooManyBytes {
        /// The limit.
        limit: usize,
    },
    /// As many matches run as may.
    #[error("{limit} matches run at once at most: try again later")]
    TooManyMatches {
        /// The limit.
        limit: usize,
    },
    /// As many matches of one owner run as may.
    #[error("you have {limit} matches that are not over, the limit: try again when some are")]
    TooManyOfOwner {
        /// The limit.
        limit: usize,
    },
    /// Whether they were created is not known yet. With a request id the same may be sent again.
    #[error("whether the matches were created is not known yet: send the same again")]
    OutcomeUnknown,
    /// The server is stopping.
    #[error("the server is stopping: try again when it is back, at the same address")]
    Stopping,
    /// A fault of the server. The log says more.
    #[error("a fault of the server")]
    Fault,
}

impl From<EntropyError> for CreateError {
    fn from(error: EntropyError) -> Self {
        tracing::error!(%error, "no seed can be drawn");
        Self::Fault
    }
}

impl From<JournalValueError> for CreateError {
    fn from(error: JournalValueError) -> Self {
        tracing::error!(%error, "the journal does not take a creation");
        Self::Fault
    }
}

/// Matches that have their ids and seeds, and are not created.
pub(crate) struct Proposal {
    entries: Vec<Entry>,
    tables: Vec<Table>,
}

impl Proposal {
    /// The ids, in the order of the matches.
    pub(crate) fn ids(&self) -> impl Iterator<Item = MatchId> {
        self.tables.iter().map(Table::match_id)
    }
}

impl Matches {
    /// Creates matches, all or none. The answer shows them as they were created, in the order asked for; a request
    /// that comes again gets the same answer, but with the generations that the seats' tokens have by then.
    ///
    /// # Errors
    /// [`CreateError`] says why not.
    pub async fn create(
        &self,
        specs: Vec<MatchSpec>,
        request: Option<RequestKey>,
    ) -> Result<Vec<MatchInfo>, CreateError> {
        self.create_taking(specs, request, |_| Ok(Vec::new())).await
    }

    /// The same, with the challenges that the matches need, match by match. They are taken last of all: whoever has no place learns
    /// nothing by them. From then on they are with the matches, whoever may wait for the answer.
    ///
    /// # Errors
    /// What `take` says, and as above.
    pub(crate) async fn create_taking<E: From<CreateError>>(
        &self,
        specs: Vec<MatchSpec>,
        request: Option<RequestKey>,
        take: impl FnOnce(&[MatchSpec]) -> Result<Vec<Taken>, E>,
    ) -> Result<Vec<MatchInfo>, E> {
        if specs.is_empty() || specs.len() > NewMatches::MAX {
            return Err(CreateError::Count { given: specs.len(), most: NewMatches::MAX }.into());
        }
        if self.shared.stop.is_cancelled() {
            return Err(CreateError::Stopping.into());
        }
        check_deal_sets(&specs)?;
        let owners = specs.iter().map(|spec| spec.owner.clone()).collect();
        let places = self.take_places(owners).map_err(E::from);
        let taken = places.and_then(|places| Ok((places, take(&specs)?)));
        let (places, taken) = match (taken, request.as_ref()) {
            (Ok(taken), _) => taken,
            // What was answered before is still answered, when a bot has retired or gone since too.
            (Err(refused), Some(key)) => return self.created_before(key.clone()).await?.ok_or(refused),
            (Err(refused), None) => return Err(refused),
        };
        let proposal = self.drawn(specs)?;
        Ok(self.create_in(places, taken, proposal, request).await?)
    }

    /// Gives matches their ids and their seeds. Nothing is stored, and nothing runs.
    ///
    /// # Errors
    /// [`CreateError`] says why there can be no such matches.
    pub(crate) fn propose(&self, specs: Vec<MatchSpec>) -> Result<Proposal, CreateError> {
        check_deal_sets(&specs)?;
        self.drawn(specs)
    }

    fn drawn(&self, specs: Vec<MatchSpec>) -> Result<Proposal, CreateError> {
        let entries = self.first_entries(specs, self.wall())?;
        let tables = self.tables(&entries)?;
        Ok(Proposal { entries, tables })
    }

    /// Creates proposed matches, all or none.
    ///
    /// # Errors
    /// [`CreateError`]. After [`CreateError::OutcomeUnknown`] and [`CreateError::Fault`] their ids tell whether they are there.
    pub(crate) async fn create_proposed(&self, proposal: Proposal) -> Result<(), CreateError> {
        let owners = proposal.tables.iter().map(|table| table.created().owner.clone()).collect();
        let places = self.take_places(owners)?;
        self.create_in(places, Vec::new(), proposal, None).await.map(|_| ())
    }

    /// Whether one more match without an owner could be created now, as far as that is known before it is tried.
    ///
    /// # Errors
    /// [`CreateError`] says why not.
    pub(crate) fn check_room(&self) -> Result<(), CreateError> {
        self.take_places(vec![None]).map(|_| ())
    }

    /// The places of new matches with these owners.
    fn take_places(&self, owners: Vec<Option<Owner>>) -> Result<Vec<Place>, CreateError> {
        if self.shared.stop.is_cancelled() || self.shared.drain.is_cancelled() {
            return Err(CreateError::Stopping);
        }
        self.shared.live_bytes.check()?;
        self.shared.places.take(owners)
    }

    async fn create_in(
        &self,
        places: Vec<Place>,
        taken: Vec<Taken>,
        Proposal { entries, tables }: Proposal,
        request: Option<RequestKey>,
    ) -> Result<Vec<MatchInfo>, CreateError> {
        let infos: Vec<MatchInfo> = tables.iter().map(Table::info).collect();
        let new_match = |(info, entry): (&MatchInfo, &Entry)| {
            let records = Payload::new(encode_entry(entry))?.into();
            Ok(NewMatch { match_id: info.match_id, records })
        };
        let new = infos.iter().zip(&entries).map(new_match).collect::<Result<_, JournalValueError>>()?;
        let response = Response::new(encode_created(&infos))?;
        let request = request.map(|key| Request { key, response });
        let new = NewMatches::new(new, self.journal().epoch(), self.wall(), request)?;
        let taken = taken.into_iter().map(Some).chain(iter::repeat_with(|| None));
        let beginnings = tables.into_iter().zip(places).zip(taken);
        let beginnings: Vec<Beginning> =
            beginnings.map(|((table, place), taken)| Beginning { table, place, taken }).collect();
        // Who asks may be gone before the journal answers, and the matches are created all the same.
        let matches = self.clone();
        to_its_end(async move { matches.store(new, infos, beginnings).await }).await
    }

    /// Makes new matches durable, and runs them.
    async fn store(
        &self,
        new: NewMatches,
        infos: Vec<MatchInfo>,
        beginnings: Vec<Beginning>,
    ) -> Result<Vec<MatchInfo>, CreateError> {
        match self.journal().create(new).await {
            Outcome::Done(CreatedBy::New) => {
                counter!(MATCHES_CREATED).increment(u64::try_from(infos.len()).unwrap_or(u64::MAX));
                self.run(beginnings.into_iter(), self.shared.config.clock.now());
                Ok(infos)
            }
            Outcome::Done(CreatedBy::Before(response)) => self.answered(&response).await,
            Outcome::Refused(CreateRefusal::RequestReused) => Err(CreateError::RequestReused),
            Outcome::Refused(refusal @ CreateRefusal::MatchExists(_)) => {
                tracing::error!(%refusal, "a new match has the id of another");
                Err(CreateError::Fault)
            }
            Outcome::Failed(cause) => {
                tracing::warn!(%cause, "matches could not be created");
                Err(CreateError::OutcomeUnknown)
            }
            Outcome::Damaged(cause) => {
                tracing::error!(%cause, "matches can't be created: the journal is damaged");
                Err(CreateError::Fault)
            }
            Outcome::Unknown(cause) => {
                tracing::warn!(%cause, "matches may not have been created: reading back");
                self.spawn(self.clone().run_if_created(beginnings));
                Err(CreateError::OutcomeUnknown)
            }
        }
    }

    /// What this request was answered before, as [`Self::create`] answers it; `None` if it is new.
    ///
    /// # Errors
    /// [`CreateError`] says why that can't be told.
    pub(crate) async fn created_before(
        &self,
        key: RequestKey,
    ) -> Result<Option<Vec<MatchInfo>>, CreateError> {
        match self.journal().request(key, self.wall()).await {
            Ok(RequestState::New) => Ok(None),
            Ok(RequestState::Answered(response)) => self.answered(&response).await.map(Some),
            Ok(RequestState::Reused) => Err(CreateError::RequestReused),
            Err(error) => {
                tracing::warn!(%error, "a request can't be looked up");
                Err(match error {
                    ReadError::Damaged(_) => CreateError::Fault,
                    ReadError::Unavailable(_) => CreateError::OutcomeUnknown,
                })
            }
        }
    }

    /// What a request was answered before. Of a token that was replaced since, who asks again needs the new one.
    async fn answered(&self, response: &Response) -> Result<Vec<MatchInfo>, CreateError> {
        let mut infos =
            decode_created(response.as_bytes()).map_err(|error| unanswered("its answer", &error))?;
        for info in &mut infos {
            let now = match self.get(info.match_id).await {
                Ok(now) => now,
                // It was created all the same: who asks for it is told what became of it.
                Err(Rejection::MatchDamaged(_)) => continue,
                Err(Rejection::OutcomeUnknown) => return Err(CreateError::OutcomeUnknown),
                Err(Rejection::Stopping) => return Err(CreateError::Stopping),
                Err(rejection) => return Err(unanswered(&format!("match {}", info.match_id), &rejection)),
            };
            for (seat, now) in info.seats.iter_mut().zip(&now.seats) {
                seat.generation = now.generation;
            }
        }
        Ok(infos)
    }

    /// The first entry of each match.
    fn first_entries(&self, specs: Vec<MatchSpec>, at: UnixMillis) -> Result<Vec<Entry>, CreateError> {
        let ids: Vec<MatchId> =
            specs.iter().map(|_| self.random().map(MatchId::from_bytes)).collect::<Result<_, _>>()?;
        let mut matches: BTreeMap<u32, Vec<MatchId>> = BTreeMap::new();
        for (spec, id) in specs.iter().zip(&ids) {
            if let DealSpec::Shared(number) = spec.deals {
                matches.entry(number).or_default().push(*id);
            }
        }
        let set = |(number, matches): (u32, Vec<MatchId>)| {
            let set = DealSet { id: DealSetId::from_bytes(self.random()?), matches: matches.into() };
            Ok((number, (set, ServerSeed::new(self.random()?))))
        };
        let sets: HashMap<u32, (DealSet, ServerSeed)> =
            matches.into_iter().map(set).collect::<Result<_, EntropyError>>()?;
        let entry = |(spec, match_id): (MatchSpec, MatchId)| {
            let (deals, server_seed) = match spec.deals {
                DealSpec::Joint => (Deals::Joint, ServerSeed::new(self.random()?)),
                DealSpec::Fixed(seed) => (Deals::Fixed, seed),
                DealSpec::Shared(number) => {
                    let (set, seed) = sets.get(&number).ok_or(CreateError::Fault)?;
                    (Deals::Shared(set.clone()), seed.clone())
                }
            };
            let created = Created {
                match_id,
                at,
                rules_revision: RULES_REVISION,
                rules: spec.rules,
                seats: spec.seats,
                deals,
                server_seed,
                time_control: spec.time_control,
                visibility: spec.visibility,
                client_reference: spec.client_reference,
                owner: spec.owner,
                ladder: spec.ladder,
                ladder_rates: spec.ladder_rates,
            };
            Ok(Entry { at, change: Change::Created(Arc::new(created)) })
        };
        specs.into_iter().zip(ids).map(entry).collect()
    }

    fn tables(&self, entries: &[Entry]) -> Result<Vec<Table>, CreateError> {
        let table = |entry: &Entry| Table::new(entry.clone(), self.shuffler());
        entries.iter().map(table).collect::<Result<_, _>>().map_err(|error| {
            tracing::error!(%error, "a new match does not replay");
            CreateError::Fault
        })
    }

    fn random<const N: usize>(&self) -> Result<[u8; N], EntropyError> {
        let mut bytes = [0; N];
        self.shared.config.entropy.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Runs new tables once the journal tells that they are stored, if they are.
    async fn run_if_created(self, beginnings: Vec<Beginning>) {
        let Some(first) = beginnings.first().map(|first| first.table.match_id()) else { return };
        let limits = &self.shared.config.limits;
        let mut wait = limits.first_retry;
        loop {
            match self.journal().read(first).await {
                Ok(Some(_)) => {
                    return self.run(beginnings.into_iter(), self.shared.config.clock.now());
                }
                Ok(None) => return,
                Err(error) => tracing::warn!(%error, "the journal can't be read back yet"),
            }
            tokio::select! {
                () = self.shared.stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
            wait = (wait * 2).min(limits.last_retry);
        }
    }
}

/// Why a creation that comes again can't be answered as before. It may come as often as its client likes.
fn unanswered(what: &str, why: &dyn std::fmt::Display) -> CreateError {
    static TOLD: Seldom = Seldom::new();
    if let Some(times) = TOLD.times() {
        tracing::error!(what, %why, times, "a creation that comes again can't be answered as before");
    }
    CreateError::Fault
}

fn check_deal_sets(specs: &[MatchSpec]) -> Result<(), CreateError> {
    let mut sets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, spec) in specs.iter().enumerate() {
        if let DealSpec::Shared(deal_set) = spec.deals {
            sets.entry(deal_set).or_default().push(index);
        }
    }
    for (deal_set, indices) in sets {
        if let [index] = indices[..] {
            return Err(CreateError::LonelyDealSet { deal_set, index });
        }
        let kind = |index: usize| (specs[index].rules.players, specs[index].rules.imperial_suit);
        if let Some(&index) = indices.iter().find(|&&index| kind(index) != kind(indices[0])) {
            return Err(CreateError::MixedDealSet { deal_set, index });
        }
        let (players, most) = (specs[indices[0]].rules.player_count().count(), limits::MAX_DEAL_SET_SEATS);
        if let Some(&index) = indices.get(most / players) {
            return Err(CreateError::LargeDealSet { deal_set, seats: indices.len() * players, most, index });
        }
    }
    Ok(())
}
