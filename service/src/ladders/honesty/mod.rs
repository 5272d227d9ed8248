//! What the results of a season of a ladder show that honest play is very unlikely to give: looked at when the admin asks for it, in the
//! background, and remembered for a while.

mod season;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(super) use season::Bounds;
#[cfg(test)]
pub(super) use season::{Finished, conclude, read};
pub use season::{Season, Suspected};

use super::accounts::Accounts;
use super::archive::Archive;
use super::counting::Counting;
use super::query::SeasonSpan;
use super::spec::LadderSpec;
use super::task::said;
use super::{LadderFault, NotNow};
use crate::admission::Pressure;
use crate::config::HouseBots;
use crate::incident::Incident;
use crate::journal::{LadderName, ResultNumber};
use crate::limits;
use crate::matches::Matches;
use season::SeasonError;

/// The season can't be shown yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSeason {
    /// It is being looked at, or others are before it.
    #[error("the results of the season are still looked at, or wait for their turn: ask again in a moment")]
    Looking,
    /// That has failed.
    #[error(
        "the results of the season could not be looked at: the server's log has more under incident {0}; try again"
    )]
    Failed(Incident),
}

/// What seasons are looked at with.
pub(super) struct Sources {
    pub(super) matches: Matches,
    pub(super) accounts: Arc<dyn Accounts>,
    pub(super) house_bots: HouseBots,
    pub(super) pressure: Arc<Pressure>,
    pub(super) stop: CancellationToken,
    pub(super) bounds: Bounds,
    pub(super) counting: Counting,
}

/// The seasons that were looked at or are, the latest of each ladder and span.
pub(super) struct Honesty {
    sources: Arc<Sources>,
    /// In the order in which they were begun.
    looked: Mutex<Vec<Looked>>,
    /// One season is looked at at a time, as much of it is in memory then.
    turn: Arc<Semaphore>,
}

struct Looked {
    ladder: LadderName,
    span: SeasonSpan,
    state: watch::Receiver<State>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
enum State {
    /// It goes on, whoever waits for it.
    UnderWay,
    Found {
        season: Arc<Season>,
        /// When it was looked at.
        at: Instant,
    },
    /// It has failed.
    Not(LadderFault),
}

impl Honesty {
    pub(super) fn new(sources: Sources) -> Self {
        Self { sources: Arc::new(sources), looked: Mutex::default(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// What was found last in these results of a ladder, if that was looked at a while ago at most; else it is looked at anew.
    ///
    /// # Errors
    /// [`NoSeason::Looking`] if that takes long: it goes on, and the next who asks for the same is told.
    pub(super) async fn season(
        &self,
        spec: &Arc<LadderSpec>,
        archive: &Arc<Archive>,
        span: SeasonSpan,
    ) -> Result<Arc<Season>, LadderFault> {
        let mut state = self.begun(spec, archive, span).ok_or(NoSeason::Looking)?;
        let ended = async {
            state.wait_for(|state| !matches!(state, State::UnderWay)).await.map(|state| state.clone())
        };
        match timeout(limits::SEASON_WAITED_FOR, ended).await {
            Err(_) | Ok(Ok(State::UnderWay)) => Err(NoSeason::Looking.into()),
            Ok(Ok(State::Found { season, .. })) => Ok(season),
            Ok(Ok(State::Not(fault))) => Err(fault),
            // Its task has ended with the runtime.
            Ok(Err(_)) => Err(NotNow::Stopping.into()),
        }
    }

    /// What was found last in these results, however long ago, if its last result is this.
    pub(super) fn last(
        &self,
        ladder: &LadderName,
        span: SeasonSpan,
        last: ResultNumber,
    ) -> Option<Arc<Season>> {
        let looked = self.looked();
        let known = looked.iter().find(|known| known.is_of(ladder, span))?;
        let state = known.state.borrow().clone();
        match state {
            State::Found { season, .. } if season.last == last => Some(season),
            _ => None,
        }
    }

    /// The look at a season that is fresh or under way, or one that is begun now. `None`: too many are under way.
    fn begun(
        &self,
        spec: &Arc<LadderSpec>,
        archive: &Arc<Archive>,
        span: SeasonSpan,
    ) -> Option<watch::Receiver<State>> {
        let mut looked = self.looked();
        let known = looked.iter().position(|known| known.is_of(&spec.name, span));
        if let Some(known) = known.and_then(|at| looked.get(at)).filter(|known| known.is_fresh()) {
            return Some(known.state.clone());
        }
        if looked.iter().filter(|known| known.is_under_way()).count() >= limits::MAX_SEASONS_UNDER_WAY {
            return None;
        }
        // None that is under way: nobody puts an end to what another waits for.
        let oldest = looked.iter().position(|known| !known.is_under_way());
        if let Some(at) = known.or(oldest.filter(|_| looked.len() >= limits::MAX_SEASONS)) {
            looked.remove(at);
        }
        let begun = self.look(Arc::clone(spec), Arc::clone(archive), span);
        let state = begun.state.clone();
        looked.push(begun);
        Some(state)
    }

    /// Begins to look, in a task that goes on whoever waits for it.
    fn look(&self, spec: Arc<LadderSpec>, archive: Arc<Archive>, span: SeasonSpan) -> Looked {
        let (sources, turn) = (Arc::clone(&self.sources), Arc::clone(&self.turn));
        let (tell, state) = watch::channel(State::UnderWay);
        let ladder = spec.name.clone();
        let looking = async move {
            let failed = |why: &(dyn std::fmt::Display + Sync)| {
                let cause = format!("a season of ladder {} could not be looked at: {why}", spec.name);
                State::Not(NoSeason::Failed(Incident::of(&cause)).into())
            };
            let looked = async {
                let _turn = turn.acquire().await;
                season::look(&spec, &archive, span, &sources).await
            };
            let looked = AssertUnwindSafe(looked).catch_unwind();
            let ended = match sources.stop.run_until_cancelled(looked).await {
                None | Some(Ok(Err(SeasonError::Stopping))) => State::Not(NotNow::Stopping.into()),
                Some(Ok(Err(SeasonError::Results(not_now @ LadderFault::NotNow(_))))) => State::Not(not_now),
                Some(Ok(Ok(season))) => State::Found { season: Arc::new(season), at: Instant::now() },
                Some(Ok(Err(error))) => failed(&error),
                Some(Err(panic)) => failed(&format!("a panic: {}", said(&*panic))),
            };
            tell.send_replace(ended);
        };
        Looked { ladder, span, state, _task: AbortOnDropHandle::new(tokio::spawn(looking)) }
    }

    fn looked(&self) -> MutexGuard<'_, Vec<Looked>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Looked {
    fn is_of(&self, ladder: &LadderName, span: SeasonSpan) -> bool {
        self.ladder == *ladder && self.span == span
    }

    fn is_under_way(&self) -> bool {
        matches!(*self.state.borrow(), State::UnderWay)
    }

    /// It is looked at now, or was a while ago at most.
    fn is_fresh(&self) -> bool {
        match &*self.state.borrow() {
            State::UnderWay => true,
            State::Found { at, .. } => at.elapsed() < limits::SEASON_KEPT,
            State::Not(_) => false,
        }
    }
}
