//! Three ladders on simulated time, on which most bots wait at once with a quota of matches at once for all of them: how long those wait
//! who are on the one for four alone. `docs/pairing.md` has the figures, which `cargo test -p zetema-ladder --test three_ladders --
//! --nocapture` prints.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::num::NonZeroU16;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_ladder::pairing::{
    BotId, Entrant, Hold, OwnerId, Pairing, PairingOptions, PairingSettings, Queue, Strength,
};
use zetema_ladder::quota::{Quota, Usage};
use zetema_rules::{Players, Teams};

const SECOND_MS: u64 = 1_000;
/// When the ladder for four opens.
const OPENS_MS: u64 = 60_000;
const END_MS: u64 = 12 * 3_600_000;
/// The ladder for four, after two for two.
const FOUR: usize = 2;

/// Whether bots are kept free for a ladder on which one waits too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    On,
    Off,
}

/// Who is there all the time, each of an owner of its own.
#[derive(Clone, Copy, Debug)]
struct Season {
    /// On all three ladders, with more places on each than its quota has matches at once.
    everywhere: u64,
    /// On the ladder for four alone.
    alone: u64,
    quota: Quota,
    /// How long a match takes, from and to, in seconds.
    match_s: (u64, u64),
    holding: Holding,
}

/// What came of it.
struct Figures {
    /// Of those who are on the ladder for four alone, and of who waits at the end, sorted.
    waits_ms: Vec<u64>,
    /// Of each ladder.
    matches: [usize; 3],
}

impl Season {
    /// Twelve hours. The ladder for four opens when all play as much as they may on the others.
    fn play(self) -> Figures {
        let queue = |(players, teams)| {
            Queue::new(
                PairingSettings::new(PairingOptions::usual(Players::new(players).unwrap(), teams)).unwrap(),
            )
        };
        let mut queues = [(2, Teams::Individual), (2, Teams::Individual), (4, Teams::Pairs)].map(queue);
        let mut usages: BTreeMap<u64, Usage> = BTreeMap::new();
        let mut running: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut matches: Vec<(usize, Pairing)> = Vec::new();
        let (mut random, mut hold, mut turns) = (StdRng::seed_from_u64(1), Hold::default(), vec![0, 1, FOUR]);
        let mut figures = Figures { waits_ms: Vec::new(), matches: [0; 3] };
        for now_ms in (0..END_MS).step_by(usize::try_from(SECOND_MS).unwrap()) {
            while running.peek().is_some_and(|Reverse((at, _))| *at <= now_ms) {
                let Reverse((_, number)) = running.pop().unwrap();
                let (ladder, pairing) = &matches[number];
                queues[*ladder].finish(pairing, now_ms).unwrap();
                for member in pairing.members() {
                    usages.get_mut(&member.bot.number()).unwrap().end().unwrap();
                }
            }
            let starving = (0..3).filter_map(|at| Some((queues[at].starves_since(now_ms)?, at)));
            let kept = match self.holding {
                Holding::On => hold.next(starving, |&at: &usize| queues[at].could_pair()),
                Holding::Off => None,
            };
            let mut had_one = Vec::new();
            for ladder in std::mem::take(&mut turns) {
                for number in 0..self.everywhere + self.alone {
                    let is_there = if ladder == FOUR { now_ms >= OPENS_MS } else { number < self.everywhere };
                    if !is_there {
                        continue;
                    }
                    let bot = BotId::new(number);
                    let strength = Strength::new(25.0, 2.0).unwrap();
                    let places = NonZeroU16::new(8).unwrap();
                    queues[ladder]
                        .join(Entrant { bot, owner: OwnerId::new(number), strength, places }, now_ms);
                    let usage = usages.entry(number).or_default();
                    let is_kept = kept.is_some_and(|kept| kept != ladder && queues[kept].has_room(bot));
                    let last = usage.playing() + 1 >= self.quota.matches_at_once();
                    if usage.playing() >= self.quota.matches_at_once() {
                        queues[ladder].pass_over_busy(bot);
                    } else if usage.check(self.quota, now_ms).is_err() || (is_kept && last) {
                        queues[ladder].pass_over(bot);
                    }
                }
                let made = queues[ladder].pair(now_ms);
                if !made.is_empty() {
                    hold.served(&ladder);
                }
                let list = if made.is_empty() { &mut turns } else { &mut had_one };
                list.push(ladder);
                for pairing in made {
                    for member in pairing.members() {
                        usages.get_mut(&member.bot.number()).unwrap().resume(now_ms);
                        if member.bot.number() >= self.everywhere {
                            figures.waits_ms.push(now_ms - member.since_ms);
                        }
                    }
                    figures.matches[ladder] += 1;
                    let (from, to) = self.match_s;
                    let length_ms = random.random_range(from * 1_000..to * 1_000);
                    running.push(Reverse((now_ms + length_ms, matches.len())));
                    matches.push((ladder, pairing));
                }
            }
            turns.append(&mut had_one);
        }
        let left = queues[FOUR].waiting().filter(|waiting| waiting.bot.number() >= self.everywhere);
        figures.waits_ms.extend(left.map(|waiting| END_MS - waiting.since_ms));
        figures.waits_ms.sort_unstable();
        figures
    }
}

impl Figures {
    fn wait_s(&self, percent: usize) -> u64 {
        self.waits_ms[(self.waits_ms.len() * percent).div_ceil(100).max(1) - 1] / 1_000
    }
}

#[test]
fn whoever_is_on_a_ladder_for_four_alone_plays_beside_ladders_for_two_that_take_every_free_match() {
    let (short, long) = ((30, 120), (300, 900));
    // Each with the longest wait that it must not come to.
    for (everywhere, alone, at_once, match_s, most_s) in [
        (4, 1, 4, short, 300),
        (4, 1, 4, long, 2_700),
        // Where each plays one match at once and matches are long there is no bound. It plays all the same.
        (4, 1, 1, long, 43_000),
        (12, 2, 4, long, 1_200),
        (40, 3, 4, long, 1_200),
    ] {
        let quota = Quota::new(at_once, 1_000_000).unwrap();
        let [with, without] = [Holding::On, Holding::Off]
            .map(|holding| Season { everywhere, alone, quota, match_s, holding }.play());
        for (figures, name) in [(&with, "kept free"), (&without, "not kept free")] {
            println!(
                "{everywhere} everywhere, {alone} on one alone, {at_once} at once, matches of {match_s:?} s, {name}: wait p50 {} s, \
                 p99 {} s, most {} s; matches {:?}",
                figures.wait_s(50),
                figures.wait_s(99),
                figures.wait_s(100),
                figures.matches,
            );
        }
        assert!(with.wait_s(100) <= most_s, "one waited {} s", with.wait_s(100));
        let all = |figures: &Figures| figures.matches.iter().sum::<usize>();
        assert!(all(&with) * 5 >= all(&without) * 4, "the others play on");
        if everywhere == 4 && at_once == 4 && match_s == long {
            let starved = without.wait_s(100);
            assert!(starved >= 2 * with.wait_s(100), "nobody would notice without: {starved} s");
        }
    }
}
