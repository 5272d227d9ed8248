//! Bots without a stream: they wait by `UpdateQueues`, and play what they get by `JoinSeat`, `SendNonce`, `Observe` and `Act`.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tonic::{Request, Status, Streaming};
use zetema_proto::Wire;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::observe_response::Kind;
use zetema_proto::v1::{self, ErrorReason};
use zetema_rules::Step;
use zetema_rules::fair::Nonce;
use zetema_tests::harness::{Clients, SeatLog, TestServer, preset, soon};

const LADDER: &str = "quick-2";

/// A bot, and the one seat that it plays.
struct Bot {
    clients: Clients,
    token: String,
    seat: v1::AssignedSeat,
    log: SeatLog,
    choice: StdRng,
    /// The number of the last decision that it answered.
    answered: u32,
}

impl Bot {
    fn new(clients: &Clients, token: &str) -> Self {
        let (clients, token) = (clients.clone(), token.to_owned());
        let (seat, log) = (v1::AssignedSeat::default(), SeatLog::default());
        Self { clients, token, seat, log, choice: StdRng::seed_from_u64(1), answered: 0 }
    }

    /// A call with the bot's token.
    fn call<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        request
    }

    fn assigned(&self) -> v1::AssignedSeat {
        self.seat.clone()
    }

    async fn update_queues(&self, matches_at_once: u32) -> Result<v1::UpdateQueuesResponse, Status> {
        let queue = v1::LadderQueue { ladder: LADDER.to_owned(), matches_at_once };
        let queues = Some(v1::Queues { queues: vec![queue], challenges: None });
        let request = self.call(v1::UpdateQueuesRequest { queues });
        Ok(soon("UpdateQueues", self.clients.play().update_queues(request)).await?.into_inner())
    }

    /// Waits on the ladder until it has got a seat.
    async fn wait(&mut self) {
        let seat = async {
            loop {
                match self.update_queues(1).await {
                    Ok(answer) => {
                        if let Some(seat) = answer.live_seats.into_iter().next() {
                            assert_eq!(seat.ladder, LADDER);
                            return v1::AssignedSeat { match_id: seat.match_id, seat: seat.seat };
                        }
                    }
                    // Right after the start.
                    Err(status) => {
                        let error = v1::Error::from_status(&status).unwrap();
                        assert!(error.retry_after_ms.is_some(), "{error:?}");
                    }
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        self.seat = soon("a seat", seat).await;
    }

    async fn join(&self, nonce: Option<&Nonce>) -> Result<v1::JoinSeatResponse, Status> {
        let nonce_hash = nonce.map(Nonce::hash).to_wire();
        let assigned = Some(self.assigned());
        let request = self.call(v1::JoinSeatRequest { nonce_hash, assigned, ..Default::default() });
        Ok(soon("JoinSeat", self.clients.play().join_seat(request)).await?.into_inner())
    }

    async fn send_nonce(&self, nonce: &Nonce) -> Result<(), Status> {
        let (nonce, assigned) = (nonce.to_wire(), Some(self.assigned()));
        let request = self.call(v1::SendNonceRequest { nonce, assigned, ..Default::default() });
        soon("SendNonce", self.clients.play().send_nonce(request)).await.map(|_| ())
    }

    /// Follows the seat from where its log ends.
    async fn observe(&mut self) -> Result<Streaming<v1::ObserveResponse>, Status> {
        let after_seq = self.log.start.is_some().then(|| self.log.last_seq());
        if after_seq.is_some() {
            self.log.cut();
        }
        let seat = v1::ObserveSeat { after_seq, assigned: Some(self.assigned()), ..Default::default() };
        let request = self.call(v1::ObserveRequest { seats: vec![seat] });
        Ok(soon("Observe", self.clients.play().observe(request)).await?.into_inner())
    }

    async fn act(&self, act: v1::Act) -> Result<v1::Receipt, Status> {
        let (act, assigned) = (Some(act), Some(self.assigned()));
        let request = self.call(v1::ActRequest { act, assigned, ..Default::default() });
        let answer = soon("Act", self.clients.play().act(request)).await?;
        Ok(answer.into_inner().receipt.unwrap())
    }

    async fn resign(&self) -> Result<(), Status> {
        let request = self.call(v1::ResignRequest { assigned: Some(self.assigned()), ..Default::default() });
        soon("Resign", self.clients.play().resign(request)).await.map(|_| ())
    }

    /// Takes in a message, and answers the decision in it. The answer is whether there was one.
    async fn hear(&mut self, message: v1::ObserveResponse) -> bool {
        let at = usize::try_from(self.seat.seat).unwrap();
        let open = match message.kind.expect("a kind that this version knows") {
            Kind::Start(start) => self.log.start(at, *start),
            Kind::Observation(observation) => self.log.observe(at, observation),
            Kind::End(end) => {
                self.log.end(end);
                None
            }
            other @ (Kind::Draining(_) | Kind::Superseded(_)) => panic!("{other:?}"),
        };
        let Some(open) = open.filter(|open| open.number > self.answered) else { return false };
        let index = u32::try_from(self.choice.random_range(0..open.legal.len())).unwrap();
        let act = v1::Act { decision_number: open.number, choice: Some(Choice::LegalIndex(index)) };
        assert_eq!(self.act(act).await.unwrap().decision_number, open.number);
        self.answered = open.number;
        true
    }
}

/// Both play by these streams until one has acted so often, or the match is over for both.
async fn play(bots: &mut [Bot; 2], streams: &mut [Streaming<v1::ObserveResponse>; 2], most: usize) {
    let mut acted = 0;
    let [one, other] = streams;
    while acted < most && bots.iter().any(|bot| bot.log.end.is_none()) {
        let next = async {
            tokio::select! {
                message = one.message(), if bots[0].log.end.is_none() => (0, message),
                message = other.message(), if bots[1].log.end.is_none() => (1, message),
            }
        };
        let (at, message) = soon("an observation", next).await;
        let message = message.unwrap().expect("it ends with its match");
        acted += usize::from(bots[at].hear(message).await);
    }
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Status>) -> ErrorReason {
    v1::Error::from_status(&answer.unwrap_err()).unwrap().reason()
}

/// Two bots in a match that a ladder has made for them, joined, the first with a nonce.
async fn seated(clients: &Clients) -> [Bot; 2] {
    let mut bots = Vec::new();
    for (name, owner) in [("ann", "ada"), ("bob", "ben")] {
        let (_, token) = clients.register_bot(name, owner).await;
        bots.push(Bot::new(clients, &token));
    }
    let Ok([mut ann, mut bob]) = <[Bot; 2]>::try_from(bots) else { unreachable!("there are two") };
    tokio::join!(ann.wait(), bob.wait());
    assert_eq!(ann.seat.match_id, bob.seat.match_id);
    let nonce = Nonce::new(b"by calls").unwrap();
    assert_eq!(ann.join(Some(&nonce)).await.unwrap().seat, ann.seat.seat);
    bob.join(None).await.unwrap();
    while clients.get(&ann.seat.match_id).await.state() == v1::MatchState::WaitingForSeats {}
    ann.send_nonce(&nonce).await.unwrap();
    [ann, bob]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_play_a_match_of_a_ladder_to_its_end_by_calls_alone() {
    let (server, clients) = TestServer::start().await;
    let mut bots = seated(&clients).await;
    let [ann, bob] = &mut bots;
    let mut streams = [ann.observe().await.unwrap(), bob.observe().await.unwrap()];
    play(&mut bots, &mut streams, usize::MAX).await;
    let match_id = bots[0].seat.match_id.clone();
    let outcome = bots[0].log.end.as_ref().unwrap().outcome.as_ref().unwrap();
    assert!(matches!(outcome.kind, Some(v1::outcome::Kind::Result(_))), "{outcome:?}");
    clients.verified_record(&match_id).await;
    let mut ladders = LadderServiceClient::new(clients.channel().clone());
    let rated = async {
        loop {
            let request = v1::ListResultsRequest { ladder: LADDER.to_owned(), ..Default::default() };
            let results = ladders.list_results(request).await.unwrap().into_inner().results;
            if results.iter().any(|result| result.match_id == match_id) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    soon("the result on the ladder", rated).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_by_a_token_that_is_no_bots_is_told_that_it_takes_a_bots_in_the_same_words_for_each() {
    let (server, clients) = TestServer::start().await;
    let (_, owner) = clients.owner_token("ada").await;
    let created = clients.create(preset(v1::Preset::Sackson, 2)).await;
    let admin = clients.admin_token();
    let mut refused = Vec::new();
    for token in [owner.as_str(), admin, &created.tokens[0], "nobody's"] {
        refused.push(Bot::new(&clients, token).update_queues(1).await.unwrap_err());
    }
    let without = v1::UpdateQueuesRequest { queues: None };
    refused.push(soon("UpdateQueues", clients.play().update_queues(without)).await.unwrap_err());
    for refused in refused {
        let error = v1::Error::from_status(&refused).unwrap();
        assert_eq!(error.reason(), ErrorReason::Unauthenticated);
        assert_eq!(
            error.message,
            "no valid token of a bot: send one that RegisterBot, RotateToken or CreateToken returned for the bot, as \
             \"authorization: Bearer TOKEN\" in the metadata; an owner's, the admin's and a seat's are none"
        );
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_token_plays_its_seats_to_the_end_by_calls_after_a_restart_too_and_gets_no_others() {
    let (server, clients) = TestServer::start().await;
    let mut bots = seated(&clients).await;
    let [ann, bob] = &mut bots;
    let mut streams = [ann.observe().await.unwrap(), bob.observe().await.unwrap()];
    play(&mut bots, &mut streams, 4).await;
    let second = clients.rotate_token("ann", v1::OldTokens::Unspecified).await;
    // The streams go on.
    play(&mut bots, &mut streams, 4).await;
    drop(streams);
    let (server, clients) = server.restart().await;
    for bot in &mut bots {
        bot.clients = clients.clone();
    }
    let [ann, bob] = &mut bots;
    ann.join(None).await.unwrap();
    bob.join(None).await.unwrap();
    let mut streams = [ann.observe().await.unwrap(), bob.observe().await.unwrap()];
    assert_eq!(reason(ann.update_queues(1).await), ErrorReason::TokenRotated);
    let live = async |token: &str| {
        let bot = Bot::new(&clients, token);
        let request = bot.call(v1::UpdateQueuesRequest { queues: None });
        let answer = soon("UpdateQueues", clients.play().update_queues(request)).await.unwrap().into_inner();
        answer.live_seats.into_iter().map(|seat| seat.match_id).collect::<Vec<_>>()
    };
    assert_eq!(live(&ann.token).await, std::slice::from_ref(&ann.seat.match_id));

    // What is made in the moment of a rotation counts as made before it.
    let mut own = vec![ann.seat.match_id.clone()];
    let not_its_own = async {
        loop {
            let match_id = clients.create_with_bot("ann").await;
            if live(&ann.token).await == own {
                return match_id;
            }
            own.push(match_id);
        }
    };
    let later = soon("a match that comes too late for the old token", not_its_own).await;
    own.push(later.clone());
    assert_eq!(live(&second).await, own);
    let mut strange = Bot::new(&clients, &ann.token);
    strange.seat = v1::AssignedSeat { match_id: later, seat: 0 };
    assert_eq!(reason(strange.join(None).await), ErrorReason::TokenRotated);
    assert_eq!(reason(strange.resign().await), ErrorReason::TokenRotated);
    strange.token = second;
    strange.join(None).await.unwrap();

    // Nor does it play on what a program with the new token has joined, even after that has gone.
    let mut taken = Bot::new(&clients, &strange.token);
    taken.seat = ann.assigned();
    taken.join(None).await.unwrap();
    assert_eq!(reason(ann.join(None).await), ErrorReason::TokenRotated);
    assert_eq!(reason(ann.resign().await), ErrorReason::TokenRotated);
    assert_eq!(reason(ann.observe().await.map(|_| ())), ErrorReason::TokenRotated);
    assert!(!live(&ann.token).await.contains(&ann.seat.match_id));
    ann.token = strange.token;
    play(&mut bots, &mut streams, usize::MAX).await;
    let record = clients.verified_record(&bots[0].seat.match_id).await;
    assert!(!record.steps.iter().any(|step| matches!(step, Step::Forfeit { .. })), "{record:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bots_token_that_is_voided_at_once_plays_nothing_by_calls_and_its_match_goes_on_by_the_new_one() {
    let (server, clients) = TestServer::start().await;
    let mut bots = seated(&clients).await;
    let [ann, bob] = &mut bots;
    let mut streams = [ann.observe().await.unwrap(), bob.observe().await.unwrap()];
    play(&mut bots, &mut streams, 4).await;
    let second = clients.rotate_token("ann", v1::OldTokens::Void).await;

    let [ann, _] = &mut bots;
    let void = ErrorReason::Unauthenticated;
    let cut = async {
        loop {
            match streams[0].message().await {
                // What was on its way.
                Ok(Some(message)) => assert!(!matches!(message.kind, Some(Kind::End(_))), "{message:?}"),
                cut => return cut,
            }
        }
    };
    assert_eq!(reason(soon("the end of the stream", cut).await), void);
    let act = v1::Act { decision_number: 1, choice: Some(Choice::LegalIndex(0)) };
    assert_eq!(reason(ann.act(act).await), void);
    assert_eq!(reason(ann.join(None).await), void);
    assert_eq!(reason(ann.send_nonce(&Nonce::new(b"by calls").unwrap()).await), void);
    assert_eq!(reason(ann.resign().await), void);
    assert_eq!(reason(ann.update_queues(1).await), void);
    let seat = v1::ObserveSeat { assigned: Some(ann.assigned()), ..Default::default() };
    let observe = ann.call(v1::ObserveRequest { seats: vec![seat] });
    assert_eq!(reason(soon("Observe", clients.play().observe(observe)).await.map(|_| ())), void);

    ann.token = second;
    streams[0] = ann.observe().await.unwrap();
    play(&mut bots, &mut streams, usize::MAX).await;
    clients.verified_record(&bots[0].seat.match_id).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_that_waits_by_calls_is_paired_no_more_when_its_token_is_rotated_or_void() {
    let (server, clients) = TestServer::start().await;
    let (_, ann) = clients.register_bot("ann", "ada").await;
    let (_, bob) = clients.register_bot("bob", "ben").await;
    let queued = async |wanted: u32| {
        let shown = async {
            loop {
                let mut ladders = LadderServiceClient::new(clients.channel().clone());
                let list = ladders.list_ladders(v1::ListLaddersRequest {}).await.unwrap().into_inner();
                let quick = list.ladders.into_iter().find(|ladder| ladder.name == LADDER).unwrap();
                if quick.queued_bots == wanted {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon("the bots that wait", shown).await;
    };
    let [ann, bob] = [ann, bob].map(|token| Bot::new(&clients, &token));
    let waits = async {
        while let Err(status) = ann.update_queues(1).await {
            // Right after the start.
            assert!(v1::Error::from_status(&status).unwrap().retry_after_ms.is_some(), "{status:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the ladder", waits).await;
    queued(1).await;
    let since = Instant::now();
    let second = clients.rotate_token("ann", v1::OldTokens::PlayOn).await;
    queued(0).await;
    // The old token leaves nothing for the new one, nor takes anything from it.
    let renewed = Bot::new(&clients, &second);
    renewed.update_queues(1).await.unwrap();
    queued(1).await;
    let leave = ann.call(v1::UpdateQueuesRequest { queues: None });
    soon("UpdateQueues", clients.play().update_queues(leave)).await.unwrap();
    queued(1).await;
    let request = v1::RetireBotRequest { name: "ann".to_owned() };
    soon("RetireBot", clients.bots().retire_bot(request)).await.unwrap();
    queued(0).await;
    assert!(since.elapsed() < zetema_service::limits::QUEUE_LEASE, "its lease has not just run out");
    bob.update_queues(1).await.unwrap();
    queued(1).await;
    server.stop().await;
}
