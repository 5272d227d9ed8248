//! What the cards in hand promise, in points.

use zetema_sdk::View;
use zetema_sdk::rules::{Ace, Cards, Draw, FlushSuits, Rank, Suit};

use super::marriages;

/// The odds of one decision: which cards may still come, and how many draws there will be.
pub(crate) struct Prospects<'a> {
    pub(crate) view: &'a View,
    /// Cards that may be drawn: unseen, and not known to be held by another.
    pub(crate) coming: Cards,
    /// The chance that a draw is one given card.
    pub(crate) chance_of_one: f64,
    /// How often this seat will still draw in this deal.
    draws: u32,
}

impl<'a> Prospects<'a> {
    pub(crate) fn new(view: &'a View) -> Self {
        let coming = view.public.known_held.iter().fold(view.unseen(), |left, held| left.minus(*held));
        let players = u32::from(view.rules.players);
        Self {
            view,
            coming,
            chance_of_one: 1.0 / to_f64(coming.len().max(1)),
            draws: u32::from(view.public.stock_count).div_ceil(players),
        }
    }

    /// What a hand promises after this turn, with this tableau.
    pub(crate) fn of(&self, hand: Cards, tableau: Cards) -> f64 {
        // A hand can follow one plan at a time; a second one is a reserve.
        let mut plans = [0.0_f64; 2];
        let mut plan = |worth: f64| {
            if worth > plans[0] {
                plans = [worth, plans[0]];
            } else if worth > plans[1] {
                plans[1] = worth;
            }
        };
        for suit in Suit::ALL {
            plan(self.flush(hand, suit));
        }
        let starts = match self.view.rules.ace {
            Ace::Low => 13_usize,
            Ace::Either => 14,
        };
        for start in 0..=starts.saturating_sub(self.view.rules.meld_cards()) {
            plan(self.sequence(hand, start));
        }
        for rank in Rank::ALL {
            plan(self.assembly(hand, rank));
        }
        plans[0] + 0.4 * plans[1] + marriages::prospect(self, hand, tableau)
    }

    /// Whether a hand can hold a meld when it is time to declare.
    fn can_meld(&self) -> bool {
        let rules = &self.view.rules;
        let most = match rules.draw_at_start {
            Draw::ToHandSizePlusOne => rules.hand_size + 1,
            _ => rules.hand_size,
        };
        usize::from(most) >= rules.meld_cards()
    }

    /// A flush in this suit: the points by the odds that enough cards of the suit come, and again
    /// for each one after that.
    fn flush(&self, hand: Cards, suit: Suit) -> f64 {
        let rules = &self.view.rules;
        if !self.can_meld() || (rules.flush_suits == FlushSuits::Plain && rules.imperial_suit == suit) {
            return 0.0;
        }
        let held = hand.of_suit(suit).len();
        let missing = rules.meld_cards().saturating_sub(held).max(1);
        let left = self.coming.of_suit(suit).len();
        if left < missing {
            return 0.0;
        }
        let successes = expected_beyond(self.draws, to_f64(left) * self.chance_of_one, missing);
        f64::from(rules.flush_score) * successes
    }

    /// A sequence from this rank up.
    fn sequence(&self, hand: Cards, start: usize) -> f64 {
        let rules = &self.view.rules;
        if !self.can_meld() {
            return 0.0;
        }
        let size = rules.meld_cards();
        let mut odds = 1.0;
        let mut waiting = 0.0;
        let mut missing = 0.0;
        let mut held = Cards::EMPTY;
        for rank in (start..start + size).map(|rank| Rank::ALL[rank % 13]) {
            if !hand.of_rank(rank).is_empty() {
                held = held.union(hand.of_rank(rank));
                continue;
            }
            let chance = to_f64(self.coming.of_rank(rank).len()) * self.chance_of_one;
            odds *= self.comes(chance);
            missing += 1.0;
            waiting += chance;
        }
        if odds <= 0.0 {
            return 0.0;
        }
        // How long it takes if the missing ranks are about equally likely, and how often it then comes
        // again: the ranks at both ends make a new one.
        let turns = if missing == 0.0 { 0.0 } else { missing * harmonic(missing) / waiting };
        let ends = [(start + size) % 13, (start + 12) % 13].map(|rank| Rank::ALL[rank]);
        let again: f64 = ends.iter().map(|&rank| to_f64(self.coming.of_rank(rank).len())).sum::<f64>()
            * self.chance_of_one;
        let repeats = (f64::from(self.draws) - turns).max(0.0) * again;
        let one_suit = Suit::ALL.iter().any(|&suit| held.of_suit(suit).distinct() == held && missing <= 2.0);
        let points = if one_suit {
            0.8 * f64::from(rules.sequence_score) + 0.2 * f64::from(rules.flush_sequence_score)
        } else {
            f64::from(rules.sequence_score)
        };
        points * odds * (1.0 + repeats)
    }

    /// All five cards of a rank.
    fn assembly(&self, hand: Cards, rank: Rank) -> f64 {
        let held = hand.of_rank(rank).len();
        let left = self.coming.of_rank(rank).len();
        if held + left < 5 || held == 0 {
            return 0.0;
        }
        let odds = self.comes(self.chance_of_one).powi(i32::try_from(left).unwrap_or(5));
        f64::from(self.view.rules.assembly_scores.of(rank)) * odds
    }

    /// The odds that something comes in this seat's draws, from its odds in one.
    pub(crate) fn comes(&self, chance: f64) -> f64 {
        1.0 - (1.0 - chance.clamp(0.0, 1.0)).powi(i32::try_from(self.draws).unwrap_or(i32::MAX))
    }
}

/// The expected number of successes from the `first` one on, in so many tries.
fn expected_beyond(tries: u32, chance: f64, first: usize) -> f64 {
    let chance = chance.clamp(0.0, 1.0);
    // The mean, less what is expected below.
    let mut below = 0.0;
    let mut odds = (1.0 - chance).powi(i32::try_from(tries).unwrap_or(i32::MAX));
    let mut total = 0.0;
    for successes in 0..first {
        let count = to_f64(successes);
        below += odds * count;
        total += odds;
        if chance >= 1.0 {
            break;
        }
        odds *= (f64::from(tries) - count) / (count + 1.0) * chance / (1.0 - chance);
    }
    let mean = f64::from(tries) * chance;
    (mean - below - to_f64(first.saturating_sub(1)) * (1.0 - total)).max(0.0)
}

fn harmonic(count: f64) -> f64 {
    let mut sum = 0.0;
    let mut term = 1.0;
    while term <= count {
        sum += 1.0 / term;
        term += 1.0;
    }
    sum
}

pub(crate) fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
