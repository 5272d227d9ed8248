//! Runs the tasks of streams, of which a server has thousands: many of them in each turn that the runtime gives, and the memory of those
//! that are next is fetched while one runs, with what they have told that they have elsewhere ([`has`]).
//!
//! Where each task has its turn from the runtime, the processor waits for the memory of each, and connections write little at a time, as
//! they have their turns in between. Here all that is ready comes first, for a while.
//!
//! A task is polled by one thread at a time, goes on in any thread of the runtime, and is dropped with the runtime. One that panics is
//! dropped, and no other knows. The runtime's own bound of what a task does in a row does not hold here, but [`one_more`] does.

use std::{
    cell::Cell,
    collections::VecDeque,
    fmt,
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::task::{ArcWake, waker_ref};
use slab::Slab;
use tokio::{runtime::Handle, task::coop::unconstrained};

use crate::prefetch::Place;

mod parts;

use parts::Parts;
pub(crate) use parts::{Part, has};

/// How many tasks before its own the memory of one is fetched: so many that it is there in time, and so few that it still is.
const AHEAD: usize = 4;
/// How long tasks run in one turn of the runtime before others have theirs. One that is slow by itself takes longer.
const TURN: Duration = Duration::from_millis(1);
/// Tasks that run before it is looked how long that was, unless one has done as much as it may: the clock is read for all of them
/// together.
const RUNS: usize = 4;
/// Things that a task does in a row before others have their turn: as many as the runtime lets one do.
const IN_A_ROW: u32 = 128;

/// Where tasks are begun. When the last of these is gone and every task is at its end, nothing is left of it in the runtime.
#[derive(Clone)]
pub(crate) struct Executor(Arc<Open>);

impl Executor {
    /// Starts one on the runtime of this context, in all of its threads.
    pub(crate) fn start() -> Self {
        let shared = Arc::<Shared>::default();
        for _ in 0..Handle::current().metrics().num_workers() {
            tokio::spawn(unconstrained(Runner(Arc::clone(&shared))));
        }
        Self(Arc::new(Open(shared)))
    }

    /// Begins a task. Where the runtime is gone it is dropped.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let shared = &self.0.0;
        let work = Box::pin(work);
        let place = Place::of(&*work);
        let mut inside = shared.lock();
        if inside.stage == Stage::Gone {
            return;
        }
        let entry = inside.all.vacant_entry();
        let task = Arc::new(Task {
            state: AtomicU8::new(READY),
            place,
            parts: Parts::default(),
            work: Mutex::new(Some(work)),
            key: entry.key(),
            shared: Arc::clone(shared),
        });
        entry.insert(Arc::clone(&task));
        inside.ready.push_back(task);
        Shared::wake_one(inside);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Executor").field(&self.0.0.lock().all.len()).finish()
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Executor {
    fn execute(&self, work: F) {
        self.spawn(work);
    }
}

/// As long as it is there more tasks may come.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        let mut inside = self.0.lock();
        if inside.stage == Stage::Open {
            inside.stage = Stage::Closed;
        }
        Shared::wake_all_if_over(inside);
    }
}

#[derive(Default)]
struct Shared(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    /// Tasks that are to run, in order.
    ready: VecDeque<Arc<Task>>,
    /// All that are not at their end: what nobody calls any more is dropped with the runtime, as it would be by the runtime.
    all: Slab<Arc<Task>>,
    /// Runners that have found nothing to do.
    asleep: Vec<Waker>,
    stage: Stage,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    /// No more tasks will come.
    Closed,
    /// With its runners: no task runs any more.
    Gone,
}

impl Inside {
    fn is_over(&self) -> bool {
        self.stage != Stage::Open && self.all.is_empty()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_one(mut inside: MutexGuard<'_, Inside>) {
        let asleep = inside.asleep.pop();
        drop(inside);
        if let Some(asleep) = asleep {
            asleep.wake();
            CALLED_RUNNER.set(true);
        }
    }

    fn wake_all_if_over(mut inside: MutexGuard<'_, Inside>) {
        if inside.is_over() {
            let asleep = mem::take(&mut inside.asleep);
            drop(inside);
            asleep.into_iter().for_each(Waker::wake);
        }
    }

    /// A task is to run.
    fn ready(&self, task: Arc<Task>) {
        let mut inside = self.lock();
        if inside.stage != Stage::Gone {
            inside.ready.push_back(task);
            Self::wake_one(inside);
        }
    }

    /// A task is at its end.
    fn ended(&self, task: &Task) {
        let mut inside = self.lock();
        // Those of a runtime that is gone are taken out at once.
        let ended = inside.all.try_remove(task.key);
        Self::wake_all_if_over(inside);
        drop(ended);
    }

    /// Takes the next that is to run, and has memory fetched of those behind it: of one what it needs, and of one farther behind where that
    /// is. Where there is none now, this runner is called for the next; where there will never be any, it is at its end.
    fn next(&self, runner: &Waker) -> Poll<Option<Arc<Task>>> {
        let mut inside = self.lock();
        let Some(next) = inside.ready.pop_front() else {
            if inside.is_over() {
                return Poll::Ready(None);
            }
            if !inside.asleep.iter().any(|asleep| asleep.will_wake(runner)) {
                inside.asleep.push(runner.clone());
            }
            return Poll::Pending;
        };
        let farther = inside.ready.get(2 * AHEAD - 1).map(|task| Place::of(&**task));
        let behind = inside.ready.get(AHEAD - 1).map(|task| (task.place, task.parts.places()));
        drop(inside);
        if let Some(farther) = farther {
            farther.fetch();
        }
        if let Some((place, parts)) = behind {
            place.fetch();
            parts.into_iter().for_each(Place::fetch);
        }
        Poll::Ready(Some(next))
    }

    /// Has the memory fetched of those that are to run first.
    fn fetch_first(&self) {
        let inside = self.lock();
        // With one alone there is nothing to be done in the meantime.
        if inside.ready.len() > 1 {
            let first = inside.ready.iter().take(2 * AHEAD);
            first.for_each(|task| Place::of(&**task).fetch());
            let next = inside.ready.iter().take(AHEAD);
            next.clone().for_each(|task| task.place.fetch());
            next.flat_map(|task| task.parts.places()).for_each(Place::fetch);
        }
    }

    /// The runtime is gone, or all is over.
    fn abandon(&self) {
        let (ready, mut all, asleep) = {
            let mut inside = self.lock();
            inside.stage = Stage::Gone;
            (mem::take(&mut inside.ready), mem::take(&mut inside.all), mem::take(&mut inside.asleep))
        };
        drop(ready);
        all.drain().for_each(|task| task.drop_work());
        // Others that run: so they find that it is over.
        asleep.into_iter().for_each(Waker::wake);
    }
}

/// A task of the runtime, in which those of streams run.
struct Runner(Arc<Shared>);

impl Future for Runner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let begun = Instant::now();
        CALLED_RUNNER.set(false);
        self.0.fetch_first();
        loop {
            for _ in 0..RUNS {
                match self.0.next(context.waker()) {
                    Poll::Ready(Some(task)) => {
                        task.run();
                        if CALLED_RUNNER.get() {
                            // The runtime has the one that was called run by this thread, behind this one. It has another do so where
                            // this one gives way: else what is slow here would hold up what that one could run.
                            context.waker().wake_by_ref();
                            return Poll::Pending;
                        }
                        if GOES_BEHIND.get() {
                            break;
                        }
                    }
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
            if begun.elapsed() >= TURN {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Task {
    state: AtomicU8,
    /// Where its work is, and what that has elsewhere.
    place: Place,
    parts: Parts,
    work: Mutex<Option<Work>>,
    /// Its place among all.
    key: usize,
    shared: Arc<Shared>,
}

/// Where no task is.
const NOWHERE: usize = 0;

/// It waits to be called.
const IDLE: u8 = 0;
/// It was called, and is among those that are to run.
const READY: u8 = 1;
const RUNNING: u8 = 2;
/// Another called it while it ran, and it is to run again.
const CALLED: u8 = 3;
const ENDED: u8 = 4;

impl Task {
    /// Runs it, once, or twice if it is called meanwhile. Whoever calls this has taken it from those that are to run.
    fn run(self: Arc<Self>) {
        // What was told before a call that found it ready is seen by this run.
        self.state.swap(RUNNING, Ordering::AcqRel);
        LEFT.set(IN_A_ROW);
        GOES_BEHIND.set(false);
        CALLED_ITSELF.set(false);
        RUNS_HERE.set(self.address());
        parts::forget();
        // As of a task of the runtime, a panic is told by whoever has a hook for it.
        let mut polled = catch_unwind(AssertUnwindSafe(|| self.poll()));
        // Called as it ran it runs once more, while it is at hand.
        if matches!(polled, Ok(Poll::Pending)) && !GOES_BEHIND.get() && self.takes_call() {
            polled = catch_unwind(AssertUnwindSafe(|| self.poll()));
        }
        RUNS_HERE.set(NOWHERE);
        self.parts.take_told();
        if let Ok(Poll::Pending) = polled {
            if CALLED_ITSELF.take() || !self.rests() {
                self.state.swap(READY, Ordering::AcqRel);
                Arc::clone(&self.shared).ready(self);
            }
        } else {
            self.state.store(ENDED, Ordering::Release);
            quietly(|| drop(polled));
            self.drop_work();
            self.shared.ended(&self);
        }
    }

    /// Whether it was called since it runs. It takes that call, and runs for it.
    fn takes_call(&self) -> bool {
        let by_itself = CALLED_ITSELF.take();
        let by_others = self.state.load(Ordering::Relaxed) == CALLED
            && self.state.compare_exchange(CALLED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok();
        by_itself || by_others
    }

    /// It waits for the next call, unless others have called it since it runs.
    fn rests(&self) -> bool {
        self.state.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn address(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    fn poll(self: &Arc<Self>) -> Poll<()> {
        let waker = waker_ref(self);
        // Nothing is left of what is dropped with the runtime.
        let mut work = self.lock();
        work.as_mut().map_or(Poll::Ready(()), |work| work.as_mut().poll(&mut Context::from_waker(&waker)))
    }

    fn drop_work(&self) {
        let work = self.lock().take();
        quietly(|| drop(work));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArcWake for Task {
    fn wake_by_ref(task: &Arc<Self>) {
        if RUNS_HERE.get() == task.address() {
            return CALLED_ITSELF.set(true);
        }
        let called = |state| match state {
            IDLE => Some(READY),
            RUNNING => Some(CALLED),
            // Written anew, so that the run that follows sees what was told before this call.
            READY | CALLED => Some(state),
            _ => None,
        };
        if task.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, called) == Ok(IDLE) {
            task.shared.ready(Arc::clone(task));
        }
    }
}

/// Does what drops something. A panic in it is nothing to others.
fn quietly(drops: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(drops)) {
        // It may be what panics when it is dropped.
        mem::forget(panic);
    }
}

thread_local! {
    /// What the task that runs in this thread may still do in a row.
    static LEFT: Cell<u32> = const { Cell::new(IN_A_ROW) };
    /// Whether it has called itself to let others have their turn.
    static GOES_BEHIND: Cell<bool> = const { Cell::new(false) };
    /// Where it is in memory.
    static RUNS_HERE: Cell<usize> = const { Cell::new(NOWHERE) };
    /// Whether another runner was called from here since one began its turn.
    static CALLED_RUNNER: Cell<bool> = const { Cell::new(false) };
    /// Whether it has called itself since it was looked.
    static CALLED_ITSELF: Cell<bool> = const { Cell::new(false) };
}

/// The task that runs here has nothing to do before it is called from now on: for all that it has called itself before, it has looked.
///
/// hyper's task of a response calls itself with each message that it sends, since there is room to send for which it does not wait, and asks
/// the body for more behind that. It would run once more in vain, which was a twentieth of the instructions of an action.
pub(crate) fn has_looked() {
    CALLED_ITSELF.set(false);
}

/// A task does one thing more. After many in a row others have their turn before it does.
pub(crate) async fn one_more() {
    let left = LEFT.get().saturating_sub(1);
    if left > 0 {
        LEFT.set(left);
    } else {
        LEFT.set(IN_A_ROW);
        behind_all().await;
    }
}

/// The same where something is polled: it is called again once others had their turns.
pub(crate) fn poll_one_more(context: &Context<'_>) -> Poll<()> {
    let left = LEFT.get().saturating_sub(1);
    if left > 0 {
        LEFT.set(left);
        return Poll::Ready(());
    }
    LEFT.set(IN_A_ROW);
    goes_behind(context);
    Poll::Pending
}

fn goes_behind(context: &Context<'_>) {
    GOES_BEHIND.set(true);
    context.waker().wake_by_ref();
}

/// Goes behind all that is ready where this runs: in a task of a stream all that is of streams, else all that the worker has. Who
/// yields to the runtime passes by them.
pub(crate) async fn behind_all() {
    let mut has_waited = false;
    poll_fn(|context| {
        if mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        goes_behind(context);
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests;
