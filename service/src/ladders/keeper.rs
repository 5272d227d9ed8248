//! Stores the ratings of ladders, so that a later start, or whoever asks, can hold them against the results.
//!
//! Nothing depends on what is stored: the results are the truth, and every start counts them anew. What is stored shows whether two
//! counts of the same results came to the same ratings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use zetema_ladder::{Deviation, Difference, Entry};

use super::picture::{Picture, Row};
use super::spec::LadderSpec;
use super::stored::{self, Awaiting, Comparison, InWords, NotRead};
use crate::journal::{
    BotName, Cause, LadderChange, LadderName, LadderStore, LaterRatings, OtherBots, Outcome, StoredLadder,
};
use crate::limits;
use crate::metrics::{LADDER_RATINGS_DIFFER, LADDER_RATINGS_ROUNDED};

/// Stores the ratings of all ladders as they are shown.
pub(super) struct Keeper {
    store: Arc<dyn LadderStore>,
    every: Duration,
    ladders: Vec<Kept>,
}

/// What is known of what is stored of a ladder. Until it was held against the results, nothing takes its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Before {
    /// It was not compared yet.
    #[default]
    NotCompared,
    /// Nothing is stored.
    Nothing,
    /// Something is stored.
    Something,
}

/// Whether the ratings of a ladder are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// As they change.
    GoesOn,
    /// They can't be any more, as the journal is damaged there.
    GivenUp,
}

/// What the keeper has to know of a ladder.
pub(super) struct ToKeep {
    pub(super) spec: Arc<LadderSpec>,
    pub(super) picture: watch::Receiver<Arc<Picture>>,
    pub(super) before: watch::Receiver<Before>,
}

/// One ladder.
struct Kept {
    spec: Arc<LadderSpec>,
    picture: watch::Receiver<Arc<Picture>>,
    before: watch::Receiver<Before>,
    keeping: Keeping,
    /// The standings that were stored last.
    rows: Arc<[Row]>,
    /// What this keeper has stored; `None` before the first time, and when it is not known what became of the last.
    known: Option<HashMap<BotName, Entry>>,
    /// Whether the log has that they are not stored.
    told: bool,
}

impl Keeper {
    /// One that has stored nothing yet, and stores what has changed this often.
    pub(super) fn new(
        store: Arc<dyn LadderStore>,
        every: Duration,
        ladders: impl IntoIterator<Item = ToKeep>,
    ) -> Self {
        // Where nobody is rated there is nothing to store, and what was stored stays for when it is rated again.
        let is_rated = |ladder: &ToKeep| ladder.spec.is_rated();
        let kept = |ToKeep { spec, picture, before }| {
            let (keeping, rows) = (Keeping::GoesOn, Arc::default());
            Kept { spec, picture, before, keeping, rows, known: None, told: false }
        };
        Self { store, every, ladders: ladders.into_iter().filter(is_rated).map(kept).collect() }
    }

    /// Stores what has changed, again and again, and once more when it is told to stop.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut tick = interval(self.every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let as_they_change = async {
            loop {
                tick.tick().await;
                self.store().await;
            }
        };
        let _: Option<()> = stop.run_until_cancelled(as_they_change).await;
        if timeout(limits::LADDER_RATINGS_STORED_LAST, self.store()).await.is_err() {
            tracing::warn!("the ratings of ladders were not stored once more: the journal did not answer");
        }
    }

    async fn store(&mut self) {
        for ladder in &mut self.ladders {
            ladder.store(&*self.store).await;
        }
    }
}

impl Kept {
    async fn store(&mut self, store: &dyn LadderStore) {
        let before = *self.before.borrow_and_update();
        if before == Before::NotCompared || self.keeping == Keeping::GivenUp {
            return;
        }
        let picture = Arc::clone(&self.picture.borrow_and_update());
        let all_go = self.known.is_none() && before == Before::Something && picture.rows.is_empty();
        if Arc::ptr_eq(&picture.rows, &self.rows) && !all_go {
            return;
        }
        let is_new =
            |row: &&Row| self.known.as_ref().is_none_or(|known| known.get(&row.bot) != Some(&row.entry));
        let changed: Vec<&Row> = picture.rows.iter().filter(is_new).collect();
        if changed.is_empty() && !all_go {
            self.rows = Arc::clone(&picture.rows);
            return;
        }
        let change = LadderChange {
            ladder: self.spec.name.clone(),
            stored: StoredLadder {
                after: picture.result_number,
                settings: stored::settings(&self.spec.rating),
                bots: changed.iter().map(|row| stored::rating(&row.bot, &row.entry)).collect(),
            },
            others: if self.known.is_some() { OtherBots::Stay } else { OtherBots::Go },
            // Those that were stored by a server that had more results than this one are not given up for less.
            later: LaterRatings::Stay,
        };
        let changed: Vec<(BotName, Entry)> =
            changed.into_iter().map(|row| (row.bot.clone(), row.entry)).collect();
        // As long as it is not known what becomes of it.
        let known = self.known.take();
        let ladder = &self.spec.name;
        let why = match store.change_ladder(change).await {
            Outcome::Done(()) => {
                let mut known = known.unwrap_or_default();
                known.extend(changed);
                (self.known, self.told, self.rows) = (Some(known), false, Arc::clone(&picture.rows));
                return;
            }
            Outcome::Refused(later) => later.to_string(),
            Outcome::Failed(cause) | Outcome::Unknown(cause) => cause.to_string(),
            Outcome::Damaged(cause) => {
                self.keeping = Keeping::GivenUp;
                tracing::warn!(
                    %ladder, %cause,
                    "the ratings of a ladder are not stored any more, as the journal is damaged there: its matches go on. Stop the \
                     server, and run \"zetema journal repair\""
                );
                return;
            }
        };
        if !std::mem::replace(&mut self.told, true) {
            tracing::warn!(%ladder, why, "the ratings of a ladder are not stored: its matches go on, and it is tried again");
        }
    }
}

/// Reads what is stored of a ladder, to be held against the results. What can't be read at all is told.
///
/// # Errors
/// When it can't be read now, the cause: it is to be tried again.
pub(super) async fn read(store: &dyn LadderStore, ladder: &LadderName) -> Result<(Awaiting, Before), Cause> {
    match Awaiting::read(store.stored_ladder(ladder.clone()).await) {
        Ok(nothing) if nothing.is_over() => Ok((nothing, Before::Nothing)),
        Ok(awaiting) => Ok((awaiting, Before::Something)),
        Err(NotRead::Unavailable(cause)) => Err(cause),
        Err(NotRead::Unreadable(error)) => {
            report(ladder, &Comparison::Unreadable(error));
            Ok((Awaiting::default(), Before::Something))
        }
    }
}

/// Tells what came of it. Nothing else comes of it: the results count.
pub(super) fn report(ladder: &LadderName, comparison: &Comparison) {
    match comparison {
        Comparison::NothingStored => {}
        Comparison::OtherSettings { after } => {
            tracing::info!(%ladder, %after, "the stored ratings were made by other settings, or when the ladder was rated, and are not compared");
        }
        Comparison::Ahead { after, last } => {
            counter!(LADDER_RATINGS_DIFFER).increment(1);
            tracing::warn!(
                %ladder, %after, %last,
                "the stored ratings are after a result that is not here: results were lost. They are compared when that result comes, \
                 and stay until then; \"zetema ladder recompute\" replaces them"
            );
        }
        Comparison::Unreadable(error) => {
            counter!(LADDER_RATINGS_DIFFER).increment(1);
            tracing::warn!(%ladder, error, "the stored ratings can't be read: the results count, and are stored anew");
        }
        Comparison::Compared { after, differences } if differences.is_empty() => {
            tracing::info!(%ladder, %after, "the stored ratings are those of the results");
        }
        Comparison::Compared { after, differences } => {
            let (rounded, beyond): (Vec<_>, Vec<_>) =
                differences.iter().partition(|difference| difference.deviation == Deviation::Rounding);
            counter!(LADDER_RATINGS_ROUNDED).increment(rounded.len() as u64);
            counter!(LADDER_RATINGS_DIFFER).increment(beyond.len() as u64);
            // What is wrong comes first, as the log names so many only.
            for Difference { bot, stored, recomputed, deviation } in
                beyond.iter().chain(&rounded).take(limits::LADDER_DIFFERENCES_LOGGED)
            {
                let (stored, recomputed) = (InWords(*stored), InWords(*recomputed));
                match deviation {
                    Deviation::Beyond => tracing::warn!(
                        %ladder, %bot, %after, ?deviation, %stored, %recomputed,
                        "a stored rating is not that of the results, which counts"
                    ),
                    Deviation::Rounding => tracing::info!(
                        %ladder, %bot, %after, ?deviation, %stored, %recomputed,
                        "a stored rating is that of the results but for rounding"
                    ),
                }
            }
            if beyond.is_empty() {
                tracing::info!(
                    %ladder, %after, bots = rounded.len(),
                    "the stored ratings are those of the results but for rounding, as another build or platform may have it, and are \
                     stored anew"
                );
            } else {
                tracing::warn!(
                    %ladder, %after, bots = beyond.len(),
                    "stored ratings are not those of the results, which count, and are stored anew"
                );
            }
        }
    }
}
