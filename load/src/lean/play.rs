//! A lane on a Play stream.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::Endpoint;
use tonic::{Status, Streaming};
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::{PROTOCOL_REVISION, v1};

use super::lane::{Lane, Output, SeatKey};
use crate::backoff::Backoff;
use crate::client_name::CLIENT_NAME;
use crate::order::Order;
use crate::outcome::{Count, Failure};

/// Drives a lane on one Play stream after the other, until nobody gives it orders any more.
pub(crate) async fn drive(endpoint: Endpoint, mut lane: Lane, mut orders: UnboundedReceiver<Order>) {
    let mut backoff = Backoff::default();
    let mut is_first = true;
    loop {
        let ended = match connect(&endpoint).await {
            Ok((requests, responses)) => {
                if !is_first {
                    lane.recorder().count(Count::Reconnected);
                }
                is_first = false;
                backoff = Backoff::default();
                Stream { requests, seats: HashMap::new(), handles: HashMap::new() }
                    .run(responses, &mut lane, &mut orders)
                    .await
            }
            Err(status) => Ended::Broken(status),
        };
        match ended {
            Ended::NoMoreOrders => return,
            Ended::Dropped => lane.recorder().count(Count::Dropped),
            Ended::Broken(status) => {
                lane.recorder().failed(Failure::of(&status), status.message());
                sleep(backoff.next()).await;
            }
        }
        lane.cut(Instant::now());
    }
}

async fn connect(
    endpoint: &Endpoint,
) -> Result<(UnboundedSender<v1::PlayRequest>, Streaming<v1::PlayResponse>), Status> {
    let channel = endpoint.connect().await.map_err(|error| Status::from_error(error.into()))?;
    // What waits in it is bounded by the seats: a join and an action for each, and a pong.
    let (requests, sent) = unbounded_channel();
    let hello = v1::Hello {
        client_name: CLIENT_NAME.to_owned(),
        protocol_revision: PROTOCOL_REVISION,
        ..v1::Hello::default()
    };
    // The receiver is there.
    let _ = requests.send(v1::PlayRequest { tag: 0, handle: 0, kind: Some(Ask::Hello(hello)) });
    let answer = PlayServiceClient::new(channel).play(UnboundedReceiverStream::new(sent)).await?;
    Ok((requests, answer.into_inner()))
}

/// How a stream ended.
enum Ended {
    /// The load is over.
    NoMoreOrders,
    /// It was cut on purpose.
    Dropped,
    /// It was cut otherwise.
    Broken(Status),
}

/// A Play stream.
struct Stream {
    requests: UnboundedSender<v1::PlayRequest>,
    /// The seats by their handles.
    seats: HashMap<u32, SeatKey>,
    /// The handles by their seats.
    handles: HashMap<SeatKey, u32>,
}

impl Stream {
    async fn run(
        mut self,
        mut responses: Streaming<v1::PlayResponse>,
        lane: &mut Lane,
        orders: &mut UnboundedReceiver<Order>,
    ) -> Ended {
        let timer = sleep_until(Instant::now());
        tokio::pin!(timer);
        loop {
            while let Some(output) = lane.output() {
                self.send(lane, output);
            }
            let deadline = lane.deadline();
            if let Some(deadline) = deadline.filter(|deadline| *deadline != timer.deadline()) {
                timer.as_mut().reset(deadline);
            }
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(Order::Begin(created)) => lane.begin(created),
                    Some(Order::Follow(schedule)) => lane.follow(Instant::now(), schedule),
                    Some(Order::Drop) => return Ended::Dropped,
                    None => return Ended::NoMoreOrders,
                },
                response = responses.message() => match response {
                    Ok(Some(response)) => {
                        if let ControlFlow::Break(ended) = self.heard(lane, response) {
                            return ended;
                        }
                    }
                    Ok(None) => return Ended::Broken(Status::unavailable("the server ended the stream")),
                    Err(status) => return Ended::Broken(status),
                },
                () = &mut timer, if deadline.is_some() => {}
            }
            lane.tick(Instant::now());
        }
    }

    fn heard(&mut self, lane: &mut Lane, response: v1::PlayResponse) -> ControlFlow<Ended> {
        let v1::PlayResponse { tag, handle, kind } = response;
        let now = Instant::now();
        let seat = self.seats.get(&handle).copied();
        match (kind, seat) {
            (Some(Answer::Observation(observation)), Some(seat)) => lane.observed(now, seat, observation),
            (Some(Answer::Joined(start)), _) => {
                if let Some(Tag::Join(seat)) = Tag::read(tag) {
                    self.seats.insert(handle, seat);
                    self.handles.insert(seat, handle);
                    lane.joined(now, seat, start);
                }
            }
            (Some(Answer::Acknowledgement(acknowledgement)), Some(seat)) => {
                if let Some(v1::acknowledgement::Kind::Action(receipt)) = acknowledgement.kind {
                    lane.acknowledged(now, seat, &receipt);
                }
            }
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
                (Some(Tag::Join(seat)), _) => lane.join_refused(now, seat, &error),
                (Some(Tag::Act(decision)), Some(seat)) => {
                    let failure = error.reason().into();
                    lane.act_refused(now, (seat, decision), failure, Some(&error), &error.message);
                }
                // It is about a match that is over, or about the stream as a whole.
                _ => lane.recorder().failed(error.reason(), &error.message),
            },
            (Some(Answer::Ping(v1::Ping { number })), _) => {
                self.ask(0, 0, Ask::Pong(v1::Pong { number }));
            }
            (Some(Answer::Welcome(welcome)), _) => lane.recorder().server_version(welcome.server_version),
            // Of matches that were left, or nothing that a player needs.
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn send(&mut self, lane: &Lane, output: Output) {
        match output {
            Output::Act(seat, act) => {
                if let Some(handle) = self.handles.get(&seat) {
                    self.ask(Tag::Act(act.decision_number).number(), *handle, Ask::Act(act));
                }
            }
            Output::Open(table) => {
                for (seat, token) in lane.seats(table) {
                    self.join(seat, token);
                }
            }
            Output::Join(seat) => {
                if let Some(token) = lane.token(seat) {
                    self.join(seat, token);
                }
            }
            Output::Leave(table) => {
                let left: Vec<SeatKey> =
                    self.handles.keys().copied().filter(|seat| seat.table == table).collect();
                for seat in left {
                    if let Some(handle) = self.forget(seat) {
                        self.ask(0, handle, Ask::Leave(v1::Leave {}));
                    }
                }
            }
        }
    }

    fn join(&self, seat: SeatKey, token: &str) {
        let join = v1::Join {
            by: Some(v1::join::By::SeatToken(token.to_owned())),
            views: Some(v1::Views::SnapshotsOnly.into()),
            ..v1::Join::default()
        };
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
}

/// Of the tag of an action; the decision is below.
const ACT: u64 = 1 << 63;

impl Tag {
    /// As it is sent: never 0, which is none.
    fn number(self) -> u64 {
        match self {
            Self::Join(SeatKey { table, seat }) => (u64::from(table) << 8 | u64::from(seat)) + 1,
            Self::Act(decision) => ACT | u64::from(decision),
        }
    }

    fn read(number: u64) -> Option<Self> {
        if number & ACT != 0 {
            return u32::try_from(number & !ACT).ok().map(Self::Act);
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
        assert_eq!(Tag::read(0), None);
    }
}
