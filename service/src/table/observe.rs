//! What each viewer is shown.

use zetema_rules::{Seat, Viewer};

use super::state::{Play, Stage};
use super::{
    ClockReading, Deals, Effect, Moment, Observation, Receipt, Setup, SetupStage, Snapshot, Table, TableEvent,
};

impl Table {
    /// What this viewer observes of the entry that was applied last, `None` if it sees nothing of it.
    pub fn observe(&self, effect: &Effect, viewer: Viewer) -> Option<Observation> {
        let mut observation = self.observe_bare(effect, viewer)?;
        if effect.new_decision {
            observation.view = self.game().map(|game| Box::new(game.view(viewer)));
        }
        Some(observation)
    }

    /// The same without the view.
    pub fn observe_bare(&self, effect: &Effect, viewer: Viewer) -> Option<Observation> {
        if effect.is_unseen() {
            return None;
        }
        let of_game = effect.game_events.iter().map(|event| TableEvent::Game(event.seen_by(viewer)));
        let receipt = |(seat, decision)| {
            let receipt = Receipt { match_id: self.match_id(), decision, seq: self.seq(viewer) };
            (viewer == Viewer::Seat(seat)).then_some(receipt)
        };
        Some(Observation {
            seq: self.seq(viewer),
            decision: self.decision(),
            events: effect.table_events.iter().cloned().chain(of_game).collect(),
            view: None,
            to_decide: self.to_decide(viewer),
            clock: self.clock_reading(viewer),
            receipt: effect.actor.and_then(receipt),
        })
    }

    /// Everything that this viewer may know of the match now.
    pub fn snapshot(&self, viewer: Viewer, now: Moment) -> Snapshot {
        let stage = match self.stage {
            Stage::Nonces => SetupStage::WaitingForNonces,
            Stage::Playing(_) | Stage::Over { play: Some(_), .. } => SetupStage::Complete,
            Stage::Over { play: None, .. } if self.hashes_were_shown() => SetupStage::WaitingForNonces,
            Stage::Joining | Stage::Over { play: None, .. } => SetupStage::WaitingForSeats,
        };
        let setup = Setup {
            stage,
            commitment: self.created.server_seed.commitment(),
            hashes: match stage {
                SetupStage::WaitingForSeats => Vec::new(),
                SetupStage::WaitingForNonces | SetupStage::Complete => self.nonce_hashes(),
            },
            nonces: match (stage, &self.created.deals) {
                (SetupStage::Complete, Deals::Joint | Deals::Shared(_)) => self.nonces().unwrap_or_default(),
                _ => Vec::new(),
            },
        };
        let shows_seed = self.outcome().is_some() && !matches!(self.created.deals, Deals::Shared(_));
        Snapshot {
            seq: self.seq(viewer),
            decision: self.decision(),
            setup,
            view: self.game().map(|game| Box::new(game.view(viewer))),
            to_decide: self.to_decide(viewer),
            clock: self
                .clock_reading(viewer)
                .map(|reading| ClockReading { elapsed_ms: self.elapsed_ms(now).unwrap_or(0), ..reading }),
            outcome: self.outcome().cloned(),
            revealed: shows_seed.then(|| self.created.server_seed.clone()),
        }
    }

    fn to_decide(&self, viewer: Viewer) -> Option<Box<zetema_rules::LegalActions>> {
        let (play, _) = self.decides(viewer)?;
        Some(Box::new(play.game.legal_actions()))
    }

    fn clock_reading(&self, viewer: Viewer) -> Option<ClockReading> {
        self.decides(viewer).and_then(|(play, seat)| play.reading(seat))
    }

    /// The game and the viewer's seat, if it has to take the current decision.
    fn decides(&self, viewer: Viewer) -> Option<(&Play, Seat)> {
        let Stage::Playing(play) = &self.stage else { return None };
        let seat = play.game.to_act()?;
        // A seat that has forfeited decides nothing more (R25).
        let decides = viewer == Viewer::Seat(seat) && !play.game.public().forfeited.contains(seat);
        decides.then_some((play, seat))
    }
}
