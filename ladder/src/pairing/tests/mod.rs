//! What a queue does, as sentences.

mod choice;
mod hold;
mod life;
mod properties;
mod seats;
mod share;

use std::num::NonZeroU16;

use zetema_rules::{Players, Teams};

use super::*;

fn options(players: usize, teams: Teams, same_owner: SameOwner) -> PairingOptions {
    PairingOptions { same_owner, ..PairingOptions::usual(Players::new(players).unwrap(), teams) }
}

fn queue(options: PairingOptions) -> Queue {
    Queue::new(PairingSettings::new(options).unwrap())
}

/// A queue of two players each for itself, by the usual numbers.
fn duel() -> Queue {
    queue(options(2, Teams::Individual, SameOwner::Apart))
}

/// A bot of an owner of the same number, whose rating is 25 ± 1.
fn entrant(number: u64) -> Entrant {
    Entrant {
        bot: BotId::new(number),
        owner: OwnerId::new(number),
        strength: Strength::new(25.0, 1.0).unwrap(),
        places: NonZeroU16::MIN,
    }
}

fn places(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

/// The bots of each match, lowest number first.
fn bots(pairings: &[Pairing]) -> Vec<Vec<u64>> {
    pairings
        .iter()
        .map(|pairing| {
            let mut bots: Vec<u64> = pairing.members().iter().map(|member| member.bot.number()).collect();
            bots.sort_unstable();
            bots
        })
        .collect()
}

fn waiting(queue: &Queue) -> Vec<(u64, u64)> {
    queue.waiting().map(|waiting| (waiting.bot.number(), waiting.since_ms)).collect()
}
