//! What a bot is told that is about no seat of its stream.

use futures::{StreamExt, stream::BoxStream};
use zetema_proto::v1::{self, play_response::Kind};

use super::{hello::assigned_to_wire, queues};
use crate::{ladders::Presence, matches::LiveSeat};

/// A seat that the bot gets, or what a ladder says to it.
pub(super) async fn next(
    assigned: &mut BoxStream<'static, LiveSeat>,
    presence: &mut Option<Presence>,
) -> v1::PlayResponse {
    tokio::select! {
        biased;
        Some(seat) = assigned.next() => assigned_to_wire(&seat),
        kind = word(presence) => v1::PlayResponse { tag: 0, handle: 0, kind: Some(kind) },
        else => std::future::pending().await,
    }
}

/// What a ladder has to say next; nothing, without end, to who waits on none.
async fn word(presence: &mut Option<Presence>) -> Kind {
    match presence {
        Some(presence) => Kind::LadderNotice(queues::notice(&presence.word().await)),
        None => std::future::pending().await,
    }
}
