//! What the cards in hand promise.

use zetema_rules::{Ace, Cards, Draw, FlushSuits, Rank, Suit, View};

use super::{marriages, power, to_f64};

/// The odds of one decision. All that does not depend on what is kept is worked out once.
pub(super) struct Prospects<'a> {
    pub(super) view: &'a View,
    /// Cards that may be drawn: unseen, and not known to be held by another.
    pub(super) coming: Cards,
    /// The chance that a draw is one given card.
    pub(super) chance_of_one: f64,
    /// How often this seat will still draw in this deal.
    draws: u32,
    /// The chance that a draw is of this rank.
    rank_chance: [f64; 13],
    /// The odds that a card of this rank comes in these draws.
    rank_comes: [f64; 13],
    /// The odds that one given card comes.
    card_comes: f64,
    /// How many flushes of this suit are to be expected, by how many cards the first lacks; 0 stands for 1.
    flushes: [[f64; 11]; 4],
}

impl<'a> Prospects<'a> {
    pub(super) fn new(view: &'a View) -> Self {
        let coming = view.public.known_held.iter().fold(view.unseen(), |left, held| left.minus(*held));
        let draws = u32::from(view.public.stock_count).div_ceil(u32::from(view.rules.players));
        let chance_of_one = 1.0 / to_f64(coming.len().max(1));
        let rank_chance = Rank::ALL.map(|rank| to_f64(coming.of_rank(rank).len()) * chance_of_one);
        let flushes = Suit::ALL.map(|suit| flushes(view, draws, coming.of_suit(suit).len(), chance_of_one));
        Self {
            view,
            coming,
            chance_of_one,
            draws,
            rank_chance,
            rank_comes: rank_chance.map(|chance| comes(draws, chance)),
            card_comes: comes(draws, chance_of_one),
            flushes,
        }
    }

    /// What a hand promises after this turn, with this tableau: its best plan, 0.4 of its second best, as a hand can follow
    /// one at a time, and its marriages.
    pub(super) fn of(&self, hand: Cards, tableau: Cards) -> f64 {
        let (mut best, mut second) = (0.0, 0.0);
        let mut plan = |worth: f64| {
            if worth > best {
                (best, second) = (worth, best);
            } else if worth > second {
                second = worth;
            }
        };
        if can_meld(self.view) {
            for suit in Suit::ALL {
                plan(self.flush(hand, suit));
            }
            let size = self.view.rules.meld_cards();
            let ranks = match self.view.rules.ace {
                Ace::Low => 13_usize,
                Ace::Either => 14,
            };
            for start in 0..=ranks.saturating_sub(size) {
                plan(self.sequence(hand, start, size));
            }
        }
        for rank in Rank::ALL {
            plan(self.assembly(hand, rank));
        }
        best + 0.4 * second + marriages::prospect(self, hand, tableau)
    }

    /// A flush scores when enough cards of the suit have come, and again with each one after that.
    fn flush(&self, hand: Cards, suit: Suit) -> f64 {
        let rules = &self.view.rules;
        if rules.flush_suits == FlushSuits::Plain && rules.is_imperial(suit) {
            return 0.0;
        }
        let lacking = rules.meld_cards().saturating_sub(hand.of_suit(suit).len());
        f64::from(rules.flush_score) * self.flushes[suit.index()][lacking]
    }

    /// A sequence scores when the last rank has come, and again with each card of the rank below or above.
    fn sequence(&self, hand: Cards, start: usize, size: usize) -> f64 {
        let (mut odds, mut waiting, mut lacking) = (1.0, 0.0, 0);
        let mut held = Cards::EMPTY;
        for rank in (start..start + size).map(|rank| rank % 13) {
            let cards = hand.of_rank(Rank::ALL[rank]);
            if cards.is_empty() {
                odds *= self.rank_comes[rank];
                waiting += self.rank_chance[rank];
                lacking += 1;
            } else {
                held = held.union(cards);
            }
        }
        if odds <= 0.0 {
            return 0.0;
        }
        let turns = if lacking == 0 { 0.0 } else { to_f64(lacking) * harmonic(lacking) / waiting };
        let again = self.rank_chance[(start + size) % 13] + self.rank_chance[(start + 12) % 13];
        let repeats = (f64::from(self.draws) - turns).max(0.0) * again;
        let rules = &self.view.rules;
        let one_suit = lacking <= 2 && Suit::ALL.iter().any(|&suit| held.of_suit(suit).distinct() == held);
        let points = if one_suit {
            0.8 * f64::from(rules.sequence_score) + 0.2 * f64::from(rules.flush_sequence_score)
        } else {
            f64::from(rules.sequence_score)
        };
        points * odds * (1.0 + repeats)
    }

    /// All five cards of a rank.
    fn assembly(&self, hand: Cards, rank: Rank) -> f64 {
        let (held, left) = (hand.of_rank(rank).len(), self.coming.of_rank(rank).len());
        if held == 0 || held + left < 5 {
            return 0.0;
        }
        let odds = (0..left).fold(1.0, |odds, _| odds * self.card_comes);
        f64::from(self.view.rules.assembly_scores.of(rank)) * odds
    }

    /// The odds that something comes in this seat's draws, from its odds in one.
    pub(super) fn comes(&self, chance: f64) -> f64 {
        comes(self.draws, chance)
    }
}

fn comes(draws: u32, chance: f64) -> f64 {
    1.0 - power(1.0 - chance.clamp(0.0, 1.0), draws)
}

/// Whether a hand is ever large enough for a sequence or flush.
fn can_meld(view: &View) -> bool {
    let rules = &view.rules;
    let most = match rules.draw_at_start {
        Draw::ToHandSizePlusOne => rules.hand_size + 1,
        _ => rules.hand_size,
    };
    usize::from(most) >= rules.meld_cards()
}

/// How many cards of a suit come from the first on that completes a flush, by how many it lacks: with the binomial odds of so
/// many draws.
fn flushes(view: &View, draws: u32, left: usize, chance_of_one: f64) -> [f64; 11] {
    let mut expected = [0.0; 11];
    let chance = (to_f64(left) * chance_of_one).clamp(0.0, 1.0);
    let mut odds = power(1.0 - chance, draws);
    // Σ of odds and of count · odds over what is too few.
    let (mut total, mut mean_below) = (0.0, 0.0);
    let mean = f64::from(draws) * chance;
    for (too_few, expected) in expected.iter_mut().skip(1).take(view.rules.meld_cards().min(left)).enumerate()
    {
        let count = to_f64(too_few);
        total += odds;
        mean_below += odds * count;
        *expected = (mean - mean_below - count * (1.0 - total)).max(0.0);
        odds = if chance < 1.0 {
            odds * (f64::from(draws) - count) / (count + 1.0) * chance / (1.0 - chance)
        } else {
            0.0
        };
    }
    expected[0] = expected[1];
    expected
}

/// 1 + 1/2 + … + 1/count: how much longer the last of so many takes than the first.
fn harmonic(count: usize) -> f64 {
    (1..=count).fold(0.0, |sum, term| sum + 1.0 / to_f64(term))
}
