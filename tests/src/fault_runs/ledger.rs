//! What a player can swear to after a match: what it sent, what was acknowledged, what it saw.

use prost::Message;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::acknowledgement::Kind as Acknowledged;
use zetema_proto::v1::observe_response::Kind as Observed;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_proto::{Wire, seat_event_from_wire};
use zetema_rules::{Action, SeatEvent};

use super::backend::is_passing;
use crate::proxy::Call;

/// An action that a player chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The decision's number.
    pub decision: u32,
    /// What was chosen.
    pub action: Action,
}

/// A receipt that came, in an observation or by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipted {
    /// The match's id.
    pub match_id: String,
    /// The number of the decision that was answered.
    pub decision_number: u32,
    /// The number of the observation that shows it.
    pub seq: u64,
}

impl std::convert::From<v1::Receipt> for Receipted {
    fn from(receipt: v1::Receipt) -> Self {
        let v1::Receipt { match_id, decision_number, seq } = receipt;
        Self { match_id, decision_number, seq }
    }
}

/// One stream of observations, as the server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The match's id.
    pub match_id: String,
    /// The observation that it went on from.
    pub after_seq: u64,
    /// Whether that was a snapshot of its own choice.
    pub snapshot: bool,
    /// The observations that came.
    pub seqs: Vec<u64>,
}

/// What one player of one match sent, got and saw.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What was sent, as often as it was.
    pub sent: Vec<Chosen>,
    /// The receipts that came.
    pub receipts: Vec<Receipted>,
    /// The answers that were refused.
    pub refused: Vec<(u32, ErrorReason)>,
    /// The streams of observations.
    pub subscriptions: Vec<Subscription>,
    /// What was chosen, once for each decision that was put to the player.
    pub chosen: Vec<Chosen>,
    /// The events of the game that the player was told, in order, from the last snapshot on.
    pub seen: Vec<SeatEvent>,
    /// How the match ended, as often as the player was told.
    pub ends: Vec<v1::Outcome>,
    /// What the player felt of the network and the server: the connection's ends, and calls that failed.
    pub felt: Vec<String>,
}

/// The events of the game in an observation.
pub fn game_events(observation: &v1::Observation) -> Vec<SeatEvent> {
    observation.events.iter().filter_map(|event| seat_event_from_wire(event).unwrap()).collect()
}

impl Ledger {
    /// Takes what went over the wire by Play: sendings, receipts, refusals and subscriptions.
    pub fn read_play(&mut self, calls: &[Call]) {
        for call in calls {
            let asked: Vec<_> =
                call.to_server.iter().map(|bytes| v1::PlayRequest::decode(&bytes[..])).collect();
            let [Ok(v1::PlayRequest { kind: Some(Ask::Hello(_)), .. }), ..] = asked[..] else { continue };
            let mut acts: Vec<(u64, u32)> = Vec::new();
            for request in asked {
                let v1::PlayRequest { tag, handle: _, kind } = request.unwrap();
                if let Some(Ask::Act(act)) = kind {
                    let action = match act.choice {
                        Some(v1::act::Choice::Action(action)) => Action::from_wire(&action).unwrap(),
                        other => panic!("the SDK sends actions, not {other:?}"),
                    };
                    self.sent.push(Chosen { decision: act.decision_number, action });
                    acts.push((tag, act.decision_number));
                }
            }
            let mut over = false;
            for bytes in &call.to_client {
                let response = v1::PlayResponse::decode(&bytes[..]).unwrap();
                match response.kind {
                    Some(Answer::Joined(start)) => self.subscriptions.push(Subscription::new(&start)),
                    Some(Answer::Observation(observation)) => self.observed(&observation),
                    Some(Answer::Acknowledgement(v1::Acknowledgement {
                        kind: Some(Acknowledged::Action(receipt)),
                    })) => self.receipts.push(receipt.into()),
                    Some(Answer::End(_)) => over = true,
                    // What crosses the end of the match meets a handle that is void.
                    Some(Answer::Rejection(error))
                        if over && error.reason() == ErrorReason::UnknownHandle => {}
                    // It is sent again.
                    Some(Answer::Rejection(error)) if is_passing(error.reason()) => {}
                    Some(Answer::Rejection(error)) => {
                        // The SDK uses the tag again for the next decision, and has one under way at most.
                        let act = acts.iter().rev().find(|(tag, _)| *tag == response.tag);
                        self.refused.extend(act.map(|(_, decision)| (*decision, error.reason())));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Takes the subscriptions that went over the wire by Observe.
    pub fn read_observe(&mut self, calls: &[Call], token: &str) {
        let asks = |bytes: &[u8]| {
            let request = v1::ObserveRequest::decode(bytes);
            request.is_ok_and(|request| request.seats.iter().any(|seat| seat.seat_token == token))
        };
        for call in calls.iter().filter(|call| call.to_server.first().is_some_and(|bytes| asks(bytes))) {
            for bytes in &call.to_client {
                match v1::ObserveResponse::decode(&bytes[..]).unwrap().kind {
                    Some(Observed::Start(start)) => self.subscriptions.push(Subscription::new(&start)),
                    Some(Observed::Observation(observation)) => self.numbered(observation.seq),
                    _ => {}
                }
            }
        }
    }

    fn observed(&mut self, observation: &v1::Observation) {
        self.numbered(observation.seq);
        if let Some(decision_number) = observation.answered_decision_number {
            let match_id = self.subscription().match_id.clone();
            self.receipts.push(Receipted { match_id, decision_number, seq: observation.seq });
        }
    }

    pub(super) fn numbered(&mut self, seq: u64) {
        self.subscription().seqs.push(seq);
    }

    fn subscription(&mut self) -> &mut Subscription {
        self.subscriptions.last_mut().expect("a start comes first")
    }
}

impl Subscription {
    pub(super) fn new(start: &v1::SubscriptionStart) -> Self {
        let (after_seq, snapshot) = match start.kind.as_ref().expect("a start has a kind") {
            From::Snapshot(snapshot) => (snapshot.seq, true),
            From::Resumed(resumed) => (resumed.after_seq, false),
        };
        let of_match = start.r#match.as_ref().expect("a start has its match");
        Self { match_id: of_match.match_id.clone(), after_seq, snapshot, seqs: Vec::new() }
    }
}
