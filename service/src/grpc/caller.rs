//! Who calls, and what that allows. Absent and forbidden look the same: `NOT_FOUND`.

use tonic::metadata::MetadataMap;
use zetema_proto::FieldError;

use super::fault::Fault;
use crate::{
    access::{Access, Bearer, SeatGrant},
    journal::{MatchId, Visibility},
    table::{MatchInfo, SeatAccess},
};

/// Who calls, by "authorization: Bearer TOKEN" of the metadata.
pub(super) fn bearer(access: &Access, metadata: &MetadataMap) -> Result<Bearer, Fault> {
    let Some(value) = metadata.get("authorization") else { return Ok(Bearer::Anonymous) };
    let text = value.to_str().map_err(|_| Fault::unauthenticated())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(Fault::unauthenticated)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Fault::unauthenticated());
    }
    Ok(access.bearer(Some(token.trim()))?)
}

/// Lets the admin pass. Others learn no more than that they would need the admin's token.
pub(super) fn admin_only(access: &Access, metadata: &MetadataMap) -> Result<(), Fault> {
    match bearer(access, metadata)? {
        Bearer::Admin => Ok(()),
        Bearer::Seat(_) | Bearer::Anonymous => Err(Fault::unauthenticated()),
    }
}

/// Whether `bearer` may look at a match: everyone at a public one, the admin and its seats at any.
pub(super) fn may_see(bearer: &Bearer, info: &MatchInfo) -> bool {
    match (bearer, info.visibility) {
        (Bearer::Admin, _) | (_, Visibility::Public) => true,
        (Bearer::Seat(grant), Visibility::Private) => {
            let holds = |seat: &crate::table::SeatInfo| {
                seat.seat == grant.seat && seat.generation == grant.generation
            };
            grant.match_id == info.match_id && info.seats.iter().any(holds)
        }
        (Bearer::Anonymous, Visibility::Private) => false,
    }
}

/// The match of a request.
pub(super) fn match_id(text: &str) -> Result<MatchId, Fault> {
    if text.is_empty() {
        return Err(FieldError::missing("match_id").into());
    }
    // What is no id is the id of nothing.
    text.parse().map_err(|_| Fault::not_found("match"))
}

/// The match and seat that the seat token in the field `path` is for. Whether the token was replaced since, the
/// table checks.
pub(super) fn seat(access: &Access, token: &str, path: &str) -> Result<(MatchId, SeatAccess), Fault> {
    if token.is_empty() {
        return Err(FieldError::missing(path).into());
    }
    let SeatGrant { match_id, seat, generation } =
        access.seat_grant(token).ok_or_else(|| Fault::seat_token(path))?;
    Ok((match_id, SeatAccess { seat, generation }))
}
