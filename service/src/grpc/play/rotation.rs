//! A stream whose bot got another token: its seats are played on, and it waits for nothing new.

use std::{future, mem};

use futures::{FutureExt, StreamExt, stream};
use tokio::time::sleep;
use zetema_proto::v1::{self, play_response::Kind};

use super::{
    ask::Came,
    hello::assigned_to_wire,
    opener::{BotOpener, Opener},
    seats::Seats,
    session::Session,
};
use crate::{
    grpc::{fault, wire},
    journal::Rotation,
    ladders::Waits,
    limits,
    matches::LiveSeat,
};

impl Session {
    /// The bot got another token. It leaves its ladders and takes no challenge, and the client is told once that is done: so it has
    /// heard by then of every seat that ladders made for the stream.
    pub(super) fn rotated(&mut self, rotation: Rotation) {
        if let Opener::Bot(BotOpener { token, .. }) = &mut self.opener
            && token.rotation.replace(rotation).is_none()
            && let Some(presence) = &mut self.presence
        {
            let left = presence.wait_on(Waits::default());
            // Ladders that stand still make no match either. A challenge that was let in before is a match by then.
            let settled = left.then(|_| sleep(limits::ROTATION_SETTLES));
            self.asked.push(None, settled.map(move |()| Came::Rotated(rotation)));
        }
    }

    /// The bot has left what it waited for by the stream. What is assigned from now on is the new token's.
    pub(super) fn settled(&mut self, rotation: Rotation) -> v1::PlayResponse {
        self.presence = None;
        // Until now it got seats by this stream, however long its ladders took to let it go.
        let settled = rotation.settled(self.backend.matches.wall(), self.backend.matches.since_start());
        if let Opener::Bot(BotOpener { token, .. }) = &mut self.opener {
            token.rotation = Some(settled);
        }
        let assigned = mem::replace(&mut self.assigned, stream::pending().boxed());
        let own = move |seat: &LiveSeat| future::ready(settled.has(seat.created_at, seat.made));
        self.assigned = assigned.filter(own).boxed();
        rotated_to_wire(rotation)
    }

    /// Tells of the seats that the bot has got and the client has not heard of.
    pub(super) fn say_assigned(&mut self, seats: &mut Seats) {
        for _ in 0..limits::MAX_SEATS_PER_STREAM {
            let next = tokio::task::coop::unconstrained(self.assigned.next());
            let Some(Some(seat)) = next.now_or_never() else { break };
            seats.say(assigned_to_wire(&seat));
        }
    }
}

/// What the client is told of it.
pub(super) fn rotated_to_wire(rotation: Rotation) -> v1::PlayResponse {
    let Rotation { at, until, last_match_at: _, last_match: _ } = rotation;
    let rotated = v1::TokenRotated {
        rotate_time: Some(wire::timestamp(at)),
        void_time: Some(wire::timestamp(until)),
        message: fault::rotated(rotation),
    };
    v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::TokenRotated(rotated)) }
}
