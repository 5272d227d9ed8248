//! The one way of playing of all seats, so that every run of a match is the same match.

use zetema_rules::{Action, LegalActions};

/// The first declaration if there is one, the first discard if not: with its index.
pub(super) fn choose(legal: &LegalActions) -> (u32, Action) {
    let first = (0, legal.get(0).expect("there is always a legal action"));
    let declaration = (0..).zip(legal.iter()).find(|(_, action)| matches!(action, Action::Declare(_)));
    declaration.unwrap_or(first)
}
