//! What a session sends.

use std::time::Instant;

use zetema_proto::v1;

use super::link::Room;
use super::seat::SeatLink;
use super::tag::{Asked, Change, Key, tag, tag_queues};
use super::{Core, Output};
use crate::wire::Outgoing;

impl Core {
    pub(super) fn connect(&mut self, now: Instant) {
        self.link.connecting(now);
        self.out.push_back(Output::Connect);
        let queues = self.queues.in_hello();
        // What the server says to them has the hello's tag.
        let tag = queues.as_ref().map_or(0, |_| tag_queues(Change::HELLO));
        let hello = v1::Hello {
            client_name: self.settings.client_name.clone(),
            protocol_revision: zetema_proto::PROTOCOL_REVISION,
            capacity: None,
            live_seats_token: String::new(),
            queues,
        };
        self.out.push_back(Output::Send(Outgoing::new(tag, 0, v1::play_request::Kind::Hello(hello))));
    }

    /// Joins seats that are apart: as many as the server allows on a stream, and so many at once that it can queue the
    /// answers.
    pub(super) fn join_more(&mut self) {
        let Some(Room { seats, joins }) = self.link.room() else { return };
        while self.joining.len() < joins
            && self.seats.len() - self.apart.len() < seats
            && let Some(key) = self.apart.pop_first()
        {
            self.send_join(key);
        }
    }

    /// Opens another stream: the welcome of this one had no room for all the bot's seats, and there is some now.
    pub(super) fn renew(&mut self) {
        self.reopen("opening another stream for the seats that had no room");
    }

    pub(super) fn reopen(&mut self, why: &'static str) {
        tracing::info!(server = self.settings.server, "{why}");
        self.out.push_back(Output::Disconnect);
        self.part();
        self.connect(self.now);
    }

    pub(super) fn send_join(&mut self, key: Key) {
        if let Some(seat) = self.seats.get_mut(key).filter(|seat| !seat.is_over()) {
            self.joining.insert(key);
            seat.link = seat.link.joining();
            let join = seat.join();
            self.send(Outgoing::new(tag(key, Asked::Join), 0, v1::play_request::Kind::Join(join)));
        }
    }

    pub(super) fn send_owed(&mut self, key: Key, asked: Asked) {
        use v1::play_request::Kind;
        let Some(seat) = self.seats.get(key) else { return };
        let SeatLink::Joined { handle } = seat.link else { return };
        let tag = tag(key, asked);
        let message = |kind| Outgoing::new(tag, handle, kind);
        let owed = match asked {
            Asked::Join => None,
            Asked::Nonce => seat.owed_nonce().map(Kind::Nonce).map(message),
            Asked::Act => seat.owed_answer().map(|answer| Outgoing::Act { tag, handle, answer }),
            Asked::Resign => seat.owed_resignation().map(Kind::Resign).map(message),
        };
        if let Some(owed) = owed {
            self.send(owed);
        }
    }

    pub(super) fn send_again(&mut self, key: Key, asked: Asked) {
        match asked {
            Asked::Join => self.send_join(key),
            Asked::Nonce | Asked::Act | Asked::Resign => self.send_owed(key, asked),
        }
    }

    pub(super) fn send(&mut self, message: Outgoing) {
        if self.link.room().is_some() {
            self.out.push_back(Output::Send(message));
        }
    }

    pub(super) fn leave(&mut self, key: Key) {
        if let Some(seat) = self.seats.get(key)
            && let SeatLink::Joined { handle } = seat.link
        {
            self.send(Outgoing::new(0, handle, v1::play_request::Kind::Leave(v1::Leave {})));
        }
    }
}
