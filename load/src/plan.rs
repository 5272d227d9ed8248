//! What is to be run.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_rules::{Rules, TimeControl};

use crate::divide::Share;
use crate::join::PlanText;
use crate::outcome::{Arrivals, Client, Description, Via, Work};
use crate::think::Think;
use crate::time::LONGEST;

/// So many a second: one in a million seconds at least, ten million at most.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Rate(f64);

impl Rate {
    /// The lowest that is taken.
    pub const LEAST: f64 = 1e-6;
    /// The highest that is taken.
    pub const MOST: f64 = 10_000_000.0;

    /// A rate.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn new(per_second: f64) -> Result<Self, PlanError> {
        if (Self::LEAST..=Self::MOST).contains(&per_second) {
            Ok(Self(per_second))
        } else {
            Err(PlanError::Rate(per_second.to_string()))
        }
    }

    /// So many a second.
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As text, so that it comes back as it was.
impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl TryFrom<String> for Rate {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, PlanError> {
        let rate = text.parse().ok().and_then(|rate| Self::new(rate).ok());
        rate.ok_or(PlanError::Rate(text))
    }
}

/// So many of what a second: `50matches/s`, `2000actions/s`.
///
/// ```
/// use zetema_load::OpenRate;
///
/// let rate: OpenRate = "2000 actions/s".parse().unwrap();
/// assert_eq!(rate.to_string(), "2000actions/s");
/// assert!("2000".parse::<OpenRate>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenRate {
    /// How many.
    pub rate: Rate,
    /// Of what.
    pub of: Work,
}

const ACTIONS: &str = "actions/s";
const MATCHES: &str = "matches/s";

impl FromStr for OpenRate {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let wrong = || PlanError::Rate(text.to_owned());
        let (number, of) = match (text.strip_suffix(ACTIONS), text.strip_suffix(MATCHES)) {
            (Some(number), _) => (number, Work::Actions),
            (_, Some(number)) => (number, Work::Matches),
            (None, None) => return Err(wrong()),
        };
        let rate = number.trim().parse().map_err(|_| wrong()).and_then(Rate::new).map_err(|_| wrong())?;
        Ok(Self { rate, of })
    }
}

impl fmt::Display for OpenRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.of {
            Work::Actions => ACTIONS,
            Work::Matches => MATCHES,
        };
        write!(f, "{}{of}", self.rate)
    }
}

/// When work comes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// So many matches are live at once: the next begins when one is over. A slow server is asked for less.
    Closed(NonZeroU32),
    /// So many matches begin each second, whatever the server does.
    Matches(Rate),
    /// So many actions are due each second, whatever the server does, in so many matches that are live at once.
    Actions(Rate, NonZeroU32),
}

impl Load {
    /// Matches that are live at once, where that is given.
    pub const fn live(self) -> Option<u32> {
        match self {
            Self::Closed(matches) | Self::Actions(_, matches) => Some(matches.get()),
            Self::Matches(_) => None,
        }
    }

    /// The rate, where there is one.
    pub const fn rate(self) -> Option<Rate> {
        match self {
            Self::Closed(_) => None,
            Self::Matches(rate) | Self::Actions(rate, _) => Some(rate),
        }
    }

    /// The same at another rate. A closed loop has none, and stays as it is.
    #[must_use]
    pub const fn at(self, rate: Rate) -> Self {
        match self {
            Self::Closed(_) => self,
            Self::Matches(_) => Self::Matches(rate),
            Self::Actions(_, matches) => Self::Actions(rate, matches),
        }
    }
}

/// A kind of match in the mix, and who plays it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// How many of these there are to those of other kinds.
    pub weight: NonZeroU32,
    /// The preset that its rules began with.
    pub preset: String,
    /// Its rules.
    #[serde(with = "crate::wire_text")]
    pub rules: Rules,
    /// Its clocks.
    #[serde(with = "crate::wire_text")]
    pub time_control: TimeControl,
    /// What plays the seats.
    pub client: Client,
    /// How.
    pub via: Via,
    /// How long a player thinks about a decision.
    pub think: Think,
}

impl Kind {
    /// Seats of a match.
    pub fn players(&self) -> usize {
        self.rules.seats().count()
    }

    /// The match to ask for. With `reference` its result is found.
    pub(crate) fn spec(&self, reference: &str) -> v1::MatchSpec {
        let seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
        v1::MatchSpec {
            rules: Some(v1::match_spec::Rules::Own(self.rules.to_wire())),
            seats: vec![seat; self.players()],
            time_control: Some(self.time_control.to_wire()),
            client_reference: reference.to_owned(),
            ..v1::MatchSpec::default()
        }
    }
}

/// A part of the run with a load of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// When work comes.
    pub load: Load,
    /// The matches, one kind at least.
    pub kinds: Vec<Kind>,
    /// How long it takes until the whole load has come. It is part of the duration.
    pub ramp: Duration,
    /// How long it lasts.
    pub duration: Duration,
    /// How often one of the connections is cut on purpose.
    pub drop_every: Option<Duration>,
    /// How often the players of one of the matches leave it and join it again.
    pub rejoin_every: Option<Duration>,
    /// Who look on at matches, each at any of those that are live, and read all.
    pub spectators: u32,
    /// Who look on and read a message a second, until the server cuts them.
    pub slow_readers: u32,
}

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Connections to begin with. When they carry no more, there are more.
    pub connections: NonZeroU32,
    /// From what everything follows that clients draw by lot: the same seed gives the same choices.
    pub seed: u64,
    /// What is run first and not measured. Its load is that of the first stage.
    warm_up: Duration,
    /// What is run and measured, one stage at least.
    stages: Vec<Stage>,
    /// The file that it came from: its text.
    pub scenario: Option<String>,
    /// Which part of a larger plan this is. The load is what this part has to make.
    pub(crate) share: Share,
}

impl Plan {
    /// A plan of these stages, with four connections. Before it is measured the first of them is run for the time of the warm-up.
    ///
    /// # Errors
    /// If there is no stage, or one that lasts no time, has no match, or a ramp that is longer than it (with the warm-up, of the first)
    /// or begins no other load, who think on a schedule of actions, or what clients of the SDK can't do.
    pub fn new(warm_up: Duration, stages: Vec<Stage>) -> Result<Self, PlanError> {
        const CONNECTIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(3);
        if stages.is_empty() {
            return Err(PlanError::NoStage);
        }
        let mut before: Option<&Stage> = None;
        for stage in &stages {
            stage.check(warm_up, before)?;
            before = Some(stage);
        }
        Ok(Self {
            connections: CONNECTIONS,
            seed: 0,
            warm_up,
            stages,
            scenario: None,
            share: Share::default(),
        })
    }

    /// What is run first and not measured.
    pub const fn warm_up(&self) -> Duration {
        self.warm_up
    }

    /// What is run and measured.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// How long it takes.
    pub(crate) fn lasts(&self) -> Duration {
        self.stages.iter().fold(self.warm_up, |sum, stage| sum.saturating_add(stage.duration))
    }

    /// The same with other stages, of which each can be run.
    pub(crate) fn with_stages(&self, stages: Vec<Stage>) -> Self {
        Self { stages, ..self.clone() }
    }

    /// The same at another rate in all of its stages. A closed loop has none, and stays as it is.
    #[must_use]
    pub fn at(&self, rate: Rate) -> Self {
        let mut plan = self.clone();
        for stage in &mut plan.stages {
            stage.load = stage.load.at(rate);
        }
        plan
    }

    /// What stands of it in a report.
    pub fn description(&self, server: &str) -> Description {
        let first = self.stages.first();
        let kind = first.and_then(|stage| stage.kinds.first());
        let arrivals = match first.map(|stage| stage.load) {
            _ if self.scenario.is_some() => Arrivals::Scenario,
            Some(Load::Closed(matches)) => Arrivals::Closed { matches: matches.get() },
            Some(Load::Matches(rate)) => Arrivals::Open { per_second: rate.per_second(), of: Work::Matches },
            Some(Load::Actions(rate, _)) => {
                Arrivals::Open { per_second: rate.per_second(), of: Work::Actions }
            }
            None => Arrivals::default(),
        };
        Description {
            server: server.to_owned(),
            arrivals,
            via: kind.map(|kind| kind.via).unwrap_or_default(),
            client: kind.map(|kind| kind.client).unwrap_or_default(),
            preset: kind.map(|kind| kind.preset.clone()).unwrap_or_default(),
            ladder: None,
            players: kind.and_then(|kind| u8::try_from(kind.players()).ok()).unwrap_or_default(),
            think: kind.map(|kind| kind.think.to_string()).unwrap_or_default(),
            connections: self.connections.get(),
            generators: self.share.of.get(),
            ramp: first.map(|stage| stage.ramp).unwrap_or_default(),
            warm_up: self.warm_up,
            duration: self.stages.iter().map(|stage| stage.duration).sum(),
            scenario: self.scenario.clone(),
            settings: PlanText::from(self).settings(),
        }
    }
}

impl Stage {
    /// Whether it can be run after the one before, or as the first after the warm-up.
    fn check(&self, warm_up: Duration, before: Option<&Self>) -> Result<(), PlanError> {
        let wrong = |problem| Err(PlanError::Stage { name: self.name.clone(), problem });
        if self.duration.is_zero() {
            return wrong("it lasts no time: give it a duration, as in 30s");
        }
        let times = [Some(warm_up), Some(self.duration), Some(self.ramp), self.drop_every, self.rejoin_every];
        if times.into_iter().flatten().any(|time| time > LONGEST) {
            return wrong("a time of it is longer than a year: give a shorter one");
        }
        let lasts = if before.is_none() { warm_up + self.duration } else { self.duration };
        if self.ramp > lasts {
            return wrong("its ramp is longer than it lasts: the whole load would never come");
        }
        if !self.ramp.is_zero() && before.is_some_and(|before| before.load == self.load) {
            return wrong(
                "its load is there from the phase before: leave out its ramp, or give another load",
            );
        }
        if self.drop_every.is_some_and(|every| every.is_zero()) {
            return wrong(
                "connections can't be cut all the time: give a time from one cut to the next, as in 5s",
            );
        }
        if self.rejoin_every.is_some_and(|every| every.is_zero()) {
            return wrong(
                "players can't join again all the time: give a time from one match to the next, as in 100ms",
            );
        }
        let mut of_sdk = self.kinds.iter().filter(|kind| kind.client == Client::Sdk);
        if of_sdk.clone().any(|kind| kind.via == Via::Unary) {
            return wrong(
                "sessions of the sdk play on Play streams: leave out unary, or play with lean clients",
            );
        }
        if of_sdk.next().is_some() && matches!(self.load, Load::Actions(..)) {
            return wrong(
                "sessions of the sdk act when they have thought: give a rate of matches, or play with lean clients",
            );
        }
        // Only there: who acts when it is due has no time of its own.
        if matches!(self.load, Load::Actions(..))
            && self.kinds.iter().any(|kind| kind.think != Think::default())
        {
            return wrong(
                "on a schedule of actions nobody thinks, as it says when they come: leave out think (--think), or give a rate of \
                 matches",
            );
        }
        let is_disturbed = self.drop_every.is_some() || self.rejoin_every.is_some();
        if is_disturbed && self.kinds.iter().all(|kind| kind.client == Client::Sdk) {
            return wrong(
                "sessions of the sdk are not cut and don't join again: leave that out, or have lean clients in the mix",
            );
        }
        if self.kinds.is_empty() {
            return wrong("it has no matches: name one kind at least");
        }
        Ok(())
    }
}

/// A plan that can't be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A text or a number is no rate.
    #[error(
        "{0:?} is no rate: give so many a second, from a millionth to ten million, as in 50matches/s or 2000actions/s"
    )]
    Rate(String),
    /// Nothing is to be run.
    #[error("the plan has no phase: give one at least")]
    NoStage,
    /// A phase has less than one match for each generator.
    #[error(
        "phase {name:?}: {matches} matches can't be divided between {generators} generators: give each one at least"
    )]
    Divide {
        /// Its name.
        name: String,
        /// Matches that are live at once.
        matches: u32,
        /// The generators.
        generators: u32,
    },
    /// A phase can't be run.
    #[error("phase {name:?}: {problem}")]
    Stage {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_says_of_what_it_is() {
        let check = |text: &str, per_second: f64, of| {
            let rate: OpenRate = text.parse().unwrap();
            assert_eq!((rate.rate.per_second(), rate.of), (per_second, of));
            assert_eq!(rate.to_string().parse::<OpenRate>().unwrap(), rate);
        };
        check("50matches/s", 50.0, Work::Matches);
        check("0.5 matches/s", 0.5, Work::Matches);
        check("20000actions/s", 20_000.0, Work::Actions);
        for text in [
            "",
            "50",
            "actions/s",
            "0actions/s",
            "1e-300matches/s",
            "1e-7actions/s",
            "-1matches/s",
            "1e9actions/s",
            "NaNactions/s",
            "5games/s",
        ] {
            let error = text.parse::<OpenRate>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("2000actions/s"), "{error}");
        }
    }
}
