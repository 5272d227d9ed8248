//! Which seat a client names, and by what it plays it: by the seat's token, or by that of its bot.

use futures::FutureExt;
use tonic::metadata::MetadataMap;
use zetema_proto::{FieldError, Wire, v1};
use zetema_rules::Seat;

use super::{
    handles::SeatKey,
    opener::{BotOpener, Opener},
};
use crate::{
    access::Access,
    grpc::{
        backend::Backend,
        caller::{self, Caller},
        fault::Fault,
    },
    journal::{BotToken, MatchId},
    table::SeatAccess,
};

/// By what a seat is played.
#[derive(Debug, Clone)]
pub(super) enum By {
    /// Its own token. Whether it was replaced since, the table checks.
    Token(SeatAccess),
    /// The token of its bot. Whether it is the bot's, the match knows.
    Bot(BotOpener),
}

impl By {
    /// How the seat is played.
    pub(super) async fn access(
        self,
        backend: &Backend,
        (match_id, seat): SeatKey,
    ) -> Result<SeatAccess, Fault> {
        match self {
            Self::Token(access) => Ok(access),
            Self::Bot(BotOpener { bot, token }) => {
                // Boxed, as most seats are played by tokens of their own, and their futures would be as large.
                Ok(backend.matches.bot_access(match_id, seat, &bot, token).boxed().await?)
            }
        }
    }

    /// Which of its bot's tokens it is; `None`: it is the seat's own.
    pub(super) const fn bot_token(&self) -> Option<BotToken> {
        match self {
            Self::Token(_) => None,
            Self::Bot(BotOpener { token, .. }) => Some(*token),
        }
    }
}

/// The seat that the token in the field `path` is for.
pub(super) fn by_token(
    access: &Access,
    token: &str,
    path: impl FnOnce() -> String,
) -> Result<(SeatKey, By), Fault> {
    let (match_id, access) = caller::seat(access, token, path)?;
    Ok(((match_id, access.seat), By::Token(access)))
}

/// The seat that the message in the field `path` names as this bot's.
pub(super) fn of_bot(bot: &BotOpener, seat: &v1::AssignedSeat, path: &str) -> Result<(SeatKey, By), Fault> {
    let v1::AssignedSeat { match_id, seat } = seat;
    let within = |error: FieldError| error.within(path);
    if match_id.is_empty() {
        return Err(within(FieldError::missing("match_id")).into());
    }
    // What is no id is the id of nothing.
    let match_id = match_id.parse().map_err(|_| Fault::not_found("match"))?;
    let seat = Seat::from_wire(seat).map_err(|error| within(error.within("seat")))?;
    Ok(((match_id, seat), By::Bot(bot.clone())))
}

/// The seat that a message names by one of its fields `seat_token` and `assigned`, in a call of this caller's. `within` is the path of the
/// message, with a dot behind it, or nothing.
pub(super) fn named(
    backend: &Backend,
    caller: Option<&Caller>,
    seat_token: &str,
    assigned: Option<&v1::AssignedSeat>,
    within: &str,
) -> Result<(SeatKey, By), Fault> {
    // Paths are written for errors alone.
    let path = || format!("{within}assigned");
    match (seat_token, assigned) {
        (token, None) => by_token(&backend.access, token, || format!("{within}seat_token")),
        ("", Some(seat)) => match caller.map(Opener::from) {
            Some(Opener::Bot(bot)) => of_bot(&bot, seat, &path()),
            _ => Err(Fault::field(
                path(),
                "is for calls with a bot's token: send one in the metadata, or give a seat_token",
            )),
        },
        (_, Some(_)) => {
            Err(Fault::field(path(), "stands beside seat_token: give one of assigned and seat_token"))
        }
    }
}

/// The seat that a single call is about, and how it is played. The token in the metadata is looked at for a bot's seat alone.
pub(super) async fn of_call(
    backend: &Backend,
    metadata: &MetadataMap,
    seat_token: &str,
    assigned: Option<&v1::AssignedSeat>,
) -> Result<(MatchId, SeatAccess), Fault> {
    if assigned.is_none() {
        return caller::seat(&backend.access, seat_token, || "seat_token".to_owned());
    }
    // Boxed, as in `By::access`.
    let (match_id, access, _) = of_join(backend, metadata, seat_token, assigned).boxed().await?;
    Ok((match_id, access))
}

/// The same for a call that joins the seat, and by which of its bot's tokens.
pub(super) async fn of_join(
    backend: &Backend,
    metadata: &MetadataMap,
    seat_token: &str,
    assigned: Option<&v1::AssignedSeat>,
) -> Result<(MatchId, SeatAccess, Option<BotToken>), Fault> {
    let caller = match assigned {
        Some(_) => Some(Caller::of(backend, metadata).boxed().await?),
        None => None,
    };
    let (key, by) = named(backend, caller.as_ref(), seat_token, assigned, "")?;
    let ((match_id, _), bot_token) = (key, by.bot_token());
    Ok((match_id, by.access(backend, key).await?, bot_token))
}
