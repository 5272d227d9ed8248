//! A session without its sockets: many seats over one stream, which may be cut anywhere.
//!
//! What comes in (messages, a lost stream, what bots chose, the time) are method calls; what is to be
//! done about it comes out of [`Core::next_output`]. The core knows no clock and no socket, so that
//! a test can cut the stream at every point.

mod assigned;
mod backoff;
mod link;
mod messages;
mod queues;
mod records;
mod roster;
mod seat;
mod sending;
mod tag;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant, SystemTime};

use rustc_hash::FxHashMap;
use zetema_proto::FieldError;

use crate::claim::Claim;
use crate::end::End;
use crate::error::{Disconnect, Error, ErrorReason};
use crate::fault::Fault;
use crate::ladder::{QueueState, SessionEvent};
use crate::nonce_secret::NonceSecret;
use crate::outcome::Outcome;
use crate::seat_bot::SeatBot;
use crate::wire::Outgoing;
use crate::work::{Call, Worked};
use assigned::{AssignedSeats, Taking};
use backoff::Backoff;
use link::{Link, Room};
use queues::Queues;
pub(crate) use queues::Wish;
use roster::Roster;
use seat::{Reaction, SeatCore, SeatLink};
use tag::Asked;
pub(crate) use tag::{Change, Key};

/// How a session behaves.
#[derive(Clone, Debug)]
pub(crate) struct CoreSettings {
    pub(crate) server: String,
    pub(crate) client_name: String,
    pub(crate) first_connection_within: Duration,
    pub(crate) give_up_after: Duration,
    pub(crate) records: Records,
    pub(crate) jitter_seed: u64,
    pub(crate) nonce_secret: NonceSecret,
    pub(crate) seats: Seats,
}

/// Which seats a session plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seats {
    /// Those that it is given.
    Given,
    /// Those of the bot whose token its streams are opened with, too.
    OfBot,
}

/// Whether the record of a match is fetched and checked when it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// It is, beside what the seat saw.
    #[default]
    Checked,
    /// It is not: what the seat saw is checked alone. This saves a call for each match.
    Ignored,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Output {
    /// Open a stream; what is sent from here on goes into it.
    Connect,
    /// Close the stream.
    Disconnect,
    /// Send this.
    Send(Outgoing),
    /// Have the seat's bot do this.
    Work { key: Key, bot: SeatBot, calls: Vec<Call> },
    /// Fetch the record of this match, as the player of one of its seats.
    FetchRecord { match_id: String, claim: Claim },
    /// The seat is over.
    Finished {
        #[cfg_attr(not(test), expect(dead_code, reason = "tests tell by it whose outcome it is"))]
        key: Key,
        outcome: Box<Outcome>,
    },
    /// What came of a change of the ladders that the bot waits on.
    Queued { change: Change, answer: Result<Vec<QueueState>, Error> },
    /// Tell this.
    Event(SessionEvent),
    /// No more of the bot's seats are taken, and all that were are over.
    Closed { because: Option<Error> },
}

/// A session without its sockets.
pub(crate) struct Core {
    settings: CoreSettings,
    backoff: Backoff,
    link: Link,
    seats: Roster,
    last_key: u64,
    /// Seats that are to be joined on the current stream.
    apart: BTreeSet<Key>,
    /// Seats whose join is not answered yet.
    joining: BTreeSet<Key>,
    /// The bot's seats, if the streams are opened with a bot's token.
    assigned: Option<AssignedSeats>,
    queues: Queues,
    /// When the last cut that the server told of was.
    last_cut: Option<SystemTime>,
    /// Why the last stream was lost, as far as it told.
    last_loss: LastLoss,
    /// How long to wait when the stream has ended, if its server said that it stops.
    reconnect_after: Option<Duration>,
    /// The time that was told last.
    now: Instant,
    /// By what the server calls them on the current stream.
    handles: FxHashMap<u32, Key>,
    retries: BTreeSet<(Instant, Key, Asked)>,
    /// Matches whose records are fetched, and the seats that wait for them.
    wanted: BTreeMap<String, Vec<Key>>,
    out: VecDeque<Output>,
}

/// Whether a stream that was lost said why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLoss {
    Told,
    Untold,
}

impl Core {
    pub(crate) fn new(settings: CoreSettings, now: Instant) -> Self {
        let assigned = match settings.seats {
            Seats::Given => None,
            Seats::OfBot => Some(AssignedSeats::new()),
        };
        let mut core = Self {
            backoff: Backoff::new(settings.jitter_seed),
            link: Link::new(now),
            settings,
            seats: Roster::default(),
            last_key: 0,
            apart: BTreeSet::new(),
            joining: BTreeSet::new(),
            assigned,
            queues: Queues::new(),
            last_cut: None,
            last_loss: LastLoss::Untold,
            reconnect_after: None,
            now,
            handles: FxHashMap::default(),
            retries: BTreeSet::new(),
            wanted: BTreeMap::new(),
            out: VecDeque::new(),
        };
        if core.assigned.is_some() {
            core.connect(now);
        }
        core
    }

    /// The next thing to do; `None` until something comes in.
    pub(crate) fn next_output(&mut self) -> Option<Output> {
        let next = self.out.pop_front();
        if self.out.is_empty() {
            // The next one comes to where the first was, and not to a place that was not touched for a thousand.
            self.out.clear();
        }
        next
    }

    /// When to call [`Core::tick`] if nothing comes in before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let retry = self.retries.first().map(|&(at, ..)| at);
        [self.link.deadline(), retry, self.queues.deadline()].into_iter().flatten().min()
    }

    /// Whether something is to be sent again.
    #[cfg(test)]
    fn has_retries(&self) -> bool {
        !self.retries.is_empty() || self.queues.deadline().is_some()
    }

    // What comes in.

    /// Plays one more seat.
    pub(crate) fn play(&mut self, now: Instant, claim: Claim) -> Key {
        self.now = now;
        let key = self.add(claim);
        if self.link.is_idle() {
            self.link.rest(now);
            self.connect(now);
        }
        self.join_more();
        key
    }

    fn add(&mut self, claim: Claim) -> Key {
        self.last_key += 1;
        let key = Key(self.last_key);
        let nonce = self.settings.nonce_secret.nonce(&claim);
        self.seats.insert(key, SeatCore::new(claim, nonce));
        self.apart.insert(key);
        key
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.now = now;
        match self.link.expired(now) {
            None => {}
            Some(link::Expired::Wait) => self.connect(now),
            Some(link::Expired::Silence(silence)) => {
                self.out.push_back(Output::Disconnect);
                self.lost(now, Disconnect::Silence(silence));
            }
        }
        while let Some(&(at, key, asked)) = self.retries.first()
            && at <= now
        {
            self.retries.remove(&(at, key, asked));
            self.send_again(key, asked);
        }
        self.queues_tick();
    }

    /// The stream is gone, or could not be opened.
    pub(crate) fn lost(&mut self, now: Instant, why: Disconnect) {
        self.now = now;
        let waited = self.link.lost(now, &mut self.backoff);
        let wait = self.reconnect_after.take();
        let why = match why {
            Disconnect::Refused(refusal) if refusal.reason == ErrorReason::Draining => {
                if let Some(wait) = wait {
                    self.link.wait(now + self.backoff.spread(wait));
                }
                Disconnect::Draining
            }
            why => why,
        };
        // Something on the way may have said why: as a text it can't pass for another line.
        tracing::warn!(server = self.settings.server, reason = why.to_string(), "the connection was lost");
        self.last_loss =
            if matches!(why, Disconnect::Refused(_)) { LastLoss::Told } else { LastLoss::Untold };
        for (_, seat) in self.seats.iter_mut() {
            if !seat.is_over() && matches!(seat.link, SeatLink::Joined { .. }) {
                seat.fault(Fault::Disconnected(why.clone()));
            }
        }
        self.part();
        if let Disconnect::Refused(refusal) = &why
            && matches!(
                refusal.reason,
                ErrorReason::ProtocolRevision | ErrorReason::NotSupported | ErrorReason::Unauthenticated
            )
        {
            self.fail_all(&Error::Refused { asked: "open a stream", refusal: refusal.clone() });
            return;
        }
        // Once there was a stream, a certificate that was renewed wrongly may be mended, and a proxy may have its server back.
        if !self.link.was_ever_open() {
            let server = self.settings.server.clone();
            let problem = match &why {
                Disconnect::Insecure(problem) => Some(Error::Insecure { server, problem: problem.clone() }),
                Disconnect::NotServed => Some(Error::NotServed { server }),
                _ => None,
            };
            if let Some(problem) = problem {
                self.fail_all(&problem);
                return;
            }
        }
        let limit = if self.link.was_ever_open() {
            self.settings.give_up_after
        } else {
            self.settings.first_connection_within
        };
        if waited >= limit {
            let server = self.settings.server.clone();
            self.fail_all(&Error::NoConnection { server, waited, last: why });
        }
    }

    /// No seat is on a stream any more.
    fn part(&mut self) {
        for (key, seat) in self.seats.iter_mut() {
            if !seat.is_over() {
                seat.link = SeatLink::Apart;
                self.apart.insert(key);
            }
        }
        self.handles.clear();
        self.retries.clear();
        self.joining.clear();
    }

    /// The bots of these seats come back next: the seats are fetched for all of them at once.
    pub(crate) fn prefetch_seats(&self, coming: impl Iterator<Item = Key>) {
        self.seats.prefetch(coming);
    }

    /// A bot has done what it was asked. It goes back to its seat, if that is still there.
    pub(crate) fn worked(&mut self, key: Key, bot: SeatBot, worked: Worked) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        let reaction = seat.worked(bot, worked);
        self.react(key, reaction);
    }

    /// Ends all seats, at once: a bot that is at work is left to itself.
    pub(crate) fn stop(&mut self) {
        self.drop_change(&Error::Finished);
        self.take_no_more(None);
        for key in self.keys() {
            if let Some(seat) = self.seats.get_mut(key) {
                seat.abandon_bot_at_work();
                seat.close(None);
            }
            self.end(key, End::Stopped);
        }
    }

    /// Takes no more of the bot's seats, once the ladders can give it none.
    pub(crate) fn finish(&mut self) {
        if !self.leave_ladders() {
            self.take_no_more(None);
        }
    }

    fn take_no_more(&mut self, because: Option<Error>) {
        if let Some(assigned) = &mut self.assigned {
            assigned.take_no_more(because);
        }
        self.close_if_done();
    }

    // What it comes to.

    /// All seats, in the order in which they were given.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.seats.keys().collect();
        keys.sort_unstable();
        keys
    }

    fn seat_of(&mut self, key: Option<Key>) -> Option<(Key, &mut SeatCore)> {
        let key = key?;
        self.seats.get_mut(key).filter(|seat| !seat.is_over()).map(|seat| (key, seat))
    }

    fn react_or_fail(&mut self, key: Key, reaction: Result<Reaction, FieldError>) {
        match reaction {
            Ok(reaction) => self.react(key, reaction),
            Err(error) => self.fail(key, &error),
        }
    }

    fn react(&mut self, key: Key, reaction: Reaction) {
        match reaction {
            Reaction::Fine => {}
            Reaction::SendAll => {
                for asked in [Asked::Nonce, Asked::Act, Asked::Resign] {
                    self.send_owed(key, asked);
                }
            }
            Reaction::Send(asked) => self.send_owed(key, asked),
            Reaction::Rejoin => self.send_join(key),
        }
        self.advance(key);
    }

    /// Gives the bot what it is to do, and hands out the outcome when all is done.
    fn advance(&mut self, key: Key) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        if let Some((bot, calls)) = seat.next_calls() {
            self.out.push_back(Output::Work { key, bot, calls });
        }
        if seat.is_done()
            && let Some(seat) = self.seats.remove(key)
        {
            self.apart.remove(&key);
            self.joining.remove(&key);
            let outcome = Box::new(seat.into_outcome());
            if let Some(assigned) = &mut self.assigned {
                assigned.over(&outcome.claim, &outcome.end);
            }
            let match_id = outcome.info.as_ref().map(|info| info.match_id.as_str());
            let seat = outcome.info.as_ref().map(|info| info.seat.index());
            let end = outcome.end.in_log();
            tracing::info!(match_id, seat, end, deal = %outcome.deal, "a seat is over");
            self.out.push_back(Output::Finished { key, outcome });
            self.close_if_done();
            if let Some(Room { seats, .. }) = self.link.room()
                && self.assigned.as_ref().is_some_and(|assigned| assigned.wants_welcome(seats))
            {
                self.renew();
            }
            self.join_more();
        }
    }

    /// Closes the stream when there is nothing to play on it, and nothing to come.
    fn close_if_done(&mut self) {
        if let (true, Some(assigned), Some(Room { seats, .. })) =
            (self.seats.is_empty(), &mut self.assigned, self.link.room())
            && !assigned.wants_welcome(seats)
        {
            assigned.nothing_is_left();
        }
        if !self.seats.is_empty() || self.assigned.as_ref().is_some_and(AssignedSeats::takes) {
            return;
        }
        if !self.link.is_idle() {
            self.link.close();
            self.handles.clear();
            self.out.push_back(Output::Disconnect);
        }
        if let Some(assigned) = &mut self.assigned
            && let Taking::NoMore { because } = &assigned.taking
        {
            self.out.push_back(Output::Closed { because: because.clone() });
            assigned.taking = Taking::Ended;
        }
    }

    fn over(&mut self, key: Key, end: End) {
        let records = self.settings.records;
        let Some((_, seat)) = self.seat_of(Some(key)) else { return };
        seat.wait_for_record(end);
        match records {
            Records::Checked => self.want_record(key),
            Records::Ignored => seat.close(None),
        }
        self.advance(key);
    }

    fn end(&mut self, key: Key, end: End) {
        let Some(seat) = self.seats.get_mut(key) else { return };
        seat.ended(end);
        self.advance(key);
    }

    /// The server sent what it should not have: this seat can't go on.
    fn fail(&mut self, key: Key, error: &FieldError) {
        self.leave(key);
        self.end(key, End::Failed(Error::Protocol { problem: error.to_string() }));
    }

    fn fail_all(&mut self, error: &Error) {
        self.drop_change(error);
        if let Some(assigned) = &mut self.assigned {
            assigned.take_no_more(Some(error.clone()));
        }
        for key in self.keys() {
            self.end(key, End::Failed(error.clone()));
        }
        self.close_if_done();
    }
}
