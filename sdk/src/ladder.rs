//! The ladders that a bot waits on, and what a session tells of them.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::time::SystemTime;

use prost_types::Timestamp;
use zetema_proto::{FieldError, v1};

use crate::error::{Error, Refusal};
use crate::outcome::Outcome;

/// A ladder that a bot waits on, and how many of its matches it plays at once at most.
///
/// As a text it is the ladder's name, or `NAME:MATCHES`; without a number it is one match at a time.
///
/// ```
/// use std::num::NonZeroU16;
/// use zetema_sdk::LadderQueue;
///
/// const THREE: NonZeroU16 = NonZeroU16::new(3).unwrap();
/// assert_eq!("sackson-2:3".parse::<LadderQueue>(), Ok(LadderQueue::new("sackson-2", THREE)));
/// assert_eq!("sackson-2".parse::<LadderQueue>(), Ok(LadderQueue::new("sackson-2", NonZeroU16::MIN)));
/// assert!("sackson-2:0".parse::<LadderQueue>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LadderQueue {
    /// The ladder's name.
    pub ladder: String,
    /// How many matches of this ladder, up to 1,000.
    pub matches_at_once: NonZeroU16,
}

impl LadderQueue {
    /// The queue of this ladder, for so many matches at once.
    pub fn new(ladder: impl Into<String>, matches_at_once: NonZeroU16) -> Self {
        Self { ladder: ladder.into(), matches_at_once }
    }

    pub(crate) fn to_wire(&self) -> v1::LadderQueue {
        let Self { ladder, matches_at_once } = self;
        v1::LadderQueue { ladder: ladder.clone(), matches_at_once: u32::from(matches_at_once.get()) }
    }
}

impl FromStr for LadderQueue {
    type Err = Error;

    /// # Errors
    /// [`Error::Queue`] if it has no name, or what follows the colon is no number of matches.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (ladder, matches) = text.split_once(':').unwrap_or((text, "1"));
        match matches.parse() {
            Ok(matches_at_once) if !ladder.is_empty() => Ok(Self::new(ladder, matches_at_once)),
            _ => Err(Error::Queue { text: text.to_owned() }),
        }
    }
}

/// `NAME:MATCHES`.
impl fmt::Display for LadderQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ladder, self.matches_at_once)
    }
}

/// How a bot stands in the queue of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueState {
    /// The ladder's name.
    pub ladder: String,
    /// How many matches of this ladder the bot plays at once at most, all its programs together.
    pub matches_at_once: u32,
    /// Whether it is paired now.
    pub conduct: Conduct,
}

impl QueueState {
    pub(crate) fn all_from_wire(messages: &[v1::QueueState]) -> Result<Vec<Self>, FieldError> {
        let read = |(i, message): (usize, &v1::QueueState)| {
            let v1::QueueState { ladder, matches_at_once, conduct } = message;
            let conduct = Conduct::from_wire(conduct.as_ref()).map_err(|error| error.at(i))?;
            Ok(Self { ladder: ladder.clone(), matches_at_once: *matches_at_once, conduct })
        };
        messages
            .iter()
            .enumerate()
            .map(read)
            .collect::<Result<_, FieldError>>()
            .map_err(|error| error.within("queues"))
    }
}

/// One line for people.
impl fmt::Display for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ladder {}, {} at once: {}", self.ladder, self.matches_at_once, self.conduct)
    }
}

/// Whether a bot may be paired, as far as its own matches of the ladder say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conduct {
    /// It may.
    Free,
    /// It did not come to matches: it is not paired for a while.
    CoolingDown {
        /// Until when, by the server's clock.
        until: SystemTime,
    },
    /// It forfeited too often: it is not paired.
    Benched {
        /// Until when, by the server's clock; `None`: until its owner puts it back.
        until: Option<SystemTime>,
    },
    /// It played so many matches that its quota slows it down: it is not paired for a moment, and waits on meanwhile.
    OutOfQuota {
        /// Until when, by the server's clock.
        until: SystemTime,
    },
    /// What this version of the crate does not know.
    Other,
}

impl Conduct {
    /// The field `conduct` of a message.
    fn from_wire(message: Option<&v1::BotConduct>) -> Result<Self, FieldError> {
        use v1::bot_conduct::Kind;
        const UNTIL: &str = "conduct.until";
        let v1::BotConduct { kind } = message.ok_or_else(|| FieldError::missing("conduct"))?;
        let time = |time| SystemTime::try_from(time).map_err(|_| FieldError::invalid(UNTIL, "is no time"));
        Ok(match kind {
            Some(Kind::Free(v1::FreeToPlay {})) => Self::Free,
            Some(Kind::CoolingDown(v1::CoolingDown { until })) => {
                Self::CoolingDown { until: time(until.ok_or_else(|| FieldError::missing(UNTIL))?)? }
            }
            Some(Kind::Benched(v1::Benched { until })) => {
                Self::Benched { until: until.map(time).transpose()? }
            }
            Some(Kind::OutOfQuota(v1::OutOfQuota { until })) => {
                Self::OutOfQuota { until: time(until.ok_or_else(|| FieldError::missing(UNTIL))?)? }
            }
            None => Self::Other,
        })
    }
}

impl fmt::Display for Conduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free to play"),
            Self::CoolingDown { until } => write!(f, "cooling down until {}", Timestamp::from(*until)),
            Self::Benched { until: Some(until) } => write!(f, "benched until {}", Timestamp::from(*until)),
            Self::Benched { until: None } => f.write_str("benched until its owner puts it back"),
            Self::OutOfQuota { until } => write!(f, "out of quota until {}", Timestamp::from(*until)),
            Self::Other => f.write_str("in a state that this version does not know"),
        }
    }
}

/// What came of a match of a ladder that the bot did not come to, or forfeited, or of its quota: the server's word for its author. What
/// came while the bot was not there comes when it is back, and after a broken stream the same may come twice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LadderNotice {
    /// The ladder's name.
    pub ladder: String,
    /// The match's id. Empty: it is about the bot's quota.
    pub match_id: String,
    /// For people: what happened, what follows and until when, and what to do.
    pub message: String,
    /// Whether the bot is paired now.
    pub conduct: Conduct,
}

impl LadderNotice {
    pub(crate) fn from_wire(message: &v1::LadderNotice) -> Result<Self, FieldError> {
        let v1::LadderNotice { ladder, match_id, message, conduct } = message;
        Ok(Self {
            ladder: ladder.clone(),
            match_id: match_id.clone(),
            message: message.clone(),
            conduct: Conduct::from_wire(conduct.as_ref())?,
        })
    }
}

/// One line for people.
impl fmt::Display for LadderNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ladder, match_id, message, conduct } = self;
        let of_match = if match_id.is_empty() { String::new() } else { format!(", match {match_id}") };
        write!(f, "ladder {ladder}{of_match}: {message} The bot is {conduct}.")
    }
}

/// What a session tells, as [`Session::next_event`](crate::Session::next_event) gives it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// A seat is over.
    Outcome(Box<Outcome>),
    /// The bot did not come to a match of a ladder, or forfeited it, or is slowed down by its quota.
    LadderNotice(LadderNotice),
    /// The bot waits on its ladders again, after the connection was made again.
    Queued(Vec<QueueState>),
    /// The bot waits on no ladder, and accepts no challenge, any more: the server refused that when the connection was made again, as when
    /// a ladder is gone.
    QueuesRefused(Refusal),
    /// The bot has a newer token. The session plays the seats that it has to the end, takes no more, and
    /// [`Session::closed`](crate::Session::closed) says so too.
    TokenRotated(Refusal),
}
