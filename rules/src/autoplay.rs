//! What is played for a seat that has forfeited (R25).

use crate::action::Action;
use crate::legal::LegalActions;
use crate::rules::Rules;

/// The action that is played for a forfeited seat, `None` if there is nothing to choose from.
///
/// The rule: never declare; of the legal discards, the card whose rank makes the cheapest zetema (R18); among
/// equals the first in the order of the cards (clubs, diamonds, hearts, spades, each from ace to king).
///
/// ```
/// use zetema_rules::{Action, Cards, LegalActions, autoplay};
///
/// let discards: Cards = "AC 7D 7H KC".parse()?;
/// let legal = LegalActions { discards, declarations: Vec::new() };
/// assert_eq!(autoplay(&legal), Some(Action::Discard("7D".parse()?)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn autoplay(legal: &LegalActions) -> Option<Action> {
    let cheapest = legal.discards.faces_in_order().min_by_key(|card| Rules::zetema_points(card.rank()));
    cheapest.map(Action::Discard)
}
