//! How late the server is with its work, and what it takes on no more while it is.
//!
//! What is under way goes on whatever comes: its clocks run. So what is new is refused before that is slowed down: first what
//! nobody waits for, and then what would begin a match. Of that only as much is refused as there is
//! no time for: if all were, and then nothing, there would be too much to do in turn with too little.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use metrics::{counter, gauge};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    task::spawn_blocking,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    executor::{Executor, behind_all},
    limits,
    metrics::{LATE, OVERLOAD_LEVEL, SHED},
};

/// What is new, and may be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// To create matches.
    Create,
    /// To watch a match.
    Watch,
    /// To join a match that is not dealt yet.
    Join,
}

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Watch => "watch",
            Self::Join => "join",
        }
    }

    /// From when on it is refused. Who joins has a match that waits for it, and is refused last.
    const fn refused_from(self) -> Level {
        match self {
            Self::Create | Self::Watch => Level::High,
            Self::Join => Level::Severe,
        }
    }
}

/// The server has more to do than it can. What was asked is new, and was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overloaded(Work);

impl Overloaded {
    /// Counts it, as it is refused.
    pub(crate) fn count(self) {
        counter!(SHED, "work" => self.0.name()).increment(1);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// All is done in time.
    Calm,
    /// What is due is done later than it may be.
    High,
    /// More than twice as late.
    Severe,
}

impl Level {
    const ALL: [Self; 3] = [Self::Calm, Self::High, Self::Severe];

    /// The level of what is so late, if this late is too late.
    fn of(late: Duration, most: Duration) -> Self {
        if late > 2 * most {
            Self::Severe
        } else if late > most {
            Self::High
        } else {
            Self::Calm
        }
    }
}

/// How late the server is with its work, by how long something waits that comes by as an action does: it is due, is passed on
/// to another thread, and comes back from there.
///
/// No client makes that late but by work that the server does for it, which its rates bound. How long actions take depends on what
/// else their client has sent, and on records that are read again.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// A [`Level`].
    level: AtomicU8,
    /// What is refused while it is late.
    part: Part,
}

impl Pressure {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Looks how late the server is, again and again. Later than `most` is too late.
    pub(crate) async fn watch(self: Arc<Self>, most: Duration, streams: Executor) {
        let now = Instant::now();
        let mut window = Window::new(now, limits::PRESSURE_WINDOW);
        let mut latest = Window::new(now, Duration::ZERO);
        let _calm = CalmAfterwards(&self);
        self.store(Level::Calm);
        loop {
            let due = Instant::now() + limits::PRESSURE_BEAT;
            sleep_until(due).await;
            // Where no thread is to be had it would wait without end.
            if timeout(limits::PRESSURE_PATIENCE, there_and_back(&streams)).await == Ok(false) {
                return;
            }
            let now = Instant::now();
            let late = now - due;
            gauge!(LATE).set(late.as_secs_f64());
            if let Some(usual) = latest.note(now, late) {
                self.part.set(usual, most);
            }
            if let Some(usual) = window.note(now, late) {
                self.set(usual, most);
            }
        }
    }

    /// Whether there is time for something new.
    pub(crate) fn check(&self, work: Work) -> Result<(), Overloaded> {
        let level = self.level();
        if level < work.refused_from() || level == Level::High && self.part.spares() {
            Ok(())
        } else {
            Err(Overloaded(work))
        }
    }

    /// Whether all is done in time, so that there is time for what nobody waits for.
    pub(crate) fn is_calm(&self) -> bool {
        self.level() == Level::Calm
    }

    /// The server was usually so late. A quarter as late is in time again: down to there only a part of what is new is refused.
    fn set(&self, usual: Duration, most: Duration) {
        let before = self.level();
        let level = before.clamp(Level::of(usual, most), Level::of(4 * usual, most));
        if level == before {
            return;
        }
        self.store(level);
        if level == Level::Calm {
            tracing::info!("the server is in time again, and takes on what is new");
        } else {
            tracing::warn!(?level, "the server is late, and takes on less that is new");
        }
    }

    fn store(&self, level: Level) {
        self.level.store(level as u8, Relaxed);
        gauge!(OVERLOAD_LEVEL).set(f64::from(level as u8));
    }

    fn level(&self) -> Level {
        let stored = usize::from(self.level.load(Relaxed));
        Level::ALL.get(stored).copied().unwrap_or(Level::Calm)
    }
}

#[cfg(test)]
impl Pressure {
    /// The server is late from now on, or in time again, whatever it does.
    pub(crate) fn pretend(&self, late: Duration) {
        let most = Duration::from_millis(50);
        self.store(Level::of(late, most));
        self.part.set(late, most);
    }
}

/// Which part of what is new is refused while the server is late, evenly: of any ten in a row at a half five.
#[derive(Debug, Default)]
struct Part {
    /// Of [`WHOLE`].
    refused: AtomicU32,
    /// What has come, each time by this part: at each whole one is refused.
    sum: AtomicU32,
}

/// All is refused.
const WHOLE: u32 = 1 << 16;

impl Part {
    /// The server is so late. Nothing is refused up to a quarter of what is too late, and all from three quarters on: in between as much
    /// is taken on as is done, and the server has always something to do.
    fn set(&self, late: Duration, most: Duration) {
        let above = late.saturating_sub(most / 4);
        let part = above.as_micros() * u128::from(WHOLE) / (most / 2).as_micros().max(1);
        self.refused.store(u32::try_from(part).unwrap_or(WHOLE).min(WHOLE), Relaxed);
    }

    /// Whether the next one is taken on.
    fn spares(&self) -> bool {
        let part = self.refused.load(Relaxed);
        let before = self.sum.fetch_add(part, Relaxed);
        before % WHOLE + part < WHOLE
    }
}

/// Takes on everything when nobody looks any more, however that came.
struct CalmAfterwards<'a>(&'a Pressure);

impl Drop for CalmAfterwards<'_> {
    fn drop(&mut self) {
        self.0.store(Level::Calm);
    }
}

/// Goes to another thread and back, lets all have their turn that are ready, and says whether the runtime still runs.
///
/// A task that a timer wakes passes by those that are ready. What comes from another thread, as answers of the journal do, waits in
/// the queue that takes what a worker's own has no room for. Where that has, a worker looks there after some dozens of turns, however
/// many are ready: so it waits in the worker's own as well, behind all of them, as a connection does that has something to read. Then it
/// waits behind all that is ready of streams.
async fn there_and_back(streams: &Executor) -> bool {
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

/// How late the server was, each time that it was looked at for a while.
#[derive(Debug)]
struct Window {
    begun: Instant,
    at_least: Duration,
    seen: Vec<Duration>,
}

impl Window {
    const fn new(begun: Instant, at_least: Duration) -> Self {
        Self { begun, at_least, seen: Vec::new() }
    }

    /// It was so late. At the end of the window the answer is how late it usually was: one thing may be late at any time, and
    /// a stall of the whole server is one, however long it takes.
    fn note(&mut self, now: Instant, late: Duration) -> Option<Duration> {
        self.seen.push(late);
        if self.seen.len() < limits::PRESSURE_BEATS || now - self.begun < self.at_least {
            return None;
        }
        let middle = self.seen.len() / 2;
        let (_, usual, _) = self.seen.select_nth_unstable(middle);
        let usual = *usual;
        self.seen.clear();
        self.begun = now;
        Some(usual)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        sync::atomic::AtomicBool,
        task::{Context, Poll},
    };

    use tokio::{runtime::Builder, time::sleep};

    use super::*;

    const MOST: Duration = Duration::from_millis(50);

    /// The level after each of these has been seen for a second.
    fn check(late_ms: &[&[u64]], expected: &[Level]) {
        let mut now = Instant::now();
        let (mut window, pressure) = (Window::new(now, limits::PRESSURE_WINDOW), Pressure::new());
        let mut levels = Vec::new();
        for late_ms in late_ms {
            let end = now + Duration::from_secs(1);
            for late_ms in late_ms.iter().cycle() {
                let late = Duration::from_millis(*late_ms);
                now += limits::PRESSURE_BEAT + late;
                if let Some(usual) = window.note(now, late) {
                    pressure.set(usual, MOST);
                }
                if now > end {
                    break;
                }
            }
            levels.push(pressure.level());
        }
        assert_eq!(levels, expected, "{late_ms:?}");
    }

    #[test]
    fn what_is_usually_late_is_pressure_and_what_is_late_at_times_is_none() {
        use Level::{Calm, High, Severe};
        check(&[&[0]], &[Calm]);
        check(&[&[50]], &[Calm]);
        check(&[&[51]], &[High]);
        check(&[&[101]], &[Severe]);
        check(&[&[0, 0, 500]], &[Calm]);
        check(&[&[60, 200, 60]], &[High]);
        check(&[&[60], &[0]], &[High, Calm]);
        check(&[&[200], &[25], &[0]], &[Severe, High, Calm]);
        // As late as it may be, it is in time again when it is a quarter as late.
        check(&[&[60], &[50], &[13], &[12]], &[High, High, High, Calm]);
        check(&[&[110], &[26], &[25], &[12]], &[Severe, Severe, High, Calm]);
    }

    #[test]
    fn a_stall_is_no_pressure_however_long() {
        let begun = Instant::now();
        let mut window = Window::new(begun, limits::PRESSURE_WINDOW);
        let stalled = Duration::from_secs(10);
        let mut now = begun + stalled;
        assert_eq!(window.note(now, stalled), None);
        for beat in 2..=limits::PRESSURE_BEATS {
            now += limits::PRESSURE_BEAT;
            let usual = window.note(now, Duration::ZERO);
            assert_eq!(usual, (beat == limits::PRESSURE_BEATS).then_some(Duration::ZERO));
        }
    }

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
        let watched = Arc::clone(&pressure).watch(Duration::from_millis(50), streams.clone());
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
            while pressure.check(Work::Create).is_err() {
                sleep(limits::PRESSURE_BEAT).await;
            }
        };
        timeout(Duration::from_mins(3), in_time).await.unwrap();
        watched.abort();
        pressure.level.store(Level::Severe as u8, Relaxed);
        let watched = Arc::clone(&pressure).watch(Duration::from_mins(1), streams);
        timeout(limits::PRESSURE_BEAT, watched).await.unwrap_err();
        assert_eq!(pressure.level(), Level::Calm, "nobody looks any more");
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

    #[test]
    fn what_is_new_is_refused_by_degrees() {
        let pressure = Pressure::new();
        let refused = |level| {
            pressure.level.store(level as u8, Relaxed);
            pressure.part.set(MOST, MOST);
            assert_eq!(pressure.is_calm(), level == Level::Calm);
            [Work::Create, Work::Watch, Work::Join].map(|work| pressure.check(work).is_err())
        };
        assert_eq!(refused(Level::Calm), [false, false, false]);
        assert_eq!(refused(Level::High), [true, true, false]);
        assert_eq!(refused(Level::Severe), [true, true, true]);
    }

    /// How many of 1,000 creates, 1,000 spectators and 1,000 joins are refused at a level, as late as that.
    fn refused(level: Level, late_ms: u64) -> [usize; 3] {
        let pressure = Pressure::new();
        pressure.level.store(level as u8, Relaxed);
        pressure.part.set(Duration::from_millis(late_ms), Duration::from_millis(16));
        [Work::Create, Work::Watch, Work::Join]
            .map(|work| (0..1_000).filter(|_| pressure.check(work).is_err()).count())
    }

    #[test]
    fn a_late_server_refuses_the_part_that_it_has_no_time_for() {
        for (late_ms, refused_of_1_000) in
            [(0, 0), (4, 0), (5, 125), (6, 250), (8, 500), (11, 875), (12, 1_000), (1_000_000, 1_000)]
        {
            assert_eq!(refused(Level::High, late_ms), [refused_of_1_000, refused_of_1_000, 0], "{late_ms}");
            assert_eq!(refused(Level::Calm, late_ms), [0, 0, 0], "{late_ms}: as long as it is not usual");
            assert_eq!(refused(Level::Severe, late_ms), [1_000, 1_000, 1_000], "{late_ms}");
        }
    }

    #[test]
    fn what_is_refused_lies_evenly_among_what_is_not() {
        let part = Part::default();
        part.set(Duration::from_millis(6), Duration::from_millis(16));
        // Also where the count of what has come begins anew.
        part.sum.store(u32::MAX - 3 * (WHOLE / 4) + 1, Relaxed);
        let spared: Vec<bool> = (0..12).map(|_| part.spares()).collect();
        assert_eq!(spared, [true, true, false, true].repeat(3));
    }
}
