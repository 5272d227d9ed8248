//! How often a match is asked for that can't be followed.

use futures::stream::BoxStream;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response};
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::play_service_server::{PlayService, PlayServiceServer};

use super::*;
use crate::lean::Created;
use crate::outcome::{Description, Phase};
use crate::think::Think;

const MS: Duration = Duration::from_millis(1);
/// What the server says to wait.
const AT_LEAST: Duration = Duration::from_millis(300);

/// A server that lets nobody follow a match, and tells when somebody wanted to.
struct Full(UnboundedSender<Instant>);

/// What no test calls.
fn nothing<T>() -> Result<T, Status> {
    Err(Status::unimplemented("not here"))
}

#[tonic::async_trait]
impl PlayService for Full {
    type PlayStream = BoxStream<'static, Result<v1::PlayResponse, Status>>;
    type ObserveStream = BoxStream<'static, Result<v1::ObserveResponse, Status>>;

    async fn play(
        &self,
        _: Request<Streaming<v1::PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        nothing()
    }

    async fn join_seat(
        &self,
        _: Request<v1::JoinSeatRequest>,
    ) -> Result<Response<v1::JoinSeatResponse>, Status> {
        Ok(Response::new(v1::JoinSeatResponse::default()))
    }

    async fn send_nonce(
        &self,
        _: Request<v1::SendNonceRequest>,
    ) -> Result<Response<v1::SendNonceResponse>, Status> {
        nothing()
    }

    async fn observe(&self, _: Request<v1::ObserveRequest>) -> Result<Response<Self::ObserveStream>, Status> {
        self.0.send(Instant::now()).unwrap();
        let ms = u32::try_from(AT_LEAST.as_millis()).ok();
        let error = v1::Error::new(ErrorReason::LimitExceeded, "too many seats are followed");
        Err(v1::Error { retry_after_ms: ms, ..error }.into())
    }

    async fn act(&self, _: Request<v1::ActRequest>) -> Result<Response<v1::ActResponse>, Status> {
        nothing()
    }

    async fn resign(&self, _: Request<v1::ResignRequest>) -> Result<Response<v1::ResignResponse>, Status> {
        nothing()
    }

    async fn list_faults(
        &self,
        _: Request<v1::ListFaultsRequest>,
    ) -> Result<Response<v1::ListFaultsResponse>, Status> {
        nothing()
    }

    async fn update_queues(
        &self,
        _: Request<v1::UpdateQueuesRequest>,
    ) -> Result<Response<v1::UpdateQueuesResponse>, Status> {
        nothing()
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_that_can_t_be_followed_is_asked_for_after_longer_and_longer_waits() {
    let (told, mut asked) = unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = Server::builder().add_service(PlayServiceServer::new(Full(told)));
    let serving = serving.serve_with_incoming(TcpIncoming::from(listener));
    let _serving = AbortOnDropHandle::new(tokio::spawn(serving));

    let recorder = Recorder::start(Description::default(), Phase::measured("lane"));
    let (finished, _finished) = unbounded_channel();
    let (orders, given) = unbounded_channel();
    let lane = Lane::new(recorder.clone(), finished);
    let endpoint = Endpoint::from_shared(url).unwrap();
    let _driving = AbortOnDropHandle::new(tokio::spawn(drive(endpoint, lane, given)));
    orders
        .send(Order::Begin(Created {
            match_id: "m".to_owned(),
            tokens: vec!["a".to_owned(), "b".to_owned()],
            asked: Instant::now(),
            think: Think::default(),
            seed: 1,
        }))
        .unwrap();

    let mut before = asked.recv().await.unwrap();
    // Twice as long each time, but no less than the server says.
    for least in [AT_LEAST, AT_LEAST, 400 * MS, 800 * MS, 1600 * MS] {
        let now = asked.recv().await.unwrap();
        assert!(now - before >= least, "{:?} after {least:?} were due", now - before);
        before = now;
    }
    let totals = recorder.finish().totals();
    assert!((5..=6).contains(&totals.failures().of(ErrorReason::LimitExceeded.into())));
}
