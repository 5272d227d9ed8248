//! The numbers by which suspicions are raised.

use std::ops::Deref;

use crate::ratings::OutOfRange;

/// The numbers by which suspicions are raised, not checked yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HonestyOptions {
    /// How likely it may be, at most, that a season in which all play honestly has any suspicion at all; 10⁻⁹ to 0.5.
    pub false_alarms: f64,
    /// How often two bots must have met, or a bot must have played, before anything is looked at; 1 to 1,000.
    pub least_matches: u32,
    /// How much more often one bot may be ahead of another than their ratings and their results against the rest give, for it may
    /// have an answer to the other's style; 0 to 0.5 of their matches.
    pub win_allowance: f64,
    /// How far a team's mean margin may be off because two bots don't go together well; 0 to 2 standard deviations of a margin.
    pub margin_allowance: f64,
    /// How many times as likely a bot's time may be out when it is behind as when it is ahead, for it may think longer then; 1 to
    /// 100.
    pub time_out_odds: f64,
    /// The share of its matches that any bot may abandon; 0 to 1.
    pub abandoned_share: f64,
    /// How far a side must be behind for its resignation to be no abandoning, in standard deviations of the margins at the end of
    /// a match; 0 to 10.
    pub hopeless: f64,
    /// How many times the share that all others abandon a bot may abandon, if that is more; 1 to 100.
    pub abandoned_times: f64,
    /// How often two bots may prefer the same, in parts of how often each does what it did before; 0.5 to 0.999.
    pub alike: f64,
}

/// Those that a ladder has unless it is said: docs/honesty.md has the reasons and the figures.
impl Default for HonestyOptions {
    fn default() -> Self {
        Self {
            false_alarms: 0.01,
            least_matches: 10,
            win_allowance: 0.1,
            margin_allowance: 0.25,
            time_out_odds: 2.0,
            abandoned_share: 0.05,
            hopeless: 0.5,
            abandoned_times: 3.0,
            alike: 0.99,
        }
    }
}

/// The numbers by which suspicions are raised.
///
/// ```
/// # use zetema_ladder::{HonestyOptions, HonestySettings};
/// let settings = HonestySettings::new(HonestyOptions { false_alarms: 0.001, ..HonestyOptions::default() })?;
/// assert_eq!(settings.least_matches, 10);
///
/// let error = HonestySettings::new(HonestyOptions { alike: 1.0, ..HonestyOptions::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "alike is 1: give 0.5 to 0.999");
/// # Ok::<(), zetema_ladder::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HonestySettings(HonestyOptions);

impl HonestySettings {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`OutOfRange`] names the first that is out of its range.
    pub fn new(options: HonestyOptions) -> Result<Self, OutOfRange> {
        let HonestyOptions {
            false_alarms,
            least_matches,
            win_allowance,
            margin_allowance,
            time_out_odds,
            abandoned_share,
            hopeless,
            abandoned_times,
            alike,
        } = options;
        within("false_alarms", false_alarms, 1e-9, 0.5)?;
        within("least_matches", f64::from(least_matches), 1.0, 1_000.0)?;
        within("win_allowance", win_allowance, 0.0, 0.5)?;
        within("margin_allowance", margin_allowance, 0.0, 2.0)?;
        within("time_out_odds", time_out_odds, 1.0, 100.0)?;
        within("abandoned_share", abandoned_share, 0.0, 1.0)?;
        within("hopeless", hopeless, 0.0, 10.0)?;
        within("abandoned_times", abandoned_times, 1.0, 100.0)?;
        within("alike", alike, 0.5, 0.999)?;
        Ok(Self(options))
    }
}

/// The default numbers.
impl Default for HonestySettings {
    fn default() -> Self {
        Self(HonestyOptions::default())
    }
}

impl Deref for HonestySettings {
    type Target = HonestyOptions;

    fn deref(&self) -> &HonestyOptions {
        &self.0
    }
}

/// NaN is in no range.
fn within(field: &'static str, given: f64, least: f64, most: f64) -> Result<(), OutOfRange> {
    if (least..=most).contains(&given) { Ok(()) } else { Err(OutOfRange { field, given, least, most }) }
}
