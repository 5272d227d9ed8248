//! The task that follows the results, and has the luck of each computed.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zetema_ladder::{
    AdjustError, AdjustedScore, Baseline, Counted, DealValues, MatchTimes, Reference, ReferenceVersion,
};
use zetema_rules::{DeckError, MatchResult, Outcome, Record};

use super::cache::{Cache, first_result};
use super::compute::finish;
use super::entry::ResultLuck;
use super::key::LuckKey;
use super::{Config, Luck};
use crate::admission::Pressure;
use crate::encoding::{DecodeError, decode_record};
use crate::incident::Incident;
use crate::journal::{LadderName, ResultFilter, ResultNumber};
use crate::ladders::ended::Ended;
use crate::ladders::idle_thread::{IdleError, calm, do_idly};
use crate::ladders::patience::{self, again};
use crate::ladders::spec::LadderSpec;
use crate::ladders::task::said;
use crate::ladders::wishes::{NotNow, Phase};
use crate::limits;
use crate::matches::{EndedMatch, Matches, RecordFile, ResultNews, Results, ResultsFrom};
use crate::table::{MatchInfo, Rejection};

pub(super) struct Task(Config);

/// Why the luck of a match is not known, and will not be.
#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("its record can't be read: {0}")]
    Record(Rejection),
    #[error("its record has no cards")]
    NoDeals,
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Deck(#[from] DeckError),
    #[error(transparent)]
    Adjust(#[from] AdjustError),
    #[error(transparent)]
    Compute(#[from] IdleError),
}

/// What the luck of one result after the other is computed with.
struct Worker<'a> {
    ladders: &'a BTreeMap<LadderName, (Arc<LadderSpec>, Arc<Luck>)>,
    matches: &'a Matches,
    pressure: &'a Pressure,
    cache: Cache,
}

impl Task {
    pub(super) const fn new(config: Config) -> Self {
        Self(config)
    }

    /// Computes it until `stop`, or until the results end. What breaks is told in the log, and it begins anew.
    pub(super) async fn run(self, stop: &CancellationToken) {
        while let Err(panic) = AssertUnwindSafe(self.serve(stop)).catch_unwind().await {
            let (incident, what) = (Incident::new(), said(&*panic));
            tracing::error!(%incident, what, "the task that computes luck has panicked, and begins anew");
            if stop.run_until_cancelled(sleep(limits::LADDERS_BREAK)).await.is_none() {
                return;
            }
        }
    }

    async fn serve(&self, stop: &CancellationToken) {
        let Config { ladders, matches, pressure, folder, older, phase } = &self.0;
        let mut phase = phase.clone();
        for (_, luck) in ladders.values() {
            luck.clear();
        }
        older.begin(0);
        let begun = async {
            // First the ladders themselves, for which others wait.
            let caught_up = phase.wait_for(|phase| *phase != Phase::Not(NotNow::CatchingUp));
            caught_up.await.ok()?;
            let (results, first) = follow(matches).await;
            Some((results, Cache::open(folder.clone(), first, Arc::clone(older)).await))
        };
        let Some(Some((mut results, cache))) = stop.run_until_cancelled(begun).await else { return };
        let mut worker = Worker { ladders, matches, pressure, cache };
        stop.run_until_cancelled(async {
            while let Some(news) = next(&mut results).await {
                match news {
                    ResultNews::Ended(ended) => worker.count(&ended).await,
                    ResultNews::CaughtUp => worker.cache.save_if_due().await,
                }
            }
        })
        .await;
        worker.cache.save().await;
    }
}

impl Worker<'_> {
    /// Counts a result, if it is of a ladder and rated, once the server has time for it.
    async fn count(&mut self, ended: &EndedMatch) {
        calm(self.pressure).await;
        let EndedMatch { number, info } = ended;
        let of = info.ladder.as_ref().and_then(|ladder| self.ladders.get(ladder));
        if let Some((spec, luck)) = of
            && let Some(over) = Ended::of(spec, ended)
            && let (Counted::Rated(played), Some(Outcome::Result(result))) =
                (&over.result.counted, &info.outcome)
        {
            let luck = Arc::clone(luck);
            match self.scores(*number, info, result).await {
                Ok(scores) => {
                    luck.count(*number, times(info), played, scores);
                }
                // It is known after the next start.
                Err(Unknown::Record(Rejection::Stopping)) => return,
                Err(error) => {
                    let match_id = info.match_id;
                    tracing::error!(%match_id, %error, "the luck of a rated match can't be computed");
                }
            }
        }
        for (_, luck) in self.ladders.values() {
            luck.saw(*number);
        }
    }

    /// What the sides of a match scored: as it is kept, or computed.
    async fn scores(
        &mut self,
        number: ResultNumber,
        info: &MatchInfo,
        result: &MatchResult,
    ) -> Result<Arc<[AdjustedScore]>, Unknown> {
        let reference = Reference::new(&info.rules, ReferenceVersion::CURRENT);
        let key = LuckKey::new(&reference, info, result);
        if let Some(known) = self.cache.scores(number, key).await {
            return Ok(known);
        }
        let scores: Arc<[AdjustedScore]> = self.compute(reference, info, result).await?.into();
        self.cache.keep_scores(ResultLuck { number, key, scores: Arc::clone(&scores) }).await;
        Ok(scores)
    }

    async fn compute(
        &mut self,
        reference: Reference,
        info: &MatchInfo,
        result: &MatchResult,
    ) -> Result<Vec<AdjustedScore>, Unknown> {
        let record = record(info, self.matches).await?;
        let dealer = record.dealer.ok_or(Unknown::NoDeals)?;
        let baseline = self.baseline(reference).await?;
        let mut deals: Vec<DealValues> = Vec::with_capacity(record.deals.len());
        for deal in &record.deals {
            deals.push(finish(reference.deal(&deal.deck)?, self.pressure).await?);
        }
        Ok(baseline.adjusted_scores(dealer, &deals, result)?)
    }

    async fn baseline(&mut self, reference: Reference) -> Result<Baseline, IdleError> {
        let published = Baseline::published(&reference);
        if let Some(known) = published.or_else(|| self.cache.baseline(reference)) {
            return Ok(known);
        }
        tracing::info!(rules = %reference.rules(), "what the places at the table are usually worth is computed, once");
        let baseline = finish(reference.baseline(), self.pressure).await?;
        self.cache.keep_baseline(&baseline).await;
        Ok(baseline)
    }
}

fn times(info: &MatchInfo) -> MatchTimes {
    let ended = info.ended_at.unwrap_or(info.created_at);
    MatchTimes { created_ms: info.created_at.get(), ended_ms: ended.get() }
}

/// The results that are looked at, and the number of the first.
async fn follow(matches: &Matches) -> (Results, ResultNumber) {
    loop {
        let first = first_result(matches.latest_result());
        let before = ResultNumber::new(first.get() - 1);
        let from = match before {
            ResultNumber::ZERO => ResultsFrom::First,
            before => ResultsFrom::After(matches.result_cursor(before)),
        };
        match matches.results(ResultFilter::default(), from) {
            Ok(results) => return (results, first),
            Err(error) => again(&error).await,
        }
    }
}

/// `None` when there is nothing more to be had.
async fn next(results: &mut Results) -> Option<ResultNews> {
    loop {
        match results.next().await {
            Ok(news) => return Some(news),
            Err(Rejection::Stopping) => return None,
            Err(Rejection::Damaged) => {
                // The ladders stand still too, and say what to do.
                let after = results.cursor().number;
                tracing::error!(%after, "no luck is computed any more, as the journal is damaged");
                return None;
            }
            Err(error) => again(&error).await,
        }
    }
}

/// The record of a match that is over, as soon as it can be read. It may be large. One that can't be read for long, as of a disk with a
/// bad sector, keeps no later result from being looked at; the next start tries it again.
async fn record(info: &MatchInfo, matches: &Matches) -> Result<Record, Unknown> {
    let reading = timeout(limits::LUCK_WAITS_FOR_RECORD, patience::record(info.match_id, matches));
    let read = reading.await.unwrap_or(Err(Rejection::OutcomeUnknown));
    let RecordFile { record, .. } = read.map_err(Unknown::Record)?;
    Ok(do_idly(move || decode_record(&record)).await??.0)
}
