mod turns;

use std::mem;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use futures::FutureExt;
use tokio::task::yield_now;
use zetema_rules::fair::{MatchSeed, Nonce};
use zetema_rules::{Action, Event, Game, Preset, Seat, View, Viewer};

use super::*;
use crate::bot::{Bot, Decision, MatchInfo};
use crate::fault::Fault;

/// The seat to act in a match that was just dealt, and its decision.
fn decision() -> (Arc<MatchInfo>, Box<Decision>) {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let seed = MatchSeed::derive(&crate::numbered_seed(1), &[Nonce::EMPTY, Nonce::EMPTY]);
    let mut events = Vec::<Event>::new();
    let deck = seed.deck(0, rules.imperial_suit);
    let game = Game::new(rules, Seat::new(0).unwrap(), &deck, &mut events).unwrap();
    let seat = game.to_act().unwrap();
    let info = Arc::new(MatchInfo::new("m", seat, rules));
    let decision = Decision::new(Arc::clone(&info), &game.view(Viewer::Seat(seat))).unwrap();
    (info, Box::new(decision))
}

fn first_calls(name: &str) -> Vec<Call> {
    let (info, decision) = decision();
    let info = Arc::new(MatchInfo { match_id: name.to_owned(), ..(*info).clone() });
    vec![Call::Start { info, view: None }, Call::Choose(decision)]
}

/// Does what the match's id says.
struct Named {
    name: String,
    gate: Arc<Mutex<Receiver<()>>>,
}

impl Bot for Named {
    fn choose(&mut self, decision: &Decision) -> Action {
        match self.name.as_str() {
            "waits" => self.gate.lock().unwrap().recv().unwrap(),
            "panics" | "panics twice" => panic!("no idea"),
            _ => {}
        }
        decision.first()
    }

    fn start(&mut self, _: Option<&View>) {
        assert!(self.name != "does not start", "no start");
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        assert!(self.name != "panics twice", "again");
    }
}

/// Threads, at most so many.
fn threads(at_most: usize) -> BotThreads {
    BotThreads::new(NonZeroUsize::new(at_most).unwrap())
}

fn thinkers(at_once: usize) -> (Thinkers, std::sync::mpsc::Sender<()>) {
    thinkers_on(&threads(100), at_once)
}

fn thinkers_on(threads: &BotThreads, at_once: usize) -> (Thinkers, std::sync::mpsc::Sender<()>) {
    let (open, gate) = channel();
    let gate = Arc::new(Mutex::new(gate));
    let factory: Factory =
        Arc::new(move |info| Box::new(Named { name: info.match_id.clone(), gate: Arc::clone(&gate) }));
    let at_once = NonZeroUsize::new(at_once).unwrap();
    (Thinkers::new(factory, Handle::current(), threads.clone(), at_once), open)
}

fn start(thinkers: &mut Thinkers) {
    assert_eq!(thinkers.start(), Started::Something);
    thinkers.wake();
}

/// Has bots of these names start and choose, the first by the key 1.
fn begin<'a>(thinkers: &mut Thinkers, names: impl IntoIterator<Item = &'a str>) {
    for (key, name) in (1..).zip(names) {
        thinkers.work(Key(key), SeatBot::default(), first_calls(name));
    }
    start(thinkers);
}

/// Looks again and again, by no clock that a test may have stopped.
async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it takes too long");
        yield_now().await;
    }
}

/// What so many bots came to, in the order in which that is told.
async fn told(thinkers: &mut Thinkers, bots: usize) -> Vec<(Key, SeatBot, Worked)> {
    let mut told = Vec::new();
    while told.len() < bots {
        until(|| thinkers.some_done().now_or_never()).await;
        told.extend(thinkers.take_done(usize::MAX));
    }
    told
}

/// The bots come back with what they chose.
async fn check_chose(thinkers: &mut Thinkers, keys: &[u64]) -> Vec<SeatBot> {
    let told = told(thinkers, keys.len()).await;
    let chose = |worked: &Worked| matches!(worked, Worked::Chose(answer) if answer.decision == 1);
    assert!(told.iter().all(|(_, _, worked)| chose(worked)), "{told:?}");
    assert_eq!(told.iter().map(|(key, ..)| key.0).collect::<Vec<_>>(), keys);
    told.into_iter().map(|(_, bot, _)| bot).collect()
}

/// Bots wait for as long as is needed to get more threads, so often.
async fn lose_patience(thinkers: &mut Thinkers, times: usize) {
    for _ in 0..times {
        tokio::time::advance(2 * PATIENCE).await;
        assert!(thinkers.some_done().now_or_never().is_none(), "no bot has chosen");
    }
}

#[tokio::test]
async fn a_bot_that_is_slow_holds_up_neither_those_before_it_nor_those_behind_it() {
    let (mut thinkers, open) = thinkers(2);
    begin(&mut thinkers, ["quick", "waits", "quick too", "and this one"]);
    check_chose(&mut thinkers, &[1, 3, 4]).await;
    open.send(()).unwrap();
    check_chose(&mut thinkers, &[2]).await;
}

#[tokio::test]
async fn a_bot_that_is_slow_holds_up_none_that_comes_later() {
    let (mut thinkers, open) = thinkers(2);
    begin(&mut thinkers, ["waits"]);
    for key in [2, 3] {
        thinkers.work(Key(key), SeatBot::default(), first_calls("quick"));
        start(&mut thinkers);
        check_chose(&mut thinkers, &[key]).await;
    }
    open.send(()).unwrap();
    check_chose(&mut thinkers, &[1]).await;
}

#[tokio::test(start_paused = true)]
async fn as_many_threads_again_are_there_each_time_that_bots_wait_too_long_up_to_the_bound() {
    let (mut thinkers, open) = thinkers(20);
    begin(&mut thinkers, ["waits"; 100]);
    for turns in [1, 2, 4, 8, 16, 20, 20] {
        assert_eq!(thinkers.pool.jobs().turns, turns);
        lose_patience(&mut thinkers, 1).await;
    }
    (0..100).for_each(|_| open.send(()).unwrap());
    assert_eq!(told(&mut thinkers, 100).await.len(), 100);
}

#[tokio::test(start_paused = true)]
async fn no_more_bots_think_at_once_than_there_are_threads() {
    let (mut thinkers, open) = thinkers(1);
    begin(&mut thinkers, ["waits", "quick"]);
    lose_patience(&mut thinkers, 3).await;
    assert_eq!(thinkers.pool.jobs().turns, 1);
    open.send(()).unwrap();
    check_chose(&mut thinkers, &[1, 2]).await;
}

#[tokio::test]
async fn a_panic_anywhere_in_a_bot_is_a_fault_of_its_seat() {
    // One at a time, or those behind a panic that takes long to be printed may be told before it.
    let (mut thinkers, _open) = thinkers(1);
    for (name, message) in
        [("panics", "no idea"), ("does not start", "no start"), ("panics twice", "no idea")]
    {
        begin(&mut thinkers, [name]);
        let told = told(&mut thinkers, 1).await;
        let [(Key(1), _, Worked::Fell(fault))] = &told[..] else { panic!("{told:?}") };
        assert_eq!(*fault, Fault::Panicked { message: message.to_owned() });
    }
    begin(&mut thinkers, ["panics", "quick", "panics twice", "quick"]);
    let told = told(&mut thinkers, 4).await;
    let chose = told.iter().map(|(_, _, worked)| matches!(worked, Worked::Chose(_)));
    assert_eq!(chose.collect::<Vec<_>>(), [false, true, false, true]);
}

#[tokio::test]
async fn a_bot_that_waits_is_not_asked_when_its_session_is_gone() {
    let (mut thinkers, open) = thinkers(1);
    begin(&mut thinkers, ["waits", "quick", "quick"]);
    let pool = Arc::clone(&thinkers.pool);
    drop(thinkers);
    assert!(pool.jobs().waiting.is_empty());
    drop(open);
}

#[tokio::test]
async fn who_is_asked_while_a_bot_takes_long_waits_for_nothing() {
    let threads = threads(2);
    let (mut slow, open) = thinkers_on(&threads, 1);
    begin(&mut slow, ["waits"]);
    until(|| (!threads.is_one_awake()).then_some(())).await;
    assert_eq!(threads.count(), 1);
    let (mut quick, _open) = thinkers_on(&threads, 1);
    begin(&mut quick, ["quick"]);
    assert_eq!(threads.count(), 2, "one was made at once");
    check_chose(&mut quick, &[1]).await;
    open.send(()).unwrap();
    check_chose(&mut slow, &[1]).await;
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_threads_than_the_program_says_and_all_bots_think_in_the_end() {
    let threads = threads(3);
    let mut sessions: Vec<_> = (0..5).map(|_| thinkers_on(&threads, 4)).collect();
    for (thinkers, _) in &mut sessions {
        begin(thinkers, ["waits"; 5]);
    }
    for (thinkers, _) in &mut sessions {
        lose_patience(thinkers, 4).await;
    }
    assert_eq!(threads.count(), 3);
    for (_, open) in &sessions {
        (0..5).for_each(|_| open.send(()).unwrap());
    }
    for (thinkers, _) in &mut sessions {
        assert_eq!(told(thinkers, 5).await.len(), 5);
    }
    assert_eq!(threads.count(), 3);
}

#[tokio::test]
async fn a_thread_ends_when_it_had_nothing_to_do_for_a_while_and_another_comes_when_there_is_something() {
    let threads = BotThreads::kept_for(Duration::from_millis(1), NonZeroUsize::MIN);
    let (mut thinkers, _open) = thinkers_on(&threads, 1);
    for _ in 0..3 {
        begin(&mut thinkers, ["quick"]);
        check_chose(&mut thinkers, &[1]).await;
        until(|| (threads.count() == 0).then_some(())).await;
    }
}

/// Has the session's runtime do something.
struct Delegates;

impl Bot for Delegates {
    fn choose(&mut self, decision: &Decision) -> Action {
        let runtime = Handle::current();
        runtime.block_on(runtime.spawn(async {})).unwrap();
        decision.first()
    }
}

#[tokio::test]
async fn a_bot_may_use_the_runtime_of_its_session() {
    let factory: Factory = Arc::new(|_| Box::new(Delegates));
    let mut thinkers = Thinkers::new(factory, Handle::current(), threads(1), NonZeroUsize::MIN);
    begin(&mut thinkers, ["asks"]);
    check_chose(&mut thinkers, &[1]).await;
}

/// Panics when it is dropped.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Does what harms its thread.
enum Harmful {
    PanicsWithWhatPanics,
    StaysOnTheRuntime,
}

impl Bot for Harmful {
    fn choose(&mut self, decision: &Decision) -> Action {
        match self {
            Self::PanicsWithWhatPanics => std::panic::panic_any(Fragile),
            Self::StaysOnTheRuntime => mem::forget(Handle::current().enter()),
        }
        decision.first()
    }
}

/// Has a bot think on the only thread that there is.
async fn check_thinks_on(threads: &BotThreads) {
    let (mut thinkers, _open) = thinkers_on(threads, 1);
    begin(&mut thinkers, ["quick"]);
    check_chose(&mut thinkers, &[1]).await;
}

#[tokio::test]
async fn no_bot_ends_its_thread_whatever_it_leaves_there() {
    let threads = threads(1);
    for (bot, falls) in [(|| Harmful::PanicsWithWhatPanics) as fn() -> Harmful, || Harmful::StaysOnTheRuntime]
        .into_iter()
        .zip([true, false])
    {
        let factory: Factory = Arc::new(move |_| Box::new(bot()));
        let mut thinkers = Thinkers::new(factory, Handle::current(), threads.clone(), NonZeroUsize::MIN);
        begin(&mut thinkers, ["harms", "harms too"]);
        let told = told(&mut thinkers, 2).await;
        assert!(told.iter().all(|(_, _, worked)| matches!(worked, Worked::Fell(_)) == falls), "{told:?}");
        check_thinks_on(&threads).await;
    }
}

#[tokio::test]
async fn what_a_bot_chose_is_told_whatever_it_leaves_on_its_thread() {
    let threads = threads(1);
    let factory: Factory = Arc::new(|_| Box::new(Harmful::StaysOnTheRuntime));
    let mut harmful = Thinkers::new(factory, Handle::current(), threads.clone(), NonZeroUsize::MIN);
    let (mut slow, open) = thinkers_on(&threads, 1);
    harmful.work(Key(1), SeatBot::default(), first_calls("harms"));
    slow.work(Key(1), SeatBot::default(), first_calls("waits"));
    assert_eq!((harmful.start(), slow.start()), (Started::Something, Started::Something));
    harmful.wake();
    check_chose(&mut harmful, &[1]).await;
    open.send(()).unwrap();
    check_chose(&mut slow, &[1]).await;
}

#[tokio::test]
async fn who_comes_behind_a_slow_bot_of_its_own_session_waits_for_nothing() {
    let (mut thinkers, open) = thinkers(2);
    begin(&mut thinkers, ["waits"]);
    until(|| (!thinkers.threads.is_one_awake()).then_some(())).await;
    thinkers.work(Key(2), SeatBot::default(), first_calls("quick"));
    start(&mut thinkers);
    assert_eq!(thinkers.threads.count(), 2, "one was made at once");
    check_chose(&mut thinkers, &[2]).await;
    open.send(()).unwrap();
    check_chose(&mut thinkers, &[1]).await;
}

#[tokio::test]
async fn what_makes_bots_may_panic_when_it_is_dropped_on_a_thread() {
    let threads = threads(1);
    let (open, gate) = channel();
    let (gate, fragile) = (Arc::new(Mutex::new(gate)), Fragile);
    let factory: Factory = Arc::new(move |info| {
        let _of_the_factory = &fragile;
        Box::new(Named { name: info.match_id.clone(), gate: Arc::clone(&gate) })
    });
    let mut thinkers = Thinkers::new(factory, Handle::current(), threads.clone(), NonZeroUsize::MIN);
    begin(&mut thinkers, ["waits"]);
    until(|| thinkers.pool.jobs().waiting.is_empty().then_some(())).await;
    drop(thinkers);
    open.send(()).unwrap();
    check_thinks_on(&threads).await;
}

#[tokio::test]
async fn a_session_that_ends_before_a_thread_was_woken_for_it_is_let_go_of() {
    let (threads, (mut thinkers, open)) = (threads(1), thinkers(1));
    thinkers.threads = threads;
    thinkers.work(Key(1), SeatBot::default(), first_calls("waits"));
    assert_eq!(thinkers.start(), Started::Something);
    drop(thinkers);
    // What makes bots has the other end.
    assert!(open.send(()).is_err());
}

#[tokio::test(start_paused = true)]
async fn how_long_the_runtime_takes_to_wake_a_thread_is_no_reason_for_more_threads() {
    let (mut thinkers, open) = thinkers(8);
    for key in 1..=4 {
        thinkers.work(Key(key), SeatBot::default(), first_calls("waits"));
    }
    assert_eq!(thinkers.start(), Started::Something);
    tokio::time::advance(10 * PATIENCE).await;
    thinkers.wake();
    assert!(thinkers.some_done().now_or_never().is_none());
    assert_eq!(thinkers.pool.jobs().turns, 1);
    lose_patience(&mut thinkers, 1).await;
    assert_eq!(thinkers.pool.jobs().turns, 2);
    (0..4).for_each(|_| open.send(()).unwrap());
    assert_eq!(told(&mut thinkers, 4).await.len(), 4);
}
