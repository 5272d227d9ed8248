//! A season of a ladder: its latest results, or the latest before one, and what is suspected by them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use zetema_ladder::{
    Ending, Entry, Finding, FinishedError, FinishedMatch, FinishedSeat, HonestySettings, Ladder, LadderError,
    Played, PlayedError, ResultNumber as Number, SeatsError, Significance, Suspicions, Tally, Uncompared,
    finished_seats, suspicions,
};
use zetema_rules::{Outcome, Seats};

use super::Sources;
use crate::encoding::{DecodeError, decode_record};
use crate::journal::{BotName, MatchId, ResultNumber};
use crate::ladders::LadderFault;
use crate::ladders::archive::{Archive, RatedResults};
use crate::ladders::idle_thread::{IdleError, calm, do_idly};
use crate::ladders::names::Belongs;
use crate::ladders::patience;
use crate::ladders::query::SeasonSpan;
use crate::ladders::results::LoggedResult;
use crate::ladders::spec::LadderSpec;
use crate::limits;
use crate::table::Rejection;

/// How long records that can't be read are waited for in a season, all together.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one is waited for at least.
const LEAST_PATIENCE: Duration = Duration::from_millis(500);

/// What was looked at, and what is suspected.
#[derive(Clone, Debug, PartialEq)]
pub struct Season {
    /// Its first result; [`ResultNumber::ZERO`] if it has none.
    pub first: ResultNumber,
    /// Its last.
    pub last: ResultNumber,
    /// How many matches were looked at.
    pub matches: usize,
    /// How many more were not, as their records can't be read.
    pub unread: usize,
    /// Older results of the span that was asked for, up to this one, were not looked at: they are too many, or can't be looked up any more.
    pub left_out_to: Option<ResultNumber>,
    /// Pairs of bots of which it can't be told whether they play alike.
    pub uncompared: Uncompared,
    /// How many suspicions there are.
    pub found: usize,
    /// The first of them, in the order of their kinds, the least likely of each kind first.
    pub suspicions: Vec<Suspected>,
}

/// Something that honest play is very unlikely to give.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspected {
    /// Who is suspected of what, and the numbers.
    pub finding: Finding<BotName>,
    /// How likely that is if all played honestly.
    pub significance: Significance,
    /// All of it in one line.
    pub line: String,
    /// How many results it was seen in.
    pub seen_in: usize,
    /// The first of them.
    pub results: Vec<(ResultNumber, MatchId)>,
}

/// How much of a season is looked at.
#[derive(Clone, Copy, Debug)]
pub(in crate::ladders) struct Bounds {
    /// Results at most.
    pub(in crate::ladders) results: usize,
    /// Bytes of what seats did, from which on no result is looked at any more.
    pub(in crate::ladders) bytes: usize,
}

impl Bounds {
    /// Those of a server.
    pub(in crate::ladders) const USUAL: Self =
        Self { results: limits::SEASON_RESULTS, bytes: limits::SEASON_BYTES };
}

/// Why a season could not be looked at.
#[derive(Debug, thiserror::Error)]
pub(in crate::ladders) enum SeasonError {
    #[error(transparent)]
    Idle(#[from] IdleError),
    #[error(transparent)]
    Ladder(#[from] LadderError),
    #[error(transparent)]
    Results(#[from] LadderFault),
    #[error("the server stops")]
    Stopping,
}

/// Why a match can't be looked at.
#[derive(Debug, thiserror::Error)]
pub(in crate::ladders) enum MatchError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("it has no result")]
    NoResult,
    #[error(transparent)]
    Seats(#[from] SeatsError),
    #[error(transparent)]
    Played(#[from] PlayedError),
    #[error(transparent)]
    Finished(#[from] FinishedError),
}

pub(in crate::ladders) type Finished = FinishedMatch<BotName, Belongs>;

/// Looks at the season of these results of a ladder, the latest first: as many of them as there is room for.
pub(super) async fn look(
    spec: &Arc<LadderSpec>,
    archive: &Archive,
    span: SeasonSpan,
    sources: &Sources,
) -> Result<Season, SeasonError> {
    let Sources { matches, accounts, house_bots, pressure, stop: _, bounds, counting } = sources;
    // Here, and not by who asks: the turn may come when the ladders count anew.
    let rated = counting.read(archive, archive.rated_of(span, bounds.results)).await?;
    let RatedResults { mut results, mut left_out_to } = rated;
    let (mut finished, mut bytes, mut unread) = (Vec::new(), 0, 0);
    let (mut looked_at, mut patience_left) = (0, PATIENCE);
    for result in &results {
        if bytes >= bounds.bytes {
            left_out_to = Some(result.number);
            break;
        }
        looked_at += 1;
        calm(pressure).await;
        let asked = Instant::now();
        // Each is asked for more than once, however long others were waited for.
        let within = patience_left.max(LEAST_PATIENCE);
        let asking = timeout(within, patience::record(result.match_id, matches));
        let file = match asking.await.unwrap_or(Err(Rejection::OutcomeUnknown)) {
            Ok(file) => file,
            Err(Rejection::Stopping) => return Err(SeasonError::Stopping),
            Err(error) => {
                patience_left = patience_left.saturating_sub(asked.elapsed());
                tracing::warn!(match_id = %result.match_id, %error, "a match is left out of a season");
                unread += 1;
                continue;
            }
        };
        let owners = result.seats.iter().map(|seat| {
            let owner = accounts.account(&seat.bot).map(|account| account.owner);
            Belongs::in_a_season(&seat.bot, owner.as_ref(), house_bots)
        });
        let (owners, of) = (owners.collect(), Arc::clone(result));
        match do_idly(move || read(&of, &file.record, owners)).await? {
            Ok(one) => {
                bytes += one.seats().iter().map(bytes_of).sum::<usize>();
                finished.push(one);
            }
            Err(error) => {
                tracing::warn!(match_id = %result.match_id, %error, "a match is left out of a season");
                unread += 1;
            }
        }
    }
    results.truncate(looked_at);
    let spec = Arc::clone(spec);
    calm(pressure).await;
    do_idly(move || conclude(&spec, &results, &finished, unread, left_out_to)).await?
}

/// What a seat did takes most of what is kept of its match.
fn bytes_of(seat: &FinishedSeat<Belongs>) -> usize {
    size_of_val(&seat.decisions[..]) + size_of_val(&seat.preferences[..])
}

/// What is suspected by these matches, which were read of these results, the latest first.
pub(in crate::ladders) fn conclude(
    spec: &LadderSpec,
    results: &[Arc<LoggedResult>],
    finished: &[Finished],
    unread: usize,
    left_out_to: Option<ResultNumber>,
) -> Result<Season, SeasonError> {
    let Suspicions { listed: found, uncompared } =
        suspicions(before(spec, results), finished, &HonestySettings::default())?;
    let ids: HashMap<u64, MatchId> =
        results.iter().map(|result| (result.number.get(), result.match_id)).collect();
    let listed = found.iter().take(limits::MAX_SUSPICIONS).map(|suspicion| {
        let cited = suspicion.matches.iter().take(limits::MAX_CITED_RESULTS).map(|cited| cited.number.get());
        Suspected {
            finding: suspicion.finding.clone(),
            significance: suspicion.significance,
            line: suspicion.to_string(),
            seen_in: suspicion.matches.len(),
            results: cited
                .filter_map(|number| Some((ResultNumber::new(number), *ids.get(&number)?)))
                .collect(),
        }
    });
    let number =
        |result: Option<&Arc<LoggedResult>>| result.map_or(ResultNumber::ZERO, |result| result.number);
    Ok(Season {
        first: number(results.last()),
        last: number(results.first()),
        matches: finished.len(),
        unread,
        left_out_to,
        uncompared,
        found: found.len(),
        suspicions: listed.collect(),
    })
}

/// What a match tells, its record played again.
pub(in crate::ladders) fn read(
    result: &LoggedResult,
    record: &[u8],
    owners: Vec<Belongs>,
) -> Result<Finished, MatchError> {
    let (record, _) = decode_record(record)?;
    let Outcome::Result(outcome) = record.outcome else { return Err(MatchError::NoResult) };
    let mut seats = finished_seats(&record, owners)?;
    let mut forfeited = Seats::EMPTY;
    for (seat, finished) in record.rules.seats().zip(&mut seats) {
        if let Ending::Forfeited(_) = finished.ending {
            forfeited = forfeited.with(seat);
        }
        finished.decisions.shrink_to_fit();
        finished.preferences.shrink_to_fit();
    }
    let bots = result.seats.iter().map(|seat| seat.bot.clone()).collect();
    let played = Played::new(bots, record.rules.teams, outcome, forfeited)?;
    Ok(FinishedMatch::new(Number::new(result.number.get()), result.ended_at.get(), played, seats)?)
}

/// The ladder as it stood before these results, the latest first, as far as their bots go.
fn before(spec: &LadderSpec, results: &[Arc<LoggedResult>]) -> Ladder<BotName> {
    let mut bots: BTreeMap<BotName, Entry> = BTreeMap::new();
    for seat in results.iter().flat_map(|result| &result.seats) {
        if let Some((rating, _)) = seat.rating {
            // The first of the season comes last.
            bots.insert(seat.bot.clone(), Entry { rating, tally: Tally::default() });
        }
    }
    let first = results.last().map_or(0, |result| result.number.get());
    Ladder::resume(spec.rating, Number::new(first.saturating_sub(1)), bots)
}
