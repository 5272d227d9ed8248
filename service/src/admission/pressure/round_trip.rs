//! The way of an action through the server, gone by something that is looked at.

use tokio::{runtime::Handle, sync::oneshot, task::spawn_blocking};

use crate::executor::{Executor, behind_all};

/// Goes to another thread and back, lets all have their turn that are ready, and says whether the runtime still runs.
///
/// A task that a timer wakes passes by those that are ready. What comes from another thread, as answers of the journal do, waits in
/// the queue that takes what a worker's own has no room for. Where that has, a worker looks there after some dozens of turns, however
/// many are ready: so it waits in the worker's own as well, behind all of them, as a connection does that has something to read. Then it
/// waits behind all that is ready of streams.
pub(super) async fn there_and_back(streams: &Executor) -> bool {
    let runtime = Handle::current();
    let back = spawn_blocking(move || runtime.spawn(async {}));
    let runs = match back.await {
        Ok(back) => back.await.is_ok(),
        Err(_) => false,
    };
    behind_all().await;
    behind_all_of(streams).await;
    runs
}

/// Goes behind all that is ready of streams: their tasks wait in a queue of their own.
async fn behind_all_of(streams: &Executor) {
    let (had, turn) = oneshot::channel::<()>();
    streams.spawn(async move { drop(had) });
    // Nothing is sent: it is dropped when it has its turn.
    drop(turn.await);
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering::Relaxed},
        },
        task::{Context, Poll},
        time::Duration,
    };

    use tokio::{
        runtime::Builder,
        time::{sleep, timeout},
    };

    use super::*;
    use crate::{
        admission::{Pressure, Work},
        limits,
    };

    /// A runtime of one worker that always has something to do: more tasks than its own queue has room for, and fewer.
    #[test]
    fn what_comes_from_another_thread_waits_for_all_that_is_ready() {
        let begin = |_: &Executor, busy| drop(tokio::spawn(busy));
        check_waits_for_all(1_000, Duration::from_micros(300), begin);
        check_waits_for_all(240, Duration::from_micros(500), begin);
    }

    /// They have one turn of the runtime after the other, and the runtime's own tasks theirs in between.
    #[test]
    fn what_is_due_waits_for_all_that_is_ready_of_streams() {
        check_waits_for_all(1_000, Duration::from_micros(300), Executor::spawn);
        check_waits_for_all(240, Duration::from_micros(500), Executor::spawn);
    }

    fn check_waits_for_all(tasks: usize, each: Duration, begin: impl Fn(&Executor, Busy)) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(wait_for_all(tasks, each, begin));
    }

    async fn wait_for_all(tasks: usize, each: Duration, begin: impl Fn(&Executor, Busy)) {
        let (pressure, streams) = (Arc::new(Pressure::new()), Executor::start());
        let watched = Arc::clone(&pressure).watch(Duration::from_millis(25), streams.clone());
        let watched = tokio::spawn(watched);
        let over = Arc::<AtomicBool>::default();
        (0..tasks).for_each(|_| begin(&streams, Busy { each, over: Arc::clone(&over) }));
        let late = async {
            while pressure.check(Work::Join).is_ok() {
                sleep(limits::PRESSURE_BEAT).await;
            }
        };
        timeout(Duration::from_mins(3), late).await.unwrap();
        over.store(true, Relaxed);
        let in_time = async {
            while !pressure.is_calm() {
                sleep(limits::PRESSURE_BEAT).await;
            }
        };
        timeout(Duration::from_mins(3), in_time).await.unwrap();
        watched.abort();
    }

    /// Takes a while, and is ready again at once, until all is over.
    struct Busy {
        each: Duration,
        over: Arc<AtomicBool>,
    }

    impl Future for Busy {
        type Output = ();

        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if self.over.load(Relaxed) {
                return Poll::Ready(());
            }
            let begun = std::time::Instant::now();
            while begun.elapsed() < self.each {
                std::hint::spin_loop();
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
}
