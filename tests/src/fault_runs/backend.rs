//! A seat played by `JoinSeat`, Observe, `SendNonce` and Act, as a backend's author would write it.
//!
//! Every call is made until it is answered. One that is not answered in time, or fails for want of a
//! connection, is made again on another connection.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::event::Kind as Event;
use zetema_proto::v1::observe_response::Kind as Observed;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_proto::{Wire, v1::ErrorReason};
use zetema_rules::LegalActions;
use zetema_rules::fair::Nonce;

use super::choice::choose;
use super::{Chosen, Ledger, Receipted, Subscription, game_events};

/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_millis(250);
/// How long to wait before a call is made again.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a silent connection is trusted.
const SILENCE: Duration = Duration::from_secs(1);

fn endpoint(url: &str) -> Endpoint {
    Endpoint::from_shared(url.to_owned()).unwrap().tcp_nodelay(true)
}

/// A seat, and what its player can swear to.
pub struct Backend {
    endpoint: Endpoint,
    client: PlayServiceClient<Channel>,
    token: String,
    nonce: Option<Nonce>,
    cursor: Option<u64>,
    ledger: Ledger,
}

impl Backend {
    /// A player of this seat, which has a part in the deals if there is a nonce.
    pub fn new(url: &str, token: &str, nonce: Option<Nonce>) -> Self {
        let endpoint = endpoint(url)
            .http2_keep_alive_interval(SILENCE)
            .keep_alive_timeout(SILENCE)
            .keep_alive_while_idle(true);
        Self::by(endpoint, token, nonce)
    }

    /// The same, but it trusts a silent connection: where there is no fault, a busy machine shall not look like one.
    pub fn unhurried(url: &str, token: &str, nonce: Option<Nonce>) -> Self {
        Self::by(endpoint(url), token, nonce)
    }

    fn by(endpoint: Endpoint, token: &str, nonce: Option<Nonce>) -> Self {
        let client = PlayServiceClient::new(endpoint.connect_lazy());
        Self { endpoint, client, token: token.to_owned(), nonce, cursor: None, ledger: Ledger::default() }
    }

    /// Takes the seat.
    ///
    /// # Panics
    /// If the server refuses.
    pub async fn join(&mut self) {
        let nonce_hash = self.nonce.as_ref().map(Nonce::hash).to_wire();
        let join = v1::JoinSeatRequest { seat_token: self.token.clone(), nonce_hash, assigned: None };
        self.ask(join, |mut client, request| async move { client.join_seat(request).await })
            .await
            .expect("the seat is joined");
    }

    /// Plays the match to its end, once the seat is taken.
    ///
    /// # Panics
    /// If the server refuses to let the seat be followed.
    pub async fn play(mut self) -> Ledger {
        while self.ledger.ends.is_empty() {
            let seat = v1::ObserveSeat {
                seat_token: self.token.clone(),
                after_seq: self.cursor,
                views: None,
                assigned: None,
            };
            let request = v1::ObserveRequest { seats: vec![seat] };
            let opened =
                self.ask(request, |mut client, request| async move { client.observe(request).await }).await;
            self.follow(opened.expect("the seat is followed")).await;
        }
        self.ledger
    }

    /// Makes a call until it is answered.
    async fn ask<R: Clone, T, F: Future<Output = Result<Response<T>, Status>>>(
        &mut self,
        request: R,
        call: impl Fn(PlayServiceClient<Channel>, R) -> F,
    ) -> Result<T, v1::Error> {
        loop {
            match timeout(ANSWER_WITHIN, call(self.client.clone(), request.clone())).await {
                Ok(Ok(answer)) => return Ok(answer.into_inner()),
                Ok(Err(status)) => match v1::Error::from_status(&status) {
                    Some(error) if !is_passing(error.reason()) => return Err(error),
                    _ => self.ledger.felt.push(status.to_string()),
                },
                // A busy machine is no fault.
                Err(_) => {}
            }
            self.client = PlayServiceClient::new(self.endpoint.connect_lazy());
            sleep(PAUSE).await;
        }
    }

    /// Takes what a stream brings, up to its end.
    async fn follow(&mut self, mut stream: Streaming<v1::ObserveResponse>) {
        loop {
            // A stream that fails is opened again where it was.
            let message = match stream.message().await {
                Ok(Some(message)) => message,
                Ok(None) => return self.ledger.felt.push("the stream ended before the match".to_owned()),
                Err(status) => return self.ledger.felt.push(status.to_string()),
            };
            match message.kind {
                Some(Observed::Start(start)) => self.start(*start).await,
                // What is missing is asked for again.
                Some(Observed::Observation(observation)) if self.is_beyond(&observation) => return,
                Some(Observed::Observation(observation)) => self.observe(observation).await,
                Some(Observed::End(end)) => {
                    self.ledger.ends.extend(end.outcome);
                    return;
                }
                // The seat's token is never replaced here; what a later version sends is passed over.
                Some(Observed::Draining(_) | Observed::Superseded(_)) | None => {}
            }
        }
    }

    async fn start(&mut self, start: v1::SubscriptionStart) {
        self.ledger.subscriptions.push(Subscription::new(&start));
        let Some(From::Snapshot(snapshot)) = start.kind else { return };
        // One that comes again is passed over too.
        if self.cursor.is_some() {
            return;
        }
        self.cursor = Some(snapshot.seq);
        let stage = snapshot.setup.as_ref().map(v1::Setup::stage);
        if stage == Some(v1::SetupStage::WaitingForNonces) {
            self.give_nonce().await;
        }
        self.decide(snapshot.decision_number, snapshot.decision).await;
    }

    /// Whether something is missing before it.
    fn is_beyond(&self, observation: &v1::Observation) -> bool {
        self.cursor.is_none_or(|cursor| observation.seq > cursor + 1)
    }

    async fn observe(&mut self, observation: v1::Observation) {
        self.ledger.numbered(observation.seq);
        // What came before is passed over, if it comes again.
        if self.cursor.is_none_or(|cursor| observation.seq <= cursor) {
            return;
        }
        self.cursor = Some(observation.seq);
        self.ledger.seen.extend(game_events(&observation));
        let wanted = |event: &v1::Event| matches!(event.kind, Some(Event::NoncesWanted(_)));
        if observation.events.iter().any(wanted) {
            self.give_nonce().await;
        }
        self.decide(observation.decision_number, observation.decision).await;
    }

    async fn give_nonce(&mut self) {
        let Some(nonce) = &self.nonce else { return };
        let request =
            v1::SendNonceRequest { seat_token: self.token.clone(), nonce: nonce.to_wire(), assigned: None };
        let taken =
            self.ask(request, |mut client, request| async move { client.send_nonce(request).await }).await;
        taken.expect("the nonce is taken");
    }

    async fn decide(&mut self, number: Option<u32>, decision: Option<v1::Decision>) {
        let (Some(number), Some(decision)) = (number, decision) else { return };
        let legal = LegalActions::from_wire(decision.legal_actions.as_ref().unwrap()).unwrap();
        let (index, action) = choose(&legal);
        let chosen = Chosen { decision: number, action };
        self.ledger.chosen.push(chosen);
        // Both ways to say it, since both are the same answer.
        let choice =
            if number % 2 == 0 { Choice::Action(action.to_wire()) } else { Choice::LegalIndex(index) };
        let act = v1::Act { decision_number: number, choice: Some(choice) };
        let request = v1::ActRequest { seat_token: self.token.clone(), act: Some(act), assigned: None };
        self.ledger.sent.push(chosen);
        match self.ask(request, |mut client, request| async move { client.act(request).await }).await {
            Ok(answer) => self.ledger.receipts.extend(answer.receipt.map(Receipted::from)),
            Err(error) => self.ledger.refused.push((number, error.reason())),
        }
    }
}

/// Whether the same may be answered otherwise in a moment.
pub(super) const fn is_passing(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::OutcomeUnknown
            | ErrorReason::Draining
            | ErrorReason::LimitExceeded
            | ErrorReason::Overloaded
    )
}
