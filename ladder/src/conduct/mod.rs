//! What comes of no-shows and forfeits, for one bot: `docs/pairing.md` says it in words.

mod notice;
mod settings;

use thiserror::Error;

pub use notice::Notice;
pub use settings::{ConductOptions, ConductSettings, ConductSettingsError};

/// Whether a bot may be paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It may.
    Free,
    /// Not until then, in milliseconds: it did not come to matches.
    CoolingDown {
        /// Until when.
        until_ms: u64,
    },
    /// Not until then: it forfeited too often.
    Benched(Until),
}

/// When a bench ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At this time, in milliseconds.
    Time(u64),
    /// When the bot's author puts it back.
    Author,
}

/// How a bot behaved lately: its strikes for no-shows, its forfeits, and what followed.
///
/// It knows no clock: times are milliseconds, all of one clock. It is a pure function of what it was told, so that it can be made anew
/// from what is stored of a bot's matches.
///
/// ```
/// use zetema_ladder::conduct::{Conduct, ConductSettings, Status};
/// let settings = ConductSettings::default();
/// let mut conduct = Conduct::default();
/// let notice = conduct.no_show(&settings, 0, 10_000).unwrap();
/// assert!(notice.to_string().contains("strike 1: it is not paired for 30 s"));
/// assert_eq!(conduct.status(39_999), Status::CoolingDown { until_ms: 40_000 });
/// assert_eq!(conduct.status(40_000), Status::Free);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    strikes: u32,
    came: Came,
    /// Matches that it was lost to with the last strike, beside the one that was the strike.
    missed: u32,
    last_strike: Option<Strike>,
    /// A bit for each of the last matches, the newest lowest: set if it was forfeited.
    forfeited: u64,
    benches: u32,
    last_bench: Option<Bench>,
}

/// Matches that were made after the last strike, and to which the bot came: of those that count, how many, and when the last of them was
/// made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Came {
    matches: u32,
    paired_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strike {
    at_ms: u64,
    until_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bench {
    from_ms: u64,
    until: Until,
}

impl Conduct {
    /// Whether the bot may be paired.
    pub fn status(&self, now_ms: u64) -> Status {
        if let Some(bench) = self.last_bench {
            match bench.until {
                Until::Author => return Status::Benched(bench.until),
                Until::Time(until_ms) if now_ms < until_ms => return Status::Benched(bench.until),
                Until::Time(_) => {}
            }
        }
        match self.last_strike {
            Some(Strike { until_ms, .. }) if now_ms < until_ms => Status::CoolingDown { until_ms },
            _ => Status::Free,
        }
    }

    /// How many strikes the bot has.
    pub fn strikes(&self, settings: &ConductSettings, now_ms: u64) -> u32 {
        match self.last_strike {
            Some(Strike { at_ms, .. })
                if now_ms.saturating_sub(at_ms) < settings.strikes_last_ms
                    && self.came.matches < self.matches_needed(settings) =>
            {
                self.strikes
            }
            _ => 0,
        }
    }

    /// How many strikes it has for a match that was made at `paired_ms`, and to which it did not come. Matches in a row have cleared the
    /// earlier ones only if all of them were made before that one: a bot with many places comes to five of them while it is waited for at
    /// a sixth.
    fn strikes_before(&self, settings: &ConductSettings, paired_ms: u64, now_ms: u64) -> u32 {
        if paired_ms > self.came.paired_ms {
            return self.strikes(settings, now_ms);
        }
        Self { came: Came::default(), ..*self }.strikes(settings, now_ms)
    }

    /// Until when the bot cools down, benched or not, in milliseconds; `None` if it does not.
    pub fn cools_down_until(&self, now_ms: u64) -> Option<u64> {
        self.last_strike.map(|strike| strike.until_ms).filter(|&until_ms| now_ms < until_ms)
    }

    /// In how many more matches in a row the bot has to come to be without strikes; 0 if it has none.
    pub fn matches_to_clear(&self, settings: &ConductSettings, now_ms: u64) -> u32 {
        match self.strikes(settings, now_ms) {
            0 => 0,
            _ => self.matches_needed(settings).saturating_sub(self.came.matches),
        }
    }

    /// How many matches in a row clear its strikes: one more for each that it was lost to with the last one. Who comes to five of twenty at
    /// once and to no other each time would else never have a second strike.
    fn matches_needed(&self, settings: &ConductSettings) -> u32 {
        settings.matches_to_clear.saturating_add(self.missed)
    }

    /// How many of the bot's last matches it forfeited, those before its last bench left out.
    pub fn forfeits(&self, settings: &ConductSettings) -> u32 {
        (self.forfeited & (u64::MAX >> (64 - settings.of_last_matches))).count_ones()
    }

    /// How often the bot was benched, as far as that still counts.
    pub fn benches(&self, settings: &ConductSettings, now_ms: u64) -> u32 {
        match self.last_bench {
            Some(Bench { until: Until::Time(ended_ms), .. })
                if now_ms.saturating_sub(ended_ms) >= settings.benches_last_ms =>
            {
                0
            }
            _ => self.benches,
        }
    }

    /// The bot was lost before the deal of a match that was made at `paired_ms`. Matches that were made before the last strike add none, as
    /// a bot that goes away once is lost to all its matches at once; but it has to come to one more in a row for each.
    pub fn no_show(&mut self, settings: &ConductSettings, paired_ms: u64, now_ms: u64) -> Option<Notice> {
        if self.last_strike.is_some_and(|strike| paired_ms <= strike.at_ms) {
            self.missed = self.missed.saturating_add(1);
            return None;
        }
        let strikes = self.strikes_before(settings, paired_ms, now_ms).saturating_add(1);
        let cool_down_ms = settings.cool_down_ms(strikes);
        let until_ms = now_ms.saturating_add(cool_down_ms);
        self.strikes = strikes;
        (self.came, self.missed) = (Came::default(), 0);
        self.last_strike = Some(Strike { at_ms: now_ms, until_ms });
        Some(Notice::NoShow { strikes, cool_down_ms, until_ms })
    }

    /// The bot joined a match that was made at `paired_ms`, and did not send the nonce that it had promised: it was lost before the deal
    /// all the same, and is told so in other words.
    pub fn no_nonce(&mut self, settings: &ConductSettings, paired_ms: u64, now_ms: u64) -> Option<Notice> {
        self.no_show(settings, paired_ms, now_ms).map(|notice| match notice {
            Notice::NoShow { strikes, cool_down_ms, until_ms } => {
                Notice::NoNonce { strikes, cool_down_ms, until_ms }
            }
            other => other,
        })
    }

    /// The bot came to a match, which was made at `paired_ms` and dealt. One that was made before the last strike clears none.
    pub fn came(&mut self, settings: &ConductSettings, paired_ms: u64) {
        let since = self.last_strike.is_none_or(|strike| paired_ms > strike.at_ms);
        if since && self.came.matches < self.matches_needed(settings) {
            let last = self.came.paired_ms.max(paired_ms);
            self.came = Came { matches: self.came.matches.saturating_add(1), paired_ms: last };
        }
    }

    /// The bot played a match to its end.
    pub const fn finished(&mut self) {
        self.forfeited <<= 1;
    }

    /// The bot forfeited a match after its deal, which was made at `paired_ms`. Nothing comes of matches that were made before the
    /// last bench; they are rated all the same.
    pub fn forfeited(&mut self, settings: &ConductSettings, paired_ms: u64, now_ms: u64) -> Option<Notice> {
        if self.last_bench.is_some_and(|bench| paired_ms <= bench.from_ms) {
            return None;
        }
        self.forfeited = self.forfeited << 1 | 1;
        let (of_last, forfeits) = (settings.of_last_matches, self.forfeits(settings));
        if forfeits < settings.forfeits_to_bench {
            return Some(Notice::Forfeit { forfeits, of_last, benched_with: settings.forfeits_to_bench });
        }
        let benches = self.benches(settings, now_ms).saturating_add(1);
        let (until, notice) = match settings.bench_ms(benches) {
            Some(bench_ms) => {
                let until_ms = now_ms.saturating_add(bench_ms);
                (Until::Time(until_ms), Notice::Benched { forfeits, of_last, bench_ms, until_ms })
            }
            None => (Until::Author, Notice::BenchedUntilAuthor { forfeits, of_last, benches }),
        };
        self.benches = benches;
        self.forfeited = 0;
        self.last_bench = Some(Bench { from_ms: now_ms, until });
        Some(notice)
    }

    /// The bot's author puts it back. If it has to be benched again soon, that is until its author acts again.
    ///
    /// # Errors
    /// [`ReinstateError`] if it does not wait for its author.
    pub fn reinstate(&mut self, now_ms: u64) -> Result<(), ReinstateError> {
        match self.status(now_ms) {
            Status::Benched(Until::Author) => {
                self.last_bench = Some(Bench { from_ms: now_ms, until: Until::Time(now_ms) });
                Ok(())
            }
            Status::Benched(Until::Time(until_ms)) => Err(ReinstateError::Timed { until_ms }),
            Status::CoolingDown { .. } | Status::Free => Err(ReinstateError::NotBenched),
        }
    }
}

/// Why a bot can't be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReinstateError {
    /// It is not benched.
    #[error("the bot is not benched: there is nothing to put back")]
    NotBenched,
    /// Its bench ends by itself.
    #[error("the bot is benched until {until_ms} ms: wait until then")]
    Timed {
        /// When it ends, in milliseconds.
        until_ms: u64,
    },
}

#[cfg(test)]
mod tests;
