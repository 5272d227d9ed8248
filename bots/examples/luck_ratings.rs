//! Whether a rating from luck-adjusted scores finds the order of bots sooner than the rating: `cargo run --release -p zetema-bots
//! --example luck_ratings -- --matches 200`, by so many matches of each two bots.
//!
//! Eight bots are one house bot that does anything legal now and then, the later ones more often, so that their order is known. Each two
//! play matches whose deals are independent of one another. Seasons are drawn from these, in any order, and rated twice with
//! the usual settings: by the ranks of the results and by those of the adjusted scores. What is printed is the share of pairs of bots
//! that each of the two has in the right order, by μ, after so many matches of a bot.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::env;
use std::error::Error;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use zetema_bots::House;
use zetema_ladder::{
    AdjustedScore, Baseline, Counted, Ladder, LadderResult, Played, RatingSettings, Reference,
    ReferenceVersion, ResultNumber,
};
use zetema_sdk::rules::{Action, MatchResult, Preset, Seats};
use zetema_sdk::{Bot, Decision, Rules, numbered_seed, simulate};

const USAGE: &str = "usage: luck_ratings [--matches 200] [--from 9700000]";

/// The first of the seeds that nothing was chosen by.
const FIRST_SEED: u64 = 9_700_000;
/// How many bots there are.
const BOTS: usize = 8;
/// Of so many decisions more each bot than the one before does anything.
const STEP: f64 = 0.02;
/// How many seasons are drawn.
const SEASONS: u64 = 400;
/// After how many matches of a bot, in the mean, the order is looked at.
const LOOKS: [u64; 6] = [10, 20, 40, 80, 160, 320];

/// Those whose baselines are published, and the house bot.
const ROWS: [(Preset, House); 4] = [
    (Preset::Sackson, House::Greedy),
    (Preset::Sackson, House::Appraiser),
    (Preset::Quick, House::Greedy),
    (Preset::Quick, House::Appraiser),
];

/// A bot that does anything legal now and then.
struct Erring {
    bot: Box<dyn Bot>,
    errs: f64,
    dice: StdRng,
}

impl Bot for Erring {
    fn choose(&mut self, decision: &Decision) -> Action {
        let action = self.bot.choose(decision);
        if !self.dice.random_bool(self.errs) {
            return action;
        }
        decision.legal.get(self.dice.random_range(0..decision.legal.len())).unwrap_or(action)
    }
}

/// A match of two bots that was played.
struct Match {
    bots: [usize; 2],
    result: MatchResult,
    scores: Vec<AdjustedScore>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut matches, mut from) = (200, FIRST_SEED);
    let mut words = env::args().skip(1);
    while let Some(flag) = words.next() {
        let Some(value) = words.next() else { return Err(USAGE.into()) };
        match flag.as_str() {
            "--matches" => matches = value.parse()?,
            "--from" => from = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    let begun = Instant::now();
    println!("| preset | bot | rated by | {} |", LOOKS.map(|look| look.to_string()).join(" | "));
    println!("|---|---|---|{}", "---|".repeat(LOOKS.len()));
    for (preset, house) in ROWS {
        let pool = play_all(preset.rules(2, None)?, house, matches, from)?;
        let [plain, adjusted] = right(&pool)?;
        for (by, shares) in [("ranks", plain), ("adjusted scores", adjusted)] {
            let cells = shares.map(|share| format!("{:.1}", 100.0 * share)).join(" | ");
            println!("| `{preset}` | `{house}` | {by} | {cells} |");
        }
    }
    println!(
        "\n{matches} matches of each two bots from seed {from}, {SEASONS} seasons, {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// All matches, each two bots in turn at the first seat.
fn play_all(rules: Rules, house: House, matches: u64, from: u64) -> Result<Vec<Match>, Box<dyn Error>> {
    let reference = Reference::new(&rules, ReferenceVersion::CURRENT);
    let usual = Baseline::published(&reference).ok_or("no baseline is published for these rules")?;
    let mut pool = Vec::new();
    let pairs = (0..BOTS).flat_map(|one| (0..one).map(move |other| [one, other]));
    for (number, pair) in (from..).zip(pairs.flat_map(|pair| (0..matches).map(move |_| pair))) {
        let bots = if number % 2 == 0 { pair } else { [pair[1], pair[0]] };
        let played = simulate(rules, &numbered_seed(number), |info| {
            let seat = info.seat.index();
            let errs = STEP * f64::from(u32::try_from(bots[seat]).unwrap_or(u32::MAX));
            let seed = 2 * number + u64::from(seat == 1);
            Erring { bot: house.make(info, number), errs, dice: StdRng::seed_from_u64(seed) }
        })?;
        if let Some((seat, fault)) = played.faults.first() {
            return Err(format!("match {number}: a bot is at fault at seat {seat}: {fault:?}").into());
        }
        let record = played.record()?;
        let deals = record.deals.iter().map(|deal| Ok(reference.deal(&deal.deck)?.finish()));
        let deals = deals.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        let dealer = record.dealer.ok_or("a match that was played has a dealer")?;
        let scores = usual.adjusted_scores(dealer, &deals, &played.result)?;
        pool.push(Match { bots, result: played.result, scores });
    }
    Ok(pool)
}

/// The share of pairs in the right order at each look, over all seasons: by the ranks, and by the adjusted scores.
fn right(pool: &[Match]) -> Result<[[f64; LOOKS.len()]; 2], Box<dyn Error>> {
    let mut sums = [[0.0; LOOKS.len()]; 2];
    let mut order: Vec<usize> = (0..pool.len()).collect();
    for season in 0..SEASONS {
        order.shuffle(&mut StdRng::seed_from_u64(season));
        let mut ladders = [Ladder::new(RatingSettings::default()), Ladder::new(RatingSettings::default())];
        for (number, &at) in (1..).zip(&order) {
            let Match { bots, result, scores } = &pool[at];
            let played =
                Played::new(bots.to_vec(), zetema_sdk::rules::Teams::Individual, *result, Seats::EMPTY)?;
            let adjusted = played.ranked_by(scores)?;
            for (ladder, played) in ladders.iter_mut().zip([played, adjusted]) {
                let (number, counted) = (ResultNumber::new(number), Counted::Rated(played));
                ladder.count(&LadderResult { number, counted })?;
            }
            let a_bot = 2 * number / BOTS as u64;
            let ended = 2 * number % BOTS as u64 == 0;
            if let Some(look) = LOOKS.iter().position(|&look| ended && look == a_bot) {
                for (sums, ladder) in sums.iter_mut().zip(&ladders) {
                    sums[look] += in_order(ladder) / f64::from(u32::try_from(SEASONS)?);
                }
            }
        }
    }
    Ok(sums)
}

/// The share of pairs of bots of which the better has the greater μ.
fn in_order(ladder: &Ladder<usize>) -> f64 {
    let mu = |bot: usize| ladder.entry(&bot).rating.mu;
    let pairs = (0..BOTS).flat_map(|worse| (0..worse).map(move |better| (better, worse)));
    let (mut right, mut all) = (0, 0);
    for (better, worse) in pairs {
        all += 1;
        right += u32::from(mu(better) > mu(worse));
    }
    f64::from(right) / f64::from(all)
}
