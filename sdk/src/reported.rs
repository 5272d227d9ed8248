//! What the server has to say of a player's faults.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

use tonic::metadata::{Ascii, MetadataValue};
use tonic::{Request, Status};
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::{FieldError, Wire, v1};
use zetema_rules::{AbortReason, Seat};

use crate::error::{Disconnect, Error, ErrorReason, Refusal};
use crate::tls::Tls;
use crate::token::PlayerToken;
use crate::transport::{AUTHORIZATION, bearer, disconnect, endpoint, refusal, whole};

const WITHIN: Duration = Duration::from_secs(20);
/// How many faults a page has at most.
const PAGE: usize = 1_000;

/// Something that went wrong for the player of a seat, as the server remembers it. Not to be confused with a discard
/// out of turn (R28), which is a fault of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedFault {
    /// When, the last time, by the server's clock.
    pub time: SystemTime,
    /// How often it came in a row.
    pub count: u32,
    /// The match's id.
    pub match_id: String,
    /// The seat.
    pub seat: Seat,
    /// What it was.
    pub kind: ReportedKind,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportedKind {
    /// Something that the player sent was refused.
    Rejected(Refusal),
    /// The server cut the stream that played the seat, or the seat was taken from it.
    Cut {
        /// The reason that the stream ended with.
        reason: ErrorReason,
        /// For people: what was wrong, and what to do.
        message: String,
    },
    /// The connection of the stream that played the seat was lost.
    Lost,
    /// The seat's time was out.
    TimedOut {
        /// The number of the decision that it did not take.
        decision: u32,
        /// How often that has happened to the seat in this match, from 1.
        strikes: u32,
    },
    /// The player's program panicked, and resigned.
    Panicked {
        /// What it panicked with, at most 256 bytes.
        message: String,
    },
    /// The match was aborted before its deal, as the seat was not there in time.
    NoShow {
        /// [`AbortReason::NoShow`]: it had not joined. [`AbortReason::NonceMissing`]: it had not sent its nonce.
        reason: AbortReason,
    },
    /// What this version of the crate does not know.
    Other,
}

/// Asks the server what went wrong for the player with this token, the latest first: for a seat, or for all seats of a
/// bot. At most `most` faults are asked for; with `match_id` those of this match alone.
///
/// The server remembers so much of it as its limits say, over a restart too. What a session met with itself is in
/// the [`Outcome`](crate::Outcome).
///
/// ```no_run
/// # use zetema_sdk::{Error, Tls, list_faults};
/// # async fn show(token: &str) -> Result<(), Error> {
/// for fault in list_faults("http://127.0.0.1:4680", &Tls::default(), &token.into(), None, 100).await? {
///     println!("match {} seat {}: {}", fault.match_id, fault.seat, fault.kind);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Address`] if `server` is no address, and if it is one without TLS and `tls` is for TLS;
/// [`Error::BotToken`] if a bot's token can't be sent; [`Error::NoConnection`] and [`Error::Insecure`] if there is no
/// connection; [`Error::Refused`] if the server refuses; [`Error::Protocol`] if it answers what it should not.
pub async fn list_faults(
    server: &str,
    tls: &Tls,
    token: &PlayerToken,
    match_id: Option<&str>,
    most: usize,
) -> Result<Vec<ReportedFault>, Error> {
    let whose = match token {
        PlayerToken::Seat(token) => Whose { seat_token: token.reveal(), bot: "", caller: None },
        PlayerToken::Bot(token) => Whose {
            seat_token: "",
            bot: "",
            caller: Some(bearer(token.reveal()).map_err(|_| Error::BotToken)?),
        },
    };
    list(server, tls, &whose, match_id, most).await
}

/// Asks the server what went wrong for this bot, as [`list_faults`] does, with the token of the bot's owner or of the
/// admin. The bot may be retired.
///
/// ```no_run
/// # use zetema_sdk::{Error, Tls, list_faults_of_bot};
/// # async fn show(owner: &str) -> Result<(), Error> {
/// for fault in list_faults_of_bot("http://127.0.0.1:4680", &Tls::default(), owner, "rex", None, 100).await? {
///     println!("match {} seat {}: {}", fault.match_id, fault.seat, fault.kind);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As those of [`list_faults`]; [`Error::OwnerToken`] if the token can't be sent.
pub async fn list_faults_of_bot(
    server: &str,
    tls: &Tls,
    owner_token: &str,
    bot: &str,
    match_id: Option<&str>,
    most: usize,
) -> Result<Vec<ReportedFault>, Error> {
    let caller = Some(bearer(owner_token).map_err(|_| Error::OwnerToken)?);
    list(server, tls, &Whose { seat_token: "", bot, caller }, match_id, most).await
}

/// Whose faults are asked for, and by whom.
struct Whose<'a> {
    /// Empty: those of a bot.
    seat_token: &'a str,
    /// Empty: that of the caller.
    bot: &'a str,
    /// What goes into the metadata.
    caller: Option<MetadataValue<Ascii>>,
}

async fn list(
    server: &str,
    tls: &Tls,
    whose: &Whose<'_>,
    match_id: Option<&str>,
    most: usize,
) -> Result<Vec<ReportedFault>, Error> {
    let mut client = PlayServiceClient::new(endpoint(server, tls)?.connect_lazy());
    let mut faults = Vec::new();
    let mut page_token = String::new();
    loop {
        let left = most.saturating_sub(faults.len());
        if left == 0 {
            return Ok(faults);
        }
        let mut request = Request::new(v1::ListFaultsRequest {
            seat_token: whose.seat_token.to_owned(),
            match_id: match_id.unwrap_or_default().to_owned(),
            page_size: u32::try_from(left.min(PAGE)).unwrap_or(u32::MAX),
            page_token,
            bot: whose.bot.to_owned(),
        });
        request.set_timeout(WITHIN);
        if let Some(caller) = &whose.caller {
            request.metadata_mut().insert(AUTHORIZATION, caller.clone());
        }
        let begun = Instant::now();
        let answer = whole(WITHIN, client.list_faults(request)).await;
        let answer = answer.map_err(|status| failed(server, begun.elapsed(), &status))?;
        let v1::ListFaultsResponse { faults: page, next_page_token } = answer.into_inner();
        for (i, fault) in page.iter().take(left).enumerate() {
            let fault = ReportedFault::from_wire(fault)
                .map_err(|error| Error::Protocol { problem: error.at(i).within("faults").to_string() })?;
            faults.push(fault);
        }
        if next_page_token.is_empty() {
            return Ok(faults);
        }
        page_token = next_page_token;
    }
}

fn failed(server: &str, waited: Duration, status: &Status) -> Error {
    let server = server.to_owned();
    match disconnect(status) {
        Disconnect::Refused(refusal) => Error::Refused { asked: "list the faults", refusal },
        Disconnect::Insecure(problem) => Error::Insecure { server, problem },
        Disconnect::NotServed => Error::NotServed { server },
        last @ Disconnect::NotReached(_) => Error::NoConnection { server, waited, last },
        _ => Error::Refused { asked: "list the faults", refusal: refusal(status) },
    }
}

impl ReportedFault {
    fn from_wire(message: &v1::PlayerFault) -> Result<Self, FieldError> {
        use v1::player_fault::Kind;
        let v1::PlayerFault { time, match_id, seat, kind, count } = message;
        let time = time.and_then(|time| SystemTime::try_from(time).ok());
        Ok(Self {
            time: time.ok_or_else(|| FieldError::missing("time"))?,
            count: *count,
            match_id: match_id.clone(),
            seat: Seat::from_wire(seat).map_err(|error| error.within("seat"))?,
            kind: match kind {
                Some(Kind::Rejection(error)) => ReportedKind::Rejected(Refusal {
                    reason: error.reason(),
                    message: error.message.clone(),
                    decision: error.decision_number,
                }),
                Some(Kind::Cut(cut)) => {
                    ReportedKind::Cut { reason: cut.reason(), message: cut.message.clone() }
                }
                Some(Kind::Lost(v1::ConnectionLost {})) => ReportedKind::Lost,
                Some(Kind::TimedOut(v1::TimedOut { seat: _, decision_number, strikes })) => {
                    ReportedKind::TimedOut { decision: *decision_number, strikes: *strikes }
                }
                Some(Kind::Panicked(v1::BotPanic { message })) => {
                    ReportedKind::Panicked { message: message.clone() }
                }
                Some(Kind::NoShow(v1::NoShow { reason })) => ReportedKind::NoShow {
                    reason: AbortReason::from_wire(reason).map_err(|error| error.within("no_show.reason"))?,
                },
                None => ReportedKind::Other,
            },
        })
    }
}

impl fmt::Display for ReportedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(refusal) => write!(f, "refused: {refusal}"),
            Self::Cut { reason, message } => write!(f, "the stream was cut: {} ({message})", reason.name()),
            Self::Lost => f.write_str("the connection was lost"),
            Self::TimedOut { decision, strikes } => {
                write!(f, "the time was out at decision {decision}, time-out {strikes} of the match")
            }
            Self::Panicked { message } => {
                write!(f, "the bot panicked, and its seat was forfeited: {message}")
            }
            Self::NoShow { reason: AbortReason::NonceMissing } => {
                f.write_str("no-show: the nonce was not sent in time, and the match was aborted")
            }
            Self::NoShow { .. } => {
                f.write_str("no-show: the seat was not joined in time, and the match was aborted")
            }
            Self::Other => f.write_str("something that this version does not know"),
        }
    }
}
