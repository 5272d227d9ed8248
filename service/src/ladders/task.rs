//! The task that owns all ladders.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::num::NonZeroU16;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use zetema_ladder::conduct::Status;
use zetema_ladder::pairing::Hold;

use super::archive::Archive;
use super::behaviour::BotOnLadder;
use super::catching_up::{Break, read_on};
use super::keeper::{self, Before};
use super::making::{self, Doubt};
use super::picture::Picture;
use super::presence::{Queued, Word};
use super::reinstated::{NotStored, Reinstatement, Reinstatements};
use super::state::{Kept, State, Told, Usages};
use super::stored::Awaiting;
use super::time::{LadderClock, Now};
use super::wishes::{Asked, NotNow, Phase, Wanted, Wishes};
use super::words::Words;
use super::{Config, LadderFault, NoLadder};
use crate::admission::Work;
use crate::incident::Incident;
use crate::journal::{BotName, LadderName, MatchId, ResultNumber, UnixMillis};
use crate::limits;
use crate::matches::EndedMatch;

/// What somebody asks of the ladders.
pub(super) enum Command {
    /// The owner of a bot puts it back.
    Reinstate { ladder: LadderName, bot: BotName, reply: oneshot::Sender<Result<Status, LadderFault>> },
    /// Somebody looks at a bot.
    Behaviour { bot: BotName, reply: oneshot::Sender<Vec<BotOnLadder>> },
}

/// A ladder, and what is shown of it.
pub(super) struct Run {
    pub(super) state: Box<State>,
    show: watch::Sender<Arc<Picture>>,
    /// Whether something has changed that is not shown yet.
    changed: bool,
    /// Whether somebody's conduct was shown that changes by itself.
    passing: bool,
    /// Which bots are to be put back after which result, as older ones are counted first.
    pub(super) to_reinstate: BTreeMap<(ResultNumber, BotName), UnixMillis>,
    /// Matches of which it is not known whether they were made.
    in_doubt: Vec<Doubt>,
    /// What was stored of its ratings, until the results come to it.
    pub(super) stored: Awaiting,
    /// Whether anything was.
    pub(super) found: Before,
    /// To the keeper: what was stored was compared.
    pub(super) before: watch::Sender<Before>,
}

/// What a ladder shows, and to whom.
pub(super) struct Shown {
    pub(super) show: watch::Sender<Arc<Picture>>,
    pub(super) archive: Arc<Archive>,
    pub(super) before: watch::Sender<Before>,
}

pub(super) struct Task {
    pub(super) config: Config,
    pub(super) ladders: BTreeMap<LadderName, Run>,
    pub(super) usages: Usages,
    clock: LadderClock,
    wishes: Arc<Wishes>,
    /// The bots that are there, and to whom words of them go, by what each is there by.
    here: HashMap<u64, (BotName, mpsc::Sender<Word>)>,
    words: Words,
    commands: mpsc::Receiver<Command>,
    /// Who is paired first: the ladder that made a match longest ago, so that each has its part of the bots that wait on several.
    turns: Vec<LadderName>,
    /// For which ladder bots are kept free, as somebody waits there for too long.
    hold: Hold<LadderName>,
}

impl Task {
    pub(super) fn new(
        config: Config,
        shown: BTreeMap<LadderName, Shown>,
        wishes: Arc<Wishes>,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        let specs: HashMap<_, _> = config.specs.iter().map(|spec| (&spec.name, spec)).collect();
        let run = |(name, Shown { show, archive, before }): (LadderName, _)| {
            let spec = specs.get(&name)?;
            let run = Run {
                state: Box::new(State::new(Arc::clone(spec), archive)),
                show,
                changed: true,
                passing: false,
                to_reinstate: BTreeMap::new(),
                in_doubt: Vec::new(),
                stored: Awaiting::default(),
                found: Before::NotCompared,
                before,
            };
            Some((name, run))
        };
        let ladders = shown.into_iter().filter_map(run).collect();
        let clock = LadderClock::new(Arc::clone(&config.clock));
        Self {
            config,
            ladders,
            usages: Usages::new(),
            clock,
            wishes,
            here: HashMap::new(),
            words: Words::default(),
            commands,
            turns: Vec::new(),
            hold: Hold::default(),
        }
    }

    /// Runs the ladders until `stop`. What was counted until then is shown, as it is stored once more.
    pub(super) async fn run_until(mut self, stop: CancellationToken) {
        stop.run_until_cancelled(self.run()).await;
        // Not what is only counted in part.
        if self.wishes.now() == Phase::Running {
            self.show();
        }
    }

    /// Runs the ladders. What breaks is told in the log, and they begin anew by the results.
    async fn run(&mut self) {
        if self.ladders.is_empty() {
            return;
        }
        loop {
            match AssertUnwindSafe(self.serve()).catch_unwind().await {
                Ok(Break::Closed) => return,
                Ok(Break::Damaged(what)) => return self.stand_still(&what).await,
                Ok(Break::Reader) => begins_anew("what reads the results has ended"),
                Err(panic) => begins_anew(&format!("a panic: {}", said(&*panic))),
            }
            sleep(limits::LADDERS_BREAK).await;
        }
    }

    /// Counts what was there, and then pairs and counts, until something breaks.
    async fn serve(&mut self) -> Break {
        self.wishes.begin_anew();
        self.usages.clear();
        self.here.clear();
        self.words.clear();
        self.hold = Hold::default();
        self.turns = self.ladders.keys().cloned().collect();
        for run in self.ladders.values_mut() {
            *run.state = run.state.anew();
            run.changed = true;
            run.to_reinstate.clear();
            run.in_doubt.clear();
        }
        let results = match self.catch_up().await {
            Ok(results) => results,
            Err(broken) => return broken,
        };
        let (tell, mut ended) = mpsc::channel(limits::UNCOUNTED_RESULTS);
        // In a task of its own: what is read is not thrown away because something else is to be done, however often that is.
        let _reader = AbortOnDropHandle::new(tokio::spawn(read_on(results, tell)));
        self.wishes.run();
        let wishes = Arc::clone(&self.wishes);
        let mut tick = interval(limits::PAIRING_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => return Break::Closed,
                },
                result = ended.recv() => match result {
                    Some(Ok(result)) => { self.count(&result); }
                    Some(Err(broken)) => return broken,
                    None => return Break::Reader,
                },
                () = wishes.changed() => self.hear(),
                _ = tick.tick() => {
                    self.hear();
                    self.give_up().await;
                    self.pair().await;
                    self.show();
                    self.ladders.values().for_each(Run::may_be_stored);
                    self.ladders.values().for_each(|run| run.state.archive().make_room_meanwhile());
                }
            }
        }
    }

    /// Nothing is counted on what is not whole, and what is not counted is not played: so nobody is paired any more. What was counted
    /// is shown.
    async fn stand_still(&mut self, what: &str) {
        self.show();
        let incident = Incident::new();
        tracing::error!(
            %incident, what,
            "the ladders stand still, as the journal is damaged: stop the server, and run \"zetema journal repair\" or restore a \
             backup"
        );
        self.wishes.end(NotNow::StandStill(incident));
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        std::future::pending::<()>().await;
    }

    pub(super) fn now(&mut self) -> Now {
        self.clock.now()
    }

    /// Counts a result. The answer is the ladder that it is of.
    pub(super) fn count(&mut self, ended: &EndedMatch) -> Option<LadderName> {
        let now = self.now();
        let mut told = Told::new();
        let mut of = None;
        for (name, run) in &mut self.ladders {
            let compared = run.stored.before(ended.number, &run.state.spec, run.state.ratings());
            if let Some(comparison) = compared {
                keeper::report(name, &comparison);
            }
            if ended.info.ladder.as_ref() == Some(name) {
                run.reinstate_before(ended.number, now);
                told = run.state.count(ended, &*self.config.accounts, &mut self.usages, now);
                run.changed = true;
                of = Some(name.clone());
            }
            run.state.saw(ended.number);
        }
        self.say(told, now.of_stored(ended.info.ended_at.unwrap_or(ended.info.created_at)).wall, now);
        of
    }

    /// Tells bots' authors what came about at that time.
    fn say(&mut self, told: Told, at: UnixMillis, now: Now) {
        for (bot, word) in told {
            let match_id = word.match_id.map(tracing::field::display);
            tracing::info!(ladder = %word.ladder, match_id, %bot, "{}", word.notice);
            let here = self.here.iter().filter(|(_, (of, _))| *of == bot);
            self.words.say(&bot, word, at, here.map(|(way, (_, tell))| (*way, tell)), now);
        }
    }

    /// Gives up the matches that are not played: those that were asked for and are not there, and those that can't go on.
    async fn give_up(&mut self) {
        let Self { config, ladders, usages, .. } = self;
        let any_lost = config.matches.lost() > 0;
        for run in ladders.values_mut() {
            for doubt in mem::take(&mut run.in_doubt) {
                run.changed = true;
                run.in_doubt.extend(doubt.settle(&mut run.state, &config.matches, usages).await);
            }
            if any_lost {
                let lost: Vec<MatchId> =
                    run.state.live().filter(|match_id| config.matches.is_lost(*match_id)).collect();
                for match_id in lost {
                    tracing::warn!(%match_id, ladder = %run.state.spec.name, "a match of a ladder can't go on: its bots wait on");
                    run.state.withdraw(match_id, usages);
                    run.changed = true;
                }
            }
        }
    }

    /// Makes matches of those who wait, if the server has time and room for them.
    async fn pair(&mut self) {
        let Config { pressure, disk_room, matches, .. } = &self.config;
        if pressure.check(Work::Create).is_err()
            || disk_room.check().is_err()
            || matches.check_room().is_err()
        {
            return;
        }
        let now = self.now();
        let Self { config, ladders, usages, turns, hold, .. } = self;
        let starving = |(name, run): (&LadderName, &Run)| Some((run.state.starves_since(now)?, name.clone()));
        let could_pair = |name: &LadderName| ladders.get(name).is_some_and(|run| run.state.could_pair());
        let held = hold.next(ladders.iter().filter_map(starving), could_pair);
        let kept = held.as_ref().and_then(|name| Some(ladders.get_mut(name)?.state.with_room()));
        let (kept, nobody) = (kept.unwrap_or_default(), Kept::new());
        let (mut had_one, mut told) = (Vec::new(), Told::new());
        for name in mem::take(turns) {
            let Some(run) = ladders.get_mut(&name) else { continue };
            let kept = if held.as_ref() == Some(&name) { &nobody } else { &kept };
            let (wanted, said) = if run.state.has_anybody() {
                run.state.pair(&*config.accounts, usages, kept, now)
            } else {
                (Vec::new(), Told::new())
            };
            told.extend(said);
            if wanted.is_empty() {
                turns.push(name);
                continue;
            }
            run.changed = true;
            hold.served(&name);
            run.in_doubt.extend(making::make(&mut run.state, wanted, &config.matches, usages, now).await);
            had_one.push(name);
        }
        turns.append(&mut had_one);
        self.say(told, now.wall, now);
    }

    /// Shows what has changed.
    pub(super) fn show(&mut self) {
        let now = self.now().wall;
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
            Command::Reinstate { ladder, bot, reply } => {
                let _ = reply.send(self.reinstate(&ladder, &bot).await);
            }
            Command::Behaviour { bot, reply } => {
                let now = self.now().wall;
                let on = self.ladders.values().map(|run| BotOnLadder::of(&run.state, &bot, now));
                let _ = reply.send(on.collect());
            }
        }
    }

    /// Takes in where bots want to wait.
    fn hear(&mut self) {
        let now = self.now();
        for (number, wanted) in self.wishes.take() {
            let Some(Wanted { bot, queues, tell, asked }) = wanted else {
                if let Some((bot, _)) = self.here.remove(&number) {
                    self.leave_all_but(&bot, number, &[]);
                    self.words.gone(&bot, number, now);
                }
                continue;
            };
            self.leave_all_but(&bot, number, &queues);
            for (ladder, places) in &queues {
                if let Some(run) = self.ladders.get_mut(ladder) {
                    run.state.want(&bot, number, Some(*places));
                    run.changed = true;
                }
            }
            let quota_until = self.quota_until(&bot, now);
            let ladders = &self.ladders;
            // Before it is answered, so that who waits for the answer alone has them too.
            self.words.greet(&bot, number, &tell, now, |word| {
                if let Some(run) = ladders.get(&word.ladder) {
                    word.conduct = run.state.status(&bot, now.wall);
                }
                word.quota_until = word.quota_until.and(quota_until);
            });
            for Asked { queues, answer } in asked {
                let states = queues.into_iter().filter_map(|(ladder, _)| {
                    let state = &ladders.get(&ladder)?.state;
                    let (places, conduct) = (state.places(&bot), state.status(&bot, now.wall));
                    Some(Queued { ladder, places, conduct, quota_until })
                });
                // As above.
                let _ = answer.send(states.collect());
            }
            self.here.insert(number, (bot, tell));
        }
    }

    /// Until when the quota of a bot lets no ladder pair it.
    fn quota_until(&mut self, bot: &BotName, now: Now) -> Option<UnixMillis> {
        let quota = self.config.accounts.account(bot)?.quota;
        let until_ms = self.usages.get_mut(bot)?.not_before_ms(quota, now.wall.get())?;
        Some(UnixMillis::new(until_ms))
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
        let now = self.now();
        let run = self.ladders.get_mut(ladder).ok_or_else(|| NoLadder(ladder.to_string()))?;
        if !run.state.knows(bot) {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        // Tried before it is stored, as what can't be done must not be.
        run.state.conduct_of(bot).reinstate(now.wall.get())?;
        let journal = self.config.matches.journal();
        let more = Reinstatement { after: run.state.seen(), at: now.stored() };
        let before = Reinstatements::read(journal, ladder, bot).await.map_err(|error| {
            tracing::error!(%bot, %ladder, %error, "it can't be read when a bot was put back");
            LadderFault::NotStored
        })?;
        before.store_with(more, journal, ladder, bot).await.map_err(|not_stored| match not_stored {
            NotStored::TooMany => LadderFault::TooManyReinstatements(bot.clone()),
            NotStored::NotKnown => LadderFault::NotStored,
        })?;
        run.changed = true;
        Ok(run.state.reinstate(bot, now.wall)?)
    }
}

impl Run {
    /// Lets the keeper store what is shown, if what was stored was compared: that of results that are not here is awaited.
    pub(super) fn may_be_stored(&self) {
        if self.stored.is_over() {
            self.before.send_if_modified(|before| {
                let changed = *before != self.found;
                *before = self.found;
                changed
            });
        }
    }

    /// Puts back those who were put back before this result: by a clock that was ahead, now.
    pub(super) fn reinstate_before(&mut self, result: ResultNumber, now: Now) {
        while let Some(first) = self.to_reinstate.first_entry().filter(|first| first.key().0 < result) {
            let ((_, bot), at) = first.remove_entry();
            if let Err(error) = self.state.reinstate(&bot, now.of_stored(at).wall) {
                tracing::warn!(%bot, %error, "a bot was put back that need not be");
            }
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.wishes.end(NotNow::Stopping);
    }
}

fn begins_anew(why: &str) {
    let incident = Incident::new();
    tracing::error!(%incident, why, "the task of the ladders has ended, and counts all results anew");
}

/// What a panic has said.
pub(super) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it said nothing")
}
