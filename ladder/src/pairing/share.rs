//! What part of a bot's matches it would play with another if it played as often with all ([`Share`]).

use std::collections::HashMap;

use super::bot::OwnerId;
use super::neighbours::Queued;
use super::settings::{PairingSettings, SameOwner};

/// How matches come to be shared, as one bot sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// If all whom it may meet were as likely.
    by_bots: f64,
    /// Which part a whole owner would have if all owners were as likely. 0 where a match may have several bots of one.
    of_an_owner: f64,
    /// How many bots its own owner has in the queue.
    siblings: f64,
}

impl Share {
    /// The part of this bot's matches in which the other would be: by bots or by owners, whichever is more, as bots of one owner take the
    /// places of one another.
    pub(super) fn with(&self, other: &Self) -> f64 {
        self.by_bots.max(self.of_an_owner / other.siblings).min(1.0)
    }
}

/// Those of all bots of a queue.
pub(super) struct Shares {
    others: f64,
    queued: usize,
    same_owner: SameOwner,
    of_owner: HashMap<OwnerId, usize>,
}

impl Shares {
    pub(super) fn new(settings: &PairingSettings, queued: &[Queued]) -> Self {
        let mut of_owner = HashMap::new();
        for bot in queued {
            *of_owner.entry(bot.owner).or_default() += 1;
        }
        let others = count(settings.players.count() - 1);
        Self { others, queued: queued.len(), same_owner: settings.same_owner, of_owner }
    }

    /// That of a bot of this owner.
    pub(super) fn of(&self, owner: OwnerId) -> Share {
        let siblings = self.of_owner.get(&owner).copied().unwrap_or(1);
        let part_of = |all: usize| self.others / count(all.max(1));
        let (may_meet, of_an_owner) = match self.same_owner {
            SameOwner::Apart => {
                (self.queued.saturating_sub(siblings), part_of(self.of_owner.len().saturating_sub(1)))
            }
            SameOwner::Opponents | SameOwner::Anywhere => (self.queued.saturating_sub(1), 0.0),
        };
        Share { by_bots: part_of(may_meet), of_an_owner, siblings: count(siblings) }
    }
}

#[allow(clippy::cast_precision_loss)] // more bots than 2^52 there are not
fn count(bots: usize) -> f64 {
    bots as f64
}
