//! What kings and queens promise.

use zetema_rules::{Card, Cards, MarriageHandMin, Rank, Suit};

use super::prospects::Prospects;
use super::to_f64;

/// The points of so many marriages at once, without the imperial bonus (R19).
const POINTS: [u16; 6] = [0, 10, 30, 60, 100, 150];

/// What the kings and queens of a hand promise with this tableau: the points of as many marriages
/// at once as are to be expected.
pub(super) fn prospect(prospects: &Prospects<'_>, hand: Cards, tableau: Cards) -> f64 {
    let royals = hand.of_rank(Rank::King).len() + hand.of_rank(Rank::Queen).len();
    if royals == 0 {
        return 0.0;
    }
    let expected: f64 = Suit::ALL.iter().map(|&suit| of_suit(prospects, hand, tableau, suit)).sum();
    points(expected)
}

/// How many marriages of a suit are to be expected.
fn of_suit(prospects: &Prospects<'_>, hand: Cards, tableau: Cards, suit: Suit) -> f64 {
    let (king, queen) = (Card::new(Rank::King, suit), Card::new(Rank::Queen, suit));
    let open = |card| (hand.count(card), tableau.count(card), prospects.coming.count(card));
    let (hand_kings, table_kings, kings_to_come) = open(king);
    let (hand_queens, table_queens, queens_to_come) = open(queen);
    let from_hand = hand_kings + hand_queens;
    if from_hand == 0 {
        return 0.0;
    }
    let sure = (hand_kings + table_kings).min(hand_queens + table_queens);
    let sure = match prospects.view.rules.marriage_hand_min {
        MarriageHandMin::Each => sure.min(from_hand),
        MarriageHandMin::Any => sure,
    };
    // A card that waits for its other half.
    let waits = if hand_kings > hand_queens + table_queens {
        queens_to_come
    } else if hand_queens > hand_kings + table_kings {
        kings_to_come
    } else {
        0
    };
    // It may come into the hand, or be discarded by another.
    let comes = prospects.comes(1.5 * to_f64(waits) * prospects.chance_of_one);
    to_f64(sure) + 0.5 * comes.min(1.0)
}

/// [`POINTS`] with what lies between.
fn points(marriages: f64) -> f64 {
    let mut below = f64::from(POINTS[0]);
    let mut left = marriages.clamp(0.0, 5.0);
    for &next in &POINTS[1..] {
        let next = f64::from(next);
        if left <= 1.0 {
            return below + left * (next - below);
        }
        left -= 1.0;
        below = next;
    }
    below
}
