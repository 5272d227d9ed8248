//! The order of the bots, and how they did against one another.

use std::collections::BTreeMap;

use zetema_ladder::{
    Certainty, Entry, HeadToHead, HeadToHeads, Ladder, Mu, Rating, RatingSettings, ResultNumber, Sigma, Tally,
};
use zetema_rules::Teams;

use crate::support::played;

fn check(bots: &[(&'static str, f64, f64)], expected: &[(usize, &str, Certainty)]) {
    let entry = |&(bot, mu, sigma): &(&'static str, f64, f64)| {
        let rating = Rating { mu: Mu::new(mu).expect("a mu"), sigma: Sigma::new(sigma).expect("a sigma") };
        (bot, Entry { rating, tally: Tally::default() })
    };
    let bots: BTreeMap<_, _> = bots.iter().map(entry).collect();
    let ladder = Ladder::resume(RatingSettings::default(), ResultNumber::new(1), bots);
    let standings: Vec<_> = ladder
        .standings()
        .iter()
        .map(|standing| (standing.rank, *standing.bot, standing.certainty))
        .collect();
    assert_eq!(standings, expected);
}

#[test]
fn the_standings_go_by_what_is_shown() {
    use Certainty::{Established, Provisional};
    check(&[], &[]);
    check(
        &[("ada", 30.0, 5.0), ("bob", 20.0, 1.0), ("eve", 25.0, 1.5)],
        &[(1, "eve", Established), (2, "bob", Established), (3, "ada", Provisional)],
    );
    // Both show 20: the higher μ comes first.
    check(&[("ada", 23.0, 1.0), ("bob", 26.0, 2.0)], &[(1, "bob", Established), (2, "ada", Established)]);
    // The rank is shared, the order is that of the names.
    check(
        &[("eve", 25.0, 1.0), ("bob", 25.0, 1.0), ("ada", 20.0, 1.0), ("dan", 30.0, 1.0)],
        &[(1, "dan", Established), (2, "bob", Established), (2, "eve", Established), (4, "ada", Established)],
    );
}

#[test]
fn who_met_whom_is_counted_from_both_sides() {
    let mut all = HeadToHeads::default();
    all.count(&played(vec!["ada", "bob", "eve"], Teams::Individual, &[300, 200, 200]));
    all.count(&played(vec!["bob", "ada"], Teams::Individual, &[310, 120]));
    all.count(&played(vec!["ada", "eve", "bob", "dan"], Teams::Pairs, &[400, 300]));

    let ada_bob = HeadToHead { matches: 2, ahead: 1, behind: 1, level: 0, margin: 100 - 190 };
    assert_eq!(all.between(&"ada", &"bob"), ada_bob, "they were partners in the third");
    assert_eq!(all.between(&"bob", &"ada"), ada_bob.turned());
    let bob_eve = HeadToHead { matches: 2, ahead: 1, behind: 0, level: 1, margin: 100 };
    assert_eq!(all.between(&"bob", &"eve"), bob_eve);
    assert_eq!(all.between(&"ada", &"fay"), HeadToHead::default());
    assert_eq!(all.met_by(&"dan").map(|(other, _)| *other).collect::<Vec<_>>(), ["ada", "bob"]);
}
