//! The calls of players who have no Play stream.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Streaming};
use zetema_proto::v1;

use super::codec::Counted;
use super::load::Views;
use super::message::{ActResponse, Nothing, ObserveResponse};
use super::meter::Meter;

const JOIN: &str = "/zetema.v1.PlayService/JoinSeat";
const OBSERVE: &str = "/zetema.v1.PlayService/Observe";
const ACT: &str = "/zetema.v1.PlayService/Act";

/// Makes calls on a connection.
#[derive(Clone)]
pub(super) struct Calls {
    channel: Channel,
    meter: Arc<Meter>,
}

impl Calls {
    pub(super) fn new(channel: &Channel, meter: &Arc<Meter>) -> Self {
        Self { channel: channel.clone(), meter: Arc::clone(meter) }
    }

    /// Takes a seat.
    pub(super) async fn join(&self, seat_token: String) -> anyhow::Result<()> {
        let request = v1::JoinSeatRequest { seat_token, nonce_hash: Vec::new(), assigned: None };
        let _: Nothing = self.call(JOIN, request).await?;
        self.meter.seat_taken();
        Ok(())
    }

    /// Follows the seats of these tokens.
    pub(super) async fn observe(
        &self,
        seat_tokens: &[String],
        views: Views,
    ) -> anyhow::Result<Streaming<ObserveResponse>> {
        let seat = |seat_token: &String| v1::ObserveSeat {
            seat_token: seat_token.clone(),
            after_seq: None,
            views: Some(views.asked()),
            assigned: None,
        };
        let request = v1::ObserveRequest { seats: seat_tokens.iter().map(seat).collect() };
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await?;
        let codec = Counted::<v1::ObserveRequest, ObserveResponse>::new(Arc::clone(&self.meter));
        let path = PathAndQuery::from_static(OBSERVE);
        Ok(grpc.server_streaming(Request::new(request), path, codec).await?.into_inner())
    }

    /// Acts, and hears of the receipt.
    pub(super) async fn act(&self, token: &str, act: v1::Act) -> anyhow::Result<()> {
        let decision = act.decision_number;
        let began = Instant::now();
        let request = v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None };
        let answer: ActResponse = self.call(ACT, request).await?;
        let receipt = answer.receipt.context("an action was answered without a receipt")?;
        ensure!(
            receipt.decision_number == decision,
            "the receipt of {} came for decision {decision}",
            receipt.decision_number
        );
        self.meter.done(began.elapsed());
        Ok(())
    }

    async fn call<T, U>(&self, method: &'static str, request: T) -> anyhow::Result<U>
    where
        T: prost::Message + 'static,
        U: prost::Message + Default + 'static,
    {
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await?;
        let codec = Counted::<T, U>::new(Arc::clone(&self.meter));
        let path = PathAndQuery::from_static(method);
        Ok(grpc.unary(Request::new(request), path, codec).await?.into_inner())
    }
}
