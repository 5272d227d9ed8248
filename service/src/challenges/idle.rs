//! Who has held a bot's places without playing ([`IdleOwners`]).

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::journal::Owner;
use crate::limits;

/// The owners who have held a bot's places without playing: the bot takes none of their challenges for a while, which grows.
#[derive(Debug, Default)]
pub(super) struct IdleOwners(HashMap<Owner, Idle>);

/// How an owner has held a bot's places without playing.
#[derive(Clone, Copy, Debug)]
struct Idle {
    /// For how long, since the last cool-down.
    held: Duration,
    /// How many cool-downs there were until they were the longest, less the challenges that were played since.
    cool_downs: u32,
    /// When the last cool-down began.
    cooled: Option<Instant>,
    /// Until when the bot takes none of its challenges.
    until: Instant,
    /// When it was the last time.
    last: Instant,
}

impl IdleOwners {
    /// Whether the bot takes none of an owner's challenges now.
    pub(super) fn is_cooling(&self, challenger: &Owner) -> bool {
        self.0.get(challenger).is_some_and(|idle| Instant::now() < idle.until)
    }

    /// An owner has held places of the bot since then, and nothing was played. Nothing comes of what began before its last cool-down: who
    /// goes away once leaves all its challenges at once.
    pub(super) fn held(&mut self, challenger: &Owner, since: Instant) {
        let now = Instant::now();
        self.0.retain(|_, idle| now.saturating_duration_since(idle.last) < limits::IDLE_CHALLENGES_LAST);
        if self.0.len() >= limits::MAX_IDLE_CHALLENGERS && !self.0.contains_key(challenger) {
            let oldest = self.0.iter().min_by_key(|(_, idle)| idle.last).map(|(owner, _)| owner.clone());
            if let Some(owner) = oldest {
                self.0.remove(&owner);
            }
        }
        let first = Idle { held: Duration::ZERO, cool_downs: 0, cooled: None, until: now, last: now };
        let idle = self.0.entry(challenger.clone()).or_insert(first);
        if idle.cooled.is_some_and(|cooled| since <= cooled) {
            return;
        }
        idle.held += now.saturating_duration_since(since);
        idle.last = now;
        if idle.held >= limits::MAX_CHALLENGE_JOIN_TIMEOUT {
            let factor = 1_u32.checked_shl(idle.cool_downs).unwrap_or(u32::MAX);
            let cool_down = limits::IDLE_CHALLENGES_COOL_DOWN.saturating_mul(factor);
            let longest = limits::IDLE_CHALLENGES_LONGEST_COOL_DOWN;
            *idle = Idle {
                held: Duration::ZERO,
                // More would only have to be played off.
                cool_downs: if cool_down < longest {
                    idle.cool_downs.saturating_add(1)
                } else {
                    idle.cool_downs
                },
                cooled: Some(now),
                until: now + cool_down.min(longest),
                last: now,
            };
        }
    }

    /// A challenge of this owner was played.
    pub(super) fn played(&mut self, challenger: &Owner) {
        if let Some(idle) = self.0.get_mut(challenger) {
            idle.cool_downs = idle.cool_downs.saturating_sub(1);
        }
    }
}
