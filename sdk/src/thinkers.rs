//! Where bots think: off the stream, so many at once.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::bot::{Bot, MatchInfo};
use crate::fault::{Fault, guarded};
use crate::session::{Answer, Call, Key, Worked};

/// Makes the bot of a seat.
pub(crate) type Factory = Arc<dyn Fn(&MatchInfo) -> Box<dyn Bot> + Send + Sync>;

/// The bots of a session, and the threads on which they think.
///
/// A bot is with its seat, or at work in one thread; never in two. What waits is bounded by the
/// matches: a seat's match can't go on beyond its own decision.
pub(crate) struct Thinkers {
    factory: Factory,
    /// Bots that are not at work.
    bots: HashMap<Key, Box<dyn Bot>>,
    waiting: VecDeque<(Key, Vec<Call>)>,
    free: usize,
    sender: UnboundedSender<Done>,
    done: UnboundedReceiver<Done>,
}

struct Done {
    key: Key,
    bot: Option<Box<dyn Bot>>,
    worked: Worked,
}

impl Thinkers {
    pub(crate) fn new(factory: Factory, at_once: NonZeroUsize) -> Self {
        let (sender, done) = unbounded_channel();
        let (bots, waiting) = (HashMap::new(), VecDeque::new());
        Self { factory, bots, waiting, free: at_once.get(), sender, done }
    }

    /// Has the seat's bot do this, when a thread is free. It must not be at work.
    pub(crate) fn work(&mut self, key: Key, calls: Vec<Call>) {
        self.waiting.push_back((key, calls));
        self.start();
    }

    fn start(&mut self) {
        while self.free > 0
            && let Some((key, calls)) = self.waiting.pop_front()
        {
            self.free -= 1;
            let bot = self.bots.remove(&key);
            let (factory, sender) = (Arc::clone(&self.factory), self.sender.clone());
            tokio::task::spawn_blocking(move || {
                let mut thought = Thought { bot, factory };
                let worked = thought.run(calls);
                // Nobody waits for it any more if the session is gone.
                let _ = sender.send(Done { key, bot: thought.bot, worked });
            });
        }
    }

    /// What the next bot that is done came to.
    pub(crate) async fn next(&mut self) -> (Key, Worked) {
        let Some(Done { key, bot, worked }) = self.done.recv().await else {
            return std::future::pending().await;
        };
        self.free += 1;
        if let Some(bot) = bot {
            self.bots.insert(key, bot);
        }
        self.start();
        (key, worked)
    }

    /// Lets go of a seat's bot.
    pub(crate) fn remove(&mut self, key: Key) {
        if let Some(bot) = self.bots.remove(&key) {
            drop_bot(bot);
        }
    }
}

struct Thought {
    bot: Option<Box<dyn Bot>>,
    factory: Factory,
}

impl Thought {
    /// Makes the calls in order, up to the first that the bot falls over.
    fn run(&mut self, calls: Vec<Call>) -> Worked {
        let mut worked = Worked::Done;
        for call in calls {
            match self.call(call) {
                Ok(None) => {}
                Ok(Some(answer)) => worked = Worked::Chose(answer),
                Err(fault) => {
                    if let Some(bot) = self.bot.take() {
                        drop_bot(bot);
                    }
                    return Worked::Fell(fault);
                }
            }
        }
        worked
    }

    fn call(&mut self, call: Call) -> Result<Option<Answer>, Fault> {
        if let Call::Start { info, view } = call {
            if let Some(bot) = self.bot.take() {
                drop_bot(bot);
            }
            let factory = &self.factory;
            self.bot = Some(guarded(|| {
                let mut bot = factory(&info);
                bot.start(view.as_deref());
                bot
            })?);
            return Ok(None);
        }
        let Some(bot) = &mut self.bot else { return Ok(None) };
        match call {
            Call::Start { .. } => Ok(None),
            Call::Observe(event) => guarded(|| bot.observe(&event)).map(|()| None),
            Call::End(end) => guarded(|| bot.end(&end)).map(|()| None),
            Call::Choose(asked) => {
                let action = guarded(|| bot.choose(&asked))?;
                let decision = asked.number();
                if asked.legal.contains(&action) {
                    Ok(Some(Answer { decision, action }))
                } else {
                    Err(Fault::IllegalChoice { decision })
                }
            }
        }
    }
}

/// A bot's own code runs when it is dropped too.
fn drop_bot(bot: Box<dyn Bot>) {
    if let Err(fault) = guarded(move || drop(bot)) {
        tracing::warn!(%fault, "a bot fell when it was dropped");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};

    use zetema_rules::fair::{MatchSeed, Nonce};
    use zetema_rules::{Action, Event, Game, Preset, Seat, View, Viewer};

    use super::*;
    use crate::bot::Decision;

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

    fn chose(worked: &Worked) -> bool {
        matches!(worked, Worked::Chose(answer) if answer.decision == 1)
    }

    #[tokio::test]
    async fn a_bot_that_is_slow_holds_up_no_other() {
        let (mut thinkers, open) = thinkers(2);
        thinkers.work(Key(1), first_calls("waits"));
        thinkers.work(Key(2), first_calls("quick"));
        thinkers.work(Key(3), first_calls("quick too"));
        for expected in [Key(2), Key(3)] {
            let (key, worked) = thinkers.next().await;
            assert!(key == expected && chose(&worked), "{key:?}: {worked:?}");
        }
        open.send(()).unwrap();
        let (key, worked) = thinkers.next().await;
        assert!(key == Key(1) && chose(&worked));
    }

    #[tokio::test]
    async fn no_more_bots_think_at_once_than_there_are_threads() {
        let (mut thinkers, open) = thinkers(1);
        thinkers.work(Key(1), first_calls("waits"));
        thinkers.work(Key(2), first_calls("quick"));
        assert_eq!((thinkers.free, thinkers.waiting.len()), (0, 1));
        open.send(()).unwrap();
        assert_eq!(thinkers.next().await.0, Key(1));
        assert_eq!(thinkers.next().await.0, Key(2));
        assert_eq!(thinkers.free, 1);
    }

    #[tokio::test]
    async fn a_panic_anywhere_in_a_bot_is_a_fault_of_its_seat() {
        let (mut thinkers, _open) = thinkers(4);
        for (name, message) in
            [("panics", "no idea"), ("does not start", "no start"), ("panics twice", "no idea")]
        {
            thinkers.work(Key(1), first_calls(name));
            let (_, worked) = thinkers.next().await;
            let Worked::Fell(fault) = worked else { panic!("{worked:?}") };
            assert_eq!(fault, Fault::Panicked { message: message.to_owned() });
            assert!(thinkers.bots.is_empty());
        }
        thinkers.work(Key(2), first_calls("quick"));
        assert!(chose(&thinkers.next().await.1));
    }
}
