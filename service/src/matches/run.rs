//! How tables run: each in a task of its own, which others find as long as it does.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::thread;

use tokio::sync::{Mutex, Notify, Semaphore, mpsc, watch};

use super::Matches;
use super::alarm::Alarm;
use super::deal_set::{self, RunningDealSet};
use super::hold::Holder;
use super::live_bytes::Held;
use super::message::{Counts, Handle};
use super::places::Place;
use super::running_table::{RunningTable, State};
use super::storage::Storage;
use super::subscribers::Subscribers;
use super::task::{Over, TableTask};
use crate::challenges::Taken;
use crate::limits;
use crate::table::{DealSetId, Deals, Entry, MatchInfo, Moment, Table};
use crate::traces::Trace;

impl Matches {
    /// Runs tables, each in a task of its own, and their clocks from this moment on.
    pub(super) fn run(&self, beginnings: impl Iterator<Item = Beginning>, from: Moment) {
        let mut sets: BTreeMap<DealSetId, SetThatRuns> = BTreeMap::new();
        // All are known before the first runs: a deal set asks which of its matches do.
        let mut tasks = Vec::new();
        for Beginning { mut table, place, taken } in beginnings {
            table.run_clock(from);
            let set = match &table.created().deals {
                Deals::Shared(set) => Some((set.clone(), table.created().shared_bytes())),
                Deals::Joint | Deals::Fixed => None,
            };
            let (task, info) = self.register(table, taken);
            tasks.push((task, info, set, place));
        }
        for (mut task, info, set, place) in tasks {
            if let Some((set, shared_bytes)) = set {
                let runs = sets.entry(set.id).or_insert_with(|| SetThatRuns {
                    set: deal_set::start(self, set),
                    shared: Arc::new(self.shared.live_bytes.hold(shared_bytes)),
                });
                task.deal_set = Some((runs.set.member(), Arc::clone(&runs.shared)));
            }
            let run = Run { matches: self.clone(), info, over: None, place: Some(place) };
            self.spawn(run.of(task));
        }
    }

    fn register(&self, table: Table, mut taken: Option<Taken>) -> (TableTask, Arc<MatchInfo>) {
        let config = &self.shared.config;
        let limits = config.limits;
        let (sender, inbox) = mpsc::channel(limits.inbox_messages);
        let begun = Arc::new(table.info());
        let (info, info_seen) = watch::channel(begun.clone());
        let (deadline, deadline_seen) = watch::channel(None);
        let counts = Arc::new(Counts::new(table.entry_count()));
        if table.outcome().is_some() {
            counts.over();
        }
        let news = Arc::new(Notify::new());
        let stop = self.shared.stop.child_token();
        let bytes = table.entries_from(0).map(Entry::bytes).sum();
        let table = RunningTable {
            held: self.shared.live_bytes.hold(bytes),
            storage: Storage::new(config.journal.clone(), limits.first_retry, limits.last_retry),
            subscribers: Subscribers::new(&limits, Arc::clone(&self.shared.backlog)),
            table,
            info,
            deadline,
            counts: Arc::clone(&counts),
            holders: begun.seats.iter().map(|_| Holder::default()).collect(),
            faults: self.shared.faults.clone(),
            bot_seats: Arc::clone(&self.shared.bot_seats),
            taken: None,
            clock: config.clock.clone(),
            match_entries: limits.match_entries,
            follow_gap_entries: limits.follow_gap_entries,
            stop: stop.clone(),
            news: Arc::clone(&news),
            deal_set: None,
            shared: None,
            measures: self.shared.measures.clone(),
            trace: Trace::none(),
            alarm: None,
            state: State::Whole,
        };
        let table = Arc::new(Mutex::new(table));
        let handle = Handle {
            inbox: sender,
            info: info_seen,
            onlookers: Arc::new(Semaphore::new(limits::TABLE_INBOX_ONLOOKERS)),
            deadline: deadline_seen,
            counts: Arc::clone(&counts),
            table: Arc::clone(&table),
        };
        self.shared.live.write().unwrap_or_else(PoisonError::into_inner).insert(handle);
        // Behind it, as a bot that is told of its seat comes at once.
        self.shared.bot_seats.add(&begun);
        if let Some(taken) = &mut taken {
            taken.begun();
        }
        let task = TableTask {
            table,
            inbox,
            counts,
            news,
            clock: config.clock.clone(),
            alarm: Alarm::default(),
            stop,
            deal_set: None,
            taken,
        };
        (task, begun)
    }
}

/// A table that begins to run, and what is kept for it until its match is over.
pub(super) struct Beginning {
    pub(super) table: Table,
    pub(super) place: Place,
    /// The challenges among its seats.
    pub(super) taken: Option<Taken>,
}

/// A deal set that begins to run.
struct SetThatRuns {
    set: RunningDealSet,
    /// What its matches share in memory, as long as one of them runs.
    shared: Arc<Held>,
}

/// A table that runs. Whatever ends it, a panic too, it is not there any more.
struct Run {
    matches: Matches,
    info: Arc<MatchInfo>,
    over: Option<Over>,
    place: Option<Place>,
}

impl Run {
    async fn of(mut self, mut task: TableTask) {
        self.over = Some(task.run().await);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let Self { matches, info, over, place } = self;
        let shared = &matches.shared;
        // A task that is neither over nor panics is dropped with its runtime.
        let halts = *over == Some(Over::Stopped) || over.is_none() && thread::panicking();
        if halts
            && !shared.stop.is_cancelled()
            && let Some(place) = place.take()
        {
            let why = "the log says before why its task has ended";
            matches.lose(info.match_id, place, info.deals.set(), &why);
        }
        let gone = shared.live.write().unwrap_or_else(PoisonError::into_inner).remove(info.match_id);
        drop(gone);
        shared.bot_seats.remove(info);
        shared.faults.over(info.match_id);
    }
}
