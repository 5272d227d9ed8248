//! A deal played to its end by the policy at all seats.

use zetema_sdk::rules::{Event, Game, Phase, Viewer};
use zetema_sdk::{Action, LegalActions, Seat};

use crate::policy::Policy;

/// Plays on from anywhere, each seat by what it sees. It keeps its lists, so that none is allocated anew.
#[derive(Clone, Debug)]
pub(crate) struct Playout {
    policy: Policy,
    legal: LegalActions,
    events: Vec<Event>,
}

impl Playout {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, legal: LegalActions::default(), events: Vec::new() }
    }

    /// Plays one action of the seat to act; `false` if it is not legal.
    pub(crate) fn play(&mut self, game: &mut Game, seat: Seat, action: &Action) -> bool {
        self.events.clear();
        game.play(seat, action, &mut self.events).is_ok()
    }

    /// Plays on until the deal is over.
    pub(crate) fn finish(&mut self, game: &mut Game) {
        while let Phase::Turn { seat, .. } = game.public().phase {
            game.legal_actions_into(&mut self.legal);
            let view = game.view(Viewer::Seat(seat));
            let Some(action) = self.policy.choose(&view, seat, &self.legal) else { return };
            if !self.play(game, seat, &action) {
                return;
            }
        }
    }
}
