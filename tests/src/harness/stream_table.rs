//! All seats of one match, played from one task on one Play stream.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::event::Kind as Event;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_rules::fair::Nonce;

use super::{Acted, Open, PlayStream, SeatLog};

/// All seats of one match on one Play stream, which may carry others too.
pub struct StreamTable {
    /// What each seat was sent, seat 0 first.
    pub seats: Vec<SeatLog>,
    /// Every action that was acknowledged, in order.
    pub acted: Vec<Acted>,
    /// The handle of each seat.
    pub handles: Vec<u32>,
    nonces: Vec<Nonce>,
    choice: StdRng,
    open: Option<Open>,
}

impl StreamTable {
    /// Joins every seat, each with a nonce of its own.
    pub async fn join(stream: &mut PlayStream, tokens: &[String]) -> Self {
        let nonce = |seat| Nonce::new(format!("seat {seat}").as_bytes()).unwrap();
        let mut table = Self {
            seats: vec![SeatLog::default(); tokens.len()],
            acted: Vec::new(),
            handles: Vec::new(),
            nonces: (0..tokens.len()).map(nonce).collect(),
            choice: StdRng::seed_from_u64(2),
            open: None,
        };
        for (seat, token) in tokens.iter().enumerate() {
            let join = v1::Join {
                by: Some(v1::join::By::SeatToken(token.clone())),
                nonce_hash: Some(table.nonces[seat].hash()).to_wire(),
                after_seq: None,
                views: None,
            };
            let (handle, start) = stream.join(join).await;
            table.handles.push(handle);
            if nonces_are_wanted(&start) {
                table.give_nonce(stream, seat).await;
            }
            table.open = table.seats[seat].start(seat, start).or(table.open.take());
        }
        table
    }

    /// Reads the next message of the stream.
    pub async fn read(&mut self, stream: &mut PlayStream) {
        let message = stream.next().await.unwrap().expect("the stream goes on");
        let Some(seat) = self.handles.iter().position(|handle| *handle == message.handle) else { return };
        match message.kind.expect("a kind that this version knows") {
            Answer::Observation(observation) => self.observe(stream, seat, observation).await,
            Answer::End(end) => self.seats[seat].end(end),
            Answer::Acknowledgement(_) => {}
            other => panic!("{other:?} for seat {seat}"),
        }
    }

    async fn observe(&mut self, stream: &mut PlayStream, seat: usize, observation: v1::Observation) {
        let wanted = |event: &v1::Event| matches!(event.kind, Some(Event::NoncesWanted(_)));
        if observation.events.iter().any(wanted) {
            self.give_nonce(stream, seat).await;
        }
        if let Some(decision_number) = observation.answered_decision_number {
            // Another seat may have been shown its decision before this one was shown its action.
            let answered = |acted: &&mut Acted| acted.receipt.decision_number == decision_number;
            let acted = self.acted.iter_mut().rev().find(answered).expect("a receipt answers an action");
            assert_eq!(acted.seat, seat);
            let started = self.seats[seat].start.as_ref().and_then(|start| start.r#match.as_ref());
            let match_id = started.expect("a start names its match").match_id.clone();
            acted.receipt = v1::Receipt { match_id, decision_number, seq: observation.seq };
        }
        self.open = self.seats[seat].observe(seat, observation).or(self.open.take());
    }

    async fn give_nonce(&self, stream: &mut PlayStream, seat: usize) {
        let nonce = self.nonces[seat].to_wire();
        stream.send(self.handles[seat], Some(Ask::Nonce(v1::GiveNonce { nonce }))).await;
    }

    /// The decision that is open; `None` when the match is over for every seat.
    pub async fn decision(&mut self, stream: &mut PlayStream) -> Option<Open> {
        while self.open.is_none() {
            if self.seats.iter().all(|seat| seat.end.is_some()) {
                return None;
            }
            self.read(stream).await;
        }
        self.open.clone()
    }

    /// Answers the open decision by a legal action, any. `None` when the match is over.
    pub async fn act_at_random(&mut self, stream: &mut PlayStream) -> Option<()> {
        let open = self.decision(stream).await?;
        let index = self.choice.random_range(0..open.legal.len());
        let action = open.legal.get(index).unwrap();
        let legal_index = u32::try_from(index).unwrap();
        let act = v1::Act { decision_number: open.number, choice: Some(Choice::LegalIndex(legal_index)) };
        stream.send(self.handles[open.seat], Some(Ask::Act(act))).await;
        self.open = None;
        let receipt = v1::Receipt { decision_number: open.number, ..v1::Receipt::default() };
        self.acted.push(Acted { seat: open.seat, action, legal_index, receipt });
        Some(())
    }

    /// Plays until the decision of this number is open, or the match over.
    pub async fn play_to(&mut self, stream: &mut PlayStream, decision: u32) {
        while self.decision(stream).await.is_some_and(|open| open.number < decision) {
            self.act_at_random(stream).await;
        }
    }

    /// Plays to the end of the match.
    pub async fn play_out(&mut self, stream: &mut PlayStream) {
        while self.act_at_random(stream).await.is_some() {}
    }
}

/// Whether the seat joined last of all, so that the nonces are wanted at once.
fn nonces_are_wanted(start: &v1::SubscriptionStart) -> bool {
    match &start.kind {
        Some(v1::subscription_start::Kind::Snapshot(v1::Snapshot { setup: Some(setup), .. })) => {
            setup.stage() == v1::SetupStage::WaitingForNonces
        }
        _ => false,
    }
}
