//! The house bots that the program is to play.

use std::{fmt, num::NonZeroU16, str::FromStr};

/// House bots by their names, which the program knows and the server does not.
///
/// It is written as a list with commas, each entry a name, or `NAME:PLACES`. An empty text is none of them, so that a flag or a variable
/// can take the place of what a file names.
///
/// ```
/// use zetema_service::config::HouseBots;
///
/// let bots: HouseBots = "greedy:2, random".parse()?;
/// assert_eq!(bots.to_string(), "greedy:2,random");
/// assert_eq!(bots.iter().map(|bot| bot.places.get()).collect::<Vec<_>>(), [2, 1]);
/// assert!("".parse::<HouseBots>()?.is_empty());
/// assert!("greedy:0".parse::<HouseBots>().is_err());
/// # Ok::<(), zetema_service::config::NoHouseBots>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HouseBots(Vec<HouseBot>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HouseBot {
    /// What the program calls it.
    pub name: String,
    /// How many matches of each ladder it plays at once at most, up to [`HouseBot::MAX_PLACES`].
    pub places: NonZeroU16,
}

impl HouseBot {
    /// The most places that a bot may have on a ladder.
    pub const MAX_PLACES: u16 = 100;
}

/// A text names no house bots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "names no house bots: give each once, NAME or NAME:PLACES, with commas between, as in greedy:2,random, or nothing for none"
)]
pub struct NoHouseBots;

impl HouseBots {
    /// Whose bots all of them were at first.
    pub const OLD_OWNER: &str = "house";

    /// Whose bot the one with this name is: each has an owner of its own, as bots of one owner do not meet.
    pub fn owner_of(name: &str) -> String {
        format!("house-{name}")
    }

    /// Whether a bot that is this owner's is one of them.
    pub fn have(&self, bot: &str, owner: &str) -> bool {
        let is_of_the_house = owner == Self::OLD_OWNER || owner == Self::owner_of(bot);
        is_of_the_house && self.0.iter().any(|one| one.name == bot)
    }

    /// Whether an owner of this name is for house bots, those of today or others: nobody else registers by it, with house bots or
    /// without, as who did before there were some would own them.
    pub fn is_owner(name: &str) -> bool {
        name == Self::OLD_OWNER || name.starts_with("house-")
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, as they were given.
    pub fn iter(&self) -> impl Iterator<Item = &HouseBot> {
        self.0.iter()
    }
}

impl FromStr for HouseBots {
    type Err = NoHouseBots;

    fn from_str(text: &str) -> Result<Self, NoHouseBots> {
        let mut bots: Vec<HouseBot> = Vec::new();
        if text.trim().is_empty() {
            return Ok(Self(bots));
        }
        for entry in text.split(',') {
            let (name, places) = entry.split_once(':').unwrap_or((entry, "1"));
            let (name, places) = (name.trim(), places.trim());
            let places: NonZeroU16 = places.parse().map_err(|_| NoHouseBots)?;
            if name.is_empty()
                || places.get() > HouseBot::MAX_PLACES
                || bots.iter().any(|bot| bot.name == name)
            {
                return Err(NoHouseBots);
            }
            bots.push(HouseBot { name: name.to_owned(), places });
        }
        Ok(Self(bots))
    }
}

/// As it is written.
impl fmt::Display for HouseBots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, HouseBot { name, places }) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{name}")?;
            if *places != NonZeroU16::MIN {
                write!(f, ":{places}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_none_and_spaces_are_nothing() {
        for (text, written) in
            [("", ""), ("  ", ""), ("greedy", "greedy"), (" greedy : 2 , random ", "greedy:2,random")]
        {
            assert_eq!(text.parse::<HouseBots>().unwrap().to_string(), written, "{text:?}");
        }
        for text in [",", "greedy,", ":2", "greedy:", "greedy:0", "greedy:101", "greedy,greedy:2"] {
            assert_eq!(text.parse::<HouseBots>(), Err(NoHouseBots), "{text:?}");
        }
    }
}
