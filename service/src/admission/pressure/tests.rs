use std::ops::RangeInclusive;

use futures::poll;

use super::*;

const MOST: Duration = Duration::from_millis(50);

/// A server that is looked at without a clock.
struct Scene {
    now: Instant,
    looks: Looks,
    pressure: Pressure,
}

impl Scene {
    fn new(most: Duration) -> Self {
        let now = Instant::now();
        Self { now, looks: Looks::new(now, most), pressure: Pressure::new() }
    }

    /// It is so late when it is looked at next.
    fn look(&mut self, late: Duration) {
        self.now += limits::PRESSURE_BEAT + late;
        self.pressure.note(&mut self.looks, self.now, late);
    }
}

/// The level after each of these has been seen for a second.
fn check(late_ms: &[&[u64]], expected: &[Level]) {
    check_for(MOST, late_ms, expected);
}

/// The same where another lateness is too late.
fn check_for(most: Duration, late_ms: &[&[u64]], expected: &[Level]) {
    let mut scene = Scene::new(most);
    let mut levels = Vec::new();
    for late_ms in late_ms {
        let end = scene.now + Duration::from_secs(1);
        for late_ms in late_ms.iter().cycle() {
            scene.look(Duration::from_millis(*late_ms));
            if scene.now > end {
                break;
            }
        }
        levels.push(scene.pressure.level());
    }
    assert_eq!(levels, expected, "{late_ms:?} of {most:?}");
}

#[test]
fn what_is_usually_late_is_pressure_and_what_is_late_at_times_is_none() {
    use Level::{Calm, High, Severe};
    check(&[&[0]], &[Calm]);
    check(&[&[50]], &[Calm]);
    check(&[&[51]], &[High]);
    check(&[&[200]], &[High]);
    check(&[&[201]], &[Severe]);
    check(&[&[0, 0, 500]], &[Calm]);
    check(&[&[60, 500, 60]], &[High]);
    check(&[&[60], &[0]], &[High, Calm]);
    check(&[&[210], &[100], &[0]], &[Severe, High, Calm]);
    check(&[&[210], &[0]], &[Severe, Calm]);
    // As late as it may be, it is in time again when it is a quarter as late.
    check(&[&[60], &[50], &[13], &[12]], &[High, High, High, Calm]);
    check(&[&[210], &[101], &[100], &[13], &[12]], &[Severe, Severe, High, High, Calm]);
}

#[test]
fn an_idle_server_is_in_time_however_little_is_too_late() {
    use Level::{Calm, High, Severe};
    check_for(Duration::from_millis(5), &[&[6], &[3], &[2]], &[High, High, Calm]);
    check_for(Duration::from_millis(5), &[&[20], &[21], &[2]], &[High, Severe, Calm]);
    // A quarter of what is too late is more than that here.
    check_for(Duration::from_millis(12), &[&[13], &[4], &[3]], &[High, High, Calm]);
    check_for(
        Duration::from_millis(1),
        &[&[2], &[4], &[5], &[3], &[2], &[1]],
        &[High, High, Severe, Severe, High, Calm],
    );
}

#[test]
fn what_is_refused_follows_the_last_looks_while_the_level_waits_for_what_is_usual() {
    let mut scene = Scene::new(MOST);
    // After it was so late as often as it takes until the part is set.
    let mut refuses = |late_ms| {
        (0..limits::PRESSURE_BEATS).for_each(|_| scene.look(Duration::from_millis(late_ms)));
        (scene.pressure.level(), scene.pressure.check(Work::Create).is_err())
    };
    assert_eq!(refuses(60), (Level::High, true));
    assert_eq!(refuses(12), (Level::High, false));
    assert_eq!(refuses(12), (Level::High, false));
    assert_eq!(refuses(12), (Level::Calm, false));
}

#[tokio::test]
async fn a_server_that_nobody_looks_at_any_more_takes_on_everything() {
    let pressure = Arc::new(Pressure::new());
    let mut watched = Box::pin(Arc::clone(&pressure).watch(MOST, Executor::start()));
    assert!(poll!(&mut watched).is_pending());
    pressure.store(Level::Severe);
    drop(watched);
    assert!(pressure.is_calm());
}

const NONE: RangeInclusive<usize> = 0..=0;
/// At a half chance makes a difference of 16.
const SOME: RangeInclusive<usize> = 300..=700;
const ALL: RangeInclusive<usize> = 1_000..=1_000;

/// So many of 1,000 creates, 1,000 spectators and 1,000 joins are refused at a level, as late as that. They come in turn.
fn check_refused(level: Level, late_ms: u64, expected: [RangeInclusive<usize>; 3]) {
    let pressure = Pressure::new();
    pressure.store(level);
    pressure.part.set(Duration::from_millis(late_ms), MOST);
    assert_eq!(pressure.is_calm(), level == Level::Calm);
    let works = [Work::Create, Work::Watch, Work::Join];
    let mut refused = [0_usize; 3];
    for _ in 0..1_000 {
        for (work, refused) in works.into_iter().zip(&mut refused) {
            *refused += usize::from(pressure.check(work).is_err());
        }
    }
    for ((work, refused), expected) in works.into_iter().zip(refused).zip(expected) {
        assert!(expected.contains(&refused), "{refused} of {work:?} at {level:?}, {late_ms} ms late");
    }
}

#[test]
fn what_is_new_is_refused_by_degrees() {
    for late_ms in [0, 25, 1_000] {
        check_refused(Level::Calm, late_ms, [NONE, NONE, NONE]);
        check_refused(Level::Severe, late_ms, [ALL, ALL, ALL]);
    }
    check_refused(Level::High, 12, [NONE, NONE, NONE]);
    check_refused(Level::High, 25, [SOME, SOME, NONE]);
    check_refused(Level::High, 38, [ALL, ALL, NONE]);
}
