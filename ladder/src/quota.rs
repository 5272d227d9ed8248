//! How many matches a bot may play: at once, and a day.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use thiserror::Error;

use crate::conduct::Notice;

/// How many matches a bot may play at once, and how many a day.
///
/// The day slides: a match counts from when it is made for 24 hours, and then at most a quarter of an hour longer, as matches are counted
/// by the quarter. So in no 24 hours are there more. Half of a day's matches may be played at any pace, the others one by one, spread over
/// a day: so a bot that is far ahead slows down, and never stops for long.
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

    /// How many of a day's matches may be played at any pace: half of them, rounded up.
    pub const fn at_any_pace(self) -> u32 {
        self.a_day.div_ceil(2)
    }

    /// How long after the last match the next one may be made, in milliseconds, when so many were made that day: the others are spread
    /// over as long as those count.
    pub fn gap_ms(self) -> u64 {
        let others = u64::from(self.a_day - self.at_any_pace());
        if others == 0 { COUNTS_MS } else { COUNTS_MS.div_ceil(others) }
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
    /// When the last was made.
    last_ms: u64,
    /// When the one before it was made, as the last may be taken back. Of two that are, the first costs its pace all the same.
    before_ms: u64,
    told: Told,
}

/// Whether the bot's author was told that the bot is far ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    Yes,
    #[default]
    No,
}

const QUARTER_MS: u64 = 900_000;
const QUARTERS_A_DAY: u64 = 96;
/// For how long a match counts at most.
const COUNTS_MS: u64 = (QUARTERS_A_DAY + 1) * QUARTER_MS;

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
        let (most, played) = (quota.a_day, self.today);
        match self.not_before_ms(quota, now_ms) {
            Some(free_at_ms) => Err(QuotaReached::ADay { most, played, free_at_ms }),
            None => Ok(()),
        }
    }

    /// When the next match of the day may be made, in milliseconds, however many are played at once; `None`: now.
    pub fn not_before_ms(&mut self, quota: Quota, now_ms: u64) -> Option<u64> {
        self.slide(now_ms);
        let at_any_pace_ms = self.fewer_at_ms(quota.at_any_pace(), now_ms);
        let paced_ms = self.last_ms.saturating_add(quota.gap_ms());
        let one_by_one_ms = self.fewer_at_ms(quota.a_day, now_ms).max(paced_ms);
        Some(at_any_pace_ms.min(one_by_one_ms)).filter(|at_ms| now_ms < *at_ms)
    }

    /// Whether the bot has played what it may at any pace, as far as the last call that gave the time knows.
    pub const fn is_paced(&self, quota: Quota) -> bool {
        self.today >= quota.at_any_pace()
    }

    /// What the bot's author is told when the bot has played what it may at any pace: once, until it is far from that again.
    pub fn notice(&mut self, quota: Quota, now_ms: u64) -> Option<Notice> {
        self.slide(now_ms);
        if self.today < quota.at_any_pace() {
            if self.today < quota.at_any_pace().div_ceil(2) {
                self.told = Told::No;
            }
            return None;
        }
        if self.told == Told::Yes {
            return None;
        }
        self.told = Told::Yes;
        Some(Notice::Paced { played: self.today, a_day: quota.a_day, gap_ms: quota.gap_ms() })
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
        // By a clock that was ahead it was made later than the last is said to be.
        if made_ms >= self.last_ms {
            self.last_ms = self.before_ms;
        }
        // If it is not there, it was made more than a day ago.
        let quarter = (made_ms / QUARTER_MS).min(self.newest());
        if let Some(count) = self.made.get_mut(&quarter).filter(|count| **count > 0) {
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
        if made_ms >= self.last_ms {
            (self.before_ms, self.last_ms) = (self.last_ms, made_ms);
        } else {
            self.before_ms = self.before_ms.max(made_ms);
        }
        self.drop_before(self.newest());
    }

    fn newest(&self) -> u64 {
        self.made.last_key_value().map_or(0, |(quarter, _)| *quarter)
    }

    /// Drops what is more than a day old. What was made later than now, by a clock that was ahead, was made now.
    fn slide(&mut self, now_ms: u64) {
        let now = now_ms / QUARTER_MS;
        if self.newest() > now {
            let ahead: u32 = self.made.split_off(&(now + 1)).into_values().sum();
            *self.made.entry(now).or_default() += ahead;
        }
        (self.last_ms, self.before_ms) = (self.last_ms.min(now_ms), self.before_ms.min(now_ms));
        self.drop_before(now);
    }

    /// Drops what is more than a day older than this quarter.
    fn drop_before(&mut self, now: u64) {
        while let Some(oldest) = self.made.first_entry().filter(|oldest| oldest.key() + QUARTERS_A_DAY < now)
        {
            self.today -= oldest.remove();
        }
    }

    /// From when on fewer than so many count.
    fn fewer_at_ms(&self, most: u32, now_ms: u64) -> u64 {
        let mut left = self.today;
        if left < most {
            return now_ms;
        }
        for (&quarter, &count) in &self.made {
            left -= count;
            if left < most {
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
    /// The bot is far ahead of its day, or played as many matches as it may in one.
    #[error(
        "the bot played {played} of the {most} matches that it may in 24 hours: wait until {free_at_ms} ms"
    )]
    ADay {
        /// How many it may play.
        most: u32,
        /// How many it played.
        played: u32,
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
            let Err(QuotaReached::ADay { most: 1, played: 1, free_at_ms }) =
                usage.begin(quota, made_ms + DAY_MS)
            else {
                panic!("the match of {made_ms} counts")
            };
            assert!((DAY_MS..=COUNTS_MS).contains(&(free_at_ms - made_ms)));
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
    fn a_match_that_was_never_dealt_costs_no_pace() {
        let quota = Quota::new(2, 4).unwrap();
        let mut usage = Usage::default();
        usage.remember(0);
        usage.remember(0);
        let gap_ms = quota.gap_ms();
        usage.begin(quota, gap_ms).unwrap();
        assert!(usage.check(quota, gap_ms + 1).is_err(), "one so long after the last");
        usage.take_back(gap_ms).unwrap();
        assert_eq!(usage.begin(quota, gap_ms + 1), Ok(()));
        usage.end().unwrap();
        assert!(usage.check(quota, gap_ms + 2).is_err());
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
        let free_at_ms = COUNTS_MS;
        assert_eq!(usage.check(quota, 3), Err(QuotaReached::ADay { most: 2, played: 3, free_at_ms }));
    }

    #[test]
    fn a_bot_that_plays_all_it_can_slows_down_half_way_and_never_stops_for_longer_than_that() {
        for a_day in [2, 3, 100, 1_999, 2_000] {
            let (quota, mut usage) = (Quota::new(1, a_day).unwrap(), Usage::default());
            let (mut last_ms, mut made, mut longest_ms, mut notices) = (0, Vec::new(), 0, Vec::new());
            for now_ms in (0..4 * DAY_MS).step_by(1_000) {
                if usage.begin(quota, now_ms).is_ok() {
                    usage.end().unwrap();
                    longest_ms = longest_ms.max(now_ms - last_ms);
                    last_ms = now_ms;
                    made.push(now_ms);
                }
                notices.extend(usage.notice(quota, now_ms));
            }
            let at_once = made.iter().filter(|&&at| at < u64::from(a_day) * 1_000).count();
            assert!(at_once as u64 >= u64::from(quota.at_any_pace()), "{a_day}: {at_once} as fast as it can");
            assert!(longest_ms <= quota.gap_ms() + 1_000, "{a_day}: it stopped for {longest_ms} ms");
            let most = made
                .iter()
                .map(|&from| made.iter().filter(|&&at| (from..from + DAY_MS).contains(&at)).count());
            assert!(most.max().unwrap() <= a_day as usize);
            let Notice::Paced { played, .. } = notices[0] else { panic!("{notices:?}") };
            assert_eq!(played, quota.at_any_pace());
            // Those at any pace are over after a day, and the others may be played one after the other then.
            assert!(notices.len() <= 4, "{a_day}: told {} times", notices.len());
        }
    }

    #[test]
    fn what_a_clock_that_was_ahead_has_made_counts_for_a_day_from_now_and_no_longer() {
        const HOUR_MS: u64 = 3_600_000;
        let mut usage = Usage::default();
        usage.remember(30 * HOUR_MS);
        usage.resume(29 * HOUR_MS);
        assert_eq!(usage.today(5 * HOUR_MS), 2);
        assert_eq!(usage.take_back(29 * HOUR_MS), Ok(()), "it is found where it counts");
        assert_eq!((usage.today(5 * HOUR_MS), usage.today(5 * HOUR_MS + COUNTS_MS)), (1, 0));
        let quota = Quota::new(1, 2).unwrap();
        let mut usage = Usage::default();
        usage.remember(1_000 * HOUR_MS);
        let Err(QuotaReached::ADay { free_at_ms, .. }) = usage.check(quota, HOUR_MS) else { panic!() };
        assert_eq!(free_at_ms, HOUR_MS + COUNTS_MS);
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
