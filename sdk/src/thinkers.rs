//! Where bots think: off the stream, so many at once.

mod pool;

use std::future::poll_fn;
use std::mem;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::bot::{Bot, MatchInfo};
use crate::seat_bot::SeatBot;
use crate::session::{Call, Key, Worked};
use pool::{Done, Job, Pool};

/// Makes the bot of a seat.
pub(crate) type Factory = Arc<dyn Fn(&MatchInfo) -> Box<dyn Bot> + Send + Sync>;

/// How long bots wait for one that thinks before more threads are there for them, as many again each time.
const PATIENCE: Duration = Duration::from_millis(1);

/// The bots of a session, and the threads on which they think.
///
/// A bot is with its seat, or at work in one thread; never in two. What waits is bounded by the
/// matches: a seat's match can't go on beyond its own decision.
///
/// To wake a thread costs more than a simple bot takes to choose. So what comes together is done by one thread, one bot
/// after the other, and is told together. Who is behind a bot that takes long gets another thread.
pub(crate) struct Thinkers {
    /// The bot of each seat; none while it is at work.
    bots: FxHashMap<Key, SeatBot>,
    /// What no thread knows of yet.
    new: Vec<Job>,
    /// What is to be told.
    done: Vec<Done>,
    pool: Arc<Pool>,
    at_once: usize,
    patience: Alarm,
}

impl Thinkers {
    pub(crate) fn new(factory: Factory, at_once: NonZeroUsize) -> Self {
        let pool = Arc::new(Pool::new(factory));
        let (bots, patience) = (FxHashMap::default(), Alarm::default());
        Self { bots, new: Vec::new(), done: Vec::new(), pool, at_once: at_once.get(), patience }
    }

    /// Has the seat's bot do this, from [`Thinkers::start`] on. It must not be at work.
    pub(crate) fn work(&mut self, key: Key, calls: Vec<Call>) {
        let bot = mem::take(self.bots.entry(key).or_default());
        self.new.push(Job { key, bot, calls });
    }

    /// Lets a thread see to what is new.
    pub(crate) fn start(&mut self) {
        if self.new.is_empty() {
            return;
        }
        let mut jobs = self.pool.jobs();
        jobs.waiting.extend(self.new.drain(..));
        let first = usize::from(jobs.threads == 0);
        let waits = first == 0 || jobs.waiting.len() > 1;
        self.pool.add_threads(jobs, first);
        if waits {
            self.wait_patiently();
        }
    }

    fn add_threads_for_waiting(&mut self) {
        let jobs = self.pool.jobs();
        if !jobs.waiting.is_empty() {
            let more = jobs.waiting.len().min(jobs.threads).min(self.at_once - jobs.threads);
            self.pool.add_threads(jobs, more);
            self.wait_patiently();
        }
    }

    fn wait_patiently(&mut self) {
        self.patience.set(Instant::now().into_std() + PATIENCE);
    }

    /// Waits until bots are done.
    pub(crate) async fn some_done(&mut self) {
        poll_fn(|context| self.poll_done(context)).await;
    }

    /// What the bots came to that were waited for, each told once.
    pub(crate) fn take_done(&mut self) -> impl Iterator<Item = (Key, Worked)> {
        self.done.drain(..).map(|Done { key, bot, worked }| {
            // There is no place for it if its seat was over before.
            if let Some(place) = self.bots.get_mut(&key) {
                *place = bot;
            }
            (key, worked)
        })
    }

    fn poll_done(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.patience.poll_ring(context).is_ready() {
            self.add_threads_for_waiting();
        }
        let mut jobs = self.pool.jobs();
        self.done.append(&mut jobs.done);
        if !self.done.is_empty() {
            return Poll::Ready(());
        }
        jobs.session = Some(context.waker().clone());
        Poll::Pending
    }

    /// Lets go of a seat's bot.
    pub(crate) fn remove(&mut self, key: Key) {
        self.bots.remove(&key);
    }
}

impl Drop for Thinkers {
    fn drop(&mut self) {
        self.pool.close();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};

    use futures::FutureExt;
    use futures::future::join_all;
    use tokio::runtime::Builder;
    use tokio::task::yield_now;
    use tokio::time::timeout;
    use zetema_rules::fair::{MatchSeed, Nonce};
    use zetema_rules::{Action, Event, Game, Preset, Seat, View, Viewer};

    use super::*;
    use crate::bot::{Bot, Decision};
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

    fn thinkers(at_once: usize) -> (Thinkers, std::sync::mpsc::Sender<()>) {
        let (open, gate) = channel();
        let gate = Arc::new(Mutex::new(gate));
        let factory: Factory =
            Arc::new(move |info| Box::new(Named { name: info.match_id.clone(), gate: Arc::clone(&gate) }));
        (Thinkers::new(factory, NonZeroUsize::new(at_once).unwrap()), open)
    }

    /// Has bots of these names start and choose, the first by the key 1.
    fn begin<'a>(thinkers: &mut Thinkers, names: impl IntoIterator<Item = &'a str>) {
        for (key, name) in (1..).zip(names) {
            thinkers.work(Key(key), first_calls(name));
        }
        thinkers.start();
    }

    /// What so many bots came to, in the order in which that is told.
    async fn told(thinkers: &mut Thinkers, bots: usize) -> Vec<(Key, Worked)> {
        let mut told = Vec::new();
        while told.len() < bots {
            thinkers.some_done().await;
            told.extend(thinkers.take_done());
        }
        told
    }

    async fn check_chose(thinkers: &mut Thinkers, keys: &[u64]) {
        let told = told(thinkers, keys.len()).await;
        let chose = |worked: &Worked| matches!(worked, Worked::Chose(answer) if answer.decision == 1);
        assert!(told.iter().all(|(_, worked)| chose(worked)), "{told:?}");
        assert_eq!(told.iter().map(|(key, _)| key.0).collect::<Vec<_>>(), keys);
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
            thinkers.work(Key(key), first_calls("quick"));
            thinkers.start();
            check_chose(&mut thinkers, &[key]).await;
        }
        open.send(()).unwrap();
        check_chose(&mut thinkers, &[1]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_threads_again_are_there_each_time_that_bots_wait_too_long_up_to_the_bound() {
        let (mut thinkers, open) = thinkers(20);
        begin(&mut thinkers, ["waits"; 100]);
        for threads in [1, 2, 4, 8, 16, 20, 20] {
            assert_eq!(thinkers.pool.jobs().threads, threads);
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
        assert_eq!(thinkers.pool.jobs().threads, 1);
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
            let [(Key(1), Worked::Fell(fault))] = &told[..] else { panic!("{told:?}") };
            assert_eq!(*fault, Fault::Panicked { message: message.to_owned() });
        }
        begin(&mut thinkers, ["panics", "quick", "panics twice", "quick"]);
        let told = told(&mut thinkers, 4).await;
        let chose = told.iter().map(|(_, worked)| matches!(worked, Worked::Chose(_)));
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

    fn ask_again(thinkers: &mut Thinkers, key: Key) {
        thinkers.work(key, vec![Call::Choose(decision().1)]);
        thinkers.start();
    }

    /// Runs sessions that have so many threads of a runtime for all of them.
    fn run_on<T>(threads: usize, sessions: impl Future<Output = T>) -> Option<T> {
        let runtime =
            Builder::new_current_thread().enable_time().max_blocking_threads(threads).build().unwrap();
        runtime.block_on(async { timeout(Duration::from_secs(20), sessions).await.ok() })
    }

    /// How often the bots of so many sessions have chosen when each has a hundred times, where each is asked again as soon as
    /// it has.
    fn turns(sessions: usize, threads: usize) -> Vec<u32> {
        let chosen = vec![Cell::new(0); sessions];
        let all = || chosen.iter().all(|chosen| chosen.get() >= 100);
        let session = async |chosen: &Cell<u32>| {
            let (mut thinkers, _open) = thinkers(4);
            begin(&mut thinkers, ["quick"]);
            while !all() {
                check_chose(&mut thinkers, &[1]).await;
                chosen.update(|chosen| chosen + 1);
                ask_again(&mut thinkers, Key(1));
                // They are one task here: it goes to the next before this one may be told again.
                yield_now().await;
            }
        };
        assert!(run_on(threads, join_all(chosen.iter().map(session))).is_some(), "{chosen:?}");
        chosen.iter().map(Cell::get).collect()
    }

    #[test]
    fn sessions_that_are_always_asked_again_have_turns_on_fewer_threads_than_they_are() {
        let chosen = turns(3, 1);
        assert!(chosen.iter().all(|chosen| *chosen < 250), "{chosen:?}");
        turns(6, 2);
    }

    #[test]
    fn a_session_in_which_a_bot_always_waits_for_its_turn_leaves_the_thread_to_others() {
        let asked = async {
            let (mut busy, open) = thinkers(1);
            begin(&mut busy, ["waits", "waits"]);
            let (mut other, _open) = thinkers(1);
            begin(&mut other, ["quick"]);
            // Of the two one waits for the thread whenever the other has chosen.
            let is_busy = async {
                loop {
                    open.send(()).unwrap();
                    told(&mut busy, 1).await.iter().for_each(|(key, _)| ask_again(&mut busy, *key));
                }
            };
            tokio::select! {
                () = check_chose(&mut other, &[1]) => {}
                () = is_busy => {}
            }
        };
        assert!(run_on(1, asked).is_some(), "the other session's bot was never asked");
    }
}
