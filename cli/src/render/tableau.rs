//! The tableau: thirteen piles side by side.

use console::style;
use zetema_rules::{Card, PublicState, Rank};

use super::face;

/// Columns of one pile.
const PILE: usize = 5;
/// Rows that are always there, so that the picture keeps its height: a pile of five leaves as a zetema,
/// all but the royal ones under some rules.
const ROWS: usize = 4;

/// The piles, each under its rank: `★` where a zetema was made, `■` where an assembly was removed.
pub(crate) fn tableau(public: &PublicState) -> Vec<String> {
    let piles: Vec<Vec<Card>> =
        Rank::ALL.iter().map(|&rank| public.tableau.of_rank(rank).iter().collect()).collect();
    let depth = piles.iter().map(Vec::len).max().unwrap_or(0).max(ROWS);
    let ranks: Vec<String> = Rank::ALL.iter().map(|rank| format!("  {:<3}", rank.letter())).collect();
    let mut lines = vec![
        style(ranks.concat().trim_end()).dim().to_string(),
        style("─".repeat(PILE * Rank::ALL.len())).dim().to_string(),
    ];
    for row in 0..depth {
        let cells = Rank::ALL.iter().zip(&piles).map(|(&rank, pile)| match pile.get(row) {
            Some(&card) => format!("  {} ", face(card)),
            None if row == 0 && public.zetemas.contains(rank) => format!("  {}  ", style("★").yellow()),
            None if row == 0 && public.removed.contains(rank) => format!("  {}  ", style("■").cyan()),
            None => " ".repeat(PILE),
        });
        lines.push(cells.collect::<String>().trim_end().to_owned());
    }
    lines
}
