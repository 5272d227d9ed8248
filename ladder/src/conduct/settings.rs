//! What comes of no-shows and forfeits, in numbers (`ConductSettings`).

use std::ops::Deref;

use thiserror::Error;

/// The numbers of [`ConductSettings`], not checked yet. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConductOptions {
    /// The cool-down of the first strike: a second to a day.
    pub first_cool_down_ms: u64,
    /// So many times as long with each further strike: 1 to 10.
    pub cool_down_factor: u32,
    /// The longest cool-down: from the first one to thirty days.
    pub longest_cool_down_ms: u64,
    /// After so many matches in a row that the bot came to, all strikes are gone: 1 to 1,000.
    pub matches_to_clear: u32,
    /// As long after the last strike all are gone: a minute to a year.
    pub strikes_last_ms: u64,
    /// With so many forfeits the bot is benched: 1 to 64.
    pub forfeits_to_bench: u32,
    /// Of so many matches, the last ones that the bot was dealt: from `forfeits_to_bench` to 64.
    pub of_last_matches: u32,
    /// How long the first bench is: a second to thirty days.
    pub first_bench_ms: u64,
    /// So many times as long with each further bench: 1 to 100.
    pub bench_factor: u32,
    /// The bench of this number is until the bot's author acts, and so is each after it: 1 to 100.
    pub bench_until_author: u32,
    /// As long after the end of the last bench the next is the first again: a minute to a year.
    pub benches_last_ms: u64,
}

impl Default for ConductOptions {
    /// 30 s, 1 min, 2 min and so on up to an hour for no-shows. For 3 forfeits of 10: 10 min, 1 h, 6 h, and then until the author acts.
    fn default() -> Self {
        Self {
            first_cool_down_ms: 30_000,
            cool_down_factor: 2,
            longest_cool_down_ms: 3_600_000,
            matches_to_clear: 5,
            strikes_last_ms: ConductSettings::DAY_MS,
            forfeits_to_bench: 3,
            of_last_matches: 10,
            first_bench_ms: 600_000,
            bench_factor: 6,
            bench_until_author: 4,
            benches_last_ms: 7 * ConductSettings::DAY_MS,
        }
    }
}

/// What comes of no-shows and forfeits: [`ConductOptions`] that were checked.
///
/// ```
/// use zetema_ladder::conduct::{ConductOptions, ConductSettings};
/// let options = ConductOptions { of_last_matches: 2, ..ConductOptions::default() };
/// let error = ConductSettings::new(options).unwrap_err();
/// assert_eq!(error.to_string(), "of_last_matches is 2: give 3 to 64");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConductSettings(ConductOptions);

impl Deref for ConductSettings {
    type Target = ConductOptions;

    fn deref(&self) -> &ConductOptions {
        &self.0
    }
}

impl ConductSettings {
    const SECOND_MS: u64 = 1_000;
    const MINUTE_MS: u64 = 60_000;
    const DAY_MS: u64 = 86_400_000;
    const MONTH_MS: u64 = 30 * Self::DAY_MS;
    const YEAR_MS: u64 = 365 * Self::DAY_MS;

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`ConductSettingsError`] names the first that is out of its range.
    pub fn new(options: ConductOptions) -> Result<Self, ConductSettingsError> {
        for (field, given, least, most) in [
            ("first_cool_down_ms", options.first_cool_down_ms, Self::SECOND_MS, Self::DAY_MS),
            ("cool_down_factor", options.cool_down_factor.into(), 1, 10),
            (
                "longest_cool_down_ms",
                options.longest_cool_down_ms,
                options.first_cool_down_ms,
                Self::MONTH_MS,
            ),
            ("matches_to_clear", options.matches_to_clear.into(), 1, 1_000),
            ("strikes_last_ms", options.strikes_last_ms, Self::MINUTE_MS, Self::YEAR_MS),
            ("forfeits_to_bench", options.forfeits_to_bench.into(), 1, 64),
            ("of_last_matches", options.of_last_matches.into(), options.forfeits_to_bench.into(), 64),
            ("first_bench_ms", options.first_bench_ms, Self::SECOND_MS, Self::MONTH_MS),
            ("bench_factor", options.bench_factor.into(), 1, 100),
            ("bench_until_author", options.bench_until_author.into(), 1, 100),
            ("benches_last_ms", options.benches_last_ms, Self::MINUTE_MS, Self::YEAR_MS),
        ] {
            if !(least..=most).contains(&given) {
                return Err(ConductSettingsError { field, given, least, most });
            }
        }
        Ok(Self(options))
    }

    /// How long the cool-down of the strike of this number is: `first_cool_down_ms` × `cool_down_factor` to the power of the strikes
    /// before, at most `longest_cool_down_ms`.
    pub fn cool_down_ms(&self, strike: u32) -> u64 {
        grown(self.first_cool_down_ms, self.cool_down_factor, strike).min(self.longest_cool_down_ms)
    }

    /// How long the bench of this number is: `first_bench_ms` × `bench_factor` to the power of the benches before. `None` from
    /// `bench_until_author` on.
    pub fn bench_ms(&self, bench: u32) -> Option<u64> {
        (bench < self.bench_until_author)
            .then(|| grown(self.first_bench_ms, self.bench_factor, bench).min(Self::YEAR_MS))
    }
}

fn grown(first_ms: u64, factor: u32, number: u32) -> u64 {
    first_ms.saturating_mul(u64::from(factor).saturating_pow(number.saturating_sub(1)))
}

/// A number of [`ConductOptions`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} is {given}: give {least} to {most}")]
pub struct ConductSettingsError {
    field: &'static str,
    given: u64,
    least: u64,
    most: u64,
}

impl ConductSettingsError {
    /// The name of the field in [`ConductOptions`].
    pub const fn field(&self) -> &'static str {
        self.field
    }
}
