//! The task that owns all ladders.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::task::AbortOnDropHandle;
use zetema_ladder::conduct::Status;
use zetema_ladder::pairing::Pairing;

use super::archive::Archive;
use super::picture::Picture;
use super::presence::{QueueRefused, Queued, Word};
use super::reinstated::Reinstated;
use super::state::{State, Told, Usages};
use super::{Config, LadderFault, NoLadder};
use crate::admission::Work;
use crate::journal::{
    BodyHash, BotName, Caller, Epoch, JournalValueError, LadderName, RequestId, RequestKey, ResultFilter,
    UnixMillis,
};
use crate::limits;
use crate::matches::{CreateError, EndedMatch, Matches, ResultNews, Results, ResultsFrom};
use crate::table::MatchSpec;

/// What somebody wants of the ladders.
pub(super) enum Command {
    /// A bot waits on these and on no others, by this way of being there.
    Wait {
        bot: BotName,
        number: u64,
        queues: Vec<(LadderName, NonZeroU16)>,
        tell: mpsc::Sender<Word>,
        reply: oneshot::Sender<Result<Vec<Queued>, (usize, QueueRefused)>>,
    },
    /// It is there by this no more.
    Leave { bot: BotName, number: u64 },
    /// The owner of a bot puts it back.
    Reinstate { ladder: LadderName, bot: BotName, reply: oneshot::Sender<Result<Status, LadderFault>> },
}

/// A ladder, and what is shown of it.
struct Run {
    state: Box<State>,
    show: watch::Sender<Arc<Picture>>,
    /// Whether something has changed that is not shown yet.
    changed: bool,
    /// Whether somebody's conduct was shown that changes by itself.
    passing: bool,
    reinstated: Reinstated,
    /// Those that are not applied yet, as older results come first.
    to_reinstate: Vec<(UnixMillis, BotName)>,
    /// Matches of which it is not known whether they were made.
    in_doubt: Option<Batch>,
}

/// Matches that are asked for together.
struct Batch {
    made: Vec<(Pairing, MatchSpec)>,
    /// When their members were paired.
    at: UnixMillis,
    /// What names the request, so that it can be sent again.
    key: RequestKey,
}

pub(super) struct Task {
    config: Config,
    ladders: BTreeMap<LadderName, Run>,
    usages: Usages,
    /// To whom words of a bot go, by what it is there by.
    tell: HashMap<(BotName, u64), mpsc::Sender<Word>>,
    commands: mpsc::UnboundedReceiver<Command>,
    /// How many requests for matches were named.
    named: u64,
}

impl Task {
    pub(super) fn new(
        config: Config,
        shown: BTreeMap<LadderName, (watch::Sender<Arc<Picture>>, Arc<Archive>)>,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        let specs: HashMap<_, _> = config.specs.iter().map(|spec| (&spec.name, spec)).collect();
        let run = |(name, (show, archive)): (LadderName, _)| {
            let spec = specs.get(&name)?;
            let run = Run {
                state: Box::new(State::new(Arc::clone(spec), archive)),
                show,
                changed: true,
                passing: false,
                reinstated: Reinstated::default(),
                to_reinstate: Vec::new(),
                in_doubt: None,
            };
            Some((name, run))
        };
        let ladders = shown.into_iter().filter_map(run).collect();
        Self { config, ladders, usages: Usages::new(), tell: HashMap::new(), commands, named: 0 }
    }

    pub(super) async fn run(mut self) {
        if self.ladders.is_empty() {
            return;
        }
        let mut results = self.catch_up().await;
        // In a task of its own: what is read is not thrown away because something else is to be done, however often that is.
        let (tell, mut ended) = mpsc::channel(limits::UNCOUNTED_RESULTS);
        let _reader = AbortOnDropHandle::new(tokio::spawn(async move {
            loop {
                match results.next().await {
                    Ok(ResultNews::Ended(result)) => {
                        if tell.send(result).await.is_err() {
                            return;
                        }
                    }
                    Ok(ResultNews::CaughtUp) => {}
                    Err(error) => again("the results", &error).await,
                }
            }
        }));
        let mut tick = interval(limits::PAIRING_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => return,
                },
                Some(result) = ended.recv() => self.count(&result),
                _ = tick.tick() => {
                    self.pair().await;
                    self.show();
                }
            }
        }
    }

    /// Counts what was there before, and takes up the matches that go on. Tried until it is done: nothing is counted on what is
    /// not whole.
    async fn catch_up(&mut self) -> Results {
        let journal = self.config.matches.journal();
        for (name, run) in &mut self.ladders {
            run.reinstated = loop {
                match Reinstated::read(journal, name).await {
                    Ok(reinstated) => break reinstated,
                    Err(error) => again("which bots were put back", &error).await,
                }
            };
            run.to_reinstate = run.reinstated.iter().map(|(bot, at)| (at, bot.clone())).collect();
            run.to_reinstate.sort_unstable_by(|one, other| (other.0, &other.1).cmp(&(one.0, &one.1)));
        }
        // First those that go on: one that ends meanwhile is among the results then.
        let mut going_on: BTreeMap<_, _> = self.config.matches.rated_and_live().await;
        let mut results = loop {
            match self.config.matches.results(ResultFilter::default(), ResultsFrom::First) {
                Ok(results) => break results,
                Err(error) => again("the results", &error).await,
            }
        };
        loop {
            match results.next().await {
                Ok(ResultNews::Ended(ended)) => {
                    going_on.remove(&ended.info.match_id);
                    self.count(&ended);
                }
                Ok(ResultNews::CaughtUp) => break,
                Err(error) => again("the results", &error).await,
            }
        }
        for info in going_on.values() {
            if let Some(run) = info.ladder.as_ref().and_then(|ladder| self.ladders.get_mut(ladder)) {
                run.state.resume(info, &*self.config.accounts, &mut self.usages);
            }
        }
        for run in self.ladders.values_mut() {
            run.reinstate_until(UnixMillis::new(u64::MAX));
        }
        self.show();
        results
    }

    fn now(&self) -> UnixMillis {
        self.config.clock.wall()
    }

    fn count(&mut self, ended: &EndedMatch) {
        let now = self.now();
        let mut told = Told::new();
        for (name, run) in &mut self.ladders {
            if ended.info.ladder.as_ref() == Some(name) {
                run.reinstate_until(ended.info.ended_at.unwrap_or(ended.info.created_at));
                told = run.state.count(ended, &*self.config.accounts, &mut self.usages, now);
                run.changed = true;
            }
            run.state.saw(ended.number);
        }
        for (bot, word) in told {
            tracing::info!(ladder = %word.ladder, match_id = %word.match_id, %bot, "{}", word.notice);
            for ((of, _), tell) in &self.tell {
                // Who does not read its words has them in the standings all the same.
                if *of == bot && tell.try_send(word.clone()).is_err() {
                    tracing::debug!(%bot, "a word to a bot's author has no room");
                }
            }
        }
    }

    /// Makes matches of those who wait, if the server has time and room for them.
    async fn pair(&mut self) {
        let Config { pressure, disk_room, .. } = &self.config;
        if pressure.check(Work::Create).is_err() || disk_room.check().is_err() {
            return;
        }
        let now = self.now();
        let Self { config, ladders, usages, named, .. } = self;
        let epoch = config.matches.journal().epoch();
        let mut key = || {
            *named += 1;
            request_key(epoch, now, *named)
        };
        for run in ladders.values_mut() {
            if let Some(batch) = run.in_doubt.take() {
                // Under the same name it is answered as it was, or made now: never twice.
                run.ask_for(vec![batch], &config.matches, usages, &mut key).await;
                continue;
            }
            if !run.state.has_anybody() {
                continue;
            }
            let mut made = run.state.pair(&*config.accounts, usages, now);
            let mut batches = Vec::new();
            while !made.is_empty() {
                let rest = made.split_off(made.len().min(limits::MAX_BATCH_MATCHES));
                match key() {
                    Ok(key) => batches.push(Batch { made, at: now, key }),
                    Err(error) => tracing::error!(%error, "a request for matches has no name"),
                }
                made = rest;
            }
            // Who has waited longest is asked for first.
            batches.reverse();
            run.ask_for(batches, &config.matches, usages, &mut key).await;
        }
    }

    /// Shows what has changed.
    fn show(&mut self) {
        let now = self.config.clock.wall();
        for run in self.ladders.values_mut() {
            let rows = if run.changed || run.passing {
                // What is shown of it ends by itself.
                run.passing = run.state.anybody_waits_for_time(now);
                run.changed = false;
                let rows = run.state.rows(now);
                let shown = Arc::clone(&run.show.borrow().rows);
                if *shown == *rows { shown } else { rows }
            } else {
                Arc::clone(&run.show.borrow().rows)
            };
            let picture = run.state.picture(rows);
            run.show.send_if_modified(|shown| {
                let differs = !shown.is_same(&picture);
                if differs {
                    *shown = Arc::new(picture);
                }
                differs
            });
        }
    }

    async fn obey(&mut self, command: Command) {
        // Who asked may be gone: then nobody hears the answer.
        match command {
            Command::Wait { bot, number, queues, tell, reply } => {
                let _ = reply.send(self.wait(bot, number, &queues, tell));
            }
            Command::Leave { bot, number } => {
                self.leave_all(&bot, number);
                self.tell.remove(&(bot, number));
            }
            Command::Reinstate { ladder, bot, reply } => {
                let _ = reply.send(self.reinstate(&ladder, &bot).await);
            }
        }
    }

    fn leave_all(&mut self, bot: &BotName, number: u64) {
        for run in self.ladders.values_mut() {
            run.state.want(bot, number, None);
            run.changed = true;
        }
    }

    fn wait(
        &mut self,
        bot: BotName,
        number: u64,
        queues: &[(LadderName, NonZeroU16)],
        tell: mpsc::Sender<Word>,
    ) -> Result<Vec<Queued>, (usize, QueueRefused)> {
        let account = self.config.accounts.account(&bot);
        for (at, (ladder, _)) in queues.iter().enumerate() {
            let run = self.ladders.get(ladder);
            let run = run.ok_or_else(|| (at, QueueRefused::NoLadder(NoLadder(ladder.to_string()))))?;
            run.state.spec.admit(&bot, account.as_ref()).map_err(|refused| (at, refused))?;
        }
        self.leave_all_but(&bot, number, queues);
        let now = self.now();
        let mut states = Vec::with_capacity(queues.len());
        for (ladder, places) in queues {
            let Some(run) = self.ladders.get_mut(ladder) else { continue };
            run.state.want(&bot, number, Some(*places));
            run.changed = true;
            states.push(Queued {
                ladder: ladder.clone(),
                places: run.state.places(&bot),
                conduct: run.state.status(&bot, now),
            });
        }
        self.tell.insert((bot, number), tell);
        Ok(states)
    }

    /// Who stays in a queue has waited on.
    fn leave_all_but(&mut self, bot: &BotName, number: u64, queues: &[(LadderName, NonZeroU16)]) {
        for (name, run) in &mut self.ladders {
            if queues.iter().all(|(kept, _)| kept != name) {
                run.state.want(bot, number, None);
                run.changed = true;
            }
        }
    }

    async fn reinstate(&mut self, ladder: &LadderName, bot: &BotName) -> Result<Status, LadderFault> {
        let at = self.now();
        let run = self.ladders.get_mut(ladder).ok_or_else(|| NoLadder(ladder.to_string()))?;
        if !run.state.knows(bot) {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        // Tried before it is stored, as what can't be done must not be.
        run.state.conduct_of(bot).reinstate(at.get())?;
        let reinstated = run.reinstated.with(bot, at);
        if !reinstated.store(self.config.matches.journal(), ladder).await {
            return Err(LadderFault::NotStored);
        }
        run.reinstated = reinstated;
        run.changed = true;
        Ok(run.state.reinstate(bot, at)?)
    }
}

impl Run {
    /// Has matches made, the last batch first. What there is no room for is made smaller, and given up in the end: its members wait on.
    async fn ask_for(
        &mut self,
        mut batches: Vec<Batch>,
        matches: &Matches,
        usages: &mut Usages,
        key: &mut impl FnMut() -> Result<RequestKey, JournalValueError>,
    ) {
        self.changed = true;
        while let Some(mut batch) = batches.pop() {
            let specs = batch.made.iter().map(|(_, spec)| spec.clone()).collect();
            match matches.create(specs, Some(batch.key.clone())).await {
                Ok(infos) => {
                    for (info, (pairing, _)) in infos.iter().zip(batch.made) {
                        self.state.begun(info.match_id, pairing);
                    }
                }
                Err(CreateError::OutcomeUnknown) => {
                    self.in_doubt = Some(batch);
                    break;
                }
                Err(CreateError::TooManyMatches { .. } | CreateError::TooManyBytes { .. })
                    if batch.made.len() > 1 =>
                {
                    let second = batch.made.split_off(batch.made.len() / 2);
                    for made in [second, batch.made] {
                        match key() {
                            Ok(key) => batches.push(Batch { made, at: batch.at, key }),
                            Err(error) => tracing::error!(%error, "a request for matches has no name"),
                        }
                    }
                }
                Err(error) => {
                    tracing::debug!(ladder = %self.state.spec.name, %error, "the ladder's matches are not made");
                    batches.push(batch);
                    break;
                }
            }
        }
        for Batch { made, at, .. } in batches {
            for (pairing, _) in made {
                self.state.not_begun(&pairing, usages, at);
            }
        }
    }

    /// Puts back those who were put back before this moment, as the results before it are counted.
    fn reinstate_until(&mut self, moment: UnixMillis) {
        while let Some((at, bot)) = self.to_reinstate.pop_if(|(at, _)| *at <= moment) {
            if let Err(error) = self.state.reinstate(&bot, at) {
                tracing::warn!(%bot, %error, "a bot was put back that need not be");
            }
        }
    }
}

/// What names a request of the ladders for matches: no other has this number in the same opening of the journal.
fn request_key(epoch: Epoch, now: UnixMillis, number: u64) -> Result<RequestKey, JournalValueError> {
    let name = format!("{epoch}-{}-{number}", now.get());
    let body_hash = BodyHash(Sha256::digest(&name).into());
    Ok(RequestKey { caller: Caller::new("ladders")?, request_id: RequestId::new(name)?, body_hash })
}

/// Waits before something is tried again that could not be read.
async fn again(what: &str, error: &(dyn std::fmt::Display + Sync)) {
    tracing::warn!(%error, "{what} can't be read for the ladders: trying again");
    sleep(Duration::from_secs(1)).await;
}
