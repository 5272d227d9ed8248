//! Who is kept free for a ladder that bots hold up by what they play on others ([`Hold`]).

/// Keeps bots free for one ladder of several, which are told apart by `L`.
///
/// Bots that wait on several ladders may play so many matches at once on all of them together. Where few are wanted for a match, the next
/// one is made as soon as a match is over; where many are, they are never free at the same moment. So, once somebody's patience is over on
/// a ladder, those who wait there too keep the last of their matches at once for it, until a match is made there or none could be any
/// more: [`Hold::CALLS`] calls at most, and then for as many calls nothing is kept. A ladder for which all were in vain comes after the
/// others then, so that one that can't be served keeps nobody from being served.
///
/// ```
/// use zetema_ladder::pairing::Hold;
/// let mut hold = Hold::default();
/// let calls = Hold::<&str>::CALLS;
/// let starving = [(7_000, "pairs"), (3_000, "six")];
/// assert_eq!(hold.next(starving, |_| true), Some("six"), "whoever waits longest");
/// assert_eq!(hold.next([], |_| true), Some("six"), "until a match is made there");
/// let held = (2..calls).filter(|_| hold.next(starving, |_| true) == Some("six")).count();
/// let free = (0..calls).filter(|_| hold.next(starving, |_| true).is_none()).count();
/// assert_eq!((held as u32, free as u32), (calls - 2, calls));
/// assert_eq!(hold.next(starving, |_| true), Some("pairs"), "it was in vain for the other");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold<L> {
    stage: Stage,
    /// The ladder that bots are kept free for.
    ladder: Option<L>,
    /// The ladders for which they were in vain since the last match there, the one of longest ago first.
    in_vain: Vec<L>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Something was held for so many calls in a row.
    Held(u32),
    /// Nothing is held for so many calls more.
    Rests(u32),
}

impl<L> Default for Hold<L> {
    fn default() -> Self {
        Self { stage: Stage::Held(0), ladder: None, in_vain: Vec::new() }
    }
}

impl<L: Clone + PartialEq> Hold<L> {
    /// For how many calls in a row bots are kept free at most, and for how many they are not then.
    pub const CALLS: u32 = 120;

    /// For which ladder bots are kept free at this call. `starving` are those on which somebody's patience is over, each with since when
    /// that one waits; `could_pair` says whether a match could be made of all who are in a ladder's queue.
    pub fn next(
        &mut self,
        starving: impl IntoIterator<Item = (u64, L)>,
        could_pair: impl FnOnce(&L) -> bool,
    ) -> Option<L> {
        let calls = match self.stage {
            Stage::Held(calls) => calls,
            Stage::Rests(left) => {
                self.stage = if left > 1 { Stage::Rests(left - 1) } else { Stage::Held(0) };
                return None;
            }
        };
        let kept = self.ladder.take().filter(could_pair);
        let turn = |(since_ms, ladder): &(u64, L)| {
            (self.in_vain.iter().position(|earlier| earlier == ladder), *since_ms)
        };
        let next = kept.or_else(|| Some(starving.into_iter().min_by_key(turn)?.1));
        let Some(ladder) = next else {
            self.stage = Stage::Held(0);
            return None;
        };
        if calls + 1 < Self::CALLS {
            self.stage = Stage::Held(calls + 1);
            self.ladder = Some(ladder.clone());
        } else {
            self.stage = Stage::Rests(Self::CALLS);
            self.in_vain.retain(|earlier| *earlier != ladder);
            self.in_vain.push(ladder.clone());
        }
        Some(ladder)
    }

    /// A match was made on a ladder: nobody is kept free for it any more, unless somebody starves there again.
    pub fn served(&mut self, ladder: &L) {
        self.in_vain.retain(|earlier| earlier != ladder);
        if self.ladder.as_ref() == Some(ladder) {
            self.ladder = None;
        }
    }
}
