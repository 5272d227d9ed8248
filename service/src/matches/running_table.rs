//! A running match: its table, where it is stored, and who looks on.
//!
//! Whoever has the lock changes it. What seldom happens its task does; an action is mostly done by whoever brings it
//! ([`at_once`](super::at_once)).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use zetema_proto::v1::{self, player_fault};
use zetema_proto::{Views, Wire};
use zetema_rules::{AbortReason, Outcome, Seat, Viewer};

use super::bot_seats::AllBotSeats;
use super::deal_set::DealSetMember;
use super::hold::Holder;
use super::live_bytes::Held;
use super::message::{Commanded, Counts, Followed, JoinSeat, Joined, Message, Subscribed};
use super::player_faults::PlayerFaults;
use super::storage::{Lost, Storage, Stored};
use super::subscribers::Subscribers;
use super::subscription::{Past, Running};
use super::task::Over;
use super::{Audience, Clock, PlayerFault};
use crate::challenges::{ChallengeOver, Taken};
use crate::journal::UnixMillis;
use crate::limits;
use crate::metrics::TableMeasures;
#[cfg(test)]
use crate::planted::{self, Bug};
use crate::prefetch::Place;
#[cfg(test)]
use crate::table::Snapshot;
use crate::table::{
    Abort, Arrival, Change, Command, Decided, Done, Effect, Entry, MatchInfo, Moment, Rejection, SeatAccess,
    Table, TableEvent,
};
use crate::traces::{self, Trace};

/// A running match.
pub(super) struct RunningTable {
    pub(super) table: Table,
    pub(super) storage: Storage,
    pub(super) subscribers: Subscribers,
    pub(super) info: watch::Sender<Arc<MatchInfo>>,
    pub(super) deadline: watch::Sender<Option<Moment>>,
    pub(super) counts: Arc<Counts>,
    /// Who holds each seat.
    pub(super) holders: Vec<Holder>,
    pub(super) faults: Arc<PlayerFaults>,
    pub(super) bot_seats: Arc<AllBotSeats>,
    /// The challenges among its seats.
    pub(super) taken: Option<Taken>,
    pub(super) clock: Arc<dyn Clock>,
    /// How many entries the match may have, and how many a reader may miss who follows it live.
    pub(super) match_entries: usize,
    pub(super) follow_gap_entries: usize,
    pub(super) stop: CancellationToken,
    /// Tells its task that something was done without it that it has to know of.
    pub(super) news: Arc<Notify>,
    pub(super) deal_set: Option<DealSetMember>,
    /// The memory of what has happened in it, and of what it shares with the matches of its deal set.
    pub(super) held: Held,
    pub(super) shared: Option<Arc<Held>>,
    pub(super) measures: Arc<TableMeasures>,
    /// The trace of what is done now.
    pub(super) trace: Trace,
    /// When its task looks at the clock, if it waits for that.
    pub(super) alarm: Option<Moment>,
    pub(super) state: State,
}

/// Whether a table is what its entries say, and goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is.
    Whole,
    /// Something is being applied. Who finds it so has the lock of one who panicked meanwhile.
    Changing,
    /// It can't be written here any more.
    Lost,
    /// Its task is over.
    Left,
}

impl RunningTable {
    /// Has fetched what an action needs beside what is in here.
    pub(super) fn prefetch(&self) {
        Place::of(&*self.counts).fetch();
        self.table.prefetch();
        self.subscribers.prefetch();
    }

    /// Has fetched what players are called by when they are shown something.
    pub(super) fn prefetch_readers(&self) {
        self.subscribers.prefetch_readers();
    }

    /// Whether the match is over.
    pub(super) fn is_over(&self) -> bool {
        self.table.outcome().is_some()
    }

    /// What is due by itself.
    pub(super) fn due(&self) -> Option<Vec<Change>> {
        let too_long = self.table.too_long(self.match_entries);
        if too_long.is_some() {
            tracing::warn!(match_id = %self.table.match_id(), entries = self.table.entry_count(), "a match is too long");
        }
        too_long.or_else(|| self.table.next_change())
    }

    /// What is due when its deadline has passed.
    ///
    /// # Errors
    /// How its task is over.
    pub(super) async fn expire(&mut self) -> Result<(), Over> {
        // Its alarm may be an earlier decision's, and ring before what was received in time has had its time to come in.
        match self.expired(self.clock.now().before(limits::EXPIRY_SLACK)) {
            Some(changes) => self.write_or_stop(changes).await,
            None => Ok(()),
        }
    }

    /// Makes changes that come about by themselves.
    ///
    /// # Errors
    /// How its task is over.
    pub(super) async fn write_or_stop(&mut self, changes: Vec<Change>) -> Result<(), Over> {
        match self.write(changes).await {
            Ok(()) | Err(Rejection::OutcomeUnknown) => Ok(()),
            Err(_) => Err(Over::Stopped),
        }
    }

    /// When the clock brings something if nothing else comes before. Its task waits for that from now on.
    pub(super) fn set_alarm(&mut self) -> Option<Moment> {
        let deadline = self.deadline();
        if !self.table.is_dealt() {
            self.deadline.send_if_modified(|shown| std::mem::replace(shown, deadline) != deadline);
        }
        self.alarm = deadline;
        deadline
    }

    /// When its time is out: what was received before has a little more to come in.
    fn deadline(&self) -> Option<Moment> {
        self.table.deadline().map(|deadline| deadline.after(limits::EXPIRY_SLACK))
    }

    /// Whether its task has something to do, or waits for longer than it may.
    pub(super) fn needs_its_task(&self) -> bool {
        let is_earlier = |deadline| self.alarm.is_none_or(|alarm| deadline < alarm);
        self.deadline().is_some_and(is_earlier)
            || self.state != State::Whole
            || self.is_over()
            || self.storage.retry_at().is_some()
            || self.table.next_change().is_some()
            || self.table.too_long(self.match_entries).is_some()
    }

    /// Looks at what is stored while that is not known. Then its clock runs on.
    ///
    /// # Errors
    /// How its task is over.
    pub(super) async fn read_back(&mut self) -> Result<(), Over> {
        match self.storage.read_back(&self.table, self.clock.now()).await {
            Ok(Some(entries)) => {
                let publish = traces::stage!(self.trace, "publish");
                let applied = publish.in_scope(|| self.apply(entries, self.clock.now()));
                self.table.run_clock(self.clock.now().after(limits::RESEND_GRACE));
                applied.map_err(|_| Over::Stopped)
            }
            Ok(None) => Ok(()),
            Err(Lost) => {
                self.state = State::Lost;
                Err(Over::Stopped)
            }
        }
    }

    pub(super) async fn receive(&mut self, message: Message) {
        // Whoever asked may be gone: then nobody hears the answer, and that is all.
        match message {
            Message::Command(Commanded { asked, promise }) => {
                self.trace = asked.taken(&self.measures, Instant::now());
                let done = self.settle(&promise.command, promise.arrival).await;
                self.trace = Trace::none();
                promise.keep(done);
            }
            Message::Join { join, arrival, asked, reply } => {
                self.trace = asked.taken(&self.measures, Instant::now());
                let JoinSeat { access, nonce_hash, bot_token: _, earlier: _ } = join;
                let joined = self.settle(&Command::Join { access, nonce_hash }, arrival).await;
                self.trace = Trace::none();
                let _ = reply.send(joined.and_then(|_| self.take_seat(join)));
            }
            Message::HasMissed { access, after_seq, reply } => {
                let _ = reply.send(self.has_missed(access, after_seq));
            }
            Message::Subscribe { audience, after_seq, views, reply, turn: _turn } => {
                let _ = reply.send(self.subscribe(audience, after_seq, views));
            }
            Message::SubscribeAtOnce { audience, after_seq, views, reply, turn: _turn } => {
                let _ = reply.send(self.subscribe_at_once(audience, after_seq, views));
            }
            Message::Follow { audience, entries, views, reply, turn: _turn } => {
                let _ = reply.send(self.follow(audience, entries, views));
            }
        }
    }

    async fn settle(&mut self, command: &Command, arrival: Arrival) -> Result<Done, Rejection> {
        if self.storage.retry_at().is_some() {
            return Err(Rejection::OutcomeUnknown);
        }
        // What came after the deadline comes too late, even if the clock has not been looked at since.
        if let Some(changes) = self.expired(arrival.at.before(limits::EXPIRY_SLACK)) {
            self.write(changes).await?;
        }
        loop {
            match self.table.decide(command, arrival)? {
                Decided::Already(done) => return Ok(done),
                Decided::Write(changes) => {
                    self.write_what_came(changes, arrival.at).await?;
                    return self.table.done(command, arrival).ok_or(Rejection::Damaged);
                }
                // It changes what is to be decided: this number is over then.
                Decided::TimedOut(changes) => self.write(changes).await?,
            }
        }
    }

    /// What the clock brings, with who is here.
    pub(super) fn expired(&self, now: Moment) -> Option<Vec<Change>> {
        let is_here =
            |seat: Seat| self.holders[seat.index()].is_arriving() || self.subscribers.has_anyone(seat);
        self.table.expired(now, is_here)
    }

    /// Makes changes durable, then applies and publishes them (I1).
    async fn write(&mut self, changes: Vec<Change>) -> Result<(), Rejection> {
        self.write_what_came(changes, self.clock.now()).await
    }

    /// The same with changes that something brings about which came then. If it is not known how that ends, the clock stands there: who
    /// was in time is so when it comes again.
    async fn write_what_came(&mut self, changes: Vec<Change>, came: Moment) -> Result<(), Rejection> {
        let entries = self.entries(changes);
        let begun = self.clock.now();
        #[cfg(test)]
        if planted::is(Bug::ApplyBeforeDurable) {
            let before = self.table.clone();
            self.apply(entries.clone(), self.clock.now())?;
            let _ = self.storage.write(&before, entries, begun).await;
            return Ok(());
        }
        let asked = Instant::now();
        let journal = traces::stage!(self.trace, "journal").into_span();
        let stored = self.storage.write(&self.table, entries, begun).instrument(journal).await;
        self.written(stored, came.min(begun), asked)
    }

    /// These changes, as they come about now.
    pub(super) fn entries(&self, changes: Vec<Change>) -> Vec<Entry> {
        let at = self.clock.wall();
        changes.into_iter().map(|change| Entry { at, change }).collect()
    }

    /// Takes in how a write ended of what came then.
    pub(super) fn written(&mut self, stored: Stored, came: Moment, asked: Instant) -> Result<(), Rejection> {
        match stored {
            Stored::Durable(entries) => {
                let durable = Instant::now();
                self.measures.journal_seconds.record((durable - asked).as_secs_f64());
                let publish = traces::stage!(self.trace, "publish");
                let now = self.clock.shown_at(durable);
                let applied = publish.in_scope(|| self.apply(entries, now));
                self.measures.publish_seconds.record(durable.elapsed().as_secs_f64());
                applied
            }
            Stored::NotKnown => {
                self.table.stop_clock(came);
                Err(Rejection::OutcomeUnknown)
            }
            Stored::Lost => {
                self.state = State::Lost;
                self.stop.cancel();
                Err(Rejection::Damaged)
            }
        }
    }

    fn apply(&mut self, entries: Vec<Entry>, now: Moment) -> Result<(), Rejection> {
        self.state = State::Changing;
        for entry in entries {
            let (at, bytes) = (entry.at, entry.bytes());
            let rotated = match entry.change {
                Change::SeatTokenRotated { seat, .. } => Some(seat),
                _ => None,
            };
            let shows = !matches!(
                entry.change,
                Change::Acted { .. } | Change::Faulted { .. } | Change::NonceGiven { .. }
            );
            let effect = self.table.apply(entry, now).map_err(|error| {
                tracing::error!(match_id = %self.table.match_id(), %error, "a table can't apply what is durable");
                self.stop.cancel();
                Rejection::Damaged
            })?;
            self.held.add(bytes);
            self.counts.entries.store(self.table.entry_count(), Ordering::Relaxed);
            if self.table.outcome().is_some() {
                self.counts.over();
                self.leave_seats();
            }
            if shows {
                self.info.send_replace(Arc::new(self.table.info()));
            }
            self.subscribers.publish(&self.table, &effect);
            self.note_faults(&effect, at);
            if let Some(seat) = rotated {
                self.subscribers.replace_token(seat);
            }
        }
        if let Some(deal_set) = &mut self.deal_set {
            deal_set.report(&self.table);
        }
        self.state = State::Whole;
        Ok(())
    }

    /// The bots play it no more: known before anybody hears of its end, so that who hears of it may challenge them again.
    fn leave_seats(&mut self) {
        let info = self.info.borrow().clone();
        self.bot_seats.remove(&info);
        if let Some(taken) = self.taken.take() {
            taken.over(&self.over(&info));
        }
    }

    /// How the match of challenges was over, for those who challenged.
    fn over(&self, info: &MatchInfo) -> ChallengeOver {
        if self.table.is_dealt() {
            return ChallengeOver::Dealt;
        }
        match self.table.outcome() {
            Some(Outcome::Aborted { reason: AbortReason::NoShow | AbortReason::NonceMissing, seats }) => {
                let absent = info.seats.iter().filter(|seat| seats.contains(&seat.seat));
                ChallengeOver::Idle { absent: absent.filter_map(|seat| seat.bot.clone()).collect() }
            }
            Some(Outcome::Aborted { reason: AbortReason::Cancelled | AbortReason::Idle, .. }) => {
                ChallengeOver::Idle { absent: BTreeSet::new() }
            }
            _ => ChallengeOver::NotDealt,
        }
    }

    /// Notes what was not decided in time, and who was not there in time, for the authors of the seats.
    fn note_faults(&self, effect: &Effect, at: UnixMillis) {
        for event in effect.table_events() {
            match event {
                &TableEvent::TimedOut { seat, decision, strikes } => {
                    let timed_out = v1::TimedOut { seat: seat.to_wire(), decision_number: decision, strikes };
                    self.note_fault(seat, player_fault::Kind::TimedOut(timed_out), at);
                }
                TableEvent::Aborted(Abort {
                    reason: reason @ (AbortReason::NoShow | AbortReason::NonceMissing),
                    seats,
                }) => {
                    for seat in seats {
                        let no_show = v1::NoShow { reason: reason.to_wire() };
                        self.note_fault(*seat, player_fault::Kind::NoShow(no_show), at);
                    }
                }
                _ => {}
            }
        }
    }

    fn note_fault(&self, seat: Seat, kind: player_fault::Kind, at: UnixMillis) {
        let fault = PlayerFault { at, count: 1, match_id: self.table.match_id(), seat, kind };
        // It runs as long as this does.
        self.faults.note(&self.info.borrow().clone(), fault, || true);
    }

    /// A join that does not bring the hash again comes from someone who can't send the nonce: it must not take the seat
    /// from a player who can, or the match would never be dealt. Nor does a token that was rotated take it from a later one.
    fn take_seat(&mut self, join: JoinSeat) -> Result<Joined, Rejection> {
        let JoinSeat { access: SeatAccess { seat, .. }, bot_token, nonce_hash, earlier } = join;
        let holder = &mut self.holders[seat.index()];
        let same_player = nonce_hash.is_some() || earlier == Some(holder.hold());
        let has_player = holder.is_arriving() || self.subscribers.has_player(seat);
        if !same_player && has_player && self.table.awaits_nonce_of(seat) {
            return Err(Rejection::NoncePromised);
        }
        if let Some(token) = bot_token {
            self.bot_seats.join(&self.info.borrow(), seat, token)?;
        }
        self.subscribers.supersede(seat);
        let (hold, arriving) = holder.join();
        Ok(Joined { hold, info: (**self.info.borrow()).clone(), arriving })
    }

    fn subscribe(
        &mut self,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
    ) -> Result<Subscribed, Rejection> {
        if let Some(subscribed) = self.subscribe_at_once(audience, after_seq, views)? {
            return Ok(subscribed);
        }
        // Else all would be replayed in vain.
        self.subscribers.check_room(audience)?;
        let start = self.table.restart().map_err(|_| Rejection::Damaged)?;
        let entries = self.table.shared_entries_from(1);
        let (info, past) = (self.info.borrow().clone(), Past::new(Box::new(start), entries, None));
        Ok(Subscribed::Past { info, past, running: self.running() })
    }

    /// The same, unless something would have to be replayed.
    fn subscribe_at_once(
        &mut self,
        audience: Audience,
        after_seq: Option<u64>,
        views: Views,
    ) -> Result<Option<Subscribed>, Rejection> {
        self.check_audience(audience)?;
        let viewer = audience.viewer();
        let info = self.info.borrow().clone();
        let last = self.table.seq(viewer);
        match after_seq {
            None => {
                let live = self.subscribers.add(audience, views)?;
                let snapshot = Box::new(self.table.snapshot(viewer, self.clock.now()));
                #[cfg(test)]
                let snapshot = self.missing_last(viewer).unwrap_or(snapshot);
                Ok(Some(Subscribed::Snapshot { snapshot, info, live }))
            }
            Some(after) if after > last => Err(Rejection::CursorAhead { last }),
            Some(after) if after == last => {
                let live = self.subscribers.add(audience, views)?;
                Ok(Some(Subscribed::Resumed { info, live, running: self.running() }))
            }
            Some(_) => Ok(None),
        }
    }

    /// The decision whose clock runs.
    fn running(&self) -> Option<Running> {
        let running = self.table.elapsed_ms(self.clock.now()).zip(self.table.decision());
        running.map(|(elapsed_ms, decision)| Running { decision, elapsed_ms })
    }

    /// A bug: the snapshot of the moment before the last event, with the number of that event.
    #[cfg(test)]
    fn missing_last(&self, viewer: Viewer) -> Option<Box<Snapshot>> {
        let kept =
            self.table.entry_count().checked_sub(2).filter(|_| planted::is(Bug::SnapshotMissesLast))?;
        let mut table = self.table.restart().ok()?;
        for entry in self.table.entries_from(1).take(kept) {
            table.apply(entry.clone(), self.clock.now()).ok()?;
        }
        Some(Box::new(Snapshot { seq: self.table.seq(viewer), ..table.snapshot(viewer, self.clock.now()) }))
    }

    fn follow(&mut self, audience: Audience, entries: usize, views: Views) -> Result<Followed, Rejection> {
        self.check_audience(audience)?;
        let missed = self.table.shared_entries_from(entries);
        if missed.len() > self.follow_gap_entries {
            return Ok(Followed::More(missed));
        }
        Ok(Followed::Live { missed, live: self.subscribers.add(audience, views)? })
    }

    /// Whether a seat has observations after this one. It adds nobody to those who look on, of whom there may be as many as may be.
    fn has_missed(&self, access: SeatAccess, after_seq: u64) -> Result<bool, Rejection> {
        self.table.check_access(access)?;
        match self.table.seq(Viewer::Seat(access.seat)) {
            last if after_seq > last => Err(Rejection::CursorAhead { last }),
            last => Ok(after_seq < last),
        }
    }

    fn check_audience(&self, audience: Audience) -> Result<(), Rejection> {
        if let Some(access) = audience.access() {
            self.table.check_access(access)?;
        }
        match (audience, audience.viewer()) {
            (Audience::Player(_, hold), Viewer::Seat(seat)) if self.holders[seat.index()].hold() != hold => {
                Err(Rejection::Superseded)
            }
            _ => Ok(()),
        }
    }
}
