//! In what part of a bot's matches another would be, if all matches that may be were as likely ([`Share`]).

use std::collections::HashMap;

use zetema_rules::Seat;

use super::bot::OwnerId;
use super::neighbours::Queued;
use super::settings::{PairingSettings, SameOwner};

/// In how many ways so many bots can be drawn that may be in one match: of none, of one and so on. 128 bits are enough for 10⁸ bots.
type Ways = [u128; Seat::MAX];

/// How matches come to be shared, as one bot sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Of those whom it may meet.
    ways: Ways,
    /// How many others a match takes.
    others: usize,
    /// How many bots of the queue have no place in a match that it is in, itself too.
    siblings: u128,
}

impl Share {
    /// The part of this bot's matches in which the other would be, which it may meet. Of two that may not, who met when the ladder had other
    /// rules, nothing comes of it.
    pub(super) fn with(&self, other: &Self) -> f64 {
        let with_other = without(self.ways, other.siblings)[self.others - 1];
        #[allow(clippy::cast_precision_loss)]
        match self.ways[self.others] {
            0 => 1.0,
            all => with_other as f64 / all as f64,
        }
    }
}

/// Those of all bots of a queue.
pub(super) struct Shares {
    ways: Ways,
    others: usize,
    /// Where a match has one bot of an owner at most.
    of_owner: HashMap<OwnerId, u128>,
}

impl Shares {
    pub(super) fn new(settings: &PairingSettings, queued: &[Queued]) -> Self {
        let mut of_owner: HashMap<OwnerId, u128> = HashMap::new();
        let mut ways = [0; Seat::MAX];
        ways[0] = 1;
        if settings.same_owner == SameOwner::Apart {
            for bot in queued {
                *of_owner.entry(bot.owner).or_default() += 1;
            }
            ways = of_owner.values().fold(ways, |ways, &bots| with(ways, bots));
        } else {
            ways = queued.iter().fold(ways, |ways, _| with(ways, 1));
        }
        Self { ways, others: settings.players.count() - 1, of_owner }
    }

    /// That of a bot of this owner, which is in the queue.
    pub(super) fn of(&self, owner: OwnerId) -> Share {
        let siblings = self.of_owner.get(&owner).copied().unwrap_or(1);
        Share { ways: without(self.ways, siblings), others: self.others, siblings }
    }
}

/// The ways with so many bots more, of which one at most is drawn.
fn with(mut ways: Ways, bots: u128) -> Ways {
    for drawn in (1..ways.len()).rev() {
        ways[drawn] += bots * ways[drawn - 1];
    }
    ways
}

/// The ways without so many bots, of which one at most was drawn.
fn without(mut ways: Ways, bots: u128) -> Ways {
    for drawn in 1..ways.len() {
        ways[drawn] = ways[drawn].saturating_sub(bots.saturating_mul(ways[drawn - 1]));
    }
    ways
}
