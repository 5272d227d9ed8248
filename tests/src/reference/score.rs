//! The points of what is declared or completed (R18, R19).

use super::card::{ACE, FIVE, JACK, KING, QUEEN};
use super::rules::{AssemblyScores, ImperialBonus};

/// The points of five cards of a rank in the tableau (R18).
pub fn zetema_score(rank: u8) -> u32 {
    match rank {
        KING | QUEEN => 50,
        JACK => 20,
        ACE | FIVE => 15,
        _ => 5,
    }
}

/// The points of five cards of a rank declared from hand (R18).
pub fn assembly_score(scores: AssemblyScores, rank: u8) -> u32 {
    match rank {
        KING | QUEEN => scores.king_queen,
        JACK => scores.jack,
        ACE | FIVE => scores.ace_five,
        _ => scores.other,
    }
}

/// The points of one to five marriages at once, `imperial_now` of them in the imperial suit, after
/// `imperial_before` imperial marriages earlier in the deal (R19).
pub fn marriage_score(
    bonus: ImperialBonus,
    marriages: usize,
    imperial_now: u32,
    imperial_before: u32,
) -> u32 {
    let points = match marriages {
        1 => 10,
        2 => 30,
        3 => 60,
        4 => 100,
        5 => return 150,
        _ => 0,
    };
    let bonus = match bonus {
        ImperialBonus::Second => match imperial_now {
            1 if imperial_before > 0 => 10,
            2 => 20,
            _ => 0,
        },
        ImperialBonus::Every => 10 * imperial_now,
        ImperialBonus::None => 0,
    };
    points + bonus
}
