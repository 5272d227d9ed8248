//! What drives a lane, whatever connects it.

use std::ops::ControlFlow;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep, sleep_until};
use tonic::Status;
use tonic::transport::Endpoint;

use super::lane::{Lane, Output};
use crate::backoff::Backoff;
use crate::order::Order;
use crate::outcome::{Count, Failure};

/// A connection to the server, with what is open on it.
pub(super) trait Connection: Sized {
    /// Connects.
    async fn connect(endpoint: &Endpoint) -> Result<Self, Status>;

    /// Sends this for the lane.
    fn send(&mut self, lane: &Lane, output: Output);

    /// Waits for the next thing that comes, and tells the lane. Nothing is lost if it is not waited for.
    async fn hear(&mut self, lane: &mut Lane) -> ControlFlow<Status>;
}

/// How a connection ended.
enum Ended {
    /// The load is over.
    NoMoreOrders,
    /// It was cut on purpose.
    Dropped,
    /// It was cut otherwise.
    Broken(Status),
}

/// Drives a lane on one connection after the other, until nobody gives it orders any more.
pub(super) async fn drive<C: Connection>(
    endpoint: Endpoint,
    mut lane: Lane,
    mut orders: UnboundedReceiver<Order>,
) {
    let mut backoff = Backoff::default();
    let mut is_first = true;
    loop {
        let ended = match C::connect(&endpoint).await {
            Ok(connection) => {
                if !is_first {
                    lane.recorder().count(Count::Reconnected);
                }
                is_first = false;
                backoff = Backoff::default();
                run(connection, &mut lane, &mut orders).await
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

async fn run(
    mut connection: impl Connection,
    lane: &mut Lane,
    orders: &mut UnboundedReceiver<Order>,
) -> Ended {
    let timer = sleep_until(Instant::now());
    tokio::pin!(timer);
    loop {
        while let Some(output) = lane.output() {
            connection.send(lane, output);
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
                Some(Order::Rejoin(drawn)) => lane.rejoin(Instant::now(), drawn),
                Some(Order::Drop) => return Ended::Dropped,
                None => return Ended::NoMoreOrders,
            },
            heard = connection.hear(lane) => {
                if let ControlFlow::Break(status) = heard {
                    return Ended::Broken(status);
                }
            }
            () = &mut timer, if deadline.is_some() => {}
        }
        lane.tick(Instant::now());
    }
}
