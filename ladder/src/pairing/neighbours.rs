//! Who is near to whom, however far their ratings are apart (`Neighbours`).

use super::bot::{BotId, OwnerId};
use super::candidate::Candidate;
use super::settings::{PairingSettings, SameOwner};

/// How many neighbours a bot has for each other one that a match takes: enough to play on while some are busy, or were met too often.
const FOR_EACH_OTHER: u8 = 8;

/// What part of a bot's matches it would play with each neighbour if it played with these alone, and as often with all.
pub(super) const SHARE: f64 = 1.0 / FOR_EACH_OTHER as f64;

/// A bot in the queue, whether it could have a match now or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) id: BotId,
    pub(super) owner: OwnerId,
    pub(super) rating: f64,
}

/// The bots of a queue by rating. A bot's neighbours are those that are nearest to it of all whom it may meet: to wait for somebody
/// nearer than them would be in vain.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    by_rating: Vec<Queued>,
    same_owner: SameOwner,
    most: usize,
}

impl Neighbours {
    pub(super) fn new(settings: &PairingSettings, mut queued: Vec<Queued>) -> Self {
        queued.sort_by(|a, b| a.rating.total_cmp(&b.rating).then_with(|| a.id.cmp(&b.id)));
        let most = usize::from(FOR_EACH_OTHER) * (settings.players.count() - 1);
        Self { by_rating: queued, same_owner: settings.same_owner, most }
    }

    /// Whether one of the two is among the neighbours of the other.
    pub(super) fn are(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        let apart = one.apart(other);
        self.has_neighbour_within(one, apart) || self.has_neighbour_within(other, apart)
    }

    /// Whether one that is so far from this one in rating is among its neighbours.
    fn has_neighbour_within(&self, one: &Candidate<'_>, apart: f64) -> bool {
        // Differences, as `apart` is one: rounded otherwise, that one might count as nearer than itself.
        let rating = one.strength.rating();
        let first = self.by_rating.partition_point(|queued| rating - queued.rating >= apart);
        let nearer = self.by_rating[first..].iter().take_while(|queued| queued.rating - rating < apart);
        nearer.filter(|queued| self.may_meet(one, queued)).take(self.most).count() < self.most
    }

    fn may_meet(&self, one: &Candidate<'_>, queued: &Queued) -> bool {
        queued.id != one.id && (queued.owner != one.owner() || self.same_owner != SameOwner::Apart)
    }
}
