//! The search for the highest rate that a server keeps.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::join::Generators;
use crate::outcome::{Outcome, Reading, Second};
use crate::plan::{Plan, Rate};
use crate::report::{Report, Search, Step};
use crate::run::RunError;
use crate::slo::Slo;

/// Rates that are tried at most.
const MOST_STEPS: usize = 40;

/// How near to each other the highest rate that was kept and the lowest that was not are in the end, as a part of the rate.
///
/// ```
/// use zetema_load::Resolution;
///
/// let resolution: Resolution = "5%".parse().unwrap();
/// assert_eq!(resolution.to_string(), "5%");
/// assert!("0%".parse::<Resolution>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution(f64);

/// A text that is no resolution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no resolution: give a part of the rate, from 1% to 100%, as in 5%")]
pub struct ResolutionError(String);

impl FromStr for Resolution {
    type Err = ResolutionError;

    fn from_str(text: &str) -> Result<Self, ResolutionError> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let percent = percent.filter(|percent| (1.0..=100.0).contains(percent));
        percent.map(|percent| Self(percent / 100.0)).ok_or_else(|| ResolutionError(text.to_owned()))
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

/// Actions or matches that a rate must come to in the time in which it is tried, or nothing is known of it.
const LEAST_DUE: f64 = 10.0;

/// Which rate is tried next: from the first one it is doubled until a rate is not kept, or halved until one is or too little would be due to tell, and then the gap between
/// the two is halved (as a ratio) until it is as small as the resolution. Only what is halved comes to an end by too little: a first rate that is low is no
/// reason to look at none above it.
#[derive(Debug)]
struct Bisection {
    /// The highest that was kept.
    kept: Option<Rate>,
    /// The lowest that was not.
    missed: Option<Rate>,
    next: Option<Rate>,
    resolution: Resolution,
    /// Nothing is halved to a rate below it.
    least: f64,
    tried: usize,
}

impl Bisection {
    const fn new(first: Rate, resolution: Resolution, least: f64) -> Self {
        Self { kept: None, missed: None, next: Some(first), resolution, least, tried: 0 }
    }

    /// What is to be tried. `None` when the search is over.
    const fn next(&self) -> Option<Rate> {
        self.next
    }

    /// Whether the highest rate that was kept and the lowest that was not are as near to each other as was asked for.
    fn is_found(&self) -> bool {
        let [kept, missed] = [self.kept, self.missed].map(|rate| rate.map(Rate::per_second));
        kept.zip(missed).is_some_and(|(kept, missed)| missed / kept <= 1.0 + self.resolution.0)
    }

    /// Whether it was kept.
    fn tried(&mut self, rate: Rate, is_kept: bool) {
        self.tried += 1;
        *(if is_kept { &mut self.kept } else { &mut self.missed }) = Some(rate);
        let next = match (self.kept, self.missed) {
            (Some(kept), None) => Rate::new(kept.per_second() * 2.0).ok(),
            (None, Some(missed)) => {
                Rate::new(missed.per_second() / 2.0).ok().filter(|next| next.per_second() >= self.least)
            }
            (Some(kept), Some(missed)) => {
                let [kept, missed] = [kept, missed].map(Rate::per_second);
                (!self.is_found()).then(|| Rate::new((kept * missed).sqrt()).ok()).flatten()
            }
            (None, None) => None,
        };
        self.next = next.filter(|_| self.tried < MOST_STEPS);
    }
}

/// Searches the highest rate at which the server keeps the SLO: `plan` is run at one rate after the other, from
/// its own on, by all generators. The outcome is that of the highest rate that was kept; if none was, that of the last one tried. `stop` ends the search with
/// the rate that is tried.
///
/// # Errors
/// [`FindError::Closed`] if the plan has no rate, [`FindError::Run`] if a run can't begin.
pub async fn find_limit(
    generators: &mut Generators,
    server: &str,
    plan: &Plan,
    slo: &Slo,
    resolution: Resolution,
    stop: CancellationToken,
    mut told: impl FnMut(Rate, Duration, &Second, Option<&Reading>),
) -> Result<Report, FindError> {
    let first = plan.stages().first().and_then(|stage| stage.load.rate()).ok_or(FindError::Closed)?;
    let lasts: Duration = plan.stages().iter().map(|stage| stage.duration).sum();
    let mut bisection = Bisection::new(first, resolution, LEAST_DUE / lasts.as_secs_f64());
    let mut search = Search::default();
    let mut best: Option<Outcome> = None;
    let mut last: Option<Outcome> = None;
    while let Some(rate) = bisection.next().filter(|_| !stop.is_cancelled()) {
        let plan = plan.at(rate);
        let told = |elapsed: Duration, second: &Second, reading: Option<&Reading>| {
            told(rate, elapsed, second, reading);
        };
        let outcome = generators.run(&plan, server, stop.clone(), told).await?;
        let tried = Step::new(rate.per_second(), &outcome, slo);
        let is_kept = tried.is_kept() && outcome.has_done();
        search.steps.push(tried);
        let has_faults = outcome.faults().all() > 0;
        if is_kept {
            // What is tried after it is higher.
            search.limit = Some(rate.per_second());
            best = Some(outcome);
        } else {
            last = Some(outcome);
        }
        if has_faults {
            break;
        }
        if stop.is_cancelled() {
            break;
        }
        bisection.tried(rate, is_kept);
    }
    search.is_found = bisection.is_found();
    // A fault is told whatever was kept before.
    let last = last.filter(|outcome| best.is_none() || outcome.faults().all() > 0);
    let outcome = last.or(best).ok_or(FindError::Stopped)?;
    Ok(Report::new(outcome, Some(slo)).with_search(search))
}

/// Why there was no search.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// A closed loop has no rate.
    #[error("a closed loop has no rate to search: give one, as in 1000actions/s")]
    Closed,
    /// It was stopped before the first rate was tried.
    #[error("it was stopped before a rate was tried")]
    Stopped,
    /// A run can't begin.
    #[error(transparent)]
    Run(#[from] RunError),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The limit that is found from this first rate, and how many rates were tried.
    fn search(first: f64, limit: f64, resolution: &str) -> (Option<f64>, bool, usize) {
        let mut bisection = Bisection::new(Rate::new(first).unwrap(), resolution.parse().unwrap(), 1.0);
        while let Some(rate) = bisection.next() {
            bisection.tried(rate, rate.per_second() <= limit);
        }
        (bisection.kept.map(Rate::per_second), bisection.is_found(), bisection.tried)
    }

    #[test]
    fn the_highest_rate_that_is_kept_is_found_from_wherever_it_begins() {
        let check = |first: f64, limit: f64, resolution: &str, most_tries: usize| {
            let (found, is_found, tried) = search(first, limit, resolution);
            let found = found.unwrap();
            assert!(is_found, "{found} of {limit} from {first}");
            let part = resolution.parse::<Resolution>().unwrap().0;
            assert!(found <= limit && limit < found * (1.0 + part), "{found} of {limit} from {first}");
            assert!(tried <= most_tries, "{tried} tries for {limit} from {first}");
        };
        check(1000.0, 1000.0, "5%", 7);
        check(1000.0, 999.0, "5%", 8);
        check(100.0, 17_345.0, "5%", 15);
        check(100_000.0, 37.0, "5%", 18);
        check(1000.0, 7777.0, "1%", 13);
        check(1000.0, 7777.0, "100%", 5);
    }

    #[test]
    fn a_search_goes_up_from_a_rate_at_which_little_is_due() {
        let (found, is_found, tried) = search(0.01, 300.0, "5%");
        assert!(found.is_some_and(|found| found <= 300.0 && 300.0 < found * 1.05), "{found:?}");
        assert!(is_found && tried <= 21, "{tried} tries");
        let (found, is_found, _) = search(0.2, 0.25, "5%");
        assert!(
            is_found && found.is_some_and(|found| found < 0.25),
            "between two that were tried: {found:?}"
        );
    }

    #[test]
    fn a_search_ends_where_nothing_is_kept_or_all_is() {
        assert_eq!(search(1000.0, 0.0, "5%"), (None, false, 10), "to 1.95 a second");
        assert_eq!(search(0.5, 0.0, "5%"), (None, false, 1), "what was asked for is tried");
        let (found, is_found, _) = search(1000.0, f64::INFINITY, "5%");
        assert!(found.unwrap() > Rate::MOST / 2.0 && !is_found, "what is not kept is not known");
    }
}
