//! A bot that could have a match now (`Candidate`), and how far it is from another.

use super::bot::{BotId, OwnerId, Strength};
use super::members::Member;
use super::neighbours;
use super::queue::Bot;
use super::settings::PairingSettings;

/// A bot that could have a match now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) id: BotId,
    pub(super) bot: &'a Bot,
    pub(super) strength: Strength,
    pub(super) since_ms: u64,
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

    /// How many matches they lately played together beyond twice their share of this one's.
    fn beyond_share(&self, other: &Self, share: f64) -> f64 {
        let met = f64::from(self.bot.history.with(other.id).met);
        #[allow(clippy::cast_precision_loss)] // at most 1,000
        let remembered = self.bot.history.len() as f64;
        (met - 2.0 * share * remembered).max(0.0)
    }
}

/// How far two bots are from one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    nearer_by_uncertainty: f64,
    further_by_repeat: f64,
    /// What part of a bot's matches it would play with each other one if it played as often with all.
    share: f64,
    /// The same if it played with its neighbours alone.
    share_of_neighbours: f64,
}

impl Distance {
    /// On a ladder on which so many bots are in the queue, those among them that can play no more now too.
    pub(super) fn new(settings: &PairingSettings, queued: usize) -> Self {
        #[allow(clippy::cast_precision_loss)] // more bots than 2^52 there are not
        let share = (settings.players.count() - 1) as f64 / queued.saturating_sub(1).max(1) as f64;
        Self {
            nearer_by_uncertainty: settings.nearer_by_uncertainty,
            further_by_repeat: settings.further_by_repeat,
            share: share.min(1.0),
            share_of_neighbours: share.clamp(neighbours::SHARE, 1.0),
        }
    }

    /// In points: how far their ratings are apart, less what is uncertain, and more for each match too many together. The same from
    /// either side; below 0 for two that are near and uncertain.
    pub(super) fn between(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        self.by_ratings(one, other) + self.by_repeats(one, other, self.share)
    }

    /// In points: how far their ratings are apart, less what is uncertain.
    pub(super) fn by_ratings(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        let uncertain = one.strength.uncertainty() + other.strength.uncertainty();
        one.apart(other) - self.nearer_by_uncertainty * uncertain
    }

    /// In points: by how much their matches together part them that are too many even of neighbours.
    pub(super) fn by_repeats_of_neighbours(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> f64 {
        self.by_repeats(one, other, self.share_of_neighbours)
    }

    fn by_repeats(&self, one: &Candidate<'_>, other: &Candidate<'_>, share: f64) -> f64 {
        self.further_by_repeat * one.beyond_share(other, share).max(other.beyond_share(one, share))
    }

    /// How far apart ratings may be at most within this reach, where nobody is more uncertain than `most_uncertain` points.
    pub(super) fn widest(&self, reach: f64, candidate: &Candidate<'_>, most_uncertain: f64) -> f64 {
        reach + self.nearer_by_uncertainty * (candidate.strength.uncertainty() + most_uncertain)
    }
}
