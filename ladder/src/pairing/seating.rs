//! Who sits where.

use std::mem;

use zetema_rules::Seat;

use super::candidate::Candidate;
use super::settings::PairingSettings;

/// How uneven a seating leaves things, the first number first: how much more often the bots had their seats than others, squared; how
/// often they lately had the same bot in the seat after theirs, squared.
type Unevenness = (u64, u64);

/// Who of the group has each seat, by index: of all seatings that keep the sides together, the one that evens the seats most, and
/// among those the one that evens who follows whom. Among those the first, by the bots' numbers.
pub(super) fn seat(settings: &PairingSettings, group: &[Candidate<'_>], sides: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..group.len()).collect();
    order.sort_by_key(|&index| group[index].id);
    let mut search = Search { settings, group, sides, order, seated: Vec::new(), best: None };
    search.go((0, 0));
    search.best.map_or_else(|| mem::take(&mut search.order), |(_, seated)| seated)
}

struct Search<'a> {
    settings: &'a PairingSettings,
    group: &'a [Candidate<'a>],
    sides: &'a [usize],
    order: Vec<usize>,
    seated: Vec<usize>,
    best: Option<(Unevenness, Vec<usize>)>,
}

impl Search<'_> {
    fn go(&mut self, so_far: Unevenness) {
        if self.best.as_ref().is_some_and(|(best, _)| so_far >= *best) {
            return;
        }
        let Some(seat) = Seat::new(self.seated.len()).filter(|_| self.seated.len() < self.group.len()) else {
            self.best = Some((so_far, self.seated.clone()));
            return;
        };
        for turn in 0..self.order.len() {
            let index = self.order[turn];
            if !self.may_sit(index, seat) {
                continue;
            }
            let with = self.with(so_far, index, seat);
            self.seated.push(index);
            self.go(with);
            self.seated.pop();
        }
    }

    /// Seats of one side are as many seats apart as there are sides.
    fn may_sit(&self, index: usize, seat: Seat) -> bool {
        let sides = self.settings.sides();
        let place = seat.index();
        if self.seated.contains(&index) {
            return false;
        }
        if place >= sides {
            return self.sides[self.seated[place % sides]] == self.sides[index];
        }
        self.seated.iter().all(|&other| self.sides[other] != self.sides[index])
    }

    fn with(&self, (seats, follows): Unevenness, index: usize, seat: Seat) -> Unevenness {
        let players = self.settings.players;
        let square = |count: u32| u64::from(count) * u64::from(count);
        let followed =
            |one: usize, next: usize| square(self.group[one].bot.history.with(self.group[next].id).followed);
        let mut follows = follows;
        if let Some(&before) = self.seated.last() {
            follows += followed(before, index);
        }
        if seat.index() + 1 == players.count()
            && let Some(&first) = self.seated.first()
        {
            follows += followed(index, first);
        }
        (seats + square(self.group[index].bot.seats.excess(seat, players)), follows)
    }
}
