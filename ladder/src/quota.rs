//! How many matches a bot may play: at once, and a day.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use thiserror::Error;

/// How many matches a bot may play at once, and how many a day.
///
/// The day slides: a match counts from when it is made for 24 hours, and then at most a quarter of an hour longer, as matches are counted
/// by the quarter. So in no 24 hours are there more.
///
/// ```
/// use zetema_ladder::quota::{Quota, QuotaReached, Usage};
/// let quota = Quota::new(1, 100)?;
/// let mut usage = Usage::default();
/// usage.begin(quota, 0)?;
/// assert_eq!(usage.begin(quota, 5_000), Err(QuotaReached::AtOnce { most: 1 }));
/// usage.end()?;
/// usage.begin(quota, 60_000)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    at_once: u32,
    a_day: u32,
}

impl Quota {
    /// `matches_at_once` is 1 to 10,000, `matches_a_day` 1 to 10,000,000.
    ///
    /// # Errors
    /// [`QuotaError`] names the first number that is out of its range.
    pub fn new(matches_at_once: u32, matches_a_day: u32) -> Result<Self, QuotaError> {
        for (field, given, most) in
            [("matches_at_once", matches_at_once, 10_000), ("matches_a_day", matches_a_day, 10_000_000)]
        {
            if !(1..=most).contains(&given) {
                return Err(QuotaError { field, given, most });
            }
        }
        Ok(Self { at_once: matches_at_once, a_day: matches_a_day })
    }

    /// The same with at most so many matches at once, as of a bot that has room for no more now.
    #[must_use]
    pub fn at_most_at_once(self, most: NonZeroU32) -> Self {
        Self { at_once: self.at_once.min(most.get()), ..self }
    }

    /// How many matches at once, 1 to 10,000.
    pub const fn matches_at_once(self) -> u32 {
        self.at_once
    }

    /// How many matches in any 24 hours, 1 to 10,000,000.
    pub const fn matches_a_day(self) -> u32 {
        self.a_day
    }
}

/// A number that is no quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} is {given}: give 1 to {most}")]
pub struct QuotaError {
    field: &'static str,
    given: u32,
    most: u32,
}

impl QuotaError {
    /// The name of the number.
    pub const fn field(&self) -> &'static str {
        self.field
    }
}

/// What a bot has used of its quota. It keeps at most a hundred numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    playing: u32,
    /// How many matches were made in each quarter of an hour. Only of the last day.
    made: BTreeMap<u64, u32>,
    /// Their sum.
    today: u32,
}

const QUARTER_MS: u64 = 900_000;
const QUARTERS_A_DAY: u64 = 96;

impl Usage {
    /// Counts a match that is made now.
    ///
    /// # Errors
    /// [`QuotaReached`] if it would be one too many; then it is not counted.
    pub fn begin(&mut self, quota: Quota, now_ms: u64) -> Result<(), QuotaReached> {
        self.check(quota, now_ms)?;
        self.playing += 1;
        self.count(now_ms);
        Ok(())
    }

    /// Whether one more match may be made now.
    ///
    /// # Errors
    /// [`QuotaReached`] says which number is reached.
    pub fn check(&mut self, quota: Quota, now_ms: u64) -> Result<(), QuotaReached> {
        self.slide(now_ms);
        if self.playing >= quota.at_once {
            return Err(QuotaReached::AtOnce { most: quota.at_once });
        }
        if self.today >= quota.a_day {
            return Err(QuotaReached::ADay { most: quota.a_day, free_at_ms: self.free_at_ms(quota, now_ms) });
        }
        Ok(())
    }

    /// Counts a match that was made at that time and goes on, as after a restart, whatever the quota is by now.
    pub fn resume(&mut self, made_ms: u64) {
        self.playing += 1;
        self.count(made_ms);
    }

    /// Counts a match that was made at that time and is over, as after a restart.
    pub fn remember(&mut self, made_ms: u64) {
        self.count(made_ms);
    }

    /// A match is over.
    ///
    /// # Errors
    /// [`NothingToEnd`] if the bot plays none.
    pub fn end(&mut self) -> Result<(), NothingToEnd> {
        self.playing = self.playing.checked_sub(1).ok_or(NothingToEnd)?;
        Ok(())
    }

    /// A match that was made at that time was never dealt: it is over and does not count.
    ///
    /// # Errors
    /// [`NothingToEnd`] if the bot plays none.
    pub fn take_back(&mut self, made_ms: u64) -> Result<(), NothingToEnd> {
        self.end()?;
        // If it is not there, it was made more than a day ago.
        if let Some(count) = self.made.get_mut(&(made_ms / QUARTER_MS)).filter(|count| **count > 0) {
            *count -= 1;
            self.today -= 1;
        }
        Ok(())
    }

    /// How many matches the bot plays.
    pub const fn playing(&self) -> u32 {
        self.playing
    }

    /// How many matches of the last day count.
    pub fn today(&mut self, now_ms: u64) -> u32 {
        self.slide(now_ms);
        self.today
    }

    /// Counts it in its own quarter, in whatever order they come: so it can be taken back.
    fn count(&mut self, made_ms: u64) {
        *self.made.entry(made_ms / QUARTER_MS).or_default() += 1;
        self.today += 1;
        let newest = self.made.last_key_value().map_or(0, |(quarter, _)| *quarter);
        self.slide(newest * QUARTER_MS);
    }

    /// Drops what is more than a day old.
    fn slide(&mut self, now_ms: u64) {
        let now = now_ms / QUARTER_MS;
        while let Some(oldest) = self.made.first_entry().filter(|oldest| oldest.key() + QUARTERS_A_DAY < now)
        {
            self.today -= oldest.remove();
        }
    }

    /// When enough of the oldest matches are more than a day old.
    fn free_at_ms(&self, quota: Quota, now_ms: u64) -> u64 {
        let mut left = self.today;
        for (&quarter, &count) in &self.made {
            left -= count;
            if left < quota.a_day {
                return (quarter + QUARTERS_A_DAY + 1) * QUARTER_MS;
            }
        }
        now_ms
    }
}

/// Which number of a quota is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuotaReached {
    /// The bot plays as many matches as it may.
    #[error("the bot plays {most} matches, as many as it may at once: wait until one is over")]
    AtOnce {
        /// How many it may play.
        most: u32,
    },
    /// The bot played as many matches as it may in a day.
    #[error("the bot played {most} matches in 24 hours, as many as it may: wait until {free_at_ms} ms")]
    ADay {
        /// How many it may play.
        most: u32,
        /// When it may play the next one, in milliseconds.
        free_at_ms: u64,
    },
}

/// A bot plays no match, so none can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the bot plays no match: each match ends once")]
pub struct NothingToEnd;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY_MS: u64 = 86_400_000;

    #[test]
    fn a_match_counts_for_a_day_and_at_most_a_quarter_of_an_hour_more() {
        let quota = Quota::new(10, 1).unwrap();
        for made_ms in [0, 1, 899_999, 900_000, 1_000_000] {
            let mut usage = Usage::default();
            usage.begin(quota, made_ms).unwrap();
            assert_eq!(usage.today(made_ms + DAY_MS), 1);
            let Err(QuotaReached::ADay { most: 1, free_at_ms }) = usage.begin(quota, made_ms + DAY_MS) else {
                panic!("the match of {made_ms} counts")
            };
            assert!((DAY_MS..=DAY_MS + QUARTER_MS).contains(&(free_at_ms - made_ms)));
            assert!(usage.clone().begin(quota, free_at_ms - 1).is_err());
            assert_eq!(usage.begin(quota, free_at_ms), Ok(()));
        }
    }

    #[test]
    fn a_match_that_was_never_dealt_does_not_count() {
        let quota = Quota::new(1, 1).unwrap();
        let mut usage = Usage::default();
        usage.begin(quota, 5).unwrap();
        assert_eq!(usage.take_back(5), Ok(()));
        assert_eq!(usage.take_back(5), Err(NothingToEnd));
        assert_eq!((usage.playing(), usage.today(5)), (0, 0));
        assert_eq!(usage.begin(quota, 6), Ok(()));
    }

    #[test]
    fn what_goes_on_after_a_restart_counts_even_beyond_the_quota() {
        let quota = Quota::new(1, 2).unwrap();
        let mut usage = Usage::default();
        usage.remember(0);
        usage.resume(1);
        usage.resume(2);
        assert_eq!((usage.playing(), usage.today(3)), (2, 3));
        assert_eq!(usage.check(quota, 3), Err(QuotaReached::AtOnce { most: 1 }));
        assert_eq!([usage.end(), usage.end()], [Ok(()), Ok(())]);
        let free_at_ms = DAY_MS + QUARTER_MS;
        assert_eq!(usage.check(quota, 3), Err(QuotaReached::ADay { most: 2, free_at_ms }));
    }

    #[test]
    fn matches_that_are_counted_out_of_order_count_when_they_were_made() {
        const HOUR_MS: u64 = 3_600_000;
        let mut usage = Usage::default();
        for hour in [20, 1, 30, 10] {
            usage.resume(hour * HOUR_MS);
        }
        // The day before hour 30 began at hour 6.
        assert_eq!((usage.playing(), usage.today(30 * HOUR_MS)), (4, 3));
        assert_eq!(usage.take_back(10 * HOUR_MS), Ok(()));
        assert_eq!(usage.today(30 * HOUR_MS), 2);
        assert_eq!(usage.take_back(HOUR_MS), Ok(()), "it does not count any more, and is over all the same");
        assert_eq!((usage.playing(), usage.today(30 * HOUR_MS)), (2, 2));
        assert_eq!(usage.today(50 * HOUR_MS), 1);
    }

    #[test]
    fn who_has_room_for_less_than_the_quota_may_play_as_much_as_there_is_room_for() {
        let quota = Quota::new(2, 100).unwrap();
        let mut usage = Usage::default();
        usage.begin(quota, 0).unwrap();
        let full = Err(QuotaReached::AtOnce { most: 1 });
        for (most, expected) in [(5, Ok(())), (2, Ok(())), (1, full)] {
            let quota = quota.at_most_at_once(NonZeroU32::new(most).unwrap());
            assert_eq!(usage.check(quota, 1), expected, "{most}");
        }
    }

    #[test]
    fn each_number_out_of_its_range_is_named() {
        assert_eq!(Quota::new(0, 1).unwrap_err().field(), "matches_at_once");
        assert_eq!(Quota::new(1, 10_000_001).unwrap_err().field(), "matches_a_day");
    }

    proptest! {
        #[test]
        fn there_are_never_more_in_any_day_nor_at_once(
            steps in prop::collection::vec((0..3 * 3_600_000_u64, any::<bool>()), 1..300),
            at_once in 1..5_u32,
            a_day in 1..20_u32,
        ) {
            let quota = Quota::new(at_once, a_day).unwrap();
            let (mut usage, mut now, mut made) = (Usage::default(), 0, Vec::new());
            for (wait, ends) in steps {
                now += wait;
                let playing = usage.playing();
                if ends {
                    prop_assert_eq!(usage.end().is_ok(), usage.playing() < playing);
                }
                if usage.begin(quota, now).is_ok() {
                    made.push(now);
                }
                prop_assert!(usage.playing() <= at_once);
                let in_a_day = made.iter().filter(|&&made| now - made < DAY_MS).count();
                prop_assert!(in_a_day <= a_day as usize);
                prop_assert!(usage.made.len() <= 100);
            }
        }
    }
}
