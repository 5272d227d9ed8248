//! Takes what drivers see.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::shard::{Place, Shard, Slice};
use super::{
    Check, Count, Description, Failure, Faults, Machine, Measure, Outcome, Phase, PhaseRun, Reading, Second,
    Server,
};

/// Threads that never wait for each other. More than a machine's processors: else two share one.
const SHARDS: usize = 64;
/// Bits of the microseconds when a phase began; those above are its number.
const BEGAN_BITS: u32 = 48;
/// What is seen after the end of the run.
const OVER: u64 = u64::MAX;
/// Characters of an error's text that are kept.
const MAX_TEXT_CHARS: usize = 500;

/// Takes what drivers see, from any number of tasks. A clone is the same recorder.
///
/// A sample costs a look at the clock and a lock that only the thread's own tasks take, but for a moment once a second.
/// [`tick`](Self::tick) should be called about once a second, or what threads have seen piles up.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    began: Instant,
    started: SystemTime,
    /// The number of the phase and when it began.
    phase: AtomicU64,
    shards: Box<[Shard]>,
    kept: Mutex<Kept>,
}

/// What is written seldom.
#[derive(Debug, Default)]
struct Kept {
    description: Description,
    /// Phases that are over.
    over: Vec<PhaseRun>,
    /// The one that goes on, and when it began.
    current: Option<(Phase, u64)>,
    seconds: BTreeMap<(usize, u32), Second>,
    examples: BTreeMap<Failure, String>,
    faults: Faults,
    server: Server,
    is_stopped: bool,
}

impl Recorder {
    /// Begins a run with its first phase.
    pub fn start(description: Description, first: Phase) -> Self {
        let kept = Kept { description, current: Some((first, 0)), ..Kept::default() };
        Self(Arc::new(Inner {
            began: Instant::now(),
            started: SystemTime::now(),
            phase: AtomicU64::new(0),
            shards: std::iter::repeat_with(Shard::default).take(SHARDS).collect(),
            kept: Mutex::new(kept),
        }))
    }

    /// Something took so long. It counts for the second in which it came to its end, which is now.
    pub fn took(&self, measure: Measure, time: Duration) {
        self.with(|slice| slice.took(measure, time));
    }

    /// Counts one.
    pub fn count(&self, count: Count) {
        self.count_many(count, 1);
    }

    /// Counts so many.
    pub fn count_many(&self, count: Count, many: u64) {
        self.with(|slice| slice.counts.add(count, many));
    }

    /// Counts something that went wrong. The text of the first one of each kind is kept: it says what was asked, and what came.
    pub fn failed(&self, failure: impl Into<Failure>, text: &(impl Display + ?Sized)) {
        let failure = failure.into();
        let mut first = false;
        self.with(|slice| {
            first = slice.failures.of(failure) == 0;
            slice.failures.add(failure, 1);
        });
        // Of the second, so that not every error takes this lock.
        if first {
            self.kept().examples.entry(failure).or_insert_with(|| shortened(text));
        }
    }

    /// Something that the server must not do, in whatever phase.
    pub fn fault(&self, check: Check, text: impl AsRef<str>) {
        self.kept().faults.add(check, text.as_ref());
    }

    /// The run ends before its time, as it was told to.
    pub fn stopped(&self) {
        self.kept().is_stopped = true;
    }

    /// The server's version.
    pub fn server_version(&self, version: impl Into<String>) {
        self.kept().server.version = Some(version.into());
    }

    /// What the server has told of itself. When is said here, not by the reading.
    pub fn server_reading(&self, reading: Reading) {
        let at_us = self.now_us();
        self.kept().server.readings.push(Reading { at_us, ..reading });
    }

    /// How long the run goes on.
    pub fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// Ends the phase that goes on and begins this one.
    pub fn enter(&self, phase: Phase) {
        let mut kept = self.kept();
        let now = self.now_us();
        if kept.end_phase(now) {
            let number = kept.over.len() as u64;
            kept.current = Some((phase, now));
            self.0.phase.store(number << BEGAN_BITS | now, Ordering::Release);
        }
    }

    /// Takes what threads have seen in the seconds that are over. Returns the last of these, if there is one in this phase.
    pub fn tick(&self) -> Option<Second> {
        let mut kept = self.kept();
        let now = self.place()?;
        self.collect(&mut kept, now);
        let last = now.second.checked_sub(1)?;
        kept.seconds.get(&(now.phase, last)).cloned()
    }

    /// Ends the run. What is seen afterwards is left out.
    pub fn finish(&self) -> Outcome {
        let mut kept = self.kept();
        let now = self.now_us();
        kept.end_phase(now);
        self.0.phase.store(OVER, Ordering::Release);
        let end = Place { phase: kept.over.len(), second: 0 };
        self.collect(&mut kept, end);
        let since = self.0.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Outcome {
            description: kept.description.clone(),
            started_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            machines: vec![Machine::here()],
            generators: Vec::new(),
            phases: kept.over.clone(),
            seconds: kept.seconds.values().cloned().collect(),
            examples: kept.examples.clone(),
            faults: kept.faults.clone(),
            server: kept.server.clone(),
            is_stopped: kept.is_stopped,
        }
    }

    fn with(&self, write: impl FnOnce(&mut Slice)) {
        let shard = &self.0.shards[thread_number() % SHARDS];
        let mut slices = shard.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The time is looked at under the lock: who collects afterwards finds nothing that comes too late.
        if let Some(place) = self.place() {
            write(slices.at(place));
        }
    }

    /// Where what is seen now belongs. `None` after the end.
    fn place(&self) -> Option<Place> {
        let word = self.0.phase.load(Ordering::Acquire);
        if word == OVER {
            return None;
        }
        let began = word & ((1 << BEGAN_BITS) - 1);
        let phase = usize::try_from(word >> BEGAN_BITS).unwrap_or(usize::MAX);
        let second = self.now_us().saturating_sub(began) / 1_000_000;
        Some(Place { phase, second: u32::try_from(second).unwrap_or(u32::MAX) })
    }

    /// Brings together what all threads have seen before this place.
    fn collect(&self, kept: &mut Kept, end: Place) {
        let mut found: BTreeMap<(usize, u32), Slice> = BTreeMap::new();
        for shard in &self.0.shards {
            let taken = shard.0.lock().unwrap_or_else(PoisonError::into_inner).take_before(end);
            for (place, slice) in taken {
                let second = kept.within_its_phase(place);
                found.entry((place.phase, second)).or_default().merge(slice);
            }
        }
        kept.fill_up(end);
        for (place, slice) in found {
            let latencies = slice.packed();
            let seen =
                Second { latencies, counts: slice.counts, failures: slice.failures, ..Second::default() };
            kept.seconds.entry(place).or_default().merge(&seen);
        }
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Ends the phase that goes on. `false` if the run is over.
    fn end_phase(&mut self, now_us: u64) -> bool {
        let Some((phase, began_us)) = self.current.take() else { return false };
        self.over.push(PhaseRun::new(phase, began_us, now_us.saturating_sub(began_us)));
        true
    }

    /// Its second: what came as a phase ended belongs to the last one.
    fn within_its_phase(&self, place: Place) -> u32 {
        let seconds = self.over.get(place.phase).map_or(u32::MAX, PhaseRun::seconds);
        place.second.min(seconds - 1)
    }

    fn lasted_us(&self, phase: usize, second: u32) -> u64 {
        self.over.get(phase).map_or(1_000_000, |run| run.second_lasted_us(second))
    }

    /// Makes a second of each in which nothing was seen, and says of each how long it was.
    fn fill_up(&mut self, end: Place) {
        for phase in 0..=end.phase {
            let seconds = self.over.get(phase).map_or(end.second, PhaseRun::seconds);
            // The last one known may turn out to be the last of its phase, and longer. Those before it are as they should be.
            let known = self.seconds.range((phase, 0)..(phase + 1, 0)).next_back();
            for number in known.map_or(0, |((_, number), _)| *number)..seconds {
                let lasted_us = self.lasted_us(phase, number);
                let second = self.seconds.entry((phase, number)).or_default();
                (second.phase, second.number, second.lasted_us) = (phase, number, lasted_us);
            }
        }
    }
}

fn shortened(text: &(impl Display + ?Sized)) -> String {
    text.to_string().chars().take(MAX_TEXT_CHARS).collect()
}

/// A small number for each thread.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed)));
    NUMBER.get()
}
