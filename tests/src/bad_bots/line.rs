//! A Play stream of a bot that waits on the ladder, which may end at any moment.

use std::error::Error;
use std::io;
use std::net::IpAddr;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Request, Status, Streaming};
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::{PROTOCOL_REVISION, v1};

/// Requests that wait to be sent.
const ROOM: usize = 64;

/// Where a bot plays, and as whom.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) url: String,
    /// The address that it comes from.
    pub(super) from: IpAddr,
    pub(super) token: String,
    pub(super) ladder: String,
    /// How many matches at once it plays at most.
    pub(super) places: u32,
}

/// The client's side of a Play stream.
#[derive(Clone)]
pub(super) struct Requests(mpsc::Sender<v1::PlayRequest>);

/// A Play stream on a connection of its own.
pub(super) struct Line {
    pub(super) requests: Requests,
    pub(super) responses: Streaming<v1::PlayResponse>,
}

/// Why there is no stream, or no longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// The bot's own machine has no port left for one more connection, of which the server knows nothing.
    NoPort,
    /// The connection was closed without a word.
    Closed,
    /// The server has said why.
    Refused(v1::ErrorReason),
}

impl Gone {
    /// What a status says.
    pub(super) fn of(status: &Status) -> Self {
        v1::Error::from_status(status).map_or_else(|| Self::by(status), |error| Self::Refused(error.reason()))
    }

    /// What is below an error that the server has not sent.
    fn by(error: &(dyn Error + 'static)) -> Self {
        let is_own = |error: &(dyn Error + 'static)| {
            let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
            matches!(kind, Some(io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable))
        };
        let has_no_port = std::iter::successors(Some(error), |error| (*error).source()).any(is_own);
        if has_no_port { Self::NoPort } else { Self::Closed }
    }
}

impl Line {
    /// Connects, says hello and waits on the ladder.
    pub(super) async fn open(place: &Place) -> Result<Self, Gone> {
        let endpoint = Endpoint::from_shared(place.url.clone()).unwrap().tcp_nodelay(true);
        let endpoint = endpoint.local_address(Some(place.from));
        let channel = endpoint.connect().await.map_err(|error| Gone::by(&error))?;
        let (requests, sent) = mpsc::channel(ROOM);
        let mut request = Request::new(ReceiverStream::new(sent));
        let bearer = format!("Bearer {}", place.token).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let queue = v1::LadderQueue { ladder: place.ladder.clone(), matches_at_once: place.places };
        let hello = v1::Hello {
            client_name: "bad-bots".to_owned(),
            protocol_revision: PROTOCOL_REVISION,
            queues: Some(v1::Queues { queues: vec![queue], challenges: None }),
            ..v1::Hello::default()
        };
        let mut client = PlayServiceClient::new(channel);
        let kind = Some(Ask::Hello(hello));
        // There is room: it is the first.
        let _ = requests.try_send(v1::PlayRequest { tag: Self::HELLO, handle: 0, kind });
        let responses = client.play(request).await.map_err(|status| Gone::of(&status))?.into_inner();
        Ok(Self { requests: Requests(requests), responses })
    }

    /// The tag of the hello, and of queues.
    pub(super) const HELLO: u64 = u64::MAX;
}

impl Requests {
    /// What is said goes there.
    #[cfg(test)]
    pub(super) const fn to(sender: mpsc::Sender<v1::PlayRequest>) -> Self {
        Self(sender)
    }

    /// Says something.
    ///
    /// # Errors
    /// If the stream has ended, of which its other side says more.
    pub(super) async fn say(&self, tag: u64, handle: u32, kind: Ask) -> Result<(), Ended> {
        self.0.send(v1::PlayRequest { tag, handle, kind: Some(kind) }).await.map_err(|_| Ended)
    }

    /// Waits until the stream has ended, whether anybody reads it or not.
    pub(super) async fn ended(&self) {
        self.0.closed().await;
    }
}

/// Takes a seat that a ladder has given.
pub(super) fn join(seat: &v1::LiveSeat, views: v1::Views) -> Ask {
    let assigned = v1::AssignedSeat { match_id: seat.match_id.clone(), seat: seat.seat };
    let by = Some(v1::join::By::Assigned(assigned));
    Ask::Join(v1::Join { by, views: Some(views.into()), ..v1::Join::default() })
}

/// The stream has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_what_it_cuts_and_what_is_no_word_of_it_are_told_apart() {
        let check = |status: &Status, expected| assert_eq!(Gone::of(status), expected, "{status:?}");
        let refused = Status::from(v1::Error::new(v1::ErrorReason::Overloaded, "try again in 1 s"));
        check(&refused, Gone::Refused(v1::ErrorReason::Overloaded));
        check(&Status::unavailable("gone"), Gone::Closed);
        let by = |kind| Status::from_error(Box::new(io::Error::from(kind)));
        check(&by(io::ErrorKind::ConnectionReset), Gone::Closed);
        check(&by(io::ErrorKind::AddrInUse), Gone::NoPort);
        check(&by(io::ErrorKind::AddrNotAvailable), Gone::NoPort);
    }
}
