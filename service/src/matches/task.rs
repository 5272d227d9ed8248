//! The task of a running table: what comes into its inbox, and what the clock brings.

use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard, Notify, mpsc};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use super::Clock;
use super::alarm::Alarm;
use super::deal_set::DealSetMember;
use super::live_bytes::Held;
use super::message::{Counts, Message};
use super::running_table::{RunningTable, State};
use super::subscribers::End;
use crate::challenges::Taken;
use crate::table::Moment;

/// The task of a running table.
pub(super) struct TableTask {
    pub(super) table: Arc<Mutex<RunningTable>>,
    pub(super) inbox: mpsc::Receiver<Box<Message>>,
    pub(super) counts: Arc<Counts>,
    /// Told when something was done without it that it has to know of.
    pub(super) news: Arc<Notify>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) alarm: Alarm,
    pub(super) stop: CancellationToken,
    /// The deal set that the match is of, and what it shares with the others.
    pub(super) deal_set: Option<(DealSetMember, Arc<Held>)>,
    /// The challenges among its seats, until the table has them.
    pub(super) taken: Option<Taken>,
}

/// The wait for the server's stop, which is kept from one turn to the next.
type Stopped<'turn, 'token> = Pin<&'turn mut WaitForCancellationFuture<'token>>;

/// Why the task is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The match has ended.
    Ended,
    /// The server stops, or the match can't go on here. The log says why.
    Stopped,
}

impl TableTask {
    /// Runs the match to its end, or until the server stops.
    pub(super) async fn run(&mut self) -> Over {
        Box::pin(self.begin()).await;
        let stop = self.stop.clone();
        let stopped = stop.cancelled();
        let mut stopped = pin!(stopped);
        let over = loop {
            if let Err(over) = self.turn(stopped.as_mut()).await {
                break over;
            }
        };
        Box::pin(self.end(over)).await;
        over
    }

    async fn end(&self, over: Over) {
        // What is being written comes before.
        let mut table = self.table.lock().await;
        let end = match (over, table.table.outcome()) {
            (Over::Ended, Some(outcome)) => End::Over(outcome.clone()),
            _ => End::Stopped,
        };
        table.subscribers.finish_all(&end);
        table.state = State::Left;
        tracing::debug!(match_id = %table.table.match_id(), ?end, "a table is done");
    }

    async fn begin(&mut self) {
        let (deal_set, taken) = (self.deal_set.take(), self.taken.take());
        let mut table = self.table.lock().await;
        table.taken = taken;
        let RunningTable { table: state, .. } = &*table;
        tracing::debug!(match_id = %state.match_id(), entries = state.entry_count(), "a table runs");
        let Some((mut member, shared)) = deal_set else { return };
        member.report(&table.table);
        (table.deal_set, table.shared) = (Some(member), Some(shared));
    }

    /// Does one thing: what is due by itself, else what comes in, else what the clock brings. What it does is boxed, or every match
    /// that waits would have room for the largest of it.
    async fn turn(&mut self, stopped: Stopped<'_, '_>) -> Result<(), Over> {
        let mut table = self.lock().await?;
        if table.is_over() {
            return Err(Over::Ended);
        }
        if let Some(retry) = table.storage.retry_at() {
            drop(table);
            return Box::pin(self.wait_for_storage(retry, stopped)).await;
        }
        if let Some(changes) = table.due() {
            return Box::pin(table.write_or_stop(changes)).await;
        }
        let deadline = table.set_alarm();
        drop(table);
        // In this order: what has arrived beats the clock.
        tokio::select! {
            biased;
            () = stopped => Err(Over::Stopped),
            message = self.inbox.recv() => Box::pin(self.receive(message)).await,
            () = self.news.notified() => Ok(()),
            () = self.alarm.wait(&*self.clock, deadline) => Box::pin(self.expire()).await,
        }
    }

    /// While it is not known what is stored, nothing changes and no clock runs.
    async fn wait_for_storage(&mut self, retry: Moment, stopped: Stopped<'_, '_>) -> Result<(), Over> {
        tokio::select! {
            biased;
            () = stopped => Err(Over::Stopped),
            () = self.alarm.wait(&*self.clock, Some(retry)) => self.lock().await?.read_back().await,
            message = self.inbox.recv() => self.receive(message).await,
        }
    }

    async fn expire(&self) -> Result<(), Over> {
        self.lock().await?.expire().await
    }

    async fn receive(&mut self, message: Option<Box<Message>>) -> Result<(), Over> {
        let message = message.ok_or(Over::Stopped)?;
        let mut table = self.lock().await?;
        self.counts.taken();
        table.receive(*message).await;
        Ok(())
    }

    /// The table, if it is whole: else nothing more is decided by it.
    async fn lock(&self) -> Result<MutexGuard<'_, RunningTable>, Over> {
        let table = self.table.lock().await;
        if table.state == State::Whole { Ok(table) } else { Err(Over::Stopped) }
    }
}
