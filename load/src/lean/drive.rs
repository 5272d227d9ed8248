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
    /// What is said first on a connection.
    type Hello;

    /// What is to be said now, for this lane.
    fn hello(lane: &Lane) -> Self::Hello;

    /// Connects, and says this.
    async fn connect(endpoint: &Endpoint, hello: Self::Hello) -> Result<Self, Status>;

    /// Sends this for the lane.
    fn send(&mut self, lane: &Lane, output: Output);

    /// Waits for the next thing that comes, and tells the lane. Nothing is lost if it is not waited for.
    async fn hear(&mut self, lane: &mut Lane) -> ControlFlow<Status>;
}

/// How a connection ended.
enum Ended {
    /// The load is over, or all that this lane was to do.
    Done,
    /// It was cut on purpose.
    Dropped,
    /// It was cut otherwise.
    Broken(Status),
}

/// Drives a lane on one connection after the other, until nobody gives it orders any more or it is done.
pub(super) async fn drive<C: Connection>(
    endpoint: Endpoint,
    mut lane: Lane,
    mut orders: UnboundedReceiver<Order>,
) {
    let mut backoff = Backoff::default();
    let mut is_first = true;
    loop {
        let connecting = C::connect(&endpoint, C::hello(&lane));
        let Some(connected) = meanwhile(&mut lane, &mut orders, connecting).await else { return };
        let ended = match connected {
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
            Ended::Done => return,
            Ended::Dropped => {
                lane.recorder().count(Count::Dropped);
                lane.cut(Instant::now());
            }
            Ended::Broken(status) => {
                lane.recorder().failed(Failure::of(&status), status.message());
                lane.cut(Instant::now());
                if meanwhile(&mut lane, &mut orders, sleep(backoff.next())).await.is_none() {
                    return;
                }
            }
        }
    }
}

/// Does this while there is no connection, and hears the orders that come. `None`: the load is over, or there is nothing to connect for.
async fn meanwhile<T>(
    lane: &mut Lane,
    orders: &mut UnboundedReceiver<Order>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    loop {
        if lane.is_idle() {
            return None;
        }
        tokio::select! {
            biased;
            order = orders.recv() => {
                // There is nothing that could be cut on purpose.
                if let ControlFlow::Break(Ended::Done) = obey(lane, order) {
                    return None;
                }
            }
            done = &mut work => return Some(done),
        }
    }
}

/// Does what is ordered, as far as it does not end the connection.
fn obey(lane: &mut Lane, order: Option<Order>) -> ControlFlow<Ended> {
    match order {
        Some(Order::Begin(created)) => lane.begin(created),
        Some(Order::EndLoad(noted)) => {
            lane.end_load(Instant::now());
            drop(noted);
        }
        Some(Order::Follow(schedule)) => lane.follow(*schedule),
        Some(Order::Share(part)) => lane.share(Instant::now(), part),
        Some(Order::Rejoin(drawn)) => lane.rejoin(Instant::now(), drawn),
        Some(Order::LeaveQueues(noted)) => {
            lane.leave_queues(Instant::now());
            drop(noted);
        }
        Some(Order::Rest { noted, answered }) => {
            lane.rest(Instant::now(), answered);
            drop(noted);
        }
        Some(Order::GiveUp { ended, noted }) => {
            lane.tell_missing(Instant::now(), &ended);
            drop(noted);
        }
        Some(Order::Drop) => return ControlFlow::Break(Ended::Dropped),
        None => return ControlFlow::Break(Ended::Done),
    }
    ControlFlow::Continue(())
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
            order = orders.recv() => {
                if let ControlFlow::Break(ended) = obey(lane, order) {
                    return ended;
                }
            }
            heard = connection.hear(lane) => {
                if let ControlFlow::Break(status) = heard {
                    return Ended::Broken(status);
                }
            }
            () = &mut timer, if deadline.is_some() => {}
        }
        lane.tick(Instant::now());
        if lane.is_done() {
            return Ended::Done;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc::{channel, unbounded_channel};
    use tokio::time::timeout;

    use super::*;
    use crate::lean::Bot;
    use crate::outcome::{Description, Phase, Recorder};
    use crate::think::Think;

    const MS: Duration = Duration::from_millis(1);

    /// Nobody is there who would take a connection.
    struct Pending;

    /// Whoever is there takes none.
    struct Refused;

    impl Connection for Pending {
        type Hello = ();

        fn hello(_: &Lane) {}

        async fn connect(_: &Endpoint, (): ()) -> Result<Self, Status> {
            std::future::pending().await
        }

        fn send(&mut self, _: &Lane, _: Output) {}

        async fn hear(&mut self, _: &mut Lane) -> ControlFlow<Status> {
            std::future::pending().await
        }
    }

    impl Connection for Refused {
        type Hello = ();

        fn hello(_: &Lane) {}

        async fn connect(_: &Endpoint, (): ()) -> Result<Self, Status> {
            Err(Status::unavailable("refused"))
        }

        fn send(&mut self, _: &Lane, _: Output) {}

        async fn hear(&mut self, _: &mut Lane) -> ControlFlow<Status> {
            std::future::pending().await
        }
    }

    /// A bot that gets no connection, and is told to leave a millisecond later.
    async fn check<C: Connection>() {
        let recorder = Recorder::start(Description::default(), Phase::measured("lane"));
        let (finished, _finished) = unbounded_channel();
        let (bot, places, think) = ("t".to_owned(), 1, Think::default());
        let bot = Bot { number: 0, token: bot, ladder: "l".to_owned(), places, think, seed: 1 };
        let lane = Lane::new(recorder, finished).of_bot(bot);
        let (orders, given) = unbounded_channel();
        let (noted, mut all) = channel(1);
        let began = Instant::now();
        let leaving = async {
            sleep(MS).await;
            orders.send(Order::LeaveQueues(noted)).unwrap();
            assert_eq!(all.recv().await, None, "it is heard");
        };
        let driving = drive::<C>(Endpoint::from_static("http://127.0.0.1:1"), lane, given);
        timeout(Duration::from_mins(1), async { tokio::join!(driving, leaving) }).await.unwrap();
        assert_eq!(began.elapsed(), MS);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_told_to_leave_before_there_is_a_connection_is_done_at_once() {
        check::<Pending>().await;
        check::<Refused>().await;
    }
}
