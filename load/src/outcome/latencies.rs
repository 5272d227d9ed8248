//! How long things took.

use std::fmt::Display;
use std::io::{self, Read};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HdrReader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// The longest time that is told apart. What took longer is counted, and stands for so long.
pub const LONGEST: Duration = Duration::from_mins(10);

const LONGEST_US: u64 = 600_000_000;
/// Decimal digits that are told apart.
const DIGITS: u8 = 3;
/// What a histogram begins with that is not deflated: the format V2 with counts of any length.
const NOT_DEFLATED: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();
/// Bytes before a deflated histogram: what it is, and its length.
const BEFORE_DEFLATED: usize = 8;
/// Bytes of a histogram that is not deflated, at most: with these bounds it has some 22,000 counts of at most nine bytes.
const MOST_BYTES: u64 = 256 * 1024;

/// How long things took, in microseconds, to three digits.
///
/// ```
/// use std::time::Duration;
/// use zetema_load::outcome::Latencies;
///
/// let mut latencies = Latencies::default();
/// for ms in 1..=1000 {
///     latencies.record(Duration::from_millis(ms));
/// }
/// assert_eq!(latencies.quantile(0.5).as_millis(), 500);
/// assert_eq!(latencies.max().as_millis(), 1000);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    histogram: Histogram<u64>,
    beyond: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        match Histogram::new_with_bounds(1, LONGEST_US, DIGITS) {
            Ok(histogram) => Self { histogram, beyond: 0 },
            Err(error) => unreachable!("the bounds are constants: {error}"),
        }
    }
}

impl Latencies {
    /// Adds one.
    pub fn record(&mut self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.beyond += u64::from(us > LONGEST_US);
        self.histogram.saturating_record(us.min(LONGEST_US));
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// Those that took longer than [`LONGEST`].
    pub const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// What so many of them took at most, from 0 to 1: 0.99 is p99. 0 of none.
    pub fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_micros(self.histogram.value_at_quantile(quantile))
    }

    /// The longest. 0 of none.
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.histogram.max())
    }

    /// The mean. 0 of none.
    pub fn mean(&self) -> Duration {
        Duration::from_secs_f64(self.histogram.mean() / 1e6)
    }

    /// The share of them, from 0 to 1, that took at most so long.
    pub fn share_within(&self, time: Duration) -> f64 {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.histogram.quantile_below(us)
    }

    /// Adds what others have measured.
    pub fn merge(&mut self, other: &Self) {
        if self.histogram.add(&other.histogram).is_err() {
            unreachable!("both have the same bounds");
        }
        self.beyond = self.beyond.saturating_add(other.beyond);
    }

    /// The histogram, in microseconds.
    pub const fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// The same in little room.
    pub fn pack(&self) -> Packed {
        let values = self.histogram.iter_recorded();
        let values = values.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        Packed { values, beyond: self.beyond }
    }
}

/// [`Latencies`] in little room: what a run keeps of each second.
///
/// ```
/// use std::time::Duration;
/// use zetema_load::outcome::Latencies;
///
/// let mut latencies = Latencies::default();
/// latencies.record(Duration::from_millis(7));
/// assert_eq!(latencies.pack().unpack(), latencies);
/// ```
///
/// Its text, in JSON, is a histogram in the format V2 of `HdrHistogram`, deflated and in base64, that other libraries read as
/// well, and, where there are any, how many were beyond it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// Microseconds, and how often.
    values: Box<[(u64, u64)]>,
    beyond: u64,
}

impl Packed {
    /// To look into it.
    pub fn unpack(&self) -> Latencies {
        let mut latencies = Latencies::default();
        self.add_to(&mut latencies);
        latencies
    }

    /// Adds all of it to others.
    pub fn add_to(&self, latencies: &mut Latencies) {
        for &(value, count) in &self.values {
            latencies.histogram.saturating_record_n(value, count);
        }
        latencies.beyond = latencies.beyond.saturating_add(self.beyond);
    }

    /// Times in microseconds, each with how often it was measured, in rising order.
    pub fn values(&self) -> &[(u64, u64)] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.values.iter().fold(0, |all, (_, count)| all.saturating_add(*count))
    }

    /// Those that took longer than [`LONGEST`].
    pub const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds what others have measured.
    pub fn merge(&mut self, other: &Self) {
        let mut both = self.unpack();
        other.add_to(&mut both);
        *self = both.pack();
    }
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Text {
    hdr: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    beyond: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.unpack().histogram, &mut bytes)
            .map_err(ser::Error::custom)?;
        Text { hdr: BASE64_STANDARD.encode(bytes), beyond: self.beyond }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text { hdr, beyond } = Text::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(hdr).map_err(de::Error::custom)?;
        let no_histogram = |error: &dyn Display| {
            de::Error::custom(format!("hdr is no histogram in the format V2, deflated: {error}"))
        };
        let bytes = inflated(bytes).map_err(|error| no_histogram(&error))?;
        let histogram: Histogram<u64> =
            HdrReader::new().deserialize(&mut bytes.as_slice()).map_err(|error| no_histogram(&error))?;
        if (histogram.high(), histogram.sigfig()) != (LONGEST_US, DIGITS) {
            return Err(de::Error::custom(format!(
                "hdr is a histogram of up to {} with {} digits, not of up to {LONGEST_US} µs with {DIGITS}",
                histogram.high(),
                histogram.sigfig()
            )));
        }
        Ok(Latencies { histogram, beyond }.pack())
    }
}

/// A histogram that is not deflated, or not any more. The library would make room for whatever length is said in it.
fn inflated(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    let too_short = || wrong("it is too short");
    let mut inflated = bytes;
    if !inflated.starts_with(&NOT_DEFLATED) {
        let deflated = inflated.get(BEFORE_DEFLATED..).ok_or_else(too_short)?;
        let mut read = Vec::new();
        ZlibDecoder::new(deflated).take(MOST_BYTES).read_to_end(&mut read)?;
        inflated = read;
    }
    if !inflated.starts_with(&NOT_DEFLATED) {
        return Err(wrong("it is of another kind"));
    }
    let length = inflated.get(NOT_DEFLATED.len()..).and_then(<[u8]>::first_chunk).ok_or_else(too_short)?;
    if u64::from(u32::from_be_bytes(*length)) > MOST_BYTES {
        return Err(wrong("it is longer than any of these bounds"));
    }
    Ok(inflated)
}
