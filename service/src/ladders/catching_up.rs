//! How the task of the ladders gets its results: those that were there first, then those that come.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use zetema_ladder::conduct::{Status, Until};

use super::keeper::{self, Before};
use super::reinstated::{Reinstatement, Reinstatements};
use super::task::Task;
use crate::journal::{LadderName, ReadError, ResultFilter, ResultNumber};
use crate::matches::{EndedMatch, ResultNews, Results, ResultsFrom};
use crate::table::{MatchInfo, Rejection};

/// Why the task does not go on as it is.
pub(super) enum Break {
    /// Nobody has a handle to the ladders.
    Closed,
    /// The journal is damaged.
    Damaged(String),
    /// Nobody reads the results.
    Reader,
}

impl Task {
    /// Counts what was there before, and takes up the matches that go on. Tried until it is done.
    pub(super) async fn catch_up(&mut self) -> Result<Results, Break> {
        for run in self.ladders.values() {
            run.before.send_replace(Before::NotCompared);
        }
        for (name, run) in &mut self.ladders {
            (run.stored, run.found) = loop {
                match keeper::read(&*self.config.store, name).await {
                    Ok(read) => break read,
                    Err(error) => again("the stored ratings", &error).await,
                }
            };
        }
        // First those that go on: one that ends meanwhile is among the results then.
        let running = self.config.matches.rated_and_live().await;
        let age = |info: &MatchInfo| (info.created_at, info.match_id);
        let mut going_on: BTreeMap<_, _> = running.into_iter().map(|info| (age(&info), info)).collect();
        let mut results = loop {
            match self.config.matches.results(ResultFilter::default(), ResultsFrom::First) {
                Ok(results) => break results,
                Err(error) => again("the results", &error).await,
            }
        };
        loop {
            match results.next().await {
                Ok(ResultNews::Ended(ended)) => {
                    going_on.remove(&age(&ended.info));
                    if let Some(ladder) = self.count(&ended) {
                        self.make_room(&ladder).await;
                        self.find_reinstatements(&ladder, &ended).await?;
                    }
                }
                Ok(ResultNews::CaughtUp) => break,
                Err(Rejection::Damaged) => return Err(damaged_after(&results)),
                Err(error) => again("the results", &error).await,
            }
        }
        let now = self.now();
        for info in going_on.values() {
            if let Some(run) = info.ladder.as_ref().and_then(|ladder| self.ladders.get_mut(ladder)) {
                run.state.resume(info, &*self.config.accounts, &mut self.usages, now);
            }
        }
        let last = results.cursor().number;
        for (name, run) in &mut self.ladders {
            run.reinstate_before(ResultNumber::new(u64::MAX), now);
            // Those at the end that are known to be lost too.
            run.state.passed(last);
            let compared = run.stored.at_end(last, last, &run.state.spec, run.state.ratings());
            if let Some(comparison) = compared {
                keeper::report(name, &comparison);
            }
            run.state.warn_of_other_rules();
        }
        self.show();
        for run in self.ladders.values() {
            run.may_be_stored();
            let archive = Arc::clone(run.state.archive());
            tokio::spawn(async move { archive.tidy().await });
        }
        Ok(results)
    }

    /// Waits for files of results to be written: they come faster here than from matches.
    async fn make_room(&self, ladder: &LadderName) {
        if let Some(run) = self.ladders.get(ladder)
            && run.state.archive().is_full()
        {
            run.state.archive().make_room().await;
        }
    }

    /// Looks up whether the bots of a match that are benched until their authors act were put back since.
    async fn find_reinstatements(&mut self, ladder: &LadderName, ended: &EndedMatch) -> Result<(), Break> {
        let journal = self.config.matches.journal();
        let Some(run) = self.ladders.get_mut(ladder) else { return Ok(()) };
        for bot in ended.info.seats.iter().filter_map(|seat| seat.bot.as_ref()) {
            if run.state.conduct_of(bot).status(u64::MAX) != Status::Benched(Until::Author) {
                continue;
            }
            let reinstatements = loop {
                match Reinstatements::read(journal, ladder, bot).await {
                    Ok(reinstatements) => break reinstatements,
                    Err(ReadError::Damaged(cause)) => {
                        return Err(Break::Damaged(format!("bot {bot} on ladder {ladder}: {cause}")));
                    }
                    Err(error) => again("whether a bot was put back", &error).await,
                }
            };
            if let Some(Reinstatement { after, at }) = reinstatements.next(ended.number) {
                run.to_reinstate.insert((after, bot.clone()), at);
            }
        }
        Ok(())
    }
}

/// Reads what comes after the results that were there, for the task.
pub(super) async fn read_on(mut results: Results, tell: mpsc::Sender<Result<Arc<EndedMatch>, Break>>) {
    loop {
        let told = match results.next().await {
            Ok(ResultNews::Ended(result)) => Ok(result),
            Ok(ResultNews::CaughtUp) => continue,
            Err(Rejection::Damaged) => Err(damaged_after(&results)),
            Err(error) => {
                again("the results", &error).await;
                continue;
            }
        };
        if tell.send(told).await.is_err() {
            return;
        }
    }
}

fn damaged_after(results: &Results) -> Break {
    Break::Damaged(format!("what follows result {} can't be read", results.cursor().number))
}

/// Waits before something is tried again that could not be read.
async fn again(what: &str, error: &(dyn std::fmt::Display + Sync)) {
    tracing::warn!(%error, "{what} can't be read for the ladders: trying again");
    sleep(Duration::from_secs(1)).await;
}
