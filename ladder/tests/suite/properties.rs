//! What holds for all ratings, settings and results.

use proptest::prelude::*;
use zetema_ladder::{
    Counted, Ladder, LadderResult, Mu, RankedSide, Rating, RatingOptions, RatingSettings, ResultNumber, Sigma,
};
use zetema_rules::Teams;

use crate::support::played;

/// Ratings as they are met.
fn usual_rating() -> impl Strategy<Value = Rating> {
    (0.0..50.0, 0.5..9.0).prop_map(|(mu, sigma)| rating(mu, sigma))
}

/// All that a rating can be, the ends too.
fn any_rating() -> impl Strategy<Value = Rating> {
    let mu = prop_oneof![Just(Mu::MIN), Just(Mu::MAX), Just(0.0), Mu::MIN..Mu::MAX, -100.0..100.0];
    let sigma = prop_oneof![Just(Sigma::MIN), Just(Sigma::MAX), Sigma::MIN..Sigma::MAX, 1e-3..10.0];
    (mu, sigma).prop_map(|(mu, sigma)| rating(mu, sigma))
}

fn rating(mu: f64, sigma: f64) -> Rating {
    Rating { mu: Mu::new(mu).expect("a mu"), sigma: Sigma::new(sigma).expect("a sigma") }
}

/// All that settings can be, the ends too.
fn any_settings() -> impl Strategy<Value = RatingSettings> {
    let beta = prop_oneof![Just(0.001), Just(1_000.0), 0.001..1_000.0, 1.0..10.0];
    let part = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    (beta, part(), part(), part(), part()).prop_map(|(beta, mu, sigma, kappa, tau)| {
        let sigma = f64::max(sigma * 100.0 * beta, Sigma::MIN);
        let options = RatingOptions {
            mu: (mu - 0.5) * 100.0 * beta,
            sigma,
            beta,
            kappa: f64::max(kappa, 1e-9),
            tau: tau * sigma,
            provisional_sigma: sigma,
        };
        RatingSettings::new(options).expect("in range")
    })
}

fn sides(rating: impl Strategy<Value = Rating> + Clone) -> impl Strategy<Value = Vec<RankedSide>> {
    let members = prop::collection::vec(rating, 1..=3);
    let side =
        (1..=3_u8, members).prop_map(|(rank, members)| RankedSide::new(rank, members).expect("members"));
    prop::collection::vec(side, 2..=6)
}

/// The points of matches of three of eight bots.
fn season() -> impl Strategy<Value = Vec<LadderResult<u8>>> {
    let bots = prop::sample::subsequence((0..8_u8).collect::<Vec<_>>(), 3).prop_shuffle();
    let points = prop::array::uniform3(0..6_u16);
    prop::collection::vec((bots, points), 0..30).prop_map(|matches| {
        let result = |((bots, points), number): ((Vec<u8>, [u16; 3]), u64)| LadderResult {
            number: ResultNumber::new(number),
            counted: Counted::Rated(played(bots, Teams::Individual, &points)),
        };
        matches.into_iter().zip(1..).map(result).collect()
    })
}

proptest! {
    #[test]
    fn the_order_of_the_sides_changes_no_bit(
        (sides, order) in sides(usual_rating().boxed())
            .prop_flat_map(|sides| (Just(sides.clone()), Just((0..sides.len()).collect::<Vec<_>>()).prop_shuffle())),
    ) {
        let settings = RatingSettings::default();
        let rated = settings.rate(&sides);
        let shuffled: Vec<_> = order.iter().map(|&side| sides[side].clone()).collect();
        for (place, ratings) in settings.rate(&shuffled).into_iter().enumerate() {
            prop_assert_eq!(&ratings, &rated[order[place]]);
        }
    }

    #[test]
    fn the_order_of_the_members_changes_no_bit(
        members in prop::collection::vec(usual_rating(), 3),
        order in Just([0, 1, 2]).prop_shuffle(),
        others in usual_rating(),
    ) {
        let settings = RatingSettings::default();
        let others = RankedSide::new(2, vec![others; 3]).expect("members");
        let rate = |members: Vec<Rating>| {
            settings.rate(&[RankedSide::new(1, members).expect("members"), others.clone()]).swap_remove(0)
        };
        let rated = rate(members.clone());
        let shuffled = rate(order.iter().map(|&member| members[member]).collect());
        for (place, rating) in shuffled.into_iter().enumerate() {
            prop_assert_eq!(rating, rated[order[place]]);
        }
    }

    #[test]
    fn the_seats_of_the_bots_change_no_bit(
        bots in Just(vec!["ada", "bob", "dan", "eve"]).prop_shuffle(),
        points in prop::array::uniform4(0..5_u16),
    ) {
        let ladder = |order: &[usize]| {
            let seated = order.iter().map(|&seat| bots[seat]).collect();
            let points: Vec<u16> = order.iter().map(|&seat| points[seat]).collect();
            let counted = Counted::Rated(played(seated, Teams::Individual, &points));
            Ladder::from_results(RatingSettings::default(), [LadderResult { number: ResultNumber::new(1), counted }])
        };
        prop_assert_eq!(ladder(&[0, 1, 2, 3]), ladder(&[2, 0, 3, 1]));
    }

    #[test]
    fn level_sides_of_equal_ratings_stay_equal_and_keep_their_strength(count in 2..=6_usize, rating in usual_rating()) {
        let settings = RatingSettings::default();
        let sides = vec![RankedSide::new(1, vec![rating]).expect("a member"); count];
        for after in settings.rate(&sides).concat() {
            prop_assert_eq!(after.mu, rating.mu);
            prop_assert!(after.sigma.get() < (rating.sigma.get().powi(2) + settings.tau.powi(2)).sqrt());
        }
    }

    #[test]
    fn a_win_lowers_nobody_and_a_loss_raises_nobody(
        mu in prop::array::uniform2(-1.0..1.0),
        ratings in prop::array::uniform2(any_rating()),
        settings in any_settings(),
    ) {
        // What is farther from 0 than ±100 β is taken for that.
        let at = |place: usize| rating(mu[place] * 99.0 * settings.beta, ratings[place].sigma.get());
        let [one, other] = [at(0), at(1)];
        let side = |rank, rating| RankedSide::new(rank, vec![rating]).expect("a member");
        let after = settings.rate(&[side(1, one), side(2, other)]).concat();
        prop_assert!(after[0].mu >= one.mu && after[1].mu <= other.mu);
    }

    #[test]
    fn ratings_stay_numbers_and_grow_less_sure_by_tau_at_most(sides in sides(any_rating().boxed()), settings in any_settings()) {
        let before: Vec<Vec<Rating>> = settings.rate(&sides);
        // Twice, so that the second begins with what a match can give.
        let ranks = (1..).take(before.len());
        let again: Vec<_> =
            before.iter().zip(ranks).map(|(members, rank)| RankedSide::new(rank, members.clone()).expect("members")).collect();
        for (before, after) in before.concat().iter().zip(settings.rate(&again).concat()) {
            prop_assert!(Mu::new(after.mu.get()).is_ok() && Sigma::new(after.sigma.get()).is_ok(), "{:?}", after);
            let most = (before.sigma.get().powi(2) + settings.tau.powi(2)).sqrt();
            prop_assert!(after.sigma.get() <= (most * (1.0 + 1e-12)).max(Sigma::MIN), "{:?} after {:?}", after, before);
        }
    }

    #[test]
    fn chances_of_two_add_up_to_one(one in any_rating(), other in any_rating(), settings in any_settings()) {
        let (won, lost) = (settings.win_chance(one, other), settings.win_chance(other, one));
        prop_assert!((0.0..=1.0).contains(&won), "{won}");
        prop_assert!((won + lost - 1.0).abs() < 1e-12, "{won} + {lost}");
        prop_assert!(one.mu <= other.mu || won >= 0.5);
    }

    #[test]
    fn a_ladder_that_goes_on_is_the_ladder_of_all_its_results(results in season(), cut in any::<prop::sample::Index>()) {
        let settings = RatingSettings::default();
        let whole = Ladder::from_results(settings, results.clone()).expect("in order");
        let cut = cut.index(results.len() + 1);
        let first = Ladder::from_results(settings, results[..cut].to_vec()).expect("in order");
        let mut resumed = Ladder::resume(settings, first.last(), first.bots().clone());
        for result in &results[cut..] {
            resumed.count(result).expect("in order");
        }
        prop_assert_eq!(resumed, whole);
    }

    #[test]
    fn every_result_is_refused_once_it_is_counted(results in season()) {
        let mut ladder = Ladder::from_results(RatingSettings::default(), results.clone()).expect("in order");
        let before = ladder.clone();
        for result in &results {
            prop_assert_eq!(ladder.count(result).map_err(|error| error.given), Err(result.number));
        }
        prop_assert_eq!(ladder, before);
    }
}
