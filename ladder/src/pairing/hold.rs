//! Who is kept free for a ladder that bots hold up by what they play on others ([`Hold`]).

/// Keeps bots free for one ladder of several.
///
/// Bots that wait on several ladders may play so many matches at once on all of them together. Where few are wanted for a match, the next
/// one is made as soon as a match is over; where many are, they are never free at the same moment. So, once somebody's patience is over on
/// a ladder, those who wait there too keep the last of their matches at once for it: [`Hold::CALLS`] calls at most, and then for as many
/// calls nothing is kept.
///
/// ```
/// use zetema_ladder::pairing::Hold;
/// let mut hold = Hold::default();
/// let starving = [(7_000, "pairs"), (3_000, "six")];
/// assert_eq!(hold.next(starving), Some("six"), "whoever waits longest");
/// let held = (1..Hold::CALLS).filter(|_| hold.next(starving).is_some()).count();
/// let free = (0..Hold::CALLS).filter(|_| hold.next(starving).is_none()).count();
/// assert_eq!((held as u32, free as u32), (Hold::CALLS - 1, Hold::CALLS));
/// assert_eq!(hold.next(starving), Some("six"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold(Stage);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It was held for so many calls in a row.
    Held(u32),
    /// Nothing is held for so many calls more.
    Rests(u32),
}

impl Default for Stage {
    fn default() -> Self {
        Self::Held(0)
    }
}

impl Hold {
    /// For how many calls in a row bots are kept free at most, and for how many they are not then.
    pub const CALLS: u32 = 120;

    /// For which ladder bots are kept free at this call. `starving` are those on which somebody's patience is over, each with since when
    /// that one waits.
    pub fn next<L: Ord>(&mut self, starving: impl IntoIterator<Item = (u64, L)>) -> Option<L> {
        if let Stage::Rests(left @ 1..) = self.0 {
            self.0 = if left == 1 { Stage::Held(0) } else { Stage::Rests(left - 1) };
            return None;
        }
        let Some((_, ladder)) = starving.into_iter().min() else {
            self.0 = Stage::Held(0);
            return None;
        };
        let held = match self.0 {
            Stage::Held(calls) => calls + 1,
            Stage::Rests(_) => 1,
        };
        self.0 = if held == Self::CALLS { Stage::Rests(Self::CALLS) } else { Stage::Held(held) };
        Some(ladder)
    }
}
