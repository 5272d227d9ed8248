//! The challenges that a bot accepts.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use zetema_proto::v1;

use crate::error::Error;

/// Whose challenges a bot accepts: matches that somebody creates with a seat for it. Its own owner, and the admin, may do that whatever it
/// accepts.
///
/// As a text it is `nobody`, `everyone`, or `everyone:MATCHES`; without a number it is one match at a time.
///
/// ```
/// use std::num::NonZeroU16;
/// use zetema_sdk::Challenges;
///
/// const THREE: NonZeroU16 = NonZeroU16::new(3).unwrap();
/// assert_eq!("everyone:3".parse::<Challenges>(), Ok(Challenges::FromEveryone { matches_at_once: THREE }));
/// assert_eq!("nobody".parse::<Challenges>(), Ok(Challenges::FromNobody));
/// assert!("everyone:0".parse::<Challenges>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Challenges {
    /// Nobody's.
    #[default]
    FromNobody,
    /// Those of every owner.
    FromEveryone {
        /// In how many matches of no ladder the bot plays at once at most, up to 1,000.
        matches_at_once: NonZeroU16,
    },
}

impl Challenges {
    pub(crate) fn to_wire(self) -> Option<v1::Challenges> {
        match self {
            Self::FromNobody => None,
            Self::FromEveryone { matches_at_once } => Some(v1::Challenges {
                from: v1::ChallengesFrom::Everyone.into(),
                matches_at_once: u32::from(matches_at_once.get()),
            }),
        }
    }
}

impl FromStr for Challenges {
    type Err = Error;

    /// # Errors
    /// [`Error::Challenges`] if it is none of these texts.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Challenges { text: text.to_owned() };
        match text.split_once(':') {
            None if text == "nobody" => Ok(Self::FromNobody),
            None if text == "everyone" => Ok(Self::FromEveryone { matches_at_once: NonZeroU16::MIN }),
            Some(("everyone", matches)) => {
                let matches_at_once = matches.parse().map_err(|_| wrong())?;
                Ok(Self::FromEveryone { matches_at_once })
            }
            _ => Err(wrong()),
        }
    }
}

/// `nobody`, or `everyone:MATCHES`.
impl fmt::Display for Challenges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromNobody => f.write_str("nobody"),
            Self::FromEveryone { matches_at_once } => write!(f, "everyone:{matches_at_once}"),
        }
    }
}
