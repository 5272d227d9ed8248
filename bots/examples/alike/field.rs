//! Bots that play seasons by the rules, and which of them are found to play alike.

#![allow(clippy::unwrap_used, reason = "it goes on by what it has made itself")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_bots::House;
use zetema_ladder::{
    Finding, FinishedMatch, HonestyOptions, HonestySettings, Ladder, Played, RatingSettings, ResultNumber,
    Suspicion, finished_seats, suspicions,
};
use zetema_sdk::rules::{Card, Rules, Seats};
use zetema_sdk::{Action, Bot, Decision, MatchInfo, numbered_seed, simulate};

/// What a bot runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Program {
    House(House),
    /// A house bot that chooses by chance in this share of its decisions.
    Careless(House, f64),
    /// Declares when it can, else discards the first card of the pack's order.
    First,
    /// The last.
    Last,
    /// Discards what most of lie open, the first of those.
    Follows,
    /// Discards what fewest of lie open, the first of those.
    Avoids,
}

impl Program {
    fn make(self, info: &MatchInfo, seed: u64) -> Box<dyn Bot> {
        match self {
            Self::House(house) => house.make(info, seed),
            Self::Careless(house, share) => {
                let random = StdRng::seed_from_u64(seed ^ 0xCA4E ^ ((info.seat.index() as u64) << 32));
                Box::new(Careless { bot: house.make(info, seed), share, random })
            }
            Self::First => Box::new(Discards(|_, card| card.index())),
            Self::Last => Box::new(Discards(|_, card| Card::FACES - card.index())),
            Self::Follows => Box::new(Discards(|decision, card| 5 - open(decision, card))),
            Self::Avoids => Box::new(Discards(open)),
        }
    }
}

/// How many of a card's rank lie open.
fn open(decision: &Decision, card: Card) -> usize {
    decision.view.public.tableau.of_rank(card.rank()).len()
}

/// Declares the first that it can, else discards what this is least of.
struct Discards(fn(&Decision, Card) -> usize);

impl Bot for Discards {
    fn choose(&mut self, decision: &Decision) -> Action {
        if let Some(declaration) = decision.legal.declarations.first() {
            return Action::Declare(*declaration);
        }
        let least = decision.legal.discards.faces_in_order().min_by_key(|&card| (self.0)(decision, card));
        least.map_or_else(|| decision.first(), Action::Discard)
    }
}

struct Careless {
    bot: Box<dyn Bot>,
    share: f64,
    random: StdRng,
}

impl Bot for Careless {
    fn choose(&mut self, decision: &Decision) -> Action {
        let action = self.bot.choose(decision);
        if self.random.random::<f64>() >= self.share {
            return action;
        }
        let index = self.random.random_range(0..decision.legal.len());
        decision.legal.get(index).unwrap_or(action)
    }
}

/// The first of the seeds of the deals.
const FIRST_SEED: u64 = 11_000_000;

pub(crate) type Finished = FinishedMatch<usize, usize>;

/// A season of so many matches a bot, between two drawn by lot, who are of different owners.
pub(crate) fn season(programs: &[Program], rules: Rules, matches_a_bot: u64, seed: u64) -> Vec<Finished> {
    let mut dice = StdRng::seed_from_u64(seed);
    let players = rules.player_count().count();
    let matches = matches_a_bot * programs.len() as u64 / players as u64;
    let first = FIRST_SEED + seed * 1_000_000;
    (0..matches)
        .map(|number| {
            let names = rand::seq::index::sample(&mut dice, programs.len(), players).into_vec();
            let make = |info: &MatchInfo| {
                let name = names[info.seat.index()];
                programs[name].make(info, number * 1_000 + name as u64)
            };
            let played = simulate(rules, &numbered_seed(first + number), make).unwrap();
            assert_eq!(played.faults, []);
            let seats = finished_seats(&played.record().unwrap(), names.clone()).unwrap();
            let result = Played::new(names, rules.teams, played.result, Seats::EMPTY).unwrap();
            FinishedMatch::new(ResultNumber::new(number + 1), number, result, seats).unwrap()
        })
        .collect()
}

pub(crate) fn alike(results: &[Finished], options: HonestyOptions) -> Vec<Suspicion<usize>> {
    let settings = HonestySettings::new(options).unwrap();
    let mut found = suspicions(Ladder::new(RatingSettings::default()), results, &settings).unwrap();
    found.retain(|one| matches!(one.finding, Finding::SameDecisions { .. }));
    found
}

/// Who plays.
pub(crate) const FIELD: [Program; 12] = [
    Program::House(House::Greedy),
    Program::House(House::Greedy),
    Program::House(House::Random),
    Program::House(House::Random),
    Program::House(House::Appraiser),
    Program::House(House::Appraiser),
    Program::Careless(House::Appraiser, 0.1),
    Program::House(House::GreedyWithoutZetemas),
    Program::First,
    Program::Last,
    Program::Follows,
    Program::Avoids,
];
