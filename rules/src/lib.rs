//! The rules of Zetema: cards, presets, legal actions, play, events and the view of one seat. Pure and deterministic.
