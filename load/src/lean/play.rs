//! A lane on a Play stream.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::metadata::errors::InvalidMetadataValue;
use tonic::transport::Endpoint;
use tonic::{Request, Status, Streaming};
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::{PROTOCOL_REVISION, v1};

use super::drive::Connection;
use super::lane::{Lane, Output, SeatKey};
use crate::client_name::CLIENT_NAME;
use crate::order::Order;
use crate::outcome::Count;
use crate::target::bearer;

/// Drives a lane on one Play stream after the other, until nobody gives it orders any more.
pub(crate) async fn drive(endpoint: Endpoint, lane: Lane, orders: UnboundedReceiver<Order>) {
    super::drive::drive::<Stream>(endpoint, lane, orders).await;
}

/// The server gave a bot's token that can't be sent.
fn no_token(_: InvalidMetadataValue) -> Status {
    Status::internal("the server has given a token with characters that can't be sent")
}

/// What is said first on a stream, and by whom.
struct Hello {
    /// The token of the bot that plays. `None`: seats are taken by their own.
    token: Option<String>,
    tag: Tag,
    ask: v1::Hello,
}

/// A Play stream.
struct Stream {
    requests: UnboundedSender<v1::PlayRequest>,
    responses: Streaming<v1::PlayResponse>,
    /// The seats by their handles.
    seats: HashMap<u32, SeatKey>,
    /// The handles by their seats.
    handles: HashMap<SeatKey, u32>,
}

impl Connection for Stream {
    type Hello = Hello;

    fn hello(lane: &Lane) -> Hello {
        let (token, queues) = lane.queues().unzip();
        let ask = v1::Hello {
            client_name: CLIENT_NAME.to_owned(),
            protocol_revision: PROTOCOL_REVISION,
            queues,
            ..v1::Hello::default()
        };
        Hello { token: token.map(str::to_owned), tag: Tag::Queue(lane.queues_asked()), ask }
    }

    async fn connect(endpoint: &Endpoint, hello: Hello) -> Result<Self, Status> {
        let Hello { token, tag, ask } = hello;
        let channel = endpoint.connect().await.map_err(|error| Status::from_error(error.into()))?;
        // What waits in it is bounded by the seats: a join and an action for each, and a pong.
        let (requests, sent) = unbounded_channel();
        // The receiver is there.
        let _ = requests.send(v1::PlayRequest { tag: tag.number(), handle: 0, kind: Some(Ask::Hello(ask)) });
        let mut request = Request::new(UnboundedReceiverStream::new(sent));
        if let Some(token) = token {
            request.metadata_mut().insert("authorization", bearer(&token).map_err(no_token)?);
        }
        let answer = PlayServiceClient::new(channel).play(request).await?;
        Ok(Self { requests, responses: answer.into_inner(), seats: HashMap::new(), handles: HashMap::new() })
    }

    fn send(&mut self, lane: &Lane, output: Output) {
        match output {
            Output::Act(seat, act) => {
                if let Some(handle) = self.handles.get(&seat) {
                    self.ask(Tag::Act(act.decision_number).number(), *handle, Ask::Act(act));
                }
            }
            Output::Open(table) => self.open(lane, table),
            Output::Rejoin(table) => {
                self.leave(table);
                self.open(lane, table);
            }
            Output::Join(seat) => {
                if let Some(by) = lane.join(seat) {
                    self.join(seat, by);
                }
            }
            Output::Leave(table) => self.leave(table),
            Output::Queue => {
                if let Some((_, queues)) = lane.queues() {
                    self.ask(Tag::Queue(lane.queues_asked()).number(), 0, Ask::Queues(queues));
                }
            }
        }
    }

    async fn hear(&mut self, lane: &mut Lane) -> ControlFlow<Status> {
        match self.responses.message().await {
            Ok(Some(response)) => {
                self.heard(lane, response);
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Break(Status::unavailable("the server ended the stream")),
            Err(status) => ControlFlow::Break(status),
        }
    }
}

impl Stream {
    fn heard(&mut self, lane: &mut Lane, response: v1::PlayResponse) {
        let v1::PlayResponse { tag, handle, kind } = response;
        let now = Instant::now();
        let seat = self.seats.get(&handle).copied();
        match (kind, seat) {
            (Some(Answer::Observation(observation)), Some(seat)) => lane.observed(now, seat, observation),
            (Some(Answer::Joined(start)), _) => {
                if let Some(Tag::Join(seat)) = Tag::read(tag) {
                    self.seats.insert(handle, seat);
                    self.handles.insert(seat, handle);
                    lane.joined(now, seat, *start);
                }
            }
            (Some(Answer::Acknowledgement(acknowledgement)), Some(seat)) => {
                if let Some(v1::acknowledgement::Kind::Action(receipt)) = acknowledgement.kind {
                    lane.acknowledged(now, seat, &receipt);
                }
            }
            (Some(Answer::Acknowledgement(v1::Acknowledgement { kind })), None) => {
                if let (Some(v1::acknowledgement::Kind::Queues(_)), Some(Tag::Queue(asked))) =
                    (kind, Tag::read(tag))
                {
                    lane.queues_accepted(now, asked);
                }
            }
            (Some(Answer::SeatAssigned(seat)), _) => lane.assigned(now, seat),
            (Some(Answer::LadderNotice(_)), _) => lane.recorder().count(Count::LadderNotice),
            (Some(Answer::End(end)), Some(seat)) => {
                self.forget(seat);
                lane.ended(seat, end);
            }
            (Some(Answer::Superseded(_)), Some(seat)) => {
                self.forget(seat);
                let failure = v1::ErrorReason::Superseded;
                lane.recorder().failed(failure, "another has taken a seat, or it has a new token");
                lane.give_up(seat.table);
            }
            (Some(Answer::Rejection(error)), _) => match (Tag::read(tag), seat) {
                (Some(Tag::Queue(asked)), _) => lane.queues_refused(now, asked, &error),
                (Some(Tag::Join(seat)), _) => lane.join_refused(now, seat, &error),
                (Some(Tag::Act(decision)), Some(seat)) => {
                    let failure = error.reason().into();
                    lane.act_refused(now, (seat, decision), failure, Some(&error), &error.message);
                }
                // Its end was on its way when it was left, or when what has no receipt was sent again.
                (Some(Tag::Leave | Tag::Act(_)), None)
                    if matches!(
                        error.reason(),
                        v1::ErrorReason::UnknownHandle | v1::ErrorReason::MatchOver
                    ) => {}
                // It is about a match that is over, or about the stream as a whole.
                _ => lane.recorder().failed(error.reason(), &error.message),
            },
            (Some(Answer::Ping(v1::Ping { number })), _) => {
                self.ask(0, 0, Ask::Pong(v1::Pong { number }));
            }
            (Some(Answer::Welcome(welcome)), _) => {
                lane.recorder().server_version(welcome.server_version);
                for seat in welcome.live_seats {
                    lane.assigned(now, seat);
                }
            }
            // Of matches that were left, or nothing that a player needs.
            _ => {}
        }
    }

    fn open(&self, lane: &Lane, table: u32) {
        for (seat, by) in lane.joins(table) {
            self.join(seat, by);
        }
    }

    fn leave(&mut self, table: u32) {
        let left: Vec<SeatKey> = self.handles.keys().copied().filter(|seat| seat.table == table).collect();
        for seat in left {
            if let Some(handle) = self.forget(seat) {
                self.ask(Tag::Leave.number(), handle, Ask::Leave(v1::Leave {}));
            }
        }
    }

    fn join(&self, seat: SeatKey, by: v1::join::By) {
        let join =
            v1::Join { by: Some(by), views: Some(v1::Views::SnapshotsOnly.into()), ..v1::Join::default() };
        self.ask(Tag::Join(seat).number(), 0, Ask::Join(join));
    }

    fn ask(&self, tag: u64, handle: u32, kind: Ask) {
        // When the stream has ended, what comes next says so.
        let _ = self.requests.send(v1::PlayRequest { tag, handle, kind: Some(kind) });
    }

    fn forget(&mut self, seat: SeatKey) -> Option<u32> {
        let handle = self.handles.remove(&seat)?;
        self.seats.remove(&handle);
        Some(handle)
    }
}

/// What an answer is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// The join of this seat.
    Join(SeatKey),
    /// The answer to this decision.
    Act(u32),
    /// The end of a subscription.
    Leave,
    /// Where a bot waits, in a hello or by itself, as it has asked for the time of this number.
    Queue(u32),
}

/// Of the tag of an action; the decision is below.
const ACT: u64 = 1 << 63;
/// The tag of a leave. Those of joins have fewer bits.
const LEAVE: u64 = 1 << 62;
/// Of the tag of queues; how often the bot has asked is below. As above.
const QUEUE: u64 = 1 << 61;

impl Tag {
    /// As it is sent: never 0, which is none.
    fn number(self) -> u64 {
        match self {
            Self::Join(SeatKey { table, seat }) => (u64::from(table) << 8 | u64::from(seat)) + 1,
            Self::Leave => LEAVE,
            Self::Queue(asked) => QUEUE | u64::from(asked),
            Self::Act(decision) => ACT | u64::from(decision),
        }
    }

    fn read(number: u64) -> Option<Self> {
        if number & ACT != 0 {
            return u32::try_from(number & !ACT).ok().map(Self::Act);
        }
        if number == LEAVE {
            return Some(Self::Leave);
        }
        if number & QUEUE != 0 {
            return u32::try_from(number & !QUEUE).ok().map(Self::Queue);
        }
        let number = number.checked_sub(1)?;
        let [.., seat] = number.to_be_bytes();
        Some(Self::Join(SeatKey { table: u32::try_from(number >> 8).ok()?, seat }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_for_one_thing() {
        for table in [0, 1, 77, u32::MAX] {
            for seat in 0..6 {
                let tag = Tag::Join(SeatKey { table, seat });
                assert_eq!(Tag::read(tag.number()), Some(tag));
            }
            assert_eq!(Tag::read(Tag::Act(table).number()), Some(Tag::Act(table)));
        }
        for tag in [Tag::Leave, Tag::Queue(0), Tag::Queue(u32::MAX)] {
            assert_eq!(Tag::read(tag.number()), Some(tag));
        }
        assert_eq!(Tag::read(0), None);
    }
}
