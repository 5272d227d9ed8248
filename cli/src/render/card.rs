//! Cards.

use console::style;
use zetema_rules::{Card, Cards, Suit};

/// The card's rank and the sign of its suit, two columns wide.
pub(crate) fn face(card: Card) -> String {
    let sign = match card.suit() {
        Suit::Clubs => '♣',
        Suit::Diamonds => '♦',
        Suit::Hearts => '♥',
        Suit::Spades => '♠',
    };
    let text = style(format!("{}{sign}", card.rank().letter()));
    match card.suit() {
        Suit::Clubs | Suit::Spades => text.bold(),
        Suit::Diamonds | Suit::Hearts => text.red().bold(),
    }
    .to_string()
}

/// The cards in order, a space between.
pub(crate) fn cards(cards: Cards) -> String {
    cards.iter().map(face).collect::<Vec<_>>().join(" ")
}
