//! All seats of one match, played from one task by `JoinSeat`, `Observe` and `Act`.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tonic::{Status, Streaming};
use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::observe_response::Kind;
use zetema_rules::fair::Nonce;

use super::{Acted, Clients, Created, Open, SeatLog, soon};

/// All seats of one match.
pub struct Table {
    /// What each seat was sent, seat 0 first.
    pub seats: Vec<SeatLog>,
    /// Every action that was acknowledged, in order.
    pub acted: Vec<Acted>,
    clients: Clients,
    tokens: Vec<String>,
    stream: Streaming<v1::ObserveResponse>,
    choice: StdRng,
    open: Option<Open>,
    answered: u32,
}

/// Joins every seat of a match, each with the nonce that is given for it, and sends the nonces.
pub async fn join_all(clients: &Clients, matches: &[&Created], nonces: impl Fn(usize) -> Option<Nonce>) {
    for created in matches {
        for (seat, token) in created.tokens.iter().enumerate() {
            let nonce_hash = nonces(seat).map(|nonce| nonce.hash()).to_wire();
            let request = v1::JoinSeatRequest { seat_token: token.clone(), nonce_hash, assigned: None };
            let answer = soon("JoinSeat", clients.play().join_seat(request)).await.unwrap().into_inner();
            assert_eq!(usize::try_from(answer.seat).unwrap(), seat);
        }
    }
    for created in matches {
        for (seat, token) in created.tokens.iter().enumerate() {
            let Some(nonce) = nonces(seat) else { continue };
            // The matches of a deal set hear of each other's joins.
            while clients.get(created.id()).await.state() == v1::MatchState::WaitingForSeats {}
            let request =
                v1::SendNonceRequest { seat_token: token.clone(), nonce: nonce.to_wire(), assigned: None };
            soon("SendNonce", clients.play().send_nonce(request)).await.unwrap();
        }
    }
}

impl Table {
    /// Follows every seat from a snapshot.
    pub async fn open(clients: &Clients, tokens: &[String]) -> Self {
        Self::resume(clients, tokens, &vec![None; tokens.len()]).await
    }

    /// Follows every seat, each from where it says.
    pub async fn resume(clients: &Clients, tokens: &[String], after: &[Option<u64>]) -> Self {
        let seat = |(token, after_seq): (&String, &Option<u64>)| v1::ObserveSeat {
            seat_token: token.clone(),
            after_seq: *after_seq,
            views: None,
            assigned: None,
        };
        let request = v1::ObserveRequest { seats: tokens.iter().zip(after).map(seat).collect() };
        let stream = soon("Observe", clients.play().observe(request)).await.unwrap().into_inner();
        Self {
            seats: vec![SeatLog::default(); tokens.len()],
            acted: Vec::new(),
            clients: clients.clone(),
            tokens: tokens.to_vec(),
            stream,
            choice: StdRng::seed_from_u64(1),
            open: None,
            answered: 0,
        }
    }

    /// Follows on after a cut, on another connection: what is read goes on where the logs end.
    pub async fn cut(&mut self, clients: &Clients) {
        let after: Vec<_> = self.seats.iter().map(|log| Some(log.last_seq())).collect();
        let mut resumed = Self::resume(clients, &self.tokens, &after).await;
        std::mem::swap(&mut self.stream, &mut resumed.stream);
        self.clients = clients.clone();
        for log in &mut self.seats {
            log.cut();
        }
    }

    /// Reads the next message. `false` when the stream is over.
    ///
    /// # Errors
    /// The status that ends the stream.
    pub async fn read(&mut self) -> Result<bool, Status> {
        let Some(message) = soon("an observation", self.stream.message()).await? else { return Ok(false) };
        let seat = usize::try_from(message.handle).unwrap() - 1;
        let log = &mut self.seats[seat];
        let open = match message.kind.expect("a kind that this version knows") {
            Kind::Start(start) => log.start(seat, *start),
            Kind::Observation(observation) => log.observe(seat, observation),
            Kind::End(end) => {
                log.end(end);
                None
            }
            Kind::Draining(_) => None,
            Kind::Superseded(superseded) => panic!("seat {seat} was superseded: {superseded:?}"),
        };
        self.open = open.filter(|open| open.number > self.answered).or(self.open.take());
        Ok(true)
    }

    /// The decision that is open; `None` when the match is over for every seat.
    pub async fn decision(&mut self) -> Option<Open> {
        while self.open.is_none() {
            if !self.read().await.unwrap() {
                assert!(
                    self.seats.iter().all(|seat| seat.end.is_some()),
                    "the stream ends when every match has"
                );
                return None;
            }
        }
        self.open.clone()
    }

    /// Resigns for a seat that is not to act: it decides nothing from then on.
    pub async fn resign(&mut self, seat: usize) {
        let request =
            v1::ResignRequest { seat_token: self.tokens[seat].clone(), panic: None, assigned: None };
        soon("Resign", self.clients.play().resign(request)).await.unwrap();
    }

    /// Answers the open decision by the legal action of this index.
    pub async fn act(&mut self, open: &Open, index: usize) -> v1::Receipt {
        let legal_index = u32::try_from(index).unwrap();
        let choice = Choice::LegalIndex(legal_index);
        let act = v1::Act { decision_number: open.number, choice: Some(choice) };
        let request =
            v1::ActRequest { seat_token: self.tokens[open.seat].clone(), act: Some(act), assigned: None };
        let answer = soon("Act", self.clients.play().act(request)).await.unwrap();
        let receipt = answer.into_inner().receipt.unwrap();
        assert_eq!(receipt.decision_number, open.number);
        self.answered = open.number;
        self.open = None;
        let action = open.legal.get(index).unwrap();
        self.acted.push(Acted { seat: open.seat, action, legal_index, receipt: receipt.clone() });
        receipt
    }

    /// Answers the open decision by a legal action, any. `None` when the match is over.
    pub async fn act_at_random(&mut self) -> Option<v1::Receipt> {
        let open = self.decision().await?;
        let index = self.choice.random_range(0..open.legal.len());
        Some(self.act(&open, index).await)
    }

    /// Plays until the decision of this number is open, or the match over.
    pub async fn play_to(&mut self, decision: u32) {
        while self.decision().await.is_some_and(|open| open.number < decision) {
            self.act_at_random().await;
        }
    }

    /// Plays to the end of the match.
    pub async fn play_out(&mut self) {
        while self.act_at_random().await.is_some() {}
    }
}
