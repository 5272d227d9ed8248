//! What a session sends next: what it has to say itself, what its seats hear, and what the bot is told.

use std::{collections::VecDeque, future::poll_fn};

use futures::{StreamExt, stream::BoxStream};
use zetema_proto::v1;

use super::{handles::Handles, hearing::Hearing, outbox::Outbox, session::Outgoing};
use crate::{
    grpc::heard::Heard,
    ladders::{Presence, Word},
    matches::LiveSeat,
};

/// What goes out next.
pub(super) enum Next {
    /// What the session itself says.
    Said(v1::PlayResponse),
    /// What the seat with this handle hears.
    Heard(u32, Heard),
    /// A seat that the bot gets.
    Assigned(LiveSeat),
    /// What a ladder says to the bot.
    Word(Word),
}

/// Waits for room and for something to fill it with. `None`: nobody reads any more. Dropped, it loses nothing.
pub(super) async fn next(
    out: &Outbox<Outgoing>,
    said: &mut VecDeque<v1::PlayResponse>,
    handles: &Handles,
    hearing: &mut Hearing,
    assigned: &mut BoxStream<'static, LiveSeat>,
    presence: &mut Option<Presence>,
) -> Option<Next> {
    let seats = hearing.seats();
    poll_fn(|context| out.poll_room(seats, context)).await.ok()?;
    hearing.forget_left();
    if let Some(response) = said.pop_front() {
        return Some(Next::Said(response));
    }
    tokio::select! {
        biased;
        (handle, heard) = poll_fn(|context| hearing.poll_next(context, |handle| handles.fetch(handle))) => {
            Some(Next::Heard(handle, heard))
        }
        Some(seat) = assigned.next() => Some(Next::Assigned(seat)),
        word = word(presence) => Some(Next::Word(word)),
        else => std::future::pending().await,
    }
}

/// What a ladder has to say next; nothing, without end, to who waits on none.
async fn word(presence: &mut Option<Presence>) -> Word {
    match presence {
        Some(presence) => presence.word().await,
        None => std::future::pending().await,
    }
}
