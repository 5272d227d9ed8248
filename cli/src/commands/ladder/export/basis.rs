//! What the results of a ladder are counted by: with another basis the same results have other ratings, or are others.

use std::fmt;

use serde::{Deserialize, Serialize};
use zetema_proto::v1;

use super::What;

/// What results are counted by, as far as it is in what is exported. `None`: that was not kept, or the server does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Basis {
    /// By which settings the ladder rates, if its ratings are exported.
    #[serde(default)]
    pub(super) rating: Settings,
    /// Whether it rates, if its ratings are exported.
    #[serde(default)]
    pub(super) rates: Option<Rates>,
    /// How many results of the server are lost.
    #[serde(default)]
    pub(super) lost_results: Option<u64>,
}

/// By which settings a ladder rates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub(super) enum Settings {
    /// They were not kept, as by earlier versions.
    #[default]
    NotKept,
    /// Its ratings are not exported, or the server does not tell.
    Nothing,
    By(String),
}

/// Whether a ladder rates, which follows from its `same_owner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Rates {
    Rated,
    Unrated,
}

/// How a basis is another than before. What is done about it, whoever says it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Rating { before: Settings, now: Settings },
    Rates { before: Option<Rates>, now: Option<Rates> },
    Lost { before: Option<u64>, now: Option<u64> },
}

impl Basis {
    /// What a ladder tells, as far as it is in what is exported; nothing if it is not there.
    pub(super) fn of(what: What, ladder: Option<&v1::Ladder>) -> Self {
        let lost_results = ladder.map(|ladder| ladder.lost_results);
        match what {
            What::Records => Self { rating: Settings::Nothing, rates: None, lost_results },
            What::Results => Self {
                rating: ladder.and_then(|ladder| ladder.rating.as_ref()).map(settings).into(),
                rates: ladder.and_then(|ladder| Rates::of(ladder.same_owner())),
                lost_results,
            },
        }
    }

    /// The same, but what was not kept is as it is now.
    pub(super) fn filled_by(self, now: &Self) -> Self {
        Self {
            rating: if self.rating == Settings::NotKept { now.rating.clone() } else { self.rating },
            rates: self.rates.or(now.rates),
            lost_results: self.lost_results.or(now.lost_results),
        }
    }

    /// How it is another now; `None` if it is not.
    pub(super) fn changed(&self, now: &Self) -> Option<Changed> {
        let Self { rating, rates, lost_results } = self.clone();
        if rating != now.rating {
            return Some(Changed::Rating { before: rating, now: now.rating.clone() });
        }
        if rates != now.rates {
            return Some(Changed::Rates { before: rates, now: now.rates });
        }
        (lost_results != now.lost_results)
            .then_some(Changed::Lost { before: lost_results, now: now.lost_results })
    }
}

/// Each number is the shortest text that reads back as the same bits.
fn settings(rating: &v1::RatingSettings) -> String {
    let v1::RatingSettings { mu, sigma, beta, kappa, tau, provisional_sigma } = rating;
    format!(
        "mu {mu}, sigma {sigma}, beta {beta}, kappa {kappa}, tau {tau}, provisional_sigma {provisional_sigma}"
    )
}

impl Rates {
    const fn of(same_owner: v1::SameOwner) -> Option<Self> {
        match same_owner {
            v1::SameOwner::Unspecified => None,
            v1::SameOwner::Apart | v1::SameOwner::Opponents => Some(Self::Rated),
            v1::SameOwner::Anywhere => Some(Self::Unrated),
        }
    }
}

/// As a setting that is told.
const fn word(rates: Option<Rates>) -> &'static str {
    match rates {
        Some(Rates::Rated) => "rated (apart or opponents)",
        Some(Rates::Unrated) => "not rated (anywhere)",
        None => "not told",
    }
}

fn count(results: Option<u64>) -> String {
    results.map_or_else(|| "not told".to_owned(), |results| results.to_string())
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rating { before, now } => write!(
                f,
                "ratings by other settings: they were {before}, and are {now} now, so that all ratings were made anew"
            ),
            Self::Rates { before, now } => write!(
                f,
                "results that were counted otherwise, by another same_owner: the ladder was {}, and is {} now",
                word(*before),
                word(*now)
            ),
            Self::Lost { before, now } => write!(
                f,
                "results of before a loss: lost_results of the server was {}, and is {} now, as a repair went on without some, or a \
                 backup with others, so that all ratings were made anew of what is left",
                count(*before),
                count(*now)
            ),
        }
    }
}

impl From<Option<String>> for Settings {
    fn from(settings: Option<String>) -> Self {
        settings.map_or(Self::Nothing, Self::By)
    }
}

impl From<Settings> for Option<String> {
    fn from(settings: Settings) -> Self {
        match settings {
            Settings::NotKept | Settings::Nothing => None,
            Settings::By(settings) => Some(settings),
        }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotKept | Self::Nothing => "none",
            Self::By(settings) => settings,
        })
    }
}
