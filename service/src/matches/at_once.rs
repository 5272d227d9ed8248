//! An action that whoever brings it has done at once: decided where it comes in, and applied where the journal says that it is
//! durable.
//!
//! So it waits for no turn of the table's task. That one has all else: what finds the table at work, what has to wait, what ends
//! the match, and what the clock brings.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::message::{Commanded, Handle, Message, Promise};
use super::running_table::{RunningTable, State};
use crate::journal::{AppendOutcome, Cause, Completion, Fetch, Outcome};
use crate::limits;
#[cfg(test)]
use crate::planted::{self, Bug};
use crate::prefetch::Place;
use crate::table::{Change, Command, Decided, Done, Entry, Moment, Rejection};
use crate::traces::{self, Trace};

impl Handle {
    /// Has a command done by whoever asks for it.
    ///
    /// # Errors
    /// The command: it is the task's to do.
    pub(super) fn at_once(&self, asked: Commanded) -> Result<(), Box<Message>> {
        // Nothing overtakes what came before.
        if !matches!(asked.promise.command, Command::Act { .. }) || !self.counts.are_heard() {
            return Err(asked.into());
        }
        let Ok(table) = Arc::clone(&self.table).try_lock_owned() else { return Err(asked.into()) };
        if !self.counts.are_heard() || table.needs_its_task() {
            return Err(asked.into());
        }
        #[cfg(test)]
        if planted::is(Bug::ApplyBeforeDurable) {
            return Err(asked.into());
        }
        // What came after the deadline comes too late, even if the clock has not been looked at since.
        if table.expired(asked.promise.arrival.at.before(limits::EXPIRY_SLACK)).is_some() {
            return Err(asked.into());
        }
        match table.table.decide(&asked.promise.command, asked.promise.arrival) {
            Ok(Decided::Write(changes)) if !changes.iter().any(Change::ends_match) => {
                return write(table, changes, asked);
            }
            Ok(Decided::Write(_) | Decided::TimedOut(_)) => return Err(asked.into()),
            Ok(Decided::Already(done)) => answer(&table, asked, Ok(done)),
            Err(rejection) => answer(&table, asked, Err(rejection)),
        }
        Ok(())
    }
}

/// Answers what needs nothing written.
fn answer(table: &RunningTable, asked: Commanded, done: Result<Done, Rejection>) {
    let Commanded { asked, promise } = asked;
    let _trace = asked.taken(&table.measures, Instant::now());
    promise.keep(done);
}

/// Hands changes in at the journal, with all that is to be done when they are durable.
fn write(
    table: OwnedMutexGuard<RunningTable>,
    changes: Vec<Change>,
    asked: Commanded,
) -> Result<(), Box<Message>> {
    let entries = table.entries(changes);
    // Why not, its task says.
    let Ok(append) = table.storage.append(&table.table, &entries) else { return Err(asked.into()) };
    let journal = table.storage.journal();
    let Commanded { asked, promise } = asked;
    let at = Instant::now();
    let whole = asked.taken(&table.measures, at);
    let begun = table.clock.shown_at(at);
    let writing = traces::stage!(whole, "journal");
    let write = Write { table, entries, promise, whole, writing, begun, at };
    journal.append_then(append, Box::new(Writing(Some(write))));
    Ok(())
}

/// What is being written. If nobody ever says how that ended, it is not known.
struct Writing(Option<Write>);

impl Completion for Writing {
    fn prefetch(&self, step: Fetch) {
        let Some(Write { table, entries, promise, .. }) = &self.0 else { return };
        match step {
            Fetch::First => {
                Place::of(&**OwnedMutexGuard::mutex(table)).fetch();
                Place::of(entries.as_slice()).fetch();
                promise.prefetch();
            }
            Fetch::Next => table.prefetch(),
            Fetch::Last => table.prefetch_readers(),
        }
    }

    fn complete(mut self: Box<Self>, outcome: AppendOutcome) {
        self.ended(outcome);
    }
}

/// The table is nobody else's until it is known how this ended.
struct Write {
    table: OwnedMutexGuard<RunningTable>,
    entries: Vec<Entry>,
    promise: Promise,
    /// The trace of the command, and of what the journal does.
    whole: Trace,
    writing: Trace,
    begun: Moment,
    at: Instant,
}

impl Writing {
    fn ended(&mut self, outcome: AppendOutcome) {
        if let Some(write) = self.0.take() {
            write.ended(outcome);
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.ended(Outcome::Unknown(Cause::new("the journal went away without an answer")));
        }
    }
}

impl Write {
    fn ended(self, outcome: AppendOutcome) {
        let Self { mut table, entries, promise, whole, writing, begun, at } = self;
        drop(writing);
        // One table's panic is nothing to the others whose commit it shares.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let match_id = table.table.match_id();
            let stored = table.storage.written(match_id, entries, outcome, begun);
            table.trace = whole;
            let Promise { command, arrival, .. } = &promise;
            let written = table.written(stored, arrival.at.min(begun), at);
            table.trace = Trace::none();
            let done = written.and_then(|()| table.table.done(command, *arrival).ok_or(Rejection::Damaged));
            (done, table.needs_its_task())
        }));
        let (done, needs_its_task) = done.unwrap_or_else(|_panic| {
            tracing::error!(match_id = %table.table.match_id(), "a table panicked as it changed");
            table.state = State::Changing;
            table.stop.cancel();
            (Err(Rejection::Damaged), true)
        });
        promise.keep(done);
        let news = needs_its_task.then(|| Arc::clone(&table.news));
        drop(table);
        if let Some(news) = news {
            news.notify_one();
        }
    }
}
