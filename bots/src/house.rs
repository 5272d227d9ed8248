//! The house bots by name.

use std::fmt;
use std::str::FromStr;

use zetema_sdk::{Bot, MatchInfo};

use crate::appraiser::Appraiser;
use crate::budget::Budget;
use crate::greedy::{Greedy, Zetemas};
use crate::random::Random;
use crate::searcher::Searcher;

/// A house bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum House {
    /// [`Random`].
    Random,
    /// [`Greedy`].
    Greedy,
    /// [`Appraiser`].
    Appraiser,
    /// [`Searcher`], with 200 playouts for each decision.
    Searcher,
    /// [`Greedy`] that pays no heed to zetemas: what minding them is measured by.
    GreedyWithoutZetemas,
}

impl House {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Random, Self::Greedy, Self::Appraiser, Self::Searcher, Self::GreedyWithoutZetemas];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Greedy => "greedy",
            Self::Appraiser => "appraiser",
            Self::Searcher => "searcher",
            Self::GreedyWithoutZetemas => "greedy-without-zetemas",
        }
    }

    /// What it does, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Random => "chooses any legal action, all equally likely",
            Self::Greedy => "declares what pays best, discards what hurts least, minds zetemas and marriages",
            Self::Appraiser => "greedy and, between two players, an appraisal of each card by itself",
            Self::Searcher => {
                "appraiser, and a tree search over hidden cards dealt at random as the deal nears its end"
            }
            Self::GreedyWithoutZetemas => "greedy, but pays no heed to zetemas",
        }
    }

    /// A bot for one seat of one match. The same `seed` gives another bot for every match and seat,
    /// and the same again for the same ones.
    pub fn make(self, info: &MatchInfo, seed: u64) -> Box<dyn Bot> {
        match self {
            Self::Random => Box::new(Random::new(seed_for(info, seed))),
            Self::Greedy => Box::new(Greedy::new(Zetemas::Minded)),
            Self::Appraiser => Box::new(Appraiser::new()),
            Self::Searcher => Box::new(Searcher::new(seed_for(info, seed), Budget::playouts(200))),
            Self::GreedyWithoutZetemas => Box::new(Greedy::new(Zetemas::Ignored)),
        }
    }
}

/// FNV-1a over the match and the seat.
fn seed_for(info: &MatchInfo, seed: u64) -> u64 {
    let seat = [u8::try_from(info.seat.index()).unwrap_or(u8::MAX)];
    let bytes = seed.to_be_bytes().into_iter().chain(info.match_id.bytes()).chain(seat);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The house bot of this name.
///
/// # Errors
/// [`UnknownBot`], which lists the names.
pub fn by_name(name: &str) -> Result<House, UnknownBot> {
    name.parse()
}

impl fmt::Display for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for House {
    type Err = UnknownBot;

    fn from_str(name: &str) -> Result<Self, UnknownBot> {
        let found = Self::ALL.into_iter().find(|house| house.name() == name);
        found.ok_or_else(|| UnknownBot { name: name.to_owned() })
    }
}

/// A name that no house bot has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBot {
    /// What was given.
    pub name: String,
}

impl fmt::Display for UnknownBot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = House::ALL.map(House::name).join(", ");
        write!(f, "{:?} is no house bot: give one of {names}", self.name)
    }
}

impl std::error::Error for UnknownBot {}
