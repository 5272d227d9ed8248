//! With whom a bot lately played (`History`), and where it sat (`SeatCounts`).

use std::collections::{BTreeMap, VecDeque};

use zetema_rules::{Players, Seat};

use super::bot::BotId;
use super::members::Pairing;

/// How often a bot lately met another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Encounters {
    /// In all.
    pub(super) met: u32,
    /// On one side.
    pub(super) partnered: u32,
    /// With the other in the next seat clockwise.
    pub(super) followed: u32,
}

/// One other member of a match. Twice as many matches are kept as count, of each bot on each ladder, so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Met {
    bot: BotId,
    partnered: bool,
    followed: bool,
}

/// With whom a bot played its last matches.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The oldest first. Those that count are behind those that did before, which count again when newer ones are taken back.
    matches: VecDeque<Box<[Met]>>,
    counted: usize,
    counts: BTreeMap<BotId, Encounters>,
}

impl History {
    /// How many matches are remembered.
    pub(super) fn len(&self) -> usize {
        self.counted
    }

    /// How often it lately met this one.
    pub(super) fn with(&self, bot: BotId) -> Encounters {
        self.counts.get(&bot).copied().unwrap_or_default()
    }

    /// Whether its last match was with this one.
    pub(super) fn was_last_with(&self, bot: BotId) -> bool {
        self.matches.back().is_some_and(|others| others.iter().any(|met| met.bot == bot))
    }

    /// Remembers a match that the bot has this seat of, and forgets the oldest beyond `most`.
    pub(super) fn remember(&mut self, pairing: &Pairing, seat: Seat, most: usize) {
        let others = others(pairing, seat);
        self.count(&others);
        self.matches.push_back(others);
        self.counted += 1;
        while self.counted > most {
            if let Some(oldest) = self.matches.get(self.matches.len() - self.counted).cloned() {
                self.discount(&oldest);
            }
            self.counted -= 1;
        }
        // As many more are kept: a bot has few matches at once that may still be taken back.
        while self.matches.len() > 2 * most {
            self.matches.pop_front();
        }
    }

    /// Forgets that match, if it is still remembered: it is as if it had never been.
    pub(super) fn take_back(&mut self, pairing: &Pairing, seat: Seat) {
        let others = others(pairing, seat);
        let Some(index) = self.matches.iter().rposition(|remembered| *remembered == others) else { return };
        let first_counted = self.matches.len() - self.counted;
        self.matches.remove(index);
        if index < first_counted {
            return;
        }
        self.discount(&others);
        match first_counted.checked_sub(1).and_then(|before| self.matches.get(before)).cloned() {
            Some(again) => self.count(&again),
            None => self.counted -= 1,
        }
    }

    fn count(&mut self, others: &[Met]) {
        for Met { bot, partnered, followed } in others {
            let count = self.counts.entry(*bot).or_default();
            count.met += 1;
            count.partnered += u32::from(*partnered);
            count.followed += u32::from(*followed);
        }
    }

    fn discount(&mut self, others: &[Met]) {
        for Met { bot, partnered, followed } in others {
            if let Some(count) = self.counts.get_mut(bot) {
                count.met -= 1;
                count.partnered -= u32::from(*partnered);
                count.followed -= u32::from(*followed);
                if count.met == 0 {
                    self.counts.remove(bot);
                }
            }
        }
    }
}

/// The other members of a match, as the one in this seat meets them.
fn others(pairing: &Pairing, seat: Seat) -> Box<[Met]> {
    let count = pairing.members().len();
    let mine = pairing.seats().find_map(|(at, side, _)| (at == seat).then_some(side));
    pairing
        .seats()
        .filter(|&(at, ..)| at != seat)
        .map(|(at, side, member)| Met {
            bot: member.bot,
            partnered: Some(side) == mine,
            followed: at.index() == (seat.index() + 1) % count,
        })
        .collect()
}

/// How often a bot had each seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatCounts([u32; Seat::MAX]);

impl SeatCounts {
    /// How often it had this one.
    pub const fn count(&self, seat: Seat) -> u32 {
        self.0[seat.index()]
    }

    /// How much more often it had this seat than that which it had least, of the seats of so many players.
    pub fn excess(&self, seat: Seat, players: Players) -> u32 {
        let least = players.seats().map(|seat| self.count(seat)).min().unwrap_or(0);
        self.count(seat).saturating_sub(least)
    }

    /// How much more often it had the seat that it had most than that which it had least.
    pub fn spread(&self, players: Players) -> u32 {
        players.seats().map(|seat| self.excess(seat, players)).max().unwrap_or(0)
    }

    pub(super) const fn sat(&mut self, seat: Seat) {
        self.0[seat.index()] = self.0[seat.index()].saturating_add(1);
    }

    pub(super) const fn take_back(&mut self, seat: Seat) {
        self.0[seat.index()] = self.0[seat.index()].saturating_sub(1);
    }
}
