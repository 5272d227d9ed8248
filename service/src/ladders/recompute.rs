//! The ratings of ladders from scratch, from the journal of a server that does not run: held against those that are stored, and stored
//! in their place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use zetema_ladder::{Counted, Ladder};

use super::ended::Ended;
use super::spec::{LadderSpec, Ladders as LadderSpecs};
use super::stored::{self, Awaiting, Comparison, NotRead};
use crate::journal::{
    BotName, Cause, ClosedJournal, ClosedLadders, Journal, LadderChange, LadderName, LadderStore,
    LaterRatings, OpenError, Options, OtherBots, Outcome, PageSize, ReadError, ResultNumber, SqliteJournal,
    StoredLadder,
};
use crate::limits;
use crate::matches::EndedMatch;

/// What becomes of the ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    /// They are held against those that are stored. Nothing is changed.
    Check,
    /// They take the place of those that are stored.
    Store,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recomputed {
    /// How many results of the server were looked at, those of no ladder too.
    pub results: u64,
    /// The last of them.
    pub last: ResultNumber,
    /// The ladders, by name.
    pub ladders: Vec<RecomputedLadder>,
    /// Ladders of which there are results or stored ratings, and which were not given: by what settings they are rated is not known.
    pub unknown: Vec<LadderName>,
    /// Stored ladders whose names can't be read: of which ladder they are is not known. They go when ratings are stored.
    pub nameless: usize,
    /// How many ladders' ratings were stored.
    pub stored: usize,
    /// What else was found damaged as the journal was opened to store, in words.
    pub found: Vec<String>,
}

/// One ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecomputedLadder {
    /// Its name.
    pub name: LadderName,
    /// How many results it has.
    pub results: u64,
    /// How many of them are rated.
    pub rated: u64,
    /// How many of these were played by other rules, or another number of players, than the ladder has now.
    pub by_other_rules: u64,
    /// How many bots it rates.
    pub bots: usize,
    /// How its stored ratings compare, as they were.
    pub comparison: Comparison,
    /// How many of its results are after those that the stored ratings have; of all if nothing is stored.
    pub results_after: u64,
}

/// Why the ratings can't be recomputed, or not stored.
#[derive(Debug, thiserror::Error)]
pub enum RecomputeError {
    /// The journal can't be opened.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// There is no such ladder.
    #[error(
        "there is no ladder {name} in the configuration, which has {}: give the server's --config",
        named(known)
    )]
    NoLadder {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<LadderName>,
    },
    /// A result can't be read, and nothing is rated on what is not whole.
    #[error(
        "what follows result {after} can't be read, and is not passed over ({cause}): run \"zetema journal check\", then restore a \
         backup or run \"zetema journal repair\""
    )]
    Damaged {
        /// The last that could be read.
        after: ResultNumber,
        /// What is wrong.
        cause: Cause,
    },
    /// What is stored of ladders can't be listed.
    #[error("it can't be read of which ladders ratings are stored: {0}")]
    Stored(ReadError),
    /// What is stored of a ladder can't be read now.
    #[error("the stored ratings of the ladder {ladder} can't be read now ({cause}): try again")]
    Unavailable {
        /// Of which ladder.
        ladder: LadderName,
        /// Why.
        cause: Cause,
    },
    /// Somebody else had the journal meanwhile.
    #[error("a server has written to the journal meanwhile: stop it, and try again")]
    Meanwhile,
    /// They could not be stored.
    #[error("the ratings of the ladder {ladder} could not be stored: {cause}")]
    NotStored {
        /// Of which ladder.
        ladder: LadderName,
        /// Why.
        cause: Cause,
    },
    /// Stored ladders without a name could not be removed.
    #[error("stored ladders whose names can't be read could not be removed: {0}")]
    Nameless(Cause),
    /// The work was cut short.
    #[error("the work was cut short: {0}")]
    Cut(Cause),
}

fn named(ladders: &[LadderName]) -> String {
    let names: Vec<&str> = ladders.iter().map(LadderName::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Rates all results of the journal in a folder anew, by these ladders, or one of them alone.
///
/// # Errors
/// [`RecomputeError`]. Of ratings to store, those of each ladder are stored whole or not at all.
pub async fn recompute(
    data: PathBuf,
    specs: LadderSpecs,
    only: Option<String>,
    what: Recompute,
) -> Result<Recomputed, RecomputeError> {
    let folder = data.clone();
    let counting = spawn_blocking(move || count(&folder, &specs, only.as_deref()));
    let Tallied { mut recomputed, changes, latest } =
        counting.await.map_err(|error| RecomputeError::Cut(Cause::new(error)))??;
    if what == Recompute::Store && (!changes.is_empty() || recomputed.nameless > 0) {
        let (journal, recovery) = SqliteJournal::open(&data, Options::default()).await?;
        let damaged = recovery.quarantined.iter();
        let damaged =
            damaged.map(|found| format!("match {} is quarantined: {}", found.match_id, found.damage));
        recomputed.found = recovery.stray.iter().cloned().chain(damaged).collect();
        recomputed.stored = changes.len();
        let stored = store(&journal, latest, changes).await;
        journal.close().await;
        stored?;
    }
    Ok(recomputed)
}

async fn store(
    journal: &SqliteJournal,
    latest: ResultNumber,
    changes: Vec<LadderChange>,
) -> Result<(), RecomputeError> {
    if *journal.latest_result().borrow() != latest {
        return Err(RecomputeError::Meanwhile);
    }
    match journal.forget_nameless_ladders().await {
        Outcome::Done(()) => {}
        Outcome::Refused(never) => match never {},
        Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => {
            return Err(RecomputeError::Nameless(cause));
        }
    }
    for change in changes {
        let ladder = change.ladder.clone();
        let cause = match journal.change_ladder(change).await {
            Outcome::Done(()) => continue,
            Outcome::Refused(later) => Cause::new(later),
            Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => cause,
        };
        return Err(RecomputeError::NotStored { ladder, cause });
    }
    Ok(())
}

/// All results, counted.
struct Tallied {
    recomputed: Recomputed,
    /// What is to be stored.
    changes: Vec<LadderChange>,
    /// The last number that was given to a result, which may be lost.
    latest: ResultNumber,
}

/// A ladder whose results are counted.
struct Run {
    spec: Arc<LadderSpec>,
    ratings: Ladder<BotName>,
    stored: Awaiting,
    comparison: Comparison,
    results: u64,
    rated: u64,
    by_other_rules: u64,
    results_after: u64,
}

impl Run {
    fn new(
        spec: &Arc<LadderSpec>,
        stored: Option<Result<StoredLadder, ReadError>>,
    ) -> Result<Self, RecomputeError> {
        let (stored, comparison) = match Awaiting::read(stored.transpose()) {
            Ok(stored) => (stored, Comparison::NothingStored),
            Err(NotRead::Unreadable(error)) => (Awaiting::default(), Comparison::Unreadable(error)),
            Err(NotRead::Unavailable(cause)) => {
                return Err(RecomputeError::Unavailable { ladder: spec.name.clone(), cause });
            }
        };
        let (spec, ratings) = (Arc::clone(spec), Ladder::new(spec.rating));
        Ok(Self {
            spec,
            ratings,
            stored,
            comparison,
            results: 0,
            rated: 0,
            by_other_rules: 0,
            results_after: 0,
        })
    }

    /// Counts a result of the server, whichever ladder it is of.
    fn count(&mut self, ended: &EndedMatch) {
        if let Some(comparison) = self.stored.before(ended.number, &self.spec, &self.ratings) {
            self.comparison = comparison;
        }
        if ended.info.ladder.as_ref() != Some(&self.spec.name) {
            return;
        }
        self.results += 1;
        if self.stored.is_over() {
            self.results_after += 1;
        }
        // As a server does: what has no outcome that can be rated, it has told of when it came.
        if let Some(over) = Ended::of(&self.spec, ended)
            && self.ratings.count(&over.result).is_ok()
            && matches!(over.result.counted, Counted::Rated(_))
        {
            self.rated += 1;
            self.by_other_rules += u64::from(ended.info.rules != self.spec.rules);
        }
    }

    /// All were counted.
    fn end(&mut self, last: ResultNumber, latest: ResultNumber) {
        if let Some(comparison) = self.stored.at_end(last, latest, &self.spec, &self.ratings) {
            self.comparison = comparison;
        }
    }

    /// What is to be stored; nothing if nothing is stored and there is nothing to store, or if nobody is rated, as what is stored may be
    /// compared when the ladder is rated again.
    fn change(&self, last: ResultNumber) -> Option<LadderChange> {
        if !self.spec.is_rated() {
            return None;
        }
        if self.ratings.bots().is_empty() && self.comparison == Comparison::NothingStored {
            return None;
        }
        let bots = self.ratings.bots().iter().map(|(bot, entry)| stored::rating(bot, entry)).collect();
        let settings = stored::settings(&self.spec.rating);
        Some(LadderChange {
            ladder: self.spec.name.clone(),
            stored: StoredLadder { after: last, settings, bots },
            others: OtherBots::Go,
            later: LaterRatings::Go,
        })
    }
}

fn count(data: &Path, specs: &LadderSpecs, only: Option<&str>) -> Result<Tallied, RecomputeError> {
    let journal = ClosedJournal::open(data)?;
    let ClosedLadders { ladders, nameless } = journal.stored_ladders().map_err(RecomputeError::Stored)?;
    let mut stored: BTreeMap<_, _> = ladders.into_iter().collect();
    let known = || specs.iter().map(|spec| spec.name.clone());
    let mut unknown: Vec<LadderName> =
        stored.keys().filter(|name| known().all(|known| known != **name)).cloned().collect();
    let wanted = |spec: &&Arc<LadderSpec>| only.is_none_or(|only| spec.name.as_str() == only);
    let run = |spec: &Arc<LadderSpec>| Run::new(spec, stored.remove(&spec.name));
    let mut runs: Vec<Run> = specs.iter().filter(wanted).map(run).collect::<Result<_, _>>()?;
    if let Some(name) = only.filter(|_| runs.is_empty()) {
        return Err(RecomputeError::NoLadder { name: name.to_owned(), known: known().collect() });
    }
    runs.sort_by(|one, other| one.spec.name.cmp(&other.spec.name));
    let latest = journal.latest_result()?;
    let (mut results, mut last, mut after) = (0, ResultNumber::ZERO, ResultNumber::ZERO);
    let page = PageSize::new(limits::RESULTS_PAGE).map_err(|error| RecomputeError::Cut(Cause::new(error)))?;
    loop {
        let damaged = |after, cause| RecomputeError::Damaged { after, cause };
        let read = journal.results_after(after, page).map_err(|error| damaged(last, Cause::new(error)))?;
        for row in &read.rows {
            let ended = EndedMatch::read(row).map_err(|error| damaged(last, Cause::new(error)))?;
            for run in &mut runs {
                run.count(&ended);
            }
            let of_unknown = ended.info.ladder.as_ref().filter(|name| known().all(|known| known != **name));
            unknown.extend(of_unknown.filter(|name| !unknown.contains(name)).cloned());
            results += 1;
            last = ended.number;
        }
        match read.more_after {
            Some(more) => after = more,
            None => break,
        }
    }
    for run in &mut runs {
        run.end(last, latest);
    }
    unknown.sort();
    let changes = runs.iter().filter_map(|run| run.change(last)).collect();
    let ladder = |run: Run| RecomputedLadder {
        name: run.spec.name.clone(),
        results: run.results,
        rated: run.rated,
        by_other_rules: run.by_other_rules,
        bots: run.ratings.bots().len(),
        comparison: run.comparison,
        results_after: run.results_after,
    };
    let ladders = runs.into_iter().map(ladder).collect();
    let recomputed = Recomputed { results, last, ladders, unknown, nameless, stored: 0, found: Vec::new() };
    Ok(Tallied { recomputed, changes, latest })
}
