//! A season of a ladder: bots come and go, play matches that take their time, and are paired once a second.

mod figures;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::num::NonZeroU16;

pub(crate) use figures::Figures;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, LogNormal, StandardNormal};
use zetema_ladder::pairing::{BotId, Entrant, OwnerId, Pairing, PairingSettings, Queue, Strength};

const SECOND_MS: u64 = 1_000;
const HOUR_MS: u64 = 3_600_000;

/// How long a bot is not paired after a no-show.
const COOL_DOWN_MS: f64 = 30_000.0;

/// How long a bot is there on average, and half of that how long it is away.
const STAY_MS: f64 = 5_400_000.0;

/// Of so many matches one is not dealt, as a bot went away.
const MATCHES_PER_NO_SHOW: u32 = 100;

/// How many bots the owners have, over and over: some have several.
const BOTS_OF_OWNERS: [usize; 8] = [1, 1, 2, 1, 1, 3, 1, 6];

/// A season.
pub(crate) struct Season {
    pub(crate) settings: PairingSettings,
    pub(crate) bots: usize,
    pub(crate) hours: u64,
    /// How long half of the matches take at most. The standard deviation of the logarithm is 0.8.
    pub(crate) median_match_s: f64,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Comes(BotId),
    Goes(BotId),
    /// Its cool-down is over.
    Returns(BotId),
    /// The match of this number is over.
    Ends(usize),
    /// The match of this number is not dealt, as this bot went away.
    Aborts(usize, BotId),
    Pair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    There,
    Away,
}

struct Bot {
    owner: OwnerId,
    strength: f64,
    places: NonZeroU16,
    presence: Presence,
    matches: u32,
    last_opponents: VecDeque<Vec<BotId>>,
}

impl Bot {
    /// What its rating would be by now: it goes from 25 ± 8⅓ to its strength as its matches become more.
    fn rated(&self) -> Strength {
        let unknown = 1.0 / (1.0 + f64::from(self.matches) / 4.0);
        let uncertainty = (25.0 / 3.0 * unknown.sqrt()).max(1.0);
        Strength::new(25.0 * unknown + self.strength * (1.0 - unknown), uncertainty).unwrap()
    }
}

impl Season {
    pub(crate) fn play(&self) -> Figures {
        let mut run = Run {
            season: self,
            random: StdRng::seed_from_u64(self.seed),
            queue: Queue::new(self.settings),
            bots: BTreeMap::new(),
            running: Vec::new(),
            events: BinaryHeap::new(),
            figures: Figures::default(),
        };
        run.begin();
        let end_ms = self.hours * HOUR_MS;
        while let Some(Reverse((now_ms, event))) = run.events.pop() {
            if now_ms > end_ms {
                break;
            }
            run.happens(event, now_ms);
        }
        run.finish(end_ms)
    }
}

struct Run<'a> {
    season: &'a Season,
    random: StdRng,
    queue: Queue,
    bots: BTreeMap<BotId, Bot>,
    running: Vec<Option<Pairing>>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    figures: Figures,
}

impl Run<'_> {
    fn begin(&mut self) {
        let owners = BOTS_OF_OWNERS.iter().cycle().zip(0..).flat_map(|(&bots, owner)| vec![owner; bots]);
        for (number, owner) in (0..).zip(owners).take(self.season.bots) {
            let deviation: f64 = StandardNormal.sample(&mut self.random);
            let bot = Bot {
                owner: OwnerId::new(owner),
                strength: 25.0 + 6.0 * deviation,
                places: NonZeroU16::new(self.random.random_range(1..=4)).unwrap(),
                presence: Presence::Away,
                // Half of them are known already.
                matches: self.random.random_range(0..=1) * 100,
                last_opponents: VecDeque::new(),
            };
            let id = BotId::new(number);
            self.bots.insert(id, bot);
            self.after(0, STAY_MS / 10.0, Event::Comes(id));
        }
        self.events.push(Reverse((0, Event::Pair)));
    }

    /// Something happens after an exponentially distributed time: so what many bots do is a Poisson process.
    fn after(&mut self, now_ms: u64, mean_ms: f64, event: Event) {
        let drawn: f64 = Exp1.sample(&mut self.random);
        self.at(now_ms, drawn * mean_ms, event);
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and hours at most
    fn at(&mut self, now_ms: u64, after_ms: f64, event: Event) {
        self.events.push(Reverse((now_ms + after_ms.ceil() as u64, event)));
    }

    fn happens(&mut self, event: Event, now_ms: u64) {
        match event {
            Event::Comes(bot) => {
                self.is_now(bot, Presence::There);
                self.join(bot, now_ms);
                self.after(now_ms, STAY_MS, Event::Goes(bot));
            }
            Event::Goes(bot) => {
                self.is_now(bot, Presence::Away);
                self.queue.leave(bot);
                self.after(now_ms, STAY_MS / 2.0, Event::Comes(bot));
            }
            Event::Returns(bot) => self.join(bot, now_ms),
            Event::Ends(number) => {
                let pairing = self.running[number].take().unwrap();
                self.queue.finish(&pairing, now_ms).unwrap();
                for member in pairing.members() {
                    let bot = self.bots.get_mut(&member.bot).unwrap();
                    bot.matches += 1;
                    self.queue.rate(member.bot, bot.rated());
                }
            }
            Event::Aborts(number, absent) => {
                let pairing = self.running[number].take().unwrap();
                self.queue.leave(absent);
                self.queue.abandon(&pairing, now_ms).unwrap();
                self.figures.no_shows += 1;
                self.at(now_ms, COOL_DOWN_MS, Event::Returns(absent));
            }
            Event::Pair => {
                for pairing in self.queue.pair(now_ms) {
                    self.start(pairing, now_ms);
                }
                self.events.push(Reverse((now_ms + SECOND_MS, Event::Pair)));
            }
        }
    }

    fn is_now(&mut self, bot: BotId, presence: Presence) {
        self.bots.get_mut(&bot).unwrap().presence = presence;
    }

    /// The bot queues, unless it has gone away meanwhile.
    fn join(&mut self, bot: BotId, now_ms: u64) {
        let known = &self.bots[&bot];
        if known.presence == Presence::There {
            let Bot { owner, places, .. } = *known;
            self.queue.join(Entrant { bot, owner, strength: known.rated(), places }, now_ms);
        }
    }

    fn start(&mut self, pairing: Pairing, now_ms: u64) {
        self.look_at(&pairing, now_ms);
        let number = self.running.len();
        if self.random.random_range(0..MATCHES_PER_NO_SHOW) == 0 {
            let absent = self.random.random_range(0..pairing.members().len());
            self.at(now_ms, 10_000.0, Event::Aborts(number, pairing.members()[absent].bot));
        } else {
            let length = LogNormal::new(self.season.median_match_s.ln(), 0.8).unwrap();
            let seconds: f64 = length.sample(&mut self.random);
            self.at(now_ms, seconds * 1e3, Event::Ends(number));
        }
        self.running.push(Some(pairing));
    }

    fn look_at(&mut self, pairing: &Pairing, now_ms: u64) {
        let members = pairing.members();
        assert_eq!(members.iter().map(|member| member.owner).collect::<BTreeSet<_>>().len(), members.len());
        self.figures.matches += 1;
        for (index, member) in members.iter().enumerate() {
            self.figures.waits_ms.add(now_ms - member.since_ms);
            assert!(self.queue.playing(member.bot) <= self.bots[&member.bot].places.get().into());
            for other in &members[index + 1..] {
                let apart = self.bots[&member.bot].rated().rating() - self.bots[&other.bot].rated().rating();
                self.figures.distances.add(apart.abs());
            }
            let others: Vec<BotId> =
                members.iter().map(|other| other.bot).filter(|&other| other != member.bot).collect();
            let last = &mut self.bots.get_mut(&member.bot).unwrap().last_opponents;
            self.figures.meetings += others.len();
            self.figures.repeats +=
                others.iter().filter(|&other| last.iter().any(|others| others.contains(other))).count();
            self.figures.rematches += usize::from(last.back() == Some(&others));
            last.push_back(others);
            if last.len() > 20 {
                last.pop_front();
            }
        }
    }

    fn finish(mut self, end_ms: u64) -> Figures {
        for bot in self.bots.keys() {
            let spread = self.queue.seat_counts(*bot).spread(self.season.settings.players);
            self.figures.seat_spreads.add(spread);
        }
        for waiting in self.queue.waiting() {
            self.figures.waits_ms.add(end_ms - waiting.since_ms);
        }
        self.figures.sort();
        self.figures
    }
}
