//! Plays matches by `JoinSeat`, Observe and Act: an Observe stream for the seats of each match, and a call for each action.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Streaming};
use zetema_proto::v1;

use super::codec::Counted;
use super::creation::{Created, Creation};
use super::message::{ActResponse, Nothing, ObserveResponse, Observed};
use super::meter::{Meter, Timed};
use super::player::{Heard, Player};

const JOIN: &str = "/zetema.v1.PlayService/JoinSeat";
const OBSERVE: &str = "/zetema.v1.PlayService/Observe";
const ACT: &str = "/zetema.v1.PlayService/Act";
const SEATS: usize = 2;

/// Has matches played, so many at once on these channels. The first ones are created when this returns.
pub(super) async fn unary(
    channels: &[Channel],
    (live, in_flight): (usize, usize),
    creation: Creation,
    meter: &Arc<Meter>,
) -> anyhow::Result<JoinSet<()>> {
    let created = creation.many(live).await?;
    let (creation, room) = (Arc::new(creation), Arc::new(Semaphore::new(in_flight)));
    let mut tasks = JoinSet::new();
    for (first, channel) in created.into_iter().zip(channels.iter().cycle()) {
        let (creation, meter) = (Arc::clone(&creation), Arc::clone(meter));
        let calls = Calls { channel: channel.clone(), meter: Arc::clone(&meter), room: Arc::clone(&room) };
        tasks.spawn(async move {
            let played = async {
                let mut created = first;
                loop {
                    Table::join(&calls, &created).await?.play(&calls).await?;
                    created = creation.one().await?;
                }
            };
            let played: anyhow::Result<()> = played.await;
            if let Err(error) = played {
                meter.fail(&format!("{error:#}"));
            }
        });
    }
    Ok(tasks)
}

/// What makes calls.
struct Calls {
    channel: Channel,
    meter: Arc<Meter>,
    room: Arc<Semaphore>,
}

impl Calls {
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

    /// Acts, and hears of the receipt.
    async fn act(&self, token: &str, act: v1::Act) -> anyhow::Result<()> {
        let decision = act.decision_number;
        let began = Instant::now();
        let request = v1::ActRequest { seat_token: token.to_owned(), act: Some(act) };
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
}

/// A match that is played.
struct Table {
    tokens: Vec<String>,
    players: Vec<Player>,
    stream: Streaming<ObserveResponse>,
    /// Seats that have not heard of its end.
    seats: usize,
}

/// The seat that acts next, and what it answers.
type Next = Option<(usize, v1::Act)>;

impl Table {
    /// Takes all seats, and follows them.
    async fn join(calls: &Calls, created: &Created) -> anyhow::Result<Self> {
        let mut tokens = Vec::with_capacity(SEATS);
        let mut players = Vec::with_capacity(SEATS);
        for seat in 0..SEATS {
            let seat_token = created.token(seat)?;
            players.push(Player::new(created.seed(seat)));
            tokens.push(seat_token.clone());
            let request = v1::JoinSeatRequest { seat_token, nonce_hash: Vec::new() };
            let _: Nothing = calls.call(JOIN, request).await?;
            calls.meter.seat_taken();
        }
        let seat = |seat_token: &String| v1::ObserveSeat {
            seat_token: seat_token.clone(),
            after_seq: None,
            views: Some(v1::Views::SnapshotsOnly.into()),
        };
        let request = v1::ObserveRequest { seats: tokens.iter().map(seat).collect() };
        let mut grpc = Grpc::new(calls.channel.clone());
        grpc.ready().await?;
        let codec = Counted::<v1::ObserveRequest, ObserveResponse>::new(Arc::clone(&calls.meter));
        let path = PathAndQuery::from_static(OBSERVE);
        let stream = grpc.server_streaming(Request::new(request), path, codec).await?.into_inner();
        Ok(Self { tokens, players, stream, seats: SEATS })
    }

    /// Plays it to its end.
    async fn play(mut self, calls: &Calls) -> anyhow::Result<()> {
        let mut next = self.next(None, calls).await?;
        while let Some((seat, act)) = next {
            let token = self.tokens.get(seat).context("a seat has no token")?.clone();
            let _turn = calls.room.acquire().await?;
            let acted = Instant::now();
            let (receipt, heard) = tokio::join!(calls.act(&token, act), self.next(Some(acted), calls));
            receipt?;
            next = heard?;
        }
        Ok(())
    }

    /// Listens until a seat has something to answer. `None`: the match is over.
    async fn next(&mut self, acted: Option<Instant>, calls: &Calls) -> anyhow::Result<Next> {
        while self.seats > 0 {
            let message = self.stream.message().await?.context("the server has ended a stream")?;
            let ObserveResponse { handle, kind } = message;
            let seat = usize::try_from(handle)?.checked_sub(1).context("a message is of no seat")?;
            let player = self.players.get_mut(seat).context("a message is of a seat that is not there")?;
            let heard = match kind.context("a message is of a kind that is not known")? {
                Observed::Observation(observation) => player.observed(observation)?,
                Observed::Start(start) => player.started(start)?,
                Observed::End(_) => {
                    player.ended()?;
                    self.seats -= 1;
                    Heard::default()
                }
                other => bail!("the server sends {other:?}"),
            };
            if let Some(act) = heard.answer {
                if let Some(acted) = acted {
                    calls.meter.took(Timed::Decision, acted.elapsed());
                }
                return Ok(Some((seat, act)));
            }
        }
        Ok(None)
    }
}
