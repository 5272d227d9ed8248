//! Who calls, and what that allows. Absent and forbidden look the same: `NOT_FOUND`.

use futures::{FutureExt, StreamExt, future::BoxFuture, stream, stream::BoxStream};
use tonic::{Request, Status, metadata::MetadataMap};
use zetema_proto::{FieldError, v1};

use super::{backend::Backend, fault::Fault};
use crate::{
    access::{self, Access, Bearer, Pass, SeatGrant},
    admission::Share,
    bots::BotAccount,
    encoding::match_of_owner,
    journal::{self, BotToken, MatchId, Owner, Reader, Rotation},
    matches::SeatTokenWatch,
    table::{MatchInfo, Rejection, SeatAccess},
};

/// Counts a change of what the database keeps as a creation of whoever asks: all matches wait for one as for the other. By a token that
/// is known.
pub(super) fn count_change<T>(request: &Request<T>) -> Result<(), Fault> {
    match request.extensions().get::<Share>() {
        Some(share) => share.create(1).map_err(Fault::from),
        None => Ok(()),
    }
}

/// Who calls, and until when.
pub(super) struct Caller {
    pass: Pass,
    /// Tells when a seat's token is replaced.
    seat: Option<SeatTokenWatch>,
}

impl Caller {
    /// Who calls, by "authorization: Bearer TOKEN" of the metadata.
    pub(super) async fn of(backend: &Backend, metadata: &MetadataMap) -> Result<Self, Fault> {
        let token = access::presented(metadata.as_ref()).map_err(|_| Fault::unauthenticated())?;
        let pass = backend.access.pass(token)?;
        let seat = match *pass.bearer() {
            Bearer::Seat(SeatGrant { match_id, seat, generation }) => {
                let access = SeatAccess { seat, generation };
                let watch = backend.matches.watch_seat_token(match_id, access).await;
                Some(watch.map_err(|rejection| match rejection {
                    Rejection::TokenReplaced | Rejection::NoSuchSeat { .. } | Rejection::NotFound => {
                        Fault::unauthenticated()
                    }
                    other => other.into(),
                })?)
            }
            _ => None,
        };
        Ok(Self { pass, seat })
    }

    /// Whom the token stands for.
    pub(super) const fn bearer(&self) -> &Bearer {
        self.pass.bearer()
    }

    /// Lets the admin pass. Others learn no more than that they would need the admin's token.
    pub(super) fn admin_only(&self) -> Result<(), Fault> {
        match self.bearer() {
            Bearer::Admin => Ok(()),
            Bearer::Owner(_) | Bearer::Bot(_) | Bearer::Seat(_) | Bearer::Anonymous => {
                Err(Fault::unauthenticated())
            }
        }
    }

    /// Lets those pass who create matches. `None`: the admin, whose matches belong to no owner.
    pub(super) fn creator(&self) -> Result<Option<&Owner>, Fault> {
        match self.bearer() {
            Bearer::Admin => Ok(None),
            Bearer::Owner(owner) => Ok(Some(owner)),
            Bearer::Bot(_) | Bearer::Seat(_) | Bearer::Anonymous => Err(Fault::unauthenticated()),
        }
    }

    /// Within whom request ids are unique.
    pub(super) fn account(&self) -> Result<journal::Caller, Fault> {
        let account = match self.creator()? {
            None => "admin".to_owned(),
            // No name has a colon, so no owner is taken for another account.
            Some(owner) => format!("owner:{owner}"),
        };
        journal::Caller::new(account).map_err(|error| Fault::internal(&error))
    }

    /// Whose a stream is that the token opens: a bot's, or the owner's, of whom the match of a seat is. `None`: the admin's, or
    /// nobody's.
    pub(super) fn whose(&self) -> Option<String> {
        let owner = match self.bearer() {
            Bearer::Owner(owner) => Some(owner),
            Bearer::Seat(_) => self.seat.as_ref().and_then(SeatTokenWatch::owner),
            Bearer::Bot(bot) => return Some(format!("bot:{bot}")),
            Bearer::Admin | Bearer::Anonymous => None,
        };
        owner.map(|owner| format!("owner:{owner}"))
    }

    /// Whether a match is the caller's own: every match is the admin's.
    pub(super) fn owns(&self, info: &MatchInfo) -> bool {
        match self.bearer() {
            Bearer::Admin => true,
            Bearer::Owner(owner) => info.owner.as_ref() == Some(owner),
            Bearer::Bot(_) | Bearer::Seat(_) | Bearer::Anonymous => false,
        }
    }

    /// Whether a bot is the caller's own: every bot is the admin's.
    pub(super) fn keeps(&self, bot: &BotAccount) -> bool {
        match self.bearer() {
            Bearer::Admin => true,
            Bearer::Owner(owner) => bot.owner == *owner,
            Bearer::Bot(_) | Bearer::Seat(_) | Bearer::Anonymous => false,
        }
    }

    /// Whether the caller may look at a match: everyone at a public one, its owner, its seats and the admin at any.
    pub(super) fn may_see(&self, info: &MatchInfo) -> bool {
        info.is_seen_by(&reader(self.bearer()))
    }

    /// A match as the caller may see it: the admin and its owner see all of it from the start.
    pub(super) fn shown(&self, info: &MatchInfo) -> v1::Match {
        if self.owns(info) { match_of_owner(info) } else { info.into() }
    }

    /// Which of a bot's tokens it is. `None`: it is no bot's.
    pub(super) fn bot_token(&self) -> Option<BotToken> {
        self.pass.bot_token()
    }

    /// Waits until the bot whose token it is gets another. For ever, if it never does.
    pub(super) fn rotated(&self) -> BoxFuture<'static, Rotation> {
        self.pass.clone().rotated().boxed()
    }

    /// Waits until the token lets its bot wait for nothing new: it is void, or was rotated.
    pub(super) fn settled(self) -> BoxFuture<'static, ()> {
        let (rotated, voided) = (self.rotated(), self.voided());
        async move {
            tokio::select! {
                () = voided => {}
                _ = rotated => {}
            }
        }
        .boxed()
    }

    /// Waits until the token is void: revoked, replaced or expired. For ever, if it never is.
    pub(super) fn voided(self) -> BoxFuture<'static, ()> {
        let Self { pass, seat } = self;
        match seat {
            None => pass.voided().boxed(),
            Some(watch) => watch.replaced().boxed(),
        }
    }

    /// A stream of answers that ends with `UNAUTHENTICATED` in the moment in which the caller's token is void.
    pub(super) fn until_void<T: Send + 'static>(
        self,
        answers: BoxStream<'static, Result<T, Status>>,
    ) -> BoxStream<'static, Result<T, Status>> {
        let next = |(answers, mut voided): (
            Option<BoxStream<'static, Result<T, Status>>>,
            BoxFuture<'static, ()>,
        )| async move {
            let mut answers = answers?;
            tokio::select! {
                biased;
                () = &mut voided => Some((Err(Fault::unauthenticated().into()), (None, voided))),
                next = answers.next() => Some((next?, (Some(answers), voided))),
            }
        };
        stream::unfold((Some(answers), self.voided()), next).boxed()
    }
}

/// For whom matches are read. That a seat's token holds was found when it was checked.
pub(super) fn reader(bearer: &Bearer) -> Reader {
    match bearer {
        Bearer::Admin => Reader::Admin,
        Bearer::Owner(owner) => Reader::Owner(owner.clone()),
        Bearer::Bot(bot) => Reader::Bot(bot.clone()),
        Bearer::Seat(grant) => Reader::Seat(grant.match_id),
        Bearer::Anonymous => Reader::Anyone,
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
pub(super) fn seat(
    access: &Access,
    token: &str,
    path: impl FnOnce() -> String,
) -> Result<(MatchId, SeatAccess), Fault> {
    if token.is_empty() {
        return Err(FieldError::missing(path()).into());
    }
    let SeatGrant { match_id, seat, generation } = access.seat_grant(token).ok_or_else(Fault::seat_token)?;
    Ok((match_id, SeatAccess { seat, generation }))
}
