//! What a bot did in the rated matches of a ladder, counted.

use zetema_rules::{Seat, Side};

use super::played::Played;

/// What a bot did in the rated matches of a ladder, counted. None of it is rated but by the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    /// The matches that it played to the end.
    pub matches: u64,
    /// Those in which its side alone was first.
    pub wins: u64,
    /// Those in which its side was first together with others.
    pub draws: u64,
    /// Those in which it forfeited its seat.
    pub forfeits: u64,
    /// The sides that it met: one in a match of two sides, five in one of six.
    pub opponents: u64,
    /// The points of its side less those of each side that it met, summed over all of them. Over all bots of matches without
    /// teams the sum is 0; `margin / opponents` is a mean lead in points.
    pub margin: i64,
}

impl Tally {
    /// With one match more, in which the bot had this seat and was of this side.
    #[must_use]
    pub(super) fn with<B>(mut self, played: &Played<B>, seat: Seat, side: Side) -> Self {
        self.matches += 1;
        if played.rank(side) == 1 {
            match played.sides().filter(|&other| played.rank(other) == 1).count() {
                1 => self.wins += 1,
                _ => self.draws += 1,
            }
        }
        if played.forfeited().contains(seat) {
            self.forfeits += 1;
        }
        for other in played.sides().filter(|&other| other != side) {
            self.opponents += 1;
            self.margin += played.margin(side, other);
        }
        self
    }
}
