//! `WatchMatch`, with a codec of its own: what happens in a match is encoded once, however many watch it.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use tonic::{
    Request, Response, Status,
    body::Body,
    codegen::Service,
    server::{Grpc, NamedService, ServerStreamingService},
};
use zetema_proto::v1::{self, match_service_server::MatchServiceServer, watch_match_response::Kind};

use super::{
    backend::Backend,
    fault::Fault,
    heard::{self, Followed, Heard, Look},
    match_service::MatchAdapter,
    told::{self, ToldCodec},
    wire,
};
use crate::{
    admission::{Share, Work},
    limits,
    matches::Audience,
};

const WATCH_MATCH: &str = "/zetema.v1.MatchService/WatchMatch";

/// `MatchService`: the generated code answers all of it but `WatchMatch`.
#[derive(Clone)]
pub(crate) struct MatchServer {
    generated: MatchServiceServer<MatchAdapter>,
    spectators: Spectators,
    max_request_bytes: usize,
}

impl MatchServer {
    /// The service over these matches.
    pub(crate) fn new(backend: &Arc<Backend>) -> Self {
        let adapter = MatchAdapter::new(Arc::clone(backend));
        let max_request_bytes = backend.max_request_bytes;
        let generated = MatchServiceServer::new(adapter.clone())
            .max_decoding_message_size(max_request_bytes)
            .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
        Self { generated, spectators: Spectators(adapter), max_request_bytes }
    }
}

impl NamedService for MatchServer {
    const NAME: &'static str = <MatchServiceServer<MatchAdapter> as NamedService>::NAME;
}

impl Service<http::Request<Body>> for MatchServer {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path() != WATCH_MATCH {
            return self.generated.call(request);
        }
        let (spectators, max_request_bytes) = (self.spectators.clone(), self.max_request_bytes);
        async move {
            let mut grpc = Grpc::new(ToldCodec::default())
                .max_decoding_message_size(max_request_bytes)
                .max_encoding_message_size(limits::MAX_RESPONSE_BYTES);
            Ok(grpc.server_streaming(spectators, request).await)
        }
        .boxed()
    }
}

/// What answers `WatchMatch`.
#[derive(Clone)]
struct Spectators(MatchAdapter);

type Told = told::Told<v1::WatchMatchResponse>;

type Answers = BoxStream<'static, Result<Told, Status>>;

impl ServerStreamingService<v1::WatchMatchRequest> for Spectators {
    type Response = Told;
    type ResponseStream = Answers;
    type Future = BoxFuture<'static, Result<Response<Answers>, Status>>;

    fn call(&mut self, request: Request<v1::WatchMatchRequest>) -> Self::Future {
        let Self(adapter) = self.clone();
        async move { watch(&adapter, &request).await.map(Response::new) }.boxed()
    }
}

async fn watch(adapter: &MatchAdapter, request: &Request<v1::WatchMatchRequest>) -> Result<Answers, Status> {
    let backend = adapter.backend();
    backend.pressure.check(Work::Watch).map_err(Fault::from)?;
    let v1::WatchMatchRequest { match_id, after_seq, views } = request.get_ref();
    let caller = adapter.caller(request.metadata()).await?;
    let info = adapter.visible(&caller, match_id).await?;
    let views = wire::views(*views).map_err(Fault::from)?;
    let share = request.extensions().get::<Share>();
    let look = Look { match_id: info.match_id, audience: Audience::Spectator, after_seq: *after_seq, views };
    let Followed { start, seq: _, following } = heard::follow(backend, share, look, None).await?;
    let told = following.heard().map(|heard| match heard {
        Heard::Observation { seq: _, observation } => Ok(Told::Observation { handle: 0, observation }),
        Heard::End(end) => Ok(told(Kind::End(end))),
        Heard::Superseded(_) => Err(Fault::internal(&"a spectator was superseded").into()),
        Heard::Cut(fault) => Err(fault.into()),
    });
    let start = Some(self::told(Kind::Start(start)));
    let told = heard::until_closed(backend, start, told, |draining| self::told(Kind::Draining(draining)));
    Ok(caller.until_void(told))
}

fn told(kind: Kind) -> Told {
    Told::Message(Box::new(v1::WatchMatchResponse { kind: Some(kind) }))
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use zetema_proto::Views;
    use zetema_rules::{NamedTimeControl, Preset, Seat, TimeControl};

    use super::*;
    use crate::{
        journal::Visibility,
        matches::{Config, Limits, Matches, Next, SystemClock, SystemEntropy, tests::fake::FakeJournal},
        table::{DealSpec, FairShuffler, LadderRates, MatchSpec, SeatAccess, SeatSpec},
    };

    #[tokio::test]
    async fn all_spectators_are_sent_the_same_bytes_and_those_are_the_message() {
        let config = Config {
            journal: Arc::new(FakeJournal::new()),
            clock: Arc::new(SystemClock::new()),
            entropy: Arc::new(SystemEntropy),
            shuffler: Arc::new(FairShuffler),
            limits: Limits::default(),
            faults: None,
        };
        let (matches, _) = Matches::open(config).await.unwrap();
        let spec = MatchSpec {
            rules: Preset::Sackson.rules(2, None).unwrap(),
            seats: vec![SeatSpec::Token; 2],
            deals: DealSpec::Joint,
            time_control: TimeControl::named(NamedTimeControl::None),
            visibility: Visibility::Public,
            client_reference: None,
            owner: None,
            ladder: None,
            ladder_rates: LadderRates::default(),
        };
        let id = matches.create(vec![spec], None).await.unwrap()[0].match_id;
        let watch = async |views| matches.subscribe(id, Audience::Spectator, None, views).await.unwrap();
        let mut whole = [watch(Views::EveryDecision).await, watch(Views::EveryDecision).await];
        let mut bare = [watch(Views::SnapshotsOnly).await, watch(Views::SnapshotsOnly).await];
        for seat in 0..2 {
            let access = SeatAccess { seat: Seat::new(seat).unwrap(), generation: 1 };
            matches.join(id, access, None).await.unwrap();
        }
        let mut with_view = false;
        for _ in 0..2 {
            for pair in [&mut whole, &mut bare] {
                let mut sent = Vec::new();
                for subscription in pair {
                    let next = subscription.next().await;
                    let Heard::Observation { seq, observation } = heard::told(&next, subscription) else {
                        panic!()
                    };
                    let Next::Observation(observed) = next else { panic!() };
                    let expected = wire::observation(&observed, &subscription.info().rules);
                    assert_eq!(v1::Observation::decode(observation.as_bytes()), Ok(expected));
                    assert_eq!(seq, observed.seq);
                    with_view |= observed.view.is_some();
                    sent.push(observation.as_bytes().as_ptr());
                }
                assert_eq!(sent[0], sent[1], "they are in memory once");
            }
        }
        assert!(with_view);
    }
}
