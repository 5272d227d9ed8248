//! How the game goes, for a person who plays it.

use zetema_rules::{AssemblyScores, Rank, Rules, Suit};

/// The game in some lines, with what these rules score.
pub(crate) fn help(rules: &Rules) -> String {
    let AssemblyScores { royal, jack, ace_and_five, other } = rules.assembly_scores;
    let zetema = Rules::zetema_points;
    format!(
        "  Each turn you play a card to the tableau, on the pile of its rank. Whoever
  makes five of a rank there makes a zetema: {} points for kings or queens,
  {} for jacks, {} for aces or fives, {} for others. Before that you may
  declare what you hold:

    sequence        {size} cards of consecutive ranks: {} points
    flush           {size} cards of one suit: {}
    flush sequence  both at once: {}
    assembly        all five of a rank: {royal} for K or Q, {jack} for J,
                    {ace_and_five} for A or 5, {other} for others
    marriages       a king and the queen of its suit, of which the tableau may
                    give one: 10 for one, 30 for two at once, then 60, 100, 150

  The cards of {} are there twice. Cards are drawn for you. All of the
  rules: `zetema rules show`. Give the number of a choice, or a card to
  discard, such as KS or 10d; q resigns.",
        zetema(Rank::King),
        zetema(Rank::Jack),
        zetema(Rank::Ace),
        zetema(Rank::Two),
        rules.sequence_score,
        rules.flush_score,
        rules.flush_sequence_score,
        suit(rules),
        size = rules.meld_cards(),
    )
}

fn suit(rules: &Rules) -> &'static str {
    match rules.imperial_suit {
        Suit::Clubs => "clubs",
        Suit::Diamonds => "diamonds",
        Suit::Hearts => "hearts",
        Suit::Spades => "spades",
    }
}
