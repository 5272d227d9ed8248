//! How much it takes until something is listed: the figures of `docs/honesty.md`.

use super::bar;
use super::settings::HonestySettings;
use super::tail::{at_least, normal, whole};

/// Bots of a season that the figures are for.
const BOTS: usize = 50;

/// The bar where so many are looked at.
fn bar(compared: usize) -> f64 {
    bar::bar(compared, &HonestySettings::default())
}

/// The least number of matches, or of what else is counted, at which this is under the bar.
fn least(from: usize, is_listed: impl Fn(usize) -> bool) -> usize {
    (from..10_000).find(|&number| is_listed(number)).expect("it is listed at last")
}

#[test]
fn the_page_has_what_it_takes() {
    let settings = HonestySettings::default();
    let from = settings.least_matches as usize;
    let pairs = BOTS * (BOTS - 1);
    let all_of =
        |chance: f64, compared| least(from, |all| at_least(all, &vec![chance; all]) <= bar(compared));

    let meetings = [0.5, 0.3, 0.1].map(|lost| all_of(lost + settings.win_allowance, pairs));
    assert_eq!(meetings, [28, 16, 10], "meetings that are all lost");
    let margins = [1.0, 2.0].map(|short: f64| {
        let beyond = short - settings.margin_allowance;
        least(from, |all| normal(beyond * whole(all).sqrt()) <= bar(pairs + pairs / 2))
    });
    assert_eq!(margins, [43, 10], "matches of teams that are short by one and two standard deviations");
    let odds = settings.time_out_odds;
    assert_eq!(all_of(odds / (odds + 1.0), BOTS), 25, "time-outs, all behind");
    let abandoned = [50, 200, 600].map(|all| {
        let chances = vec![settings.abandoned_share; all];
        least(1, |left| at_least(left, &chances) <= bar(BOTS))
    });
    assert_eq!(abandoned, [11, 25, 54], "abandoned matches");
    assert_eq!(all_of(0.5, pairs / 2), 20, "stretches that are all nearer");
    let with_misses =
        [1, 2, 4].map(|missed| least(from, |all| at_least(all - missed, &vec![0.5; all]) <= bar(pairs / 2)));
    assert_eq!(with_misses, [24, 28, 36], "stretches of which one, two or four are not");
}
