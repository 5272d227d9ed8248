//! A session without its sockets: many seats over one stream, which may be cut anywhere.
//!
//! What comes in (messages, a lost stream, what bots chose, the time) are method calls; what is to be
//! done about it comes out of [`Core::next_output`]. The core knows no clock and no socket, so that
//! a test can cut the stream at every point.

mod backoff;
mod link;
mod messages;
mod seat;
mod tag;
#[cfg(test)]
mod tests;
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use zetema_proto::{FieldError, v1};
use zetema_rules::Record;
use zetema_rules::fair::Nonce;

use crate::end::End;
use crate::error::{Disconnect, Error, ErrorReason, Refusal};
use crate::fault::Fault;
use crate::outcome::Outcome;
use crate::token::SeatToken;
use backoff::Backoff;
use link::Link;
use seat::{Reaction, SeatCore, SeatLink};
pub(crate) use tag::Key;
use tag::{Asked, tag};
pub(crate) use work::{Answer, Call, Worked};

/// How a session behaves.
#[derive(Clone, Debug)]
pub(crate) struct CoreSettings {
    pub(crate) server: String,
    pub(crate) client_name: String,
    pub(crate) first_connection_within: Duration,
    pub(crate) give_up_after: Duration,
    pub(crate) records: Records,
    pub(crate) jitter_seed: u64,
}

/// Whether the record of a match is fetched and checked when it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// It is, beside what the seat saw.
    #[default]
    Checked,
    /// It is not: what the seat saw is checked alone. This saves a call for each seat.
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
    Send(Box<v1::PlayRequest>),
    /// Have the seat's bot do this.
    Work { key: Key, calls: Vec<Call> },
    /// Fetch the record of this match with this token.
    FetchRecord { key: Key, match_id: String, token: SeatToken },
    /// The seat is over.
    Finished { key: Key, outcome: Box<Outcome> },
}

/// A session without its sockets.
pub(crate) struct Core {
    settings: CoreSettings,
    backoff: Backoff,
    link: Link,
    seats: BTreeMap<Key, SeatCore>,
    last_key: u64,
    /// Seats that are to be joined on the current stream.
    apart: BTreeSet<Key>,
    handles: BTreeMap<u32, Key>,
    retries: BTreeSet<(Instant, Key, Asked)>,
    refusals: BTreeMap<Key, u32>,
    out: VecDeque<Output>,
}

impl Core {
    pub(crate) fn new(settings: CoreSettings, now: Instant) -> Self {
        Self {
            backoff: Backoff::new(settings.jitter_seed),
            link: Link::new(now),
            settings,
            seats: BTreeMap::new(),
            last_key: 0,
            apart: BTreeSet::new(),
            handles: BTreeMap::new(),
            retries: BTreeSet::new(),
            refusals: BTreeMap::new(),
            out: VecDeque::new(),
        }
    }

    /// The next thing to do; `None` until something comes in.
    pub(crate) fn next_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to call [`Core::tick`] if nothing comes in before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let retry = self.retries.first().map(|&(at, ..)| at);
        [self.link.deadline(), retry].into_iter().flatten().min()
    }

    /// Whether something is to be sent again.
    #[cfg(test)]
    fn has_retries(&self) -> bool {
        !self.retries.is_empty()
    }

    // What comes in.

    /// Plays one more seat.
    pub(crate) fn play(&mut self, now: Instant, token: SeatToken, nonce: Nonce) -> Key {
        self.last_key += 1;
        let key = Key(self.last_key);
        self.seats.insert(key, SeatCore::new(token, nonce));
        self.apart.insert(key);
        if self.link.is_idle() {
            self.link.rest(now);
            self.connect(now);
        }
        self.join_more();
        key
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Instant) {
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
    }

    /// The stream is gone, or could not be opened.
    pub(crate) fn lost(&mut self, now: Instant, why: Disconnect) {
        let waited = self.link.lost(now, &mut self.backoff);
        tracing::warn!(server = self.settings.server, reason = %why, "the connection was lost");
        for (key, seat) in &mut self.seats {
            if seat.is_over() {
                continue;
            }
            if matches!(seat.link, SeatLink::Joined { .. }) {
                seat.fault(Fault::Disconnected(why.clone()));
            }
            seat.link = SeatLink::Apart;
            self.apart.insert(*key);
        }
        self.handles.clear();
        self.retries.clear();
        if let Disconnect::Refused(refusal) = &why
            && matches!(refusal.reason, ErrorReason::ProtocolRevision | ErrorReason::NotSupported)
        {
            self.fail_all(&Error::Refused { asked: "open a stream", refusal: refusal.clone() });
            return;
        }
        // Once there was a stream, a certificate that was renewed wrongly may be mended.
        if let Disconnect::Insecure(problem) = &why
            && !self.link.was_ever_open()
        {
            let server = self.settings.server.clone();
            self.fail_all(&Error::Insecure { server, problem: problem.clone() });
            return;
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

    /// A bot has done what it was asked.
    pub(crate) fn worked(&mut self, key: Key, worked: Worked) {
        let Some(seat) = self.seats.get_mut(&key) else { return };
        let reaction = seat.worked(worked);
        self.react(key, reaction);
    }

    /// The record of a seat's match, or why there is none.
    pub(crate) fn record(&mut self, key: Key, record: Result<Box<Record>, Refusal>) {
        let Some(seat) = self.seats.get_mut(&key) else { return };
        let record = match record {
            Ok(record) => Some(record),
            Err(refusal) => {
                seat.fault(Fault::Refused { asked: "show the record", refusal });
                None
            }
        };
        seat.close(record.as_deref());
        self.advance(key);
    }

    /// Ends all seats, at once: a bot that is at work is left to itself.
    pub(crate) fn stop(&mut self) {
        let keys: Vec<Key> = self.seats.keys().copied().collect();
        for key in keys {
            if let Some(seat) = self.seats.get_mut(&key) {
                seat.abandon_bot_at_work();
                seat.close(None);
            }
            self.end(key, End::Stopped);
        }
    }

    // What it comes to.

    fn seat_of(&mut self, key: Option<Key>) -> Option<(Key, &mut SeatCore)> {
        let key = key?;
        self.seats.get_mut(&key).filter(|seat| !seat.is_over()).map(|seat| (key, seat))
    }

    fn connect(&mut self, now: Instant) {
        self.link.connecting(now);
        self.out.push_back(Output::Connect);
        let hello = v1::Hello {
            client_name: self.settings.client_name.clone(),
            protocol_revision: zetema_proto::PROTOCOL_REVISION,
            capacity: None,
            live_seats_token: String::new(),
        };
        self.send_now(0, 0, v1::play_request::Kind::Hello(hello));
    }

    /// Joins seats that are apart, as many as the server allows on a stream.
    fn join_more(&mut self) {
        let Some(most) = self.link.most_seats() else { return };
        while self.seats.len() - self.apart.len() < most
            && let Some(key) = self.apart.pop_first()
        {
            self.send_join(key);
        }
    }

    fn send_join(&mut self, key: Key) {
        if let Some(seat) = self.seats.get_mut(&key) {
            seat.link = SeatLink::Joining;
            let join = seat.join();
            self.send(tag(key, Asked::Join), 0, v1::play_request::Kind::Join(join));
        }
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
        let Some(seat) = self.seats.get_mut(&key) else { return };
        if let Some(calls) = seat.next_calls() {
            self.out.push_back(Output::Work { key, calls });
        }
        if seat.is_done()
            && let Some(seat) = self.seats.remove(&key)
        {
            self.apart.remove(&key);
            self.refusals.remove(&key);
            let outcome = Box::new(seat.into_outcome());
            let match_id = outcome.info.as_ref().map(|info| info.match_id.as_str());
            let seat = outcome.info.as_ref().map(|info| info.seat.index());
            tracing::info!(match_id, seat, end = %outcome.end, deal = %outcome.deal, "a seat is over");
            self.out.push_back(Output::Finished { key, outcome });
            if self.seats.is_empty() && !self.link.is_idle() {
                self.link.close();
                self.handles.clear();
                self.out.push_back(Output::Disconnect);
            }
            self.join_more();
        }
    }

    fn send_owed(&mut self, key: Key, asked: Asked) {
        use v1::play_request::Kind;
        let Some(seat) = self.seats.get(&key) else { return };
        let SeatLink::Joined { handle } = seat.link else { return };
        let owed = seat.owed();
        let kind = match asked {
            Asked::Join => None,
            Asked::Nonce => owed.nonce.map(Kind::Nonce),
            Asked::Act => owed.act.map(Kind::Act),
            Asked::Resign => owed.resign.map(Kind::Resign),
        };
        if let Some(kind) = kind {
            self.send(tag(key, asked), handle, kind);
        }
    }

    fn send_again(&mut self, key: Key, asked: Asked) {
        match asked {
            Asked::Join => self.send_join(key),
            Asked::Nonce | Asked::Act | Asked::Resign => self.send_owed(key, asked),
        }
    }

    fn send(&mut self, tag: u64, handle: u32, kind: v1::play_request::Kind) {
        if self.link.most_seats().is_some() {
            self.send_now(tag, handle, kind);
        }
    }

    fn send_now(&mut self, tag: u64, handle: u32, kind: v1::play_request::Kind) {
        let message = v1::PlayRequest { tag, handle, kind: Some(kind) };
        self.out.push_back(Output::Send(Box::new(message)));
    }

    fn over(&mut self, key: Key, end: End) {
        let records = self.settings.records;
        let Some((_, seat)) = self.seat_of(Some(key)) else { return };
        seat.wait_for_record(end);
        match (records, seat.info()) {
            (Records::Checked, Some(info)) => {
                let (match_id, token) = (info.match_id.clone(), seat.token.clone());
                self.out.push_back(Output::FetchRecord { key, match_id, token });
            }
            _ => seat.close(None),
        }
        self.advance(key);
    }

    fn end(&mut self, key: Key, end: End) {
        let Some(seat) = self.seats.get_mut(&key) else { return };
        seat.ended(end);
        self.advance(key);
    }

    /// The server sent what it should not have: this seat can't go on.
    fn fail(&mut self, key: Key, error: &FieldError) {
        self.leave(key);
        self.end(key, End::Failed(Error::Protocol { problem: error.to_string() }));
    }

    fn leave(&mut self, key: Key) {
        if let Some(seat) = self.seats.get(&key)
            && let SeatLink::Joined { handle } = seat.link
        {
            self.send(0, handle, v1::play_request::Kind::Leave(v1::Leave {}));
        }
    }

    fn fail_all(&mut self, error: &Error) {
        let keys: Vec<Key> = self.seats.keys().copied().collect();
        for key in keys {
            self.end(key, End::Failed(error.clone()));
        }
    }
}
