//! What is measured of a season.

use std::fmt;

/// Values, of which percentiles are asked.
#[derive(Debug, Default)]
pub(crate) struct Percentiles<T>(Vec<T>);

impl<T: Copy + PartialOrd> Percentiles<T> {
    pub(crate) fn add(&mut self, value: T) {
        self.0.push(value);
    }

    /// The least value that so many of 100 are not above. Of sorted values.
    pub(crate) fn at(&self, percent: usize) -> T {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0[rank - 1]
    }

    fn sort(&mut self) {
        self.0.sort_by(|a, b| a.partial_cmp(b).unwrap());
    }
}

/// What is measured of a season.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) matches: usize,
    pub(crate) no_shows: usize,
    /// Of each member of each match, and of those who wait at the end.
    pub(crate) waits_ms: Percentiles<u64>,
    /// Of any two of a match, in points.
    pub(crate) distances: Percentiles<f64>,
    /// Of each bot: how much more often it had one seat than another.
    pub(crate) seat_spreads: Percentiles<u32>,
    /// Each member of each match with each other.
    pub(crate) meetings: usize,
    /// Those of them with a bot of the last 20 matches.
    pub(crate) repeats: usize,
    /// Those who have the same others as in their match before.
    pub(crate) rematches: usize,
}

impl Figures {
    pub(super) fn sort(&mut self) {
        self.waits_ms.sort();
        self.distances.sort();
        self.seat_spreads.sort();
    }

    pub(crate) fn repeats_percent(&self) -> f64 {
        100.0 * self.repeats as f64 / self.meetings as f64
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |percent| self.waits_ms.at(percent) as f64 / 1e3;
        write!(
            f,
            "{} matches, {} not dealt; wait p50 {:.1} s, p90 {:.1} s, p99 {:.1} s, most {:.1} s; \
             apart p50 {:.1}, p90 {:.1}, p99 {:.1} points; seats differ by p50 {}, p99 {}, most {}; \
             {:.1} % met in their last 20 matches, {} at once again",
            self.matches,
            self.no_shows,
            seconds(50),
            seconds(90),
            seconds(99),
            seconds(100),
            self.distances.at(50),
            self.distances.at(90),
            self.distances.at(99),
            self.seat_spreads.at(50),
            self.seat_spreads.at(99),
            self.seat_spreads.at(100),
            self.repeats_percent(),
            self.rematches,
        )
    }
}
