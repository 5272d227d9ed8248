//! Ratings as the journal keeps them, and how they are held against those that the results give.

use std::collections::BTreeMap;
use std::fmt;

use zetema_ladder::{
    Deviation, Difference, Entry, Ladder, Mu, OutOfRange, Rating, RatingSettings, Sigma, Tally, differences,
};

use super::spec::LadderSpec;
use crate::journal::{BotName, Cause, ReadError, ResultNumber, StoredLadder, StoredRating, StoredSettings};

/// What is stored of a ladder.
#[derive(Clone, Debug)]
struct Stored {
    after: ResultNumber,
    settings: StoredSettings,
    bots: BTreeMap<BotName, Entry>,
}

/// What is stored of a bot is no rating.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("what is stored of the bot {bot} is no rating: its {wrong}")]
struct NoRating {
    bot: BotName,
    wrong: OutOfRange,
}

/// What is stored of a ladder until the results come to the one that it is after.
#[derive(Clone, Debug, Default)]
pub(super) struct Awaiting(Option<Stored>);

/// Why it is not known yet, or not at all, what is stored of a ladder.
#[derive(Clone, Debug)]
pub(super) enum NotRead {
    /// It is damaged, or no rating.
    Unreadable(String),
    /// It can't be read now.
    Unavailable(Cause),
}

/// How the ratings that are stored of a ladder compare with those that its results give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// None are stored.
    NothingStored,
    /// Those that are stored were made by other settings, or the ladder is not rated any more: they are not compared.
    OtherSettings {
        /// After which result they are.
        after: ResultNumber,
    },
    /// Those that are stored are after a result that is not here: they can't be compared.
    Ahead {
        /// After which result they are.
        after: ResultNumber,
        /// The last result that is here.
        last: ResultNumber,
    },
    /// Those that are stored can't be read.
    Unreadable(String),
    /// They were compared, as they are after this result.
    Compared {
        /// After which result.
        after: ResultNumber,
        /// Each bot that differs, by name: none if all have the same bits and counts.
        differences: Vec<Difference<BotName>>,
    },
}

/// What a comparison says of the stored ratings, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// They are those of the results, bit by bit, or there are none to compare.
    Equal,
    /// They are those of the results but for rounding ([`Deviation::ROUNDING`]): another build or platform has stored them.
    Rounded,
    /// They are not those of the results.
    Wrong,
}

impl Comparison {
    /// What it says.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NothingStored | Self::OtherSettings { .. } => Verdict::Equal,
            Self::Ahead { .. } | Self::Unreadable(_) => Verdict::Wrong,
            Self::Compared { differences, .. } => {
                let of = |difference: &Difference<BotName>| match difference.deviation {
                    Deviation::Rounding => Verdict::Rounded,
                    Deviation::Beyond => Verdict::Wrong,
                };
                differences.iter().map(of).max().unwrap_or(Verdict::Equal)
            }
        }
    }
}

impl Awaiting {
    /// # Errors
    /// [`NotRead`] when there is something that does not say what it is.
    pub(super) fn read(read: Result<Option<StoredLadder>, ReadError>) -> Result<Self, NotRead> {
        match read {
            Ok(None) => Ok(Self(None)),
            Ok(Some(stored)) => match Stored::read(stored) {
                Ok(stored) => Ok(Self(Some(stored))),
                Err(no_rating) => Err(NotRead::Unreadable(no_rating.to_string())),
            },
            Err(ReadError::Damaged(cause)) => Err(NotRead::Unreadable(cause.to_string())),
            Err(ReadError::Unavailable(cause)) => Err(NotRead::Unavailable(cause)),
        }
    }

    /// Whether nothing is awaited: nothing is stored, or the results have come to it.
    pub(super) const fn is_over(&self) -> bool {
        self.0.is_none()
    }

    /// Compares with the ratings before this result is counted, if it is the first that the stored ones do not have.
    pub(super) fn before(
        &mut self,
        next: ResultNumber,
        spec: &LadderSpec,
        ratings: &Ladder<BotName>,
    ) -> Option<Comparison> {
        let reached = self.0.take_if(|stored| stored.after < next)?;
        Some(reached.compare(spec, ratings))
    }

    /// Compares after the last result that is here, if any number that was given is that of the stored ones: later ones may be known to
    /// be lost. Ratings after a result of which nothing is known are awaited on.
    pub(super) fn at_end(
        &mut self,
        last: ResultNumber,
        given: ResultNumber,
        spec: &LadderSpec,
        ratings: &Ladder<BotName>,
    ) -> Option<Comparison> {
        if let Some(reached) = self.0.take_if(|stored| stored.after <= given) {
            return Some(reached.compare(spec, ratings));
        }
        self.0.as_ref().map(|stored| Comparison::Ahead { after: stored.after, last })
    }
}

impl Stored {
    /// # Errors
    /// [`NoRating`] names the first bot of which there is none.
    fn read(stored: StoredLadder) -> Result<Self, NoRating> {
        let StoredLadder { after, settings, bots } = stored;
        let entry = |stored: StoredRating| match entry(&stored) {
            Ok(entry) => Ok((stored.bot, entry)),
            Err(wrong) => Err(NoRating { bot: stored.bot, wrong }),
        };
        Ok(Self { after, settings, bots: bots.into_iter().map(entry).collect::<Result<_, _>>()? })
    }

    /// Compares with the ratings that the results up to the same one give.
    fn compare(&self, spec: &LadderSpec, ratings: &Ladder<BotName>) -> Comparison {
        let after = self.after;
        if !spec.is_rated() || self.settings != settings(ratings.settings()) {
            return Comparison::OtherSettings { after };
        }
        let stored = Ladder::resume(*ratings.settings(), ratings.last(), self.bots.clone());
        Comparison::Compared { after, differences: differences(&stored, ratings) }
    }
}

/// Settings as they are stored.
pub(super) fn settings(settings: &RatingSettings) -> StoredSettings {
    let zetema_ladder::RatingOptions { mu, sigma, beta, kappa, tau, provisional_sigma } = **settings;
    StoredSettings { mu, sigma, beta, kappa, tau, provisional_sigma }
}

/// A bot's rating as it is stored.
pub(super) fn rating(bot: &BotName, entry: &Entry) -> StoredRating {
    let Entry { rating: Rating { mu, sigma }, tally } = entry;
    let Tally { matches, wins, draws, forfeits, opponents, margin } = *tally;
    StoredRating {
        bot: bot.clone(),
        mu: mu.get(),
        sigma: sigma.get(),
        matches,
        wins,
        draws,
        forfeits,
        opponents,
        margin,
    }
}

fn entry(stored: &StoredRating) -> Result<Entry, OutOfRange> {
    let StoredRating { bot: _, mu, sigma, matches, wins, draws, forfeits, opponents, margin } = *stored;
    let rating = Rating { mu: Mu::new(mu)?, sigma: Sigma::new(sigma)? };
    Ok(Entry { rating, tally: Tally { matches, wins, draws, forfeits, opponents, margin } })
}

/// What is known of a bot, in words, with every digit.
pub(super) struct InWords(pub(super) Option<Entry>);

impl fmt::Display for InWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Entry { rating: Rating { mu, sigma }, tally }) = &self.0 else {
            return f.write_str("nothing");
        };
        let Tally { matches, wins, draws, forfeits, opponents, margin } = tally;
        write!(
            f,
            "mu {} sigma {}, {matches} matches, {wins} wins, {draws} draws, {forfeits} forfeits, {opponents} sides met, \
             margin {margin}",
            mu.get(),
            sigma.get()
        )
    }
}
