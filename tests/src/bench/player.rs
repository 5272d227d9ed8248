//! One seat of a match, without a socket: what it has seen, and what it answers.

use std::time::Instant;

use anyhow::{Context, ensure};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use zetema_proto::v1;

use super::message::{Decision, Observation, Start};

/// One seat of a match.
#[derive(Debug)]
pub(super) struct Player {
    random: SmallRng,
    /// The number of the last observation.
    seen: u64,
    /// What it has answered, until the receipt comes, and when.
    acted: Option<(u32, Instant)>,
}

/// What an observation means to a player.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// When the answer was given that is acknowledged by this.
    pub(super) acknowledged: Option<Instant>,
    /// The answer to the decision that is open now.
    pub(super) answer: Option<v1::Act>,
}

impl Player {
    /// A player whose choices follow from this number.
    pub(super) fn new(seed: u64) -> Self {
        Self { random: SmallRng::seed_from_u64(seed), seen: 0, acted: None }
    }

    /// It has taken its seat.
    ///
    /// # Errors
    /// If that does not begin with a snapshot.
    pub(super) fn started(&mut self, start: Start) -> anyhow::Result<Heard> {
        let snapshot = start.snapshot.context("a subscription began without a snapshot")?;
        self.seen = snapshot.seq;
        let answer = self.answer(snapshot.decision_number, snapshot.decision)?;
        Ok(Heard { acknowledged: None, answer })
    }

    /// It observes something.
    ///
    /// # Errors
    /// If it has another number than was due, or a receipt that was not.
    pub(super) fn observed(&mut self, observation: Observation) -> anyhow::Result<Heard> {
        let Observation { seq, decision_number, decision, answered_decision_number } = observation;
        ensure!(seq == self.seen + 1, "observation {seq} came after {}", self.seen);
        self.seen = seq;
        let acknowledged = answered_decision_number.map(|answered| self.receipt(answered)).transpose()?;
        let answer = self.answer(decision_number, decision)?;
        Ok(Heard { acknowledged, answer })
    }

    /// The match has ended.
    ///
    /// # Errors
    /// If a receipt has not come.
    pub(super) fn ended(&self) -> anyhow::Result<()> {
        let missing = self.acted.map(|(decision, _)| decision);
        ensure!(missing.is_none(), "the match ended without the receipt of decision {missing:?}");
        Ok(())
    }

    fn receipt(&mut self, decision: u32) -> anyhow::Result<Instant> {
        let (acted, at) = self.acted.take().context("a receipt came for nothing")?;
        ensure!(acted == decision, "the receipt of decision {decision} came for {acted}");
        Ok(at)
    }

    /// Any legal action.
    fn answer(&mut self, number: Option<u32>, decision: Option<Decision>) -> anyhow::Result<Option<v1::Act>> {
        let (Some(decision_number), Some(decision)) = (number, decision) else { return Ok(None) };
        let legal = decision.legal_actions.context("a decision came without legal actions")?;
        let choices = u32::try_from(legal.discards.len() + legal.declarations.len())?;
        ensure!(choices > 0, "a decision came without a legal action");
        ensure!(self.acted.is_none(), "decision {decision_number} came before a receipt");
        self.acted = Some((decision_number, Instant::now()));
        let index = self.random.random_range(0..choices);
        Ok(Some(v1::Act { decision_number, choice: Some(v1::act::Choice::LegalIndex(index)) }))
    }
}
