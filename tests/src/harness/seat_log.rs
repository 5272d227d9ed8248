//! What one seat is sent, with the rules that every stream keeps.

use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_rules::{Action, Card, Cards, LegalActions};

/// A decision that a seat has to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The seat.
    pub seat: usize,
    /// The decision's number.
    pub number: u32,
    /// What it may do.
    pub legal: LegalActions,
}

/// An action that was acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct Acted {
    /// Who acted.
    pub seat: usize,
    /// What it did.
    pub action: Action,
    /// The index of that among the legal actions of the decision.
    pub legal_index: u32,
    /// What it got for it.
    pub receipt: v1::Receipt,
}

/// What one seat was sent: a start, observations, and at last an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatLog {
    /// The first message.
    pub start: Option<v1::SubscriptionStart>,
    /// What happened next.
    pub observations: Vec<v1::Observation>,
    /// The last message.
    pub end: Option<v1::SubscriptionEnd>,
    /// Whether a start is to come that resumes.
    cut: bool,
}

impl SeatLog {
    /// The last observation's number, or that of the start.
    pub fn last_seq(&self) -> u64 {
        let started = match self.start.as_ref().and_then(|start| start.kind.as_ref()) {
            Some(From::Snapshot(snapshot)) => snapshot.seq,
            Some(From::Resumed(resumed)) => resumed.after_seq,
            None => 0,
        };
        self.observations.last().map_or(started, |observation| observation.seq)
    }

    /// The number of the decision that is open by what came last; `None` if none is.
    pub fn decision_number(&self) -> Option<u32> {
        if let Some(last) = self.observations.last() {
            return last.decision_number;
        }
        match self.start.as_ref()?.kind.as_ref()? {
            From::Snapshot(snapshot) => snapshot.decision_number,
            From::Resumed(_) => None,
        }
    }

    /// The last view that came.
    pub fn last_view(&self) -> Option<&v1::View> {
        let started = match self.start.as_ref()?.kind.as_ref()? {
            From::Snapshot(snapshot) => snapshot.view.as_ref(),
            From::Resumed(_) => None,
        };
        self.observations.iter().rev().find_map(|observation| observation.view.as_deref()).or(started)
    }

    /// A card that the seat does not hold, by the last view.
    pub fn not_held(&self) -> Card {
        let view = self.last_view().expect("a dealt match has a view");
        let hand = Cards::from_wire(&view.hand).unwrap();
        let unheld = |index| Card::from_index(index).filter(|card| hand.count(*card) == 0);
        (0..52).find_map(unheld).unwrap()
    }

    /// Another stream goes on after the last observation.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// Takes the first message: the decision in it.
    ///
    /// # Panics
    /// If it is not the first.
    pub fn start(&mut self, seat: usize, start: v1::SubscriptionStart) -> Option<Open> {
        if self.cut {
            let Some(From::Resumed(resumed)) = &start.kind else { panic!("{start:?} does not resume") };
            assert_eq!(resumed.after_seq, self.last_seq(), "it goes on where it was cut");
            self.cut = false;
            // Of a seat that was cut before its first start, this is the first.
            self.start.get_or_insert(start);
            return None;
        }
        assert_eq!(self.start, None, "one start a seat");
        let open = match &start.kind {
            Some(From::Snapshot(at)) => open(seat, at.decision_number, at.decision.as_ref()),
            _ => None,
        };
        self.start = Some(start);
        open
    }

    /// Takes what happened next: the decision in it.
    ///
    /// # Panics
    /// If anything is left out or comes twice.
    pub fn observe(&mut self, seat: usize, observation: v1::Observation) -> Option<Open> {
        assert!(self.start.is_some() && !self.cut, "a start comes first");
        assert_eq!(observation.seq, self.last_seq() + 1, "no gap and no repeat");
        assert_eq!(self.end, None, "nothing after the end");
        let open = open(seat, observation.decision_number, observation.decision.as_ref());
        self.observations.push(observation);
        open
    }

    /// Takes the last message.
    ///
    /// # Panics
    /// If there was one before.
    pub fn end(&mut self, end: v1::SubscriptionEnd) {
        assert_eq!(self.end, None, "one end a seat");
        self.end = Some(end);
    }
}

fn open(seat: usize, number: Option<u32>, decision: Option<&v1::Decision>) -> Option<Open> {
    let legal = LegalActions::from_wire(decision?.legal_actions.as_ref().unwrap()).unwrap();
    Some(Open { seat, number: number.expect("a decision has a number"), legal })
}
