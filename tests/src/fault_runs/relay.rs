//! A server with a bug: it passes every call on to the real one, and says or does one thing wrongly.

use std::collections::BTreeSet;
use std::future::ready;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures::{Stream, StreamExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::acknowledgement::Kind as Acknowledged;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::observe_response::Kind as Observed;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::v1::play_service_server::{PlayService, PlayServiceServer};
use zetema_proto::v1::subscription_start::Kind as From;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// None at all.
    None,
    /// A receipt comes once: the same answer, sent again, is refused.
    ReceiptNotRepeated,
    /// The first observation after a resume comes twice.
    ObservationTwice,
    /// The first observation after a resume is left out, once in a match, if it asks nothing: otherwise the match
    /// would stand still.
    ObservationSkipped,
    /// An Act that is sent again is taken for the decision that is open by then.
    ActionPlayedAnew,
}

/// A server with a bug, for one seat. It stops when it is dropped.
pub struct Relay {
    address: SocketAddr,
    stop: CancellationToken,
}

impl Relay {
    /// A relay on a free port in front of this server.
    pub async fn start(server: SocketAddr, bug: Bug) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{server}")).unwrap().tcp_nodelay(true);
        let client = PlayServiceClient::new(endpoint.connect_lazy());
        let service = PlayServiceServer::new(Relayed {
            client,
            state: Arc::new(State { bug, memory: Mutex::default() }),
        });
        let stop = CancellationToken::new();
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let serving = Server::builder().add_service(service).serve_with_incoming(incoming);
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Self { address, stop }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Relayed {
    client: PlayServiceClient<Channel>,
    state: Arc<State>,
}

struct State {
    bug: Bug,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// Decisions that were answered.
    answered: BTreeSet<u32>,
    /// Whether an observation was skipped.
    skipped: bool,
}

/// What a stream knows of itself.
#[derive(Default)]
struct Followed {
    /// Whether it resumed, and nothing came since.
    resumed: bool,
}

impl State {
    /// Notes an answer: `false` if there was one before.
    fn is_first(&self, decision: u32) -> bool {
        self.memory.lock().unwrap().answered.insert(decision)
    }

    fn was_answered(&self, decision: u32) -> bool {
        self.memory.lock().unwrap().answered.contains(&decision)
    }

    /// How often an observation is said.
    fn times(&self, followed: &mut Followed, observation: &v1::Observation) -> usize {
        let first = std::mem::take(&mut followed.resumed);
        match self.bug {
            Bug::ObservationTwice if first => 2,
            Bug::ObservationSkipped if first && observation.decision.is_none() => {
                usize::from(std::mem::replace(&mut self.memory.lock().unwrap().skipped, true))
            }
            _ => 1,
        }
    }
}

fn decision_over(decision: u32) -> v1::Error {
    let error = v1::Error::new(ErrorReason::DecisionOver, "the decision is over");
    v1::Error { decision_number: Some(decision + 1), ..error }
}

fn resumes(start: &v1::SubscriptionStart) -> bool {
    matches!(start.kind, Some(From::Resumed(_)))
}

type Out<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl PlayService for Relayed {
    type PlayStream = Out<v1::PlayResponse>;
    type ObserveStream = Out<v1::ObserveResponse>;

    async fn play(
        &self,
        request: Request<Streaming<v1::PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        // Decisions whose first answer came by this stream.
        let fresh = Arc::new(Mutex::new(BTreeSet::new()));
        let (state, answered) = (Arc::clone(&self.state), Arc::clone(&fresh));
        let requests =
            request.into_inner().filter_map(|request| ready(request.ok())).inspect(move |request| {
                if let Some(Ask::Act(act)) = &request.kind
                    && state.is_first(act.decision_number)
                {
                    answered.lock().unwrap().insert(act.decision_number);
                }
            });
        let responses = self.client.clone().play(requests).await?.into_inner();
        let state = Arc::clone(&self.state);
        let mut followed = Followed::default();
        let said = responses.map(move |response| {
            let Ok(mut response) = response else { return vec![response] };
            let forgets = |decision: u32| {
                state.bug == Bug::ReceiptNotRepeated && !fresh.lock().unwrap().contains(&decision)
            };
            match &mut response.kind {
                Some(Answer::Joined(start)) => followed.resumed = resumes(start),
                Some(Answer::Observation(observation)) => {
                    observation.answered_decision_number.take_if(|decision| forgets(*decision));
                    let times = state.times(&mut followed, observation);
                    return vec![Ok(response); times];
                }
                Some(Answer::Acknowledgement(v1::Acknowledgement {
                    kind: Some(Acknowledged::Action(receipt)),
                })) if forgets(receipt.decision_number) => {
                    response.kind = Some(Answer::Rejection(decision_over(receipt.decision_number)));
                }
                _ => {}
            }
            vec![Ok(response)]
        });
        Ok(Response::new(Box::pin(said.flat_map(futures::stream::iter))))
    }

    async fn join_seat(
        &self,
        request: Request<v1::JoinSeatRequest>,
    ) -> Result<Response<v1::JoinSeatResponse>, Status> {
        self.client.clone().join_seat(request.into_inner()).await
    }

    async fn send_nonce(
        &self,
        request: Request<v1::SendNonceRequest>,
    ) -> Result<Response<v1::SendNonceResponse>, Status> {
        self.client.clone().send_nonce(request.into_inner()).await
    }

    async fn observe(
        &self,
        request: Request<v1::ObserveRequest>,
    ) -> Result<Response<Self::ObserveStream>, Status> {
        let responses = self.client.clone().observe(request.into_inner()).await?.into_inner();
        let state = Arc::clone(&self.state);
        let mut followed = Followed::default();
        let said = responses.map(move |response| {
            match response.as_ref().map(|response| &response.kind) {
                Ok(Some(Observed::Start(start))) => followed.resumed = resumes(start),
                Ok(Some(Observed::Observation(observation))) => {
                    let times = state.times(&mut followed, observation);
                    return vec![response; times];
                }
                _ => {}
            }
            vec![response]
        });
        Ok(Response::new(Box::pin(said.flat_map(futures::stream::iter))))
    }

    async fn act(&self, request: Request<v1::ActRequest>) -> Result<Response<v1::ActResponse>, Status> {
        let (state, mut client, request) =
            (Arc::clone(&self.state), self.client.clone(), request.into_inner());
        // What was begun is brought to its end, as the server does.
        let acting = async move {
            let decision = request.act.as_ref().map_or(0, |act| act.decision_number);
            let again = state.was_answered(decision);
            if again && state.bug == Bug::ReceiptNotRepeated {
                return Err(decision_over(decision).into());
            }
            if again && state.bug == Bug::ActionPlayedAnew {
                play_anew(&mut client, &request.seat_token).await;
            }
            let answer = client.act(request).await?;
            state.is_first(decision);
            Ok(answer)
        };
        tokio::spawn(acting).await.unwrap()
    }

    async fn resign(
        &self,
        request: Request<v1::ResignRequest>,
    ) -> Result<Response<v1::ResignResponse>, Status> {
        self.client.clone().resign(request.into_inner()).await
    }

    async fn list_faults(
        &self,
        request: Request<v1::ListFaultsRequest>,
    ) -> Result<Response<v1::ListFaultsResponse>, Status> {
        self.client.clone().list_faults(request.into_inner()).await
    }

    async fn update_queues(
        &self,
        request: Request<v1::UpdateQueuesRequest>,
    ) -> Result<Response<v1::UpdateQueuesResponse>, Status> {
        self.client.clone().update_queues(request.into_inner()).await
    }
}

/// Answers the decision that is open, if it is the seat's.
async fn play_anew(client: &mut PlayServiceClient<Channel>, token: &str) {
    let mut act = async |decision_number| {
        let act = v1::Act { decision_number, choice: Some(Choice::LegalIndex(0)) };
        client.act(v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None }).await
    };
    let refused = act(u32::MAX).await.expect_err("no decision has this number");
    let open = v1::Error::from_status(&refused).and_then(|error| error.decision_number);
    if let Some(open) = open {
        // It may be another seat's.
        let _ = act(open).await;
    }
}
