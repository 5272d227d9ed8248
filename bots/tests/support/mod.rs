//! Positions that the tests of the bots look at.

use std::sync::Arc;

use zetema_sdk::rules::fair::{MatchSeed, Nonce};
use zetema_sdk::rules::{Event, Game, Preset, Seat, Viewer};
use zetema_sdk::{Decision, MatchInfo, View, numbered_seed};

/// Seat 0 to act in a two-player `sackson` match, with this hand and tableau.
pub(crate) fn position(hand: &str, tableau: &str) -> View {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let decks = MatchSeed::derive(&numbered_seed(1), &[Nonce::EMPTY, Nonce::EMPTY]);
    let deck = decks.deck(0, rules.imperial_suit);
    let game = Game::new(rules, Seat::new(1).unwrap(), &deck, &mut Vec::<Event>::new()).unwrap();
    let mut view = game.view(Viewer::Seat(Seat::new(0).unwrap()));
    view.hand = hand.parse().unwrap();
    view.public.tableau = tableau.parse().unwrap();
    view.public.stock_count = 65 - 12 - u8::try_from(view.public.tableau.len()).unwrap();
    view
}

/// What the seat has to decide in it.
pub(crate) fn decision(view: &View) -> Decision {
    let info = Arc::new(MatchInfo::new("m", Seat::new(0).unwrap(), view.rules));
    Decision::new(info, view).unwrap()
}
