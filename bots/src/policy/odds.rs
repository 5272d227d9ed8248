//! What the cards that were not seen make likely.

use zetema_sdk::View;
use zetema_sdk::rules::{
    Ace, Card, Cards, Draw, FlushSuits, MarriageHandMin, Rank, RoyalZetema, Rules, Seat, Suit,
};

use super::weights::Weights;

/// The points of so many marriages at once, without the imperial bonus (R19).
const MARRIAGES: [f64; 7] = [0.0, 10.0, 30.0, 60.0, 100.0, 150.0, 150.0];

/// One decision: what each card is worth to the hand, and what its pile makes of it.
pub(crate) struct Odds<'a> {
    view: &'a View,
    weights: &'a Weights,
    hand: Cards,
    unseen: Cards,
    /// Unseen, and not known to be held by another.
    coming: Cards,
    /// How many of the cards to come this seat may expect to draw, for each of them.
    share: f64,
    /// The odds that one unknown card is in some other hand.
    held_by_others: f64,
    /// What a sequence is worth to each of the ranks that it lacks or has.
    sequences: [f64; 13],
    /// The cards of each suit in hand, and to come.
    suits: [(usize, usize); 4],
    /// The marriages that could be declared now.
    sure: usize,
}

impl<'a> Odds<'a> {
    pub(crate) fn new(view: &'a View, seat: Seat, weights: &'a Weights) -> Self {
        let (rules, public, hand) = (&view.rules, &view.public, view.hand);
        let unseen = view.unseen();
        let mut coming = unseen;
        let mut unknown = 0_u8;
        for other in rules.seats().filter(|&other| other != seat) {
            let known = public.known_held[other.index()];
            coming = coming.minus(known);
            unknown += public.hand_counts[other.index()].saturating_sub(to_u8(known.len()));
        }
        let cards = f64::from(to_u8(coming.len().max(1)));
        let draws = f64::from(public.stock_count) / f64::from(rules.players);
        let suits = Suit::ALL.map(|suit| (hand.of_suit(suit).len(), coming.of_suit(suit).len()));
        let mut odds = Self {
            view,
            weights,
            hand,
            unseen,
            coming,
            share: draws / cards,
            held_by_others: f64::from(unknown) / cards,
            sequences: [0.0; 13],
            suits,
            sure: 0,
        };
        odds.look_for_sequences();
        odds.sure = Suit::ALL.into_iter().map(|suit| odds.marriages(suit)).sum();
        odds
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

    fn look_for_sequences(&mut self) {
        if !self.can_meld() {
            return;
        }
        let rules = &self.view.rules;
        let size = rules.meld_cards();
        // The ace stands above the king too, if the rules say so. By rank: whether it is missing, and the odds
        // that it is here in time.
        let ranks: usize = match rules.ace {
            Ace::Low => 13,
            Ace::Either => 14,
        };
        let mut missing = [0_usize; 14];
        let mut odds = [1.0_f64; 14];
        for rank in Rank::ALL {
            if self.hand.of_rank(rank).is_empty() {
                let expected = count(self.coming.of_rank(rank)) * self.share * self.weights.patience;
                missing[rank.index()] = 1;
                odds[rank.index()] = expected / (1.0 + expected);
            }
        }
        (missing[13], odds[13]) = (missing[0], odds[0]);
        let points = f64::from(rules.sequence_score);
        let mut best = [0.0_f64; 14];
        for start in 0..=ranks.saturating_sub(size) {
            let lacks: usize = missing[start..start + size].iter().sum();
            let Some(weight) = self.weights.sequence.get(lacks) else { continue };
            let worth = points * weight * odds[start..start + size].iter().product::<f64>();
            for best in &mut best[start..start + size] {
                *best = best.max(worth);
            }
        }
        self.sequences.copy_from_slice(&best[..13]);
        self.sequences[0] = best[0].max(best[13]);
    }

    /// How many marriages of a suit this hand makes with the tableau.
    fn marriages(&self, suit: Suit) -> usize {
        let (king, queen) = (Card::new(Rank::King, suit), Card::new(Rank::Queen, suit));
        let (own, open) = (self.hand, self.view.public.tableau);
        let pairs = (own.count(king) + open.count(king)).min(own.count(queen) + open.count(queen));
        match self.view.rules.marriage_hand_min {
            MarriageHandMin::Each => pairs.min(own.count(king) + own.count(queen)),
            MarriageHandMin::Any => pairs,
        }
    }

    /// What the discard of a card is worth now, in points.
    pub(crate) fn discard(&self, card: Card) -> f64 {
        self.pile(card) - self.keep(card)
    }

    /// What a card is worth in hand.
    pub(crate) fn keep(&self, card: Card) -> f64 {
        let own = self.hand.of_rank(card.rank()).len();
        let mut worth = self.flush(card.suit()) + self.flush_sequence(card) + self.assembly(card.rank(), own);
        if own == 1 {
            worth += self.sequences[card.rank().index()];
        }
        match card.rank() {
            Rank::King => worth += self.royal(card, Card::new(Rank::Queen, card.suit())),
            Rank::Queen => worth += self.royal(card, Card::new(Rank::King, card.suit())),
            _ => {}
        }
        worth
    }

    fn flush(&self, suit: Suit) -> f64 {
        let rules = &self.view.rules;
        let barred = rules.flush_suits == FlushSuits::Plain && rules.imperial_suit == suit;
        if barred || !self.can_meld() {
            return 0.0;
        }
        let (held, left) = self.suits[suit.index()];
        let missing = rules.meld_cards().saturating_sub(held);
        if left < missing {
            return 0.0;
        }
        let Some(weight) = self.weights.flush.get(missing) else { return 0.0 };
        let expected = f64::from(to_u8(left)) * self.share;
        let ratio = expected / f64::from(to_u8(missing.max(1)));
        f64::from(rules.flush_score) * weight * ratio.min(2.0)
    }

    /// What a card adds to the flush sequences that are here or lack one card.
    fn flush_sequence(&self, card: Card) -> f64 {
        let rules = &self.view.rules;
        let suit = card.suit();
        let barred = rules.flush_suits == FlushSuits::Plain && rules.imperial_suit == suit;
        let too_few = self.suits[suit.index()].0 + 1 < rules.meld_cards();
        let spare = self.hand.count(card) > 1;
        if self.weights.flush_sequence == 0.0 || barred || too_few || spare || !self.can_meld() {
            return 0.0;
        }
        let ranks: usize = match rules.ace {
            Ace::Low => 13,
            Ace::Either => 14,
        };
        let size = rules.meld_cards();
        let mut odds = 0.0;
        for start in 0..=ranks.saturating_sub(size) {
            let faces = (start..start + size).map(|rank| Card::new(Rank::ALL[rank % 13], suit));
            if faces.clone().all(|face| face != card) {
                continue;
            }
            let mut missing = faces.filter(|&face| !self.hand.contains(face));
            odds += match (missing.next(), missing.next()) {
                // Without this card it may still come again.
                (None, _) => 1.0 - self.comes(card),
                (Some(face), None) => self.comes(face),
                _ => 0.0,
            };
        }
        let gain = f64::from(rules.flush_sequence_score) - f64::from(rules.flush_score);
        self.weights.flush_sequence * gain * odds
    }

    /// The odds that this seat still draws a face.
    fn comes(&self, card: Card) -> f64 {
        1.0 - (-f64::from(to_u8(self.coming.count(card))) * self.share).exp()
    }

    fn assembly(&self, rank: Rank, own: usize) -> f64 {
        let left = self.coming.of_rank(rank).len();
        if own + left < 5 {
            return 0.0;
        }
        let Some(weight) = self.weights.assembly.get(left) else { return 0.0 };
        let odds = (0..left).fold(1.0, |odds, _| odds * (2.0 * self.share).min(1.0));
        f64::from(self.view.rules.assembly_scores.of(rank)) * weight * odds
    }

    fn royal(&self, card: Card, partner: Card) -> f64 {
        let own = self.hand.count(card);
        let partners = self.hand.count(partner) + self.view.public.tableau.count(partner);
        if partners >= own {
            let adds = MARRIAGES[self.sure.min(5)] - MARRIAGES[self.sure.saturating_sub(1).min(5)];
            return self.weights.partner_here * adds;
        }
        let expected =
            f64::from(to_u8(self.unseen.count(partner))) * (self.share + 0.5 * self.held_by_others);
        let next = (self.sure + 1).min(5);
        let adds = MARRIAGES[next] - MARRIAGES[next - 1];
        self.weights.partner_to_come * adds * expected.min(1.0)
    }

    /// What the pile under a discard makes of it.
    fn pile(&self, card: Card) -> f64 {
        let weights = self.weights;
        let lying = self.view.public.tableau.of_rank(card.rank()).len();
        let mut worth = self.marries_elsewhere(card);
        let own = self.hand.of_rank(card.rank()).len() - 1;
        if lying < 2 && (own > 0 || weights.early == 0.0) {
            return worth;
        }
        let points = self.zetema(card.rank());
        let elsewhere = self.unseen.of_rank(card.rank());
        let known = elsewhere.len() > self.coming.of_rank(card.rank()).len();
        worth += points
            * match lying {
                4 => weights.fifth,
                3 if own == 1 => weights.fifth_own,
                3 => {
                    let held = if known { 1.0 } else { self.held_by_others };
                    weights.fifth_elsewhere * held + weights.fifth_to_come * (1.0 - held)
                }
                2 => weights.third[own.min(2)],
                _ => weights.early,
            };
        worth
    }

    /// The points of a rank's zetema, 0 if it can't be made any more or scores nothing.
    fn zetema(&self, rank: Rank) -> f64 {
        let public = &self.view.public;
        let all = public.tableau.of_rank(rank).len()
            + self.hand.of_rank(rank).len()
            + self.unseen.of_rank(rank).len();
        let needed = match (self.view.rules.royal_zetema, rank) {
            (RoyalZetema::AfterAssembly, Rank::King) => Some(Rank::Queen),
            (RoyalZetema::AfterAssembly, Rank::Queen) => Some(Rank::King),
            _ => None,
        };
        if all < 5 || needed.is_some_and(|needed| !public.assemblies.contains(needed)) {
            return 0.0;
        }
        f64::from(Rules::zetema_points(rank))
    }

    /// A king or queen in the tableau is open to whoever has its partner.
    fn marries_elsewhere(&self, card: Card) -> f64 {
        let partner = match card.rank() {
            Rank::King => Rank::Queen,
            Rank::Queen => Rank::King,
            _ => return 0.0,
        };
        let partner = Card::new(partner, card.suit());
        let (unseen, coming) = (self.unseen.count(partner), self.coming.count(partner));
        let held = if unseen > coming { 1.0 } else { f64::from(to_u8(coming)) * self.held_by_others };
        self.weights.marries_elsewhere * held.min(1.0)
    }

    /// What declaring these marriages now is worth, in points.
    pub(crate) fn declare_marriages(&self, points: u16, marriages: usize) -> f64 {
        let left =
            f64::from(self.view.public.stock_count) / f64::from(to_u8(self.view.rules.stock_after_deal()));
        f64::from(points) - self.weights.marriages_wait[marriages.min(5)] * left
    }
}

fn count(cards: Cards) -> f64 {
    f64::from(to_u8(cards.len()))
}

/// No count of cards is above 65.
pub(crate) fn to_u8(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}
