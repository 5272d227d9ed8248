use std::{
    future::poll_fn,
    sync::atomic::{AtomicUsize, Ordering},
    task::Wake,
    thread,
};

use tokio::runtime::Builder;

use super::*;

#[derive(Default)]
struct Task(AtomicUsize);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream that looks at the stages, and its task.
struct Looker {
    stages: Stages,
    task: Arc<Task>,
}

impl Looker {
    fn of(drain: &Drain) -> Self {
        Self { stages: drain.stages(), task: Arc::default() }
    }

    fn looks(&mut self) -> Poll<Stage> {
        self.stages.poll_next(&Context::from_waker(&Waker::from(Arc::clone(&self.task))))
    }

    fn woken(&self) -> usize {
        self.task.0.load(Ordering::Relaxed)
    }
}

fn in_a_minute() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

fn places(drain: &Drain) -> usize {
    drain.course.looking().tasks.len()
}

#[test]
fn a_quiet_stream_is_woken_when_the_server_drains_and_when_it_closes_and_told_each_once() {
    let drain = Drain::default();
    let mut stream = Looker::of(&drain);
    assert_eq!((stream.looks(), stream.looks(), stream.woken()), (Poll::Pending, Poll::Pending, 0));
    drain.begin(in_a_minute());
    assert_eq!(stream.woken(), 1);
    assert_eq!((stream.looks(), stream.looks()), (Poll::Ready(Stage::Draining), Poll::Pending));
    drain.begin(in_a_minute());
    assert_eq!((stream.looks(), stream.woken()), (Poll::Pending, 1), "it drains already");
    drain.close();
    assert_eq!(stream.woken(), 2);
    assert_eq!((stream.looks(), stream.looks()), (Poll::Ready(Stage::Closing), Poll::Pending));
    drain.close();
    assert_eq!((stream.looks(), stream.woken()), (Poll::Pending, 2), "it closes already");
}

#[test]
fn a_stream_that_begins_later_is_told_at_once() {
    let drain = Drain::default();
    drain.begin(in_a_minute());
    let mut stream = Looker::of(&drain);
    assert_eq!((stream.looks(), stream.looks()), (Poll::Ready(Stage::Draining), Poll::Pending));
    drain.close();
    let mut later = Looker::of(&drain);
    for stage in [Stage::Draining, Stage::Closing] {
        assert_eq!(later.looks(), Poll::Ready(stage));
    }
    assert_eq!((stream.looks(), later.looks()), (Poll::Ready(Stage::Closing), Poll::Pending));
}

#[test]
fn a_server_that_closes_without_a_drain_tells_of_both_one_after_the_other() {
    let drain = Drain::default();
    let mut stream = Looker::of(&drain);
    assert_eq!(stream.looks(), Poll::Pending);
    drain.close();
    assert!(stream.woken() > 0);
    for stage in [Stage::Draining, Stage::Closing] {
        assert_eq!(stream.looks(), Poll::Ready(stage));
    }
    assert_eq!(drain.stops_in(), Duration::ZERO);
}

#[test]
fn of_many_streams_each_is_woken_and_those_that_are_gone_leave_nothing() {
    let drain = Drain::default();
    let mut streams: Vec<_> = (0..1000).map(|_| Looker::of(&drain)).collect();
    assert_eq!(places(&drain), 0, "none has looked");
    assert!(streams.iter_mut().all(|stream| stream.looks().is_pending() && stream.looks().is_pending()));
    assert_eq!(places(&drain), 1000, "one for each");
    let mut every_second = 0..;
    streams.retain(|_| every_second.next().is_some_and(|number| number % 2 == 0));
    assert_eq!(places(&drain), 500);
    let mut later = Looker::of(&drain);
    assert_eq!(later.looks(), Poll::Pending);
    streams.push(later);
    drain.begin(in_a_minute());
    assert!(streams.iter().all(|stream| stream.woken() == 1));
    assert!(streams.iter_mut().all(|stream| stream.looks() == Poll::Ready(Stage::Draining)));
    drop(streams);
    assert_eq!(places(&drain), 0);
    assert_eq!(Arc::strong_count(&drain.course), 1);
}

#[test]
fn a_stream_that_another_task_goes_on_with_wakes_that_one_alone() {
    let drain = Drain::default();
    let mut stream = Looker::of(&drain);
    assert_eq!(stream.looks(), Poll::Pending);
    let before = std::mem::take(&mut stream.task);
    assert_eq!((stream.looks(), places(&drain)), (Poll::Pending, 1));
    assert_eq!(Arc::strong_count(&before), 1, "nothing of it is kept");
    drain.begin(in_a_minute());
    assert_eq!((before.0.load(Ordering::Relaxed), stream.woken()), (0, 1));
}

#[test]
fn a_stage_that_comes_while_a_stream_looks_is_missed_by_none() {
    let runtime = Builder::new_current_thread().build().unwrap();
    for _ in 0..500 {
        let drain = Drain::default();
        let mut stages = drain.stages();
        thread::scope(|scope| {
            scope.spawn(|| {
                drain.begin(in_a_minute());
                drain.close();
            });
            for stage in [Stage::Draining, Stage::Closing] {
                assert_eq!(runtime.block_on(poll_fn(|context| stages.poll_next(context))), stage);
            }
        });
    }
}

#[test]
fn a_waker_may_drop_a_stream() {
    struct Owner(Mutex<Option<Stages>>);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {
            let stages = self.0.lock().unwrap().take();
            drop(stages);
        }
    }
    let drain = Drain::default();
    let owner = Arc::new(Owner(Mutex::new(Some(drain.stages()))));
    let waker = Waker::from(Arc::clone(&owner));
    let look = |stages: &mut Stages| stages.poll_next(&Context::from_waker(&waker));
    assert_eq!(owner.0.lock().unwrap().as_mut().map(look), Some(Poll::Pending));
    drain.begin(in_a_minute());
    assert!(owner.0.lock().unwrap().is_none());
    assert_eq!(places(&drain), 0);
}

#[test]
fn a_waker_that_panics_keeps_no_server_from_draining() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker of another program");
        }
    }
    let drain = Drain::default();
    let mut stream = drain.stages();
    assert!(stream.poll_next(&Context::from_waker(&Waker::from(Arc::new(Panics)))).is_pending());
    let other = drain.clone();
    assert!(thread::spawn(move || other.begin(in_a_minute())).join().is_err());
    assert!(drain.draining().is_cancelled());
    assert_eq!(Looker::of(&drain).looks(), Poll::Ready(Stage::Draining));
}
