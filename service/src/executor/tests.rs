use std::{
    convert::Infallible,
    future::{pending, poll_fn, ready},
    hint,
    sync::atomic::AtomicUsize,
    thread,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::Empty;
use hyper::{body::Incoming, client, server, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io,
    runtime::Builder,
    sync::{mpsc, oneshot},
    task::yield_now,
    time::timeout,
};

use super::*;

/// More than run in one turn, in a debug build at least.
const TASKS: usize = 5_000;

/// Notes when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// A task that is called and counts, so often that it is called while it runs too.
async fn called(executor: &Executor, calling: usize, calls: usize) {
    let (said, mut heard) = mpsc::unbounded_channel();
    let (ended, end) = oneshot::channel();
    executor.spawn(async move {
        let mut count = 0;
        while heard.recv().await.is_some() {
            count += 1;
        }
        ended.send(count).unwrap();
    });
    let callers: Vec<_> = (0..calling)
        .map(|_| {
            let said = said.clone();
            thread::spawn(move || (0..calls).for_each(|call| said.send(call).unwrap()))
        })
        .collect();
    drop(said);
    let heard = end.await;
    for caller in callers {
        caller.join().unwrap();
    }
    assert_eq!(heard, Ok(calling * calls));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_task_hears_of_all_that_calls_it_in_whatever_thread() {
    let executor = Executor::start();
    for _ in 0..100 {
        called(&executor, 2, 200).await;
    }
}

#[tokio::test]
async fn a_task_hears_of_all_that_calls_it_in_one_thread() {
    let executor = Executor::start();
    for _ in 0..100 {
        called(&executor, 2, 200).await;
    }
}

/// Many tasks that pass a number on, from one to the next, all numbers at once.
async fn passed_on(executor: &Executor, tasks: usize) {
    let (first, mut before) = mpsc::unbounded_channel();
    for _ in 0..tasks {
        let (next, after) = mpsc::unbounded_channel();
        let mut from = mem::replace(&mut before, after);
        executor.spawn(async move {
            while let Some(number) = from.recv().await {
                next.send(number).unwrap();
            }
        });
    }
    (0..tasks).for_each(|number| first.send(number).unwrap());
    drop(first);
    let mut passed = Vec::new();
    while let Some(number) = before.recv().await {
        passed.push(number);
    }
    assert!(passed.iter().copied().eq(0..tasks), "{passed:?}");
}

#[test]
fn more_tasks_than_run_in_a_turn_all_run() {
    for threads in [1, 4] {
        let runtime = Builder::new_multi_thread().worker_threads(threads).build().unwrap();
        runtime.block_on(async { passed_on(&Executor::start(), TASKS).await });
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { passed_on(&Executor::start(), TASKS).await });
}

#[tokio::test]
async fn a_task_that_panics_is_nothing_to_another() {
    let (executor, dropped) = (Executor::start(), Arc::<AtomicUsize>::default());
    let (told, heard) = oneshot::channel();
    let (asked, ask) = oneshot::channel::<()>();
    executor.spawn(async move {
        ask.await.unwrap();
        told.send(()).unwrap();
    });
    let notes = Dropped(Arc::clone(&dropped));
    executor.spawn(async move {
        let _notes = notes;
        yield_now().await;
        panic!("planted");
    });
    while dropped.load(Ordering::Acquire) == 0 {
        yield_now().await;
    }
    asked.send(()).unwrap();
    assert_eq!(heard.await, Ok(()));
}

#[tokio::test]
async fn tasks_that_always_have_more_to_do_let_others_have_their_turn() {
    let executor = Executor::start();
    let (told, mut heard) = mpsc::unbounded_channel();
    // One that is ready again each time, and one that never waits.
    executor.spawn(poll_fn(|context| {
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    executor.spawn(async {
        loop {
            one_more().await;
        }
    });
    executor.spawn(async move {
        yield_now().await;
        told.send("a task").unwrap();
    });
    assert_eq!(heard.recv().await, Some("a task"));
    assert_eq!(tokio::spawn(async { "the runtime's" }).await.unwrap(), "the runtime's");
}

#[tokio::test]
async fn a_turn_is_over_behind_a_slow_task_that_has_done_as_much_as_it_may() {
    let (executor, ran) = (Executor::start(), Arc::<AtomicUsize>::default());
    let (told, heard) = oneshot::channel();
    let mut told = Some(told);
    for _ in 0..RUNS {
        let (ran, told) = (Arc::clone(&ran), told.take());
        executor.spawn(async move {
            let begun = Instant::now();
            while begun.elapsed() <= TURN {
                hint::spin_loop();
            }
            ran.fetch_add(1, Ordering::AcqRel);
            if let Some(told) = told {
                tokio::spawn(async move { told.send(ran.load(Ordering::Acquire)) });
            }
            behind_all().await;
        });
    }
    assert_eq!(heard.await, Ok(1), "a task of the runtime has its turn behind the first of them");
}

/// A task calls one that is slow and then another, which the other worker runs meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_task_holds_up_none_that_another_worker_could_run() {
    let executor = Executor::start();
    for _ in 0..20 {
        while executor.0.0.lock().asleep.len() < 2 {
            yield_now().await;
        }
        let (called, call) = oneshot::channel::<()>();
        let (ran, runs) = std::sync::mpsc::channel();
        let (told, ran_meanwhile) = oneshot::channel();
        executor.spawn(async move {
            call.await.unwrap();
            ran.send(()).unwrap();
        });
        while executor.0.0.lock().asleep.len() < 2 {
            yield_now().await;
        }
        let spawns = executor.clone();
        executor.spawn(async move {
            spawns.spawn(async move {
                told.send(runs.recv_timeout(Duration::from_secs(20)).is_ok()).unwrap();
            });
            called.send(()).unwrap();
        });
        assert_eq!(ran_meanwhile.await, Ok(true));
    }
}

#[test]
fn what_nobody_calls_any_more_is_dropped_with_the_runtime() {
    for threads in [0, 1, 4] {
        let dropped = Arc::<AtomicUsize>::default();
        let runtime = match threads {
            0 => Builder::new_current_thread().build().unwrap(),
            threads => Builder::new_multi_thread().worker_threads(threads).build().unwrap(),
        };
        let executor = runtime.block_on(async {
            let executor = Executor::start();
            for _ in 0..3 {
                let (notes, itself) = (Dropped(Arc::clone(&dropped)), executor.clone());
                let (runs, running) = oneshot::channel();
                executor.spawn(async move {
                    // Whoever calls it is its own, and it could begin more.
                    let mine = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
                    runs.send(()).unwrap();
                    pending::<()>().await;
                    drop((notes, itself, mine));
                });
                running.await.unwrap();
            }
            executor
        });
        drop(runtime);
        assert_eq!(dropped.load(Ordering::Acquire), 3);
        // What would come later has nobody to run it.
        let notes = Dropped(Arc::clone(&dropped));
        executor.spawn(async move { drop(notes) });
        assert_eq!(dropped.load(Ordering::Acquire), 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_in_the_runtime_when_all_is_over() {
    let alive = || Handle::current().metrics().num_alive_tasks();
    let before = alive();
    let executor = Executor::start();
    assert_eq!(alive(), before + 2);
    let (ends, end) = oneshot::channel::<()>();
    let (told, heard) = oneshot::channel();
    executor.spawn(async move { told.send(end.await).unwrap() });
    drop(executor);
    // It has one more to run.
    ends.send(()).unwrap();
    assert_eq!(heard.await, Ok(Ok(())));
    while alive() > before {
        yield_now().await;
    }
}

/// Panics when it is dropped.
struct Unruly(Arc<AtomicUsize>);

impl Drop for Unruly {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
        panic!("planted");
    }
}

#[tokio::test]
async fn what_panics_as_it_is_dropped_is_nothing_to_another() {
    let (executor, dropped) = (Executor::start(), Arc::<AtomicUsize>::default());
    let state = Unruly(Arc::clone(&dropped));
    executor.spawn(poll_fn(move |_| {
        let _of_its_own = &state;
        Poll::Ready(())
    }));
    let payload = Arc::clone(&dropped);
    executor.spawn(async move { std::panic::panic_any(Unruly(payload)) });
    let (told, heard) = oneshot::channel();
    executor.spawn(async move { told.send(()).unwrap() });
    assert_eq!(heard.await, Ok(()));
    assert_eq!(dropped.load(Ordering::Acquire), 2);
}

#[tokio::test]
async fn a_task_does_so_many_things_in_a_row_and_as_many_again_when_it_is_called_anew() {
    let executor = Executor::start();
    let (told, mut heard) = mpsc::unbounded_channel();
    let (calls, mut called) = mpsc::unbounded_channel::<u32>();
    executor.spawn(async move {
        while let Some(things) = called.recv().await {
            let mut turns = 1;
            for _ in 0..things {
                let mut more = std::pin::pin!(one_more());
                poll_fn(|context| {
                    let polled = more.as_mut().poll(context);
                    turns += u32::from(polled.is_pending());
                    polled
                })
                .await;
            }
            told.send(turns).unwrap();
        }
    });
    for (things, turns) in [(1, 1), (IN_A_ROW - 1, 1), (IN_A_ROW - 1, 1), (IN_A_ROW, 2), (3 * IN_A_ROW, 4)] {
        calls.send(things).unwrap();
        assert_eq!(heard.recv().await, Some(turns), "{things} things");
    }
}

/// The order in which two tasks are polled that each do this.
async fn polled<F: Future<Output = ()> + Send + 'static>(work: impl Fn() -> F) -> String {
    let executor = Executor::start();
    let (polls, mut all) = mpsc::unbounded_channel();
    for task in ['a', 'b'] {
        let (polls, mut work) = (polls.clone(), Box::pin(work()));
        executor.spawn(poll_fn(move |context| {
            polls.send(task).unwrap();
            work.as_mut().poll(context)
        }));
    }
    drop(polls);
    let mut order = String::new();
    while let Some(task) = all.recv().await {
        order.push(task);
    }
    order
}

#[tokio::test]
async fn a_task_that_calls_itself_goes_on_at_once_but_once_and_one_that_goes_behind_all_does_not() {
    let calls_itself = || {
        let mut left = 4;
        poll_fn(move |context| {
            left -= 1;
            if left == 0 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    };
    let goes_behind = || async {
        for _ in 0..3 {
            behind_all().await;
        }
    };
    // What one does says nothing of those that run after it.
    for _ in 0..2 {
        assert_eq!(polled(calls_itself).await, "aabbaabb");
        assert_eq!(polled(goes_behind).await, "abababab");
        behind_all().await;
    }
}

/// Something that a task does as it runs.
type Does = fn(&Context<'_>);

/// How often a task is polled that does this first, and then waits.
async fn polls(first: &'static [Does]) -> usize {
    let (executor, polls) = (Executor::start(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&polls);
    executor.spawn(poll_fn(move |context| {
        if counted.fetch_add(1, Ordering::AcqRel) == 0 {
            for does in first {
                does(context);
            }
        }
        Poll::Pending
    }));
    // Whatever it was called for is done when one has had its turn that goes behind all twice.
    let (told, heard) = oneshot::channel();
    executor.spawn(async move {
        behind_all().await;
        behind_all().await;
        told.send(()).unwrap();
    });
    assert_eq!(heard.await, Ok(()));
    polls.load(Ordering::Acquire)
}

#[tokio::test]
async fn a_task_that_has_looked_runs_again_for_calls_of_others_and_for_its_own_from_then_on() {
    fn itself(context: &Context<'_>) {
        context.waker().wake_by_ref();
    }
    fn another(context: &Context<'_>) {
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake()).join().unwrap();
    }
    fn looks(_: &Context<'_>) {
        has_looked();
    }
    let cases: [(&[Does], usize); _] = [
        (&[looks], 1),
        (&[itself], 2),
        (&[itself, goes_behind, looks], 1),
        (&[looks, itself], 2),
        (&[looks, goes_behind], 2),
        (&[another, looks], 2),
        (&[another, itself, looks], 2),
    ];
    for (number, (first, times)) in cases.into_iter().enumerate() {
        assert_eq!(polls(first).await, times, "case {number}");
    }
}

/// The body of a response: it tells so much, and is at rest then. Both are told to the test, that it is and that it is dropped.
struct Rests {
    left: usize,
    is_asked_in_vain: Option<oneshot::Sender<()>>,
    _is_there: oneshot::Sender<()>,
}

impl Body for Rests {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"told")))));
        }
        if let Some(tells) = self.is_asked_in_vain.take() {
            tells.send(()).unwrap();
        }
        has_looked();
        Poll::Pending
    }
}

/// Nobody but the connection calls it then. Had hyper looked for a reset only after it had asked the body, that call would be lost.
#[tokio::test]
async fn a_body_that_has_looked_is_dropped_when_its_client_resets_the_stream() {
    for pieces in 0..4 {
        let (near, far) = io::duplex(4096);
        let (tells, is_at_rest) = oneshot::channel();
        let (is_there, is_gone) = oneshot::channel();
        let body =
            Mutex::new(Some(Rests { left: pieces, is_asked_in_vain: Some(tells), _is_there: is_there }));
        let answer = service_fn(move |_: http::Request<Incoming>| {
            let body = body.lock().unwrap().take().unwrap();
            ready(Ok::<_, Infallible>(http::Response::new(body)))
        });
        let server = server::conn::http2::Builder::new(Executor::start());
        let serving = tokio::spawn(server.serve_connection(TokioIo::new(far), answer));
        let (mut requests, connection) =
            client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near)).await.unwrap();
        tokio::spawn(connection);
        let goes = async {
            let response = requests.send_request(http::Request::new(Empty::<Bytes>::new())).await.unwrap();
            is_at_rest.await.unwrap();
            drop(response);
            is_gone.await
        };
        let is_gone = timeout(Duration::from_secs(20), goes).await;
        assert!(matches!(is_gone, Ok(Err(_))), "behind {pieces} pieces: {is_gone:?}");
        drop(requests);
        serving.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_task_may_end_or_panic_as_it_goes_on_at_once() {
    for panics in [false, true] {
        let dropped = Arc::<AtomicUsize>::default();
        let (executor, notes, mut polls) = (Executor::start(), Dropped(Arc::clone(&dropped)), 0);
        executor.spawn(poll_fn(move |context| {
            let _notes = &notes;
            polls += 1;
            context.waker().wake_by_ref();
            match (polls, panics) {
                (1, _) => Poll::Pending,
                (2, false) => Poll::Ready(()),
                _ => panic!("planted"),
            }
        }));
        while dropped.load(Ordering::Acquire) == 0 {
            yield_now().await;
        }
        assert!(executor.0.0.lock().all.is_empty(), "it is at its end");
    }
}

#[tokio::test]
async fn what_a_task_has_elsewhere_is_known_until_it_tells_anew() {
    let executor = Executor::start();
    let (told, mut heard) = mpsc::unbounded_channel();
    let (thing, another) = ([0u64; 20], [0u64; 20]);
    let (first, then) = (Place::of(&thing), Place::of(&another));
    executor.spawn(async move {
        for place in [first, then] {
            has(Part::Post, place);
            yield_now().await;
            told.send(place).unwrap();
            yield_now().await;
        }
    });
    while let Some(place) = heard.recv().await {
        // It was told in a turn before, and nothing was in the one that has just said so.
        let known: Vec<_> =
            executor.0.0.lock().all.iter().map(|(_, task)| task.parts.places()[0].bits()).collect();
        assert_eq!(known, [place.bits()]);
    }
}

#[test]
fn a_task_fills_two_lines_with_its_counts() {
    assert!(size_of::<Task>() + 2 * size_of::<usize>() <= 128, "{}", size_of::<Task>());
}
