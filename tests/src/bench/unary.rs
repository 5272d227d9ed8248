//! Plays matches by `JoinSeat`, Observe and Act: an Observe stream for the seats of each match, and a call for each action.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tonic::Streaming;
use tonic::transport::Channel;
use zetema_proto::v1;

use super::calls::Calls;
use super::creation::{Created, Creation};
use super::load::{Matches, Views};
use super::message::{ObserveResponse, Observed};
use super::meter::{Meter, Timed};
use super::player::{Heard, Player};

const SEATS: usize = 2;

/// Has matches played, so many at once on these channels. The first ones are created when this returns.
pub(super) async fn unary(
    channels: &[Channel],
    Matches { live, in_flight, views, .. }: Matches,
    creation: Creation,
    meter: &Arc<Meter>,
) -> anyhow::Result<JoinSet<()>> {
    let created = creation.many(live).await?;
    let (creation, room) = (Arc::new(creation), Arc::new(Semaphore::new(in_flight)));
    let mut tasks = JoinSet::new();
    for (first, channel) in created.into_iter().zip(channels.iter().cycle()) {
        let (creation, meter) = (Arc::clone(&creation), Arc::clone(meter));
        let place = Place {
            calls: Calls::new(channel, &meter),
            meter: Arc::clone(&meter),
            room: Arc::clone(&room),
            views,
        };
        tasks.spawn(async move {
            let played = async {
                let mut created = first;
                loop {
                    Table::join(&place, &created).await?.play(&place).await?;
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

/// Where one match after the other is played.
struct Place {
    calls: Calls,
    meter: Arc<Meter>,
    room: Arc<Semaphore>,
    views: Views,
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
    async fn join(place: &Place, created: &Created) -> anyhow::Result<Self> {
        let mut tokens = Vec::with_capacity(SEATS);
        let mut players = Vec::with_capacity(SEATS);
        for seat in 0..SEATS {
            let seat_token = created.token(seat)?;
            players.push(Player::new(created.seed(seat)));
            tokens.push(seat_token.clone());
            place.calls.join(seat_token).await?;
        }
        let stream = place.calls.observe(&tokens, place.views).await?;
        Ok(Self { tokens, players, stream, seats: SEATS })
    }

    /// Plays it to its end.
    async fn play(mut self, place: &Place) -> anyhow::Result<()> {
        let mut next = self.next(None, place).await?;
        while let Some((seat, act)) = next {
            let token = self.tokens.get(seat).context("a seat has no token")?.clone();
            let _turn = place.room.acquire().await?;
            let acted = Instant::now();
            let (receipt, heard) = tokio::join!(place.calls.act(&token, act), self.next(Some(acted), place));
            receipt?;
            next = heard?;
        }
        Ok(())
    }

    /// Listens until a seat has something to answer. `None`: the match is over.
    async fn next(&mut self, acted: Option<Instant>, place: &Place) -> anyhow::Result<Next> {
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
                    place.meter.took(Timed::Decision, acted.elapsed());
                }
                return Ok(Some((seat, act)));
            }
        }
        Ok(None)
    }
}
