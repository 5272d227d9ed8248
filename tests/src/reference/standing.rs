//! Sides: forfeits, ranks, and the target (R24, R25).

use super::game::{Game, Refusal, Stage};

impl Game {
    /// A seat is forfeited; the match ends when only one side is left without a forfeit (R25).
    ///
    /// # Errors
    /// [`Refusal::Forfeit`] if the match is over or there is no such seat; nothing changes.
    pub fn forfeit(&mut self, seat: usize) -> Result<(), Refusal> {
        if self.stage == Stage::Over || seat >= self.rules.players {
            return Err(Refusal::Forfeit);
        }
        self.forfeited[seat] = true;
        let sides = 0..self.rules.sides();
        if sides.filter(|side| !self.side_forfeited(*side)).count() <= 1 {
            self.stage = Stage::Over;
        }
        Ok(())
    }

    /// The rank of each side, 1 the best: one more than the number of sides that are better. A
    /// side without a forfeit is better than one with; otherwise the greater total is (R25).
    pub fn ranks(&self) -> Vec<usize> {
        let sides = 0..self.rules.sides();
        let standing = |side: usize| (!self.side_forfeited(side), self.totals[side]);
        sides
            .clone()
            .map(|side| {
                let better = |other: &usize| standing(*other) > standing(side);
                1 + sides.clone().filter(better).count()
            })
            .collect()
    }

    /// Whether any seat of the side is forfeited (R25).
    pub fn side_forfeited(&self, side: usize) -> bool {
        (0..self.rules.players).any(|seat| self.rules.side(seat) == side && self.forfeited[seat])
    }

    /// Whether a side without a forfeit has reached the target (R24, R25).
    pub(super) fn target_reached(&self) -> bool {
        let Some(target) = self.rules.target else {
            return false;
        };
        let reached = |side: usize| self.totals[side] >= target && !self.side_forfeited(side);
        (0..self.rules.sides()).any(reached)
    }
}
