//! Whether the adjusted scores mean the same as the raw ones, and how many fewer matches they need.

use std::collections::HashMap;

use zetema_ladder::{AdjustedScore, DealKey, DealValues, PointsPerMatch};
use zetema_rules::{Preset, Rules, Seat};

use crate::places::one_by_one;
use crate::played::{Played, play};
use crate::player::Player;
use crate::sums::{baseline, rules};

/// How many matches are adjusted.
const MATCHES: u64 = 250;
/// How many more are played to know the true difference.
const MORE: u64 = 1_000;

/// A bot among others that all play alike, at each seat in turn.
struct Among {
    bot: Player,
    others: Player,
}

impl Among {
    fn seat(rules: &Rules, number: u64) -> Seat {
        let seats = rules.seats().len() as u64;
        rules.seats().nth(usize::try_from(number % seats).expect("few seats")).expect("a seat")
    }

    fn play(&self, rules: Rules, number: u64) -> Played {
        let mut bots = vec![self.others; rules.seats().len()];
        bots[Self::seat(&rules, number).index()] = self.bot;
        play(rules, number, &bots)
    }
}

fn check(preset: Preset, players: usize, rows: &[(Player, Player, f64)]) {
    let (rules, usual) = (rules(preset, players), baseline(preset, players));
    let reference = usual.reference();
    let mut cache: HashMap<DealKey, DealValues> = HashMap::new();
    for &(bot, others, at_least) in rows {
        let among = Among { bot, others };
        let (mut points, mut luck) = (PointsPerMatch::default(), PointsPerMatch::default());
        for number in 0..MATCHES {
            let played = among.play(rules, number);
            let values: Vec<DealValues> = played
                .decks
                .iter()
                .map(|deck| {
                    let compute = || reference.deal(deck).expect("the pack").finish();
                    *cache.entry(reference.deal_key(deck)).or_insert_with(compute)
                })
                .collect();
            let side = rules.side(Among::seat(&rules, number)).index();
            let score = |deals: &[DealValues]| {
                usual.adjusted_scores(played.dealer, deals, &played.result).expect("its deals")[side]
            };
            points.count(score(&values), one_by_one(number));
            luck.count(AdjustedScore { raw: score(&values).luck, luck: 0.0 }, one_by_one(number));
        }
        let mut truth = PointsPerMatch::default();
        for number in MATCHES..MATCHES + MORE {
            let played = among.play(rules, number);
            let side = rules.side(Among::seat(&rules, number)).index();
            let totals = played.result.totals[..rules.sides()].iter().map(|&total| f64::from(total));
            let own = f64::from(played.result.totals[side]);
            let others = (totals.sum::<f64>() - own) / (rules.sides() as f64 - 1.0);
            truth.count(AdjustedScore { raw: own - others, luck: 0.0 }, one_by_one(number));
        }
        let (raw, adjusted, luck, truth) = (points.raw(), points.adjusted(), luck.raw(), truth.raw());
        let error = |estimate: zetema_ladder::Estimate| estimate.standard_error.expect("many matches");
        let ratio = points.variance_ratio().expect("scores differ");
        println!(
            "{preset}, {players} players, {bot:?} among {others:?}: raw {:.1} ± {:.1}, adjusted {:.1} ± {:.1}, luck {:.1} ± \
            {:.1}, true {:.1} ± {:.1}; {ratio:.2} times as many matches without; share {:.2}",
            raw.mean,
            error(raw),
            adjusted.mean,
            error(adjusted),
            luck.mean,
            error(luck),
            truth.mean,
            error(truth),
            points.share(),
        );
        assert!(luck.mean.abs() < 3.0 * error(luck), "luck has a mean of 0");
        for (what, estimate) in [("raw", raw), ("adjusted", adjusted)] {
            let off = (estimate.mean - truth.mean).abs();
            assert!(off < 3.0 * error(estimate).hypot(error(truth)), "{what}: off by {off}");
        }
        if bot == others {
            assert!(adjusted.mean.abs() < 3.0 * error(adjusted), "equal bots are equal");
        }
        assert!(ratio > at_least, "{ratio}, not over {at_least}");
    }
}

#[test]
fn adjusted_scores_of_two_in_sackson_mean_the_same_and_need_fewer_matches() {
    check(
        Preset::Sackson,
        2,
        &[
            (Player::Suits, Player::Suits, 1.05),
            (Player::Planner, Player::Suits, 1.0),
            (Player::Dawdler, Player::Suits, 1.0),
        ],
    );
}

#[test]
fn adjusted_scores_of_three_in_quick_mean_the_same_and_need_fewer_matches() {
    check(
        Preset::Quick,
        3,
        &[
            (Player::Planner, Player::Planner, 1.2),
            (Player::Suits, Player::Suits, 1.2),
            (Player::Dawdler, Player::Planner, 1.0),
        ],
    );
}
