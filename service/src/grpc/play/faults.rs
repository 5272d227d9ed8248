//! What went wrong for a player: noted as it happens, and listed for its author.

use zetema_proto::Wire;
use zetema_proto::v1::{self, ErrorReason, player_fault::Kind};

use super::handles::SeatKey;
use crate::{
    encoding::timestamp,
    grpc::{
        backend::Backend,
        caller::{self, Caller},
        fault::Fault,
        lists,
    },
    journal::{BotName, MatchId},
    matches::{FaultNumber, FaultPage, FaultsOf, NoFaultNumber, PlayerFault},
};

/// Notes that something which a seat sent was refused. Whoever has no valid token for the seat is not its player.
pub(super) fn refused(backend: &Backend, (match_id, seat): SeatKey, fault: &Fault) {
    match fault.error().reason() {
        ErrorReason::Unauthenticated | ErrorReason::NotFound | ErrorReason::Draining => {}
        _ => backend.matches.note_fault(match_id, seat, Kind::Rejection(fault.error().clone())),
    }
}

/// Notes that a stream lost a seat, or was cut with it.
pub(super) fn cut(backend: &Backend, (match_id, seat): SeatKey, cut: v1::StreamCut) {
    backend.matches.note_fault(match_id, seat, Kind::Cut(cut));
}

/// Notes that the client, or the way to it, is gone.
pub(super) fn lost(backend: &Backend, (match_id, seat): SeatKey) {
    backend.matches.note_fault(match_id, seat, Kind::Lost(v1::ConnectionLost {}));
}

/// Notes that the player's program has panicked, by its own word.
pub(super) fn panicked(backend: &Backend, (match_id, seat): SeatKey, panic: v1::BotPanic) {
    backend.matches.note_fault(match_id, seat, Kind::Panicked(panic));
}

/// A stream that ends now, for this reason.
pub(super) fn stream_cut(backend: &Backend, fault: &Fault) -> v1::StreamCut {
    let v1::Error { reason, message, .. } = fault.error();
    let time = Some(timestamp(backend.matches.wall()));
    v1::StreamCut { time, reason: *reason, message: message.clone(), cursors: Vec::new() }
}

/// A page that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    match_id: Option<MatchId>,
    before: Option<FaultNumber>,
    size: usize,
}

/// The page that a request asks for.
pub(super) fn page(match_id: &str, page_size: u32, page_token: &str) -> Result<Page, Fault> {
    let match_id = match match_id {
        "" => None,
        text => Some(caller::match_id(text)?),
    };
    let before = match page_token {
        "" => None,
        token => {
            let wrong = |error: NoFaultNumber| Fault::field("page_token", format!("is {error}"));
            Some(token.parse().map_err(wrong)?)
        }
    };
    Ok(Page { match_id, before, size: lists::page_size(page_size)?.get().into() })
}

/// Whose faults a caller may see who names a bot: its own bot's. To others there is none, registered or not.
pub(super) fn of_bot(backend: &Backend, caller: &Caller, name: &str) -> Result<FaultsOf, Fault> {
    let owner = caller.creator()?;
    let name = BotName::new(name).map_err(|error| Fault::field("bot", error.to_string()))?;
    let own = backend.bots.own(owner, &name).ok_or_else(|| Fault::not_found("bot"))?;
    Ok(FaultsOf::Bot(own.name.clone()))
}

/// A page of what went wrong for a seat or a bot.
pub(super) fn list(backend: &Backend, of: &FaultsOf, page: Page) -> v1::ListFaultsResponse {
    let Page { match_id, before, size } = page;
    let FaultPage { faults, next } = backend.matches.faults(of, match_id, before, size);
    v1::ListFaultsResponse {
        faults: faults.into_iter().map(to_wire).collect(),
        next_page_token: next.map(|next| next.to_string()).unwrap_or_default(),
    }
}

fn to_wire(fault: PlayerFault) -> v1::PlayerFault {
    let PlayerFault { at, count, match_id, seat, kind } = fault;
    v1::PlayerFault {
        time: Some(timestamp(at)),
        match_id: match_id.to_string(),
        seat: seat.to_wire(),
        kind: Some(kind),
        count,
    }
}
