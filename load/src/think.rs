//! How long a player thinks about a decision.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand::Rng;
use rand_distr::{Distribution, Exp, LogNormal};
use serde::{Deserialize, Serialize};

use crate::time::{Text, duration};

/// The longest that anybody thinks, whatever was drawn.
const LONGEST: Duration = Duration::from_hours(1);

/// How long a player thinks about a decision, from when it has come.
///
/// Its text is `200ms` (always so long), `exponential:200ms` (with this mean) or `log-normal:200ms,0.8` (the median, and the standard
/// deviation of the logarithm): the last is how people and programs that search are, mostly quick and now and then slow.
///
/// ```
/// use std::time::Duration;
/// use zetema_load::Think;
///
/// let think: Think = "200ms".parse().unwrap();
/// assert_eq!(think.mean(), Duration::from_millis(200));
/// assert!("log-normal:200ms".parse::<Think>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Think(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Constant(Duration),
    Exponential(Exp<f64>, Duration),
    LogNormal(LogNormal<f64>, Duration, f64),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

impl Think {
    /// Draws a time.
    pub fn sample(&self, random: &mut impl Rng) -> Duration {
        let seconds = match &self.0 {
            Kind::Constant(time) => return *time,
            Kind::Exponential(distribution, _) => distribution.sample(random),
            Kind::LogNormal(distribution, ..) => distribution.sample(random),
        };
        Duration::try_from_secs_f64(seconds).map_or(LONGEST, |time| time.min(LONGEST))
    }

    /// What it is on average, unless that is more than an hour.
    pub fn mean(&self) -> Duration {
        match &self.0 {
            Kind::Constant(time) | Kind::Exponential(_, time) => *time,
            Kind::LogNormal(_, median, sigma) => {
                let mean = median.as_secs_f64() * (sigma * sigma / 2.0).exp();
                Duration::try_from_secs_f64(mean).map_or(LONGEST, |time| time.min(LONGEST))
            }
        }
    }
}

/// A text that is no time to think.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no time to think: give a time as in 200ms, exponential:MEAN as in exponential:200ms, or \
     log-normal:MEDIAN,SIGMA as in log-normal:200ms,0.8, up to an hour and a sigma from 0 to 5"
)]
pub struct ThinkError(String);

impl FromStr for Think {
    type Err = ThinkError;

    fn from_str(text: &str) -> Result<Self, ThinkError> {
        parse(text).map(Self).ok_or_else(|| ThinkError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Kind> {
    let time = |text| duration(text).ok().filter(|time| *time <= LONGEST);
    let Some((kind, numbers)) = text.split_once(':') else { return Some(Kind::Constant(time(text)?)) };
    match kind {
        "constant" => Some(Kind::Constant(time(numbers)?)),
        "exponential" => {
            let mean = time(numbers).filter(|mean| !mean.is_zero())?;
            Some(Kind::Exponential(Exp::new(mean.as_secs_f64().recip()).ok()?, mean))
        }
        "log-normal" => {
            let (median, sigma) = numbers.split_once(',')?;
            let median = time(median).filter(|median| !median.is_zero())?;
            let sigma = sigma.trim().parse().ok().filter(|sigma| (0.0..=5.0).contains(sigma))?;
            Some(Kind::LogNormal(LogNormal::new(median.as_secs_f64().ln(), sigma).ok()?, median, sigma))
        }
        _ => None,
    }
}

impl From<Think> for String {
    fn from(think: Think) -> Self {
        think.to_string()
    }
}

impl TryFrom<String> for Think {
    type Error = ThinkError;

    fn try_from(text: String) -> Result<Self, ThinkError> {
        text.parse()
    }
}

/// As it is parsed.
impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Constant(time) => Text(*time).fmt(f),
            Kind::Exponential(_, mean) => write!(f, "exponential:{}", Text(*mean)),
            Kind::LogNormal(_, median, sigma) => write!(f, "log-normal:{},{sigma}", Text(*median)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn times_to_think_have_the_mean_that_they_say() {
        let check = |text: &str, mean_ms: f64| {
            let think: Think = text.parse().unwrap();
            let mut random = StdRng::seed_from_u64(1);
            let draws = 200_000;
            let sum: f64 = (0..draws).map(|_| think.sample(&mut random).as_secs_f64()).sum();
            let found = 1000.0 * sum / f64::from(draws);
            assert!((found / mean_ms - 1.0).abs() < 0.03, "{text}: {found} ms");
            assert!((think.mean().as_secs_f64() * 1000.0 / mean_ms - 1.0).abs() < 0.01, "{:?}", think.mean());
            assert_eq!(think.to_string().parse::<Think>().unwrap(), think);
        };
        check("250ms", 250.0);
        check("constant:1s 500ms", 1500.0);
        check("exponential:20ms", 20.0);
        check("log-normal:100ms,0.5", 113.3);
        assert_eq!(Think::default().sample(&mut StdRng::seed_from_u64(1)), Duration::ZERO);
    }

    #[test]
    fn what_is_no_time_to_think_says_what_is() {
        for text in [
            "",
            "soon",
            "200",
            "2h",
            "exponential:0s",
            "exponential:-1s",
            "log-normal:1s",
            "log-normal:1s,9",
            "uniform:1s",
        ] {
            let error = text.parse::<Think>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("exponential:200ms"), "{error}");
        }
    }
}
