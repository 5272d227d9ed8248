//! Seasons of bots whose strength is known.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom, index};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal, Normal};
use zetema_ladder::pairing::{
    BotId, Entrant, OwnerId, Pairing, PairingOptions, PairingSettings, Queue, Strength,
};
use zetema_ladder::{
    Certainty, Counted, Ladder, LadderResult, Mu, Played, Rating, RatingSettings, ResultNumber, Sigma,
};
use zetema_rules::{Players, Teams};

use crate::fit::most_likely;
use crate::support::played;
use crate::whole;

pub(crate) const BOTS: usize = 50;
pub(crate) const MATCHES: u64 = 10_000;

/// A bot by its number.
pub(crate) type Bot = usize;

/// How bots come to their matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Paired {
    /// Every other match of bots that are near in the standings, the rest of any.
    ByChance,
    /// As a ladder pairs them: by the queue with the usual settings.
    ByTheLadder,
}

/// What a season is played by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) paired: Paired,
    pub(crate) players: Players,
    pub(crate) teams: Teams,
    /// How far the strengths are apart, as a standard deviation. Its unit is the luck of one bot in one match.
    pub(crate) spread: f64,
    pub(crate) settings: RatingSettings,
}

/// Of two sides of one match, before it.
#[derive(Clone, Copy)]
pub(crate) struct Prediction {
    /// How many matches were rated before.
    pub(crate) after: u64,
    /// How likely the one is ahead of the other.
    pub(crate) chance: f64,
    /// 1 if it was, 0.5 if they were level.
    pub(crate) came: f64,
    /// That of the least sure member.
    pub(crate) certainty: Certainty,
}

pub(crate) struct Season {
    pub(crate) strengths: Vec<f64>,
    pub(crate) ladder: Ladder<Bot>,
    pub(crate) predictions: Vec<Prediction>,
    pub(crate) matches: Vec<Played<Bot>>,
    plan: Plan,
    dice: StdRng,
    rated: u64,
}

/// A match that is paired: who plays it, seat 0 first, and what is predicted of its sides, side 0 first.
struct Table {
    bots: Vec<Bot>,
    before: Vec<(Rating, Certainty)>,
}

impl Season {
    pub(crate) fn play(plan: &Plan, seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let strength = Normal::new(0.0, plan.spread).expect("a spread");
        let strengths = (0..BOTS).map(|_| strength.sample(&mut dice)).collect();
        let ladder = Ladder::new(plan.settings);
        let (predictions, matches) = (Vec::new(), Vec::new());
        let mut season = Self { strengths, ladder, predictions, matches, plan: *plan, dice, rated: 0 };
        match plan.paired {
            Paired::ByChance => season.by_chance(),
            Paired::ByTheLadder => season.by_the_ladder(),
        }
        season
    }

    fn by_chance(&mut self) {
        let players = self.plan.players.count();
        while self.rated < MATCHES {
            let standings = self.ladder.standings();
            let mut bots: Vec<Bot> = if standings.len() == BOTS && self.dice.random_bool(0.5) {
                let near = 10;
                let from = self.dice.random_range(0..=BOTS - near);
                let near: Vec<Bot> =
                    standings[from..from + near].iter().map(|standing| *standing.bot).collect();
                near.sample(&mut self.dice, players).copied().collect()
            } else {
                index::sample(&mut self.dice, BOTS, players).into_vec()
            };
            bots.shuffle(&mut self.dice);
            let table = self.table(bots);
            self.end(&table);
        }
    }

    /// All bots are there all the time, each of another owner and with two places. A match takes a minute at the median, and results
    /// come in the order of the ends.
    fn by_the_ladder(&mut self) {
        let options = PairingOptions::usual(self.plan.players, self.plan.teams);
        let mut queue = Queue::new(PairingSettings::new(options).expect("the usual settings"));
        for (bot, number) in (0..BOTS).zip(0..) {
            let strength = strength(self.ladder.entry(&bot).rating);
            let places = NonZeroU16::new(2).expect("two");
            queue.join(Entrant { bot: BotId::new(number), owner: OwnerId::new(number), strength, places }, 0);
        }
        let spread_s = LogNormal::new(60.0_f64.ln(), 0.8).expect("a spread");
        let mut running: BTreeMap<usize, (Pairing, Table)> = BTreeMap::new();
        let (mut ends, mut begun, mut now_ms) = (BTreeSet::new(), 0, 0);
        while self.rated < MATCHES {
            now_ms += 1_000;
            while let Some(&(ends_ms, match_number)) = ends.first()
                && ends_ms <= now_ms
            {
                ends.pop_first();
                let (pairing, table) = running.remove(&match_number).expect("it runs");
                self.end(&table);
                for (member, bot) in pairing.members().iter().zip(&table.bots) {
                    queue.rate(member.bot, strength(self.ladder.entry(bot).rating));
                }
                queue.finish(&pairing, now_ms).expect("it runs");
            }
            for pairing in queue.pair(now_ms) {
                let bots = pairing.members().iter().map(|member| number(member.bot)).collect();
                let table = self.table(bots);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                // positive, and hours at most
                let length_ms = (1e3 * spread_s.sample(&mut self.dice)) as u64;
                ends.insert((now_ms + length_ms, begun));
                running.insert(begun, (pairing, table));
                begun += 1;
            }
        }
    }

    /// Bots sit down, and what is predicted of them is as they are rated now.
    fn table(&self, bots: Vec<Bot>) -> Table {
        let Plan { players, teams, .. } = self.plan;
        let sides = teams.sides(players);
        let before = (0..sides)
            .map(|side| {
                let of_side = players.seats().zip(&bots);
                let of_side = of_side.filter(|&(seat, _)| teams.side(seat, players).index() == side);
                let ratings: Vec<Rating> = of_side.map(|(_, bot)| self.ladder.entry(bot).rating).collect();
                self.of_side(&ratings)
            })
            .collect();
        Table { bots, before }
    }

    /// A side's strength is the sum of its members', as the ladder rates it.
    fn of_side(&self, members: &[Rating]) -> (Rating, Certainty) {
        let mu: f64 = members.iter().map(|rating| rating.mu.get()).sum();
        let variance: f64 = members.iter().map(|rating| rating.sigma.get().powi(2)).sum();
        let unsure = members.iter().max_by_key(|rating| rating.sigma).expect("a member");
        let side =
            Rating { mu: Mu::new(mu).expect("a mu"), sigma: Sigma::new(variance.sqrt()).expect("a sigma") };
        (side, self.plan.settings.certainty(*unsure))
    }

    /// The match is played, and rated.
    fn end(&mut self, table: &Table) {
        let Table { bots, before } = table;
        let Plan { players, teams, .. } = self.plan;
        let luck = Normal::new(0.0, 1.0).expect("a spread");
        let mut performances = vec![0.0; before.len()];
        for (seat, &bot) in players.seats().zip(bots) {
            let side = teams.side(seat, players).index();
            performances[side] += self.strengths[bot] + luck.sample(&mut self.dice);
        }
        let points: Vec<u16> = performances.into_iter().map(points).collect();
        for (one, other) in (0..points.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let ((rating, sure), (met, met_sure)) = (before[one], before[other]);
            let both = [sure, met_sure] == [Certainty::Established; 2];
            self.predictions.push(Prediction {
                after: self.rated,
                chance: self.plan.settings.win_chance(rating, met),
                came: match points[one].cmp(&points[other]) {
                    Ordering::Less => 0.0,
                    Ordering::Equal => 0.5,
                    Ordering::Greater => 1.0,
                },
                certainty: if both { Certainty::Established } else { Certainty::Provisional },
            });
        }
        self.rated += 1;
        let played = played(bots.clone(), teams, &points);
        self.matches.push(played.clone());
        let counted = Counted::Rated(played);
        let number = ResultNumber::new(self.rated);
        self.ladder.count(&LadderResult { number, counted }).expect("in order");
    }

    /// How well the order of the standings is the true one.
    pub(crate) fn rank_correlation(&self) -> f64 {
        let order: Vec<Bot> = self.ladder.standings().iter().map(|standing| *standing.bot).collect();
        self.correlation_of(&order)
    }

    /// The same of the order that fits all its matches best.
    pub(crate) fn fitted_rank_correlation(&self) -> f64 {
        self.correlation_of(&best_first(&most_likely(&self.matches)))
    }

    /// Spearman's, with the true order: 1 for the same.
    fn correlation_of(&self, order: &[Bot]) -> f64 {
        assert_eq!(order.len(), BOTS, "all have played");
        let true_order = best_first(&self.strengths);
        let squares = order.iter().enumerate().map(|(place, bot)| {
            let true_place = true_order.iter().position(|other| other == bot).expect("every bot has a place");
            whole(place.abs_diff(true_place)).powi(2)
        });
        let bots = whole(BOTS);
        1.0 - 6.0 * squares.sum::<f64>() / (bots * (bots.powi(2) - 1.0))
    }
}

fn best_first(strengths: &[f64]) -> Vec<Bot> {
    let mut order: Vec<Bot> = (0..strengths.len()).collect();
    order.sort_by(|&one, &other| strengths[other].total_cmp(&strengths[one]));
    order
}

fn strength(rating: Rating) -> Strength {
    Strength::new(rating.mu.get(), rating.sigma.get()).expect("a strength")
}

fn number(bot: BotId) -> Bot {
    usize::try_from(bot.number()).expect("few bots")
}

/// In fives, as points are, so that some are level.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn points(performance: f64) -> u16 {
    5 * (200.0 + 12.0 * performance).round().clamp(0.0, 1_000.0) as u16
}
