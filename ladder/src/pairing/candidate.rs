//! A bot that could have a match now (`Candidate`), and how far it is from another.

use super::bot::{BotId, OwnerId, Strength};
use super::members::Member;
use super::neighbours;
use super::queue::Bot;
use super::settings::PairingSettings;
use super::share::Share;

/// A bot that could have a match now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) id: BotId,
    pub(super) bot: &'a Bot,
    pub(super) strength: Strength,
    pub(super) since_ms: u64,
    pub(super) share: Share,
}

impl Candidate<'_> {
    pub(super) const fn owner(&self) -> OwnerId {
        self.bot.owner
    }

    pub(super) const fn member(&self) -> Member {
        Member { bot: self.id, owner: self.bot.owner, since_ms: self.since_ms }
    }

    /// By how many points their ratings differ.
    pub(super) fn apart(&self, other: &Self) -> f64 {
        (self.strength.rating() - other.strength.rating()).abs()
    }

    /// How often they were lately partners.
    pub(super) fn partnered(&self, other: &Self) -> u32 {
        let [mine, theirs] = [self.bot.history.with(other.id), other.bot.history.with(self.id)];
        mine.partnered.max(theirs.partnered)
    }

    /// How many matches they lately played together beyond twice the other's share of this one's, which is taken to be this at least.
    fn beyond_share(&self, other: &Self, least_share: f64) -> f64 {
        let met = self.bot.history.with(other.id).met;
        if met == 0 {
            return 0.0;
        }
        let share = self.share.with(&other.share).max(least_share);
        #[allow(clippy::cast_precision_loss)] // at most 1,000
        let remembered = self.bot.history.len() as f64;
        (f64::from(met) - 2.0 * share * remembered).max(0.0)
    }
}

/// How far two bots are from one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    nearer_by_uncertainty: f64,
    further_by_repeat: f64,
}

impl Distance {
    pub(super) fn new(settings: &PairingSettings) -> Self {
        Self {
            nearer_by_uncertainty: settings.nearer_by_uncertainty,
            further_by_repeat: settings.further_by_repeat,
        }
    }

    /// In points: how far their ratings are apart, less what is uncertain, and more for each match too many together. The same from
    /// either side; below 0 for two that are near and uncertain.
    pub(super) fn between(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        self.by_ratings(one, other) + self.by_repeats(one, other, 0.0)
    }

    /// In points: how far their ratings are apart, less what is uncertain.
    fn by_ratings(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        let uncertain = one.strength.uncertainty() + other.strength.uncertainty();
        one.apart(other) - self.nearer_by_uncertainty * uncertain
    }

    /// In points: by how much their matches together part them that are too many even of neighbours. Two who come from a match with one
    /// another are often the only ones that are free: they have no more than their share.
    pub(super) fn by_repeats_of_neighbours(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        let again = one.bot.history.was_last_with(other.id) && other.bot.history.was_last_with(one.id);
        self.by_repeats(one, other, if again { 0.0 } else { neighbours::SHARE })
    }

    /// The share that each has in the matches of the other is this at least.
    fn by_repeats(&self, one: &Candidate<'_>, other: &Candidate<'_>, least_share: f64) -> f64 {
        let beyond = one.beyond_share(other, least_share).max(other.beyond_share(one, least_share));
        self.further_by_repeat * beyond
    }

    /// How far apart ratings may be at most within this reach, where nobody is more uncertain than `most_uncertain` points.
    pub(super) fn widest(&self, reach: f64, candidate: &Candidate<'_>, most_uncertain: f64) -> f64 {
        reach + self.nearer_by_uncertainty * (candidate.strength.uncertainty() + most_uncertain)
    }
}
