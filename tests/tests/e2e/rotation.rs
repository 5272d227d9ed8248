//! A bot's token is rotated while its match runs: over the SDK, and message by message.

use std::sync::{Arc, Barrier};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tonic::Status;
use zetema_bots::House;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::{self, ErrorReason};
use zetema_rules::Step;
use zetema_sdk::{
    Action, Bot, DealCheck, Decision, End, Error, MatchInfo, SeatEvent, Session, SessionEvent, Settings, View,
};
use zetema_service::limits;
use zetema_tests::harness::{Clients, PlayStream, TestServer, soon};

const LADDER: &str = "quick-2";

/// Plays as the greedy house bot, and stops before its third decision until the test lets it go on.
struct Held {
    bot: Box<dyn Bot>,
    decisions: u32,
    reached: UnboundedSender<()>,
    go: Arc<Barrier>,
}

impl Bot for Held {
    fn choose(&mut self, decision: &Decision) -> Action {
        self.decisions += 1;
        if self.decisions == 3 {
            self.reached.send(()).unwrap();
            self.go.wait();
        }
        self.bot.choose(decision)
    }

    fn start(&mut self, view: Option<&View>) {
        self.bot.start(view);
    }

    fn observe(&mut self, event: &SeatEvent) {
        self.bot.observe(event);
    }
}

fn greedy(info: &MatchInfo) -> Box<dyn Bot> {
    House::Greedy.make(info, 1)
}

/// A session that waits on the ladder.
async fn waiting<B: Bot + 'static>(
    clients: &Clients,
    token: &str,
    make: impl Fn(&MatchInfo) -> B + Send + Sync + 'static,
) -> Session {
    let mut session = Session::open_for_bot(&clients.url(), Settings::default(), token.into(), make).unwrap();
    soon("the ladder", session.queue([LADDER.parse().unwrap()])).await.unwrap();
    session
}

/// The match of the next outcome, which is a result.
async fn played(session: &mut Session) -> String {
    let outcome = soon("an outcome", session.next()).await.unwrap();
    assert!(matches!(outcome.end, End::Result(_)) && outcome.deal == DealCheck::Verified, "{outcome}");
    outcome.info.unwrap().match_id.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_that_runs_when_its_bots_token_is_rotated_is_played_to_its_end_by_the_old_process() {
    let (server, clients) = TestServer::start().await;
    let (_, first) = clients.register_bot("ann", "ada").await;
    let (_, bob) = clients.register_bot("bob", "ben").await;
    let (reached, mut held) = unbounded_channel();
    let go = Arc::new(Barrier::new(2));
    let holding = Arc::clone(&go);
    let slow = move |info: &MatchInfo| Held {
        bot: greedy(info),
        decisions: 0,
        reached: reached.clone(),
        go: Arc::clone(&holding),
    };
    let mut old = waiting(&clients, &first, slow).await;
    let mut other = waiting(&clients, &bob, greedy).await;
    soon("ann's third decision", held.recv()).await.unwrap();
    let second = clients.rotate_token("ann", v1::OldTokens::PlayOn).await;
    let told = soon("the word of it", old.next_event()).await.unwrap();
    let SessionEvent::TokenRotated(refusal) = told else { panic!("{told:?}") };
    assert_eq!(refusal.reason, ErrorReason::TokenRotated);
    tokio::task::spawn_blocking(move || go.wait()).await.unwrap();

    let match_id = played(&mut old).await;
    assert_eq!(played(&mut other).await, match_id);
    assert!(soon("the end of the session", old.next()).await.is_none());
    let closed = old.closed().unwrap_err();
    let Error::Refused { refusal, .. } = &closed else { panic!("{closed}") };
    assert_eq!(refusal.reason, ErrorReason::TokenRotated);
    let record = clients.verified_record(&match_id).await;
    assert!(!record.steps.iter().any(|step| matches!(step, Step::Forfeit { .. })), "{record:?}");

    // The new one comes when all is over, and gets the next match.
    let mut new = waiting(&clients, &second, greedy).await;
    let next = played(&mut new).await;
    assert_eq!(played(&mut other).await, next);
    assert_ne!(next, match_id);
    server.stop().await;
}

fn queues() -> v1::Queues {
    let queue = v1::LadderQueue { ladder: LADDER.to_owned(), matches_at_once: 1 };
    v1::Queues { queues: vec![queue], challenges: None }
}

/// What a stream is told of the rotation.
async fn told(stream: &mut PlayStream) -> v1::TokenRotated {
    loop {
        if let Some(Answer::TokenRotated(rotated)) = stream.next().await.unwrap().unwrap().kind {
            return rotated;
        }
    }
}

/// How a stream ends.
async fn end(stream: &mut PlayStream) -> Status {
    loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended without a word"),
            Err(status) => return status,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_program_that_is_started_again_takes_no_seat_back_from_the_new_one() {
    let (server, clients) = TestServer::start().await;
    let (_, first) = clients.register_bot("ann", "ada").await;
    let assigned = v1::AssignedSeat { match_id: clients.create_with_bot("ann").await, seat: 0 };
    let join = || v1::Join { by: Some(v1::join::By::Assigned(assigned.clone())), ..v1::Join::default() };
    let (mut old, _) = PlayStream::open_by(&clients, &first).await;
    old.join(join()).await;
    let second = clients.rotate_token("ann", v1::OldTokens::PlayOn).await;
    // It plays on, on another stream too, until the new one comes.
    let (mut old, welcome) = PlayStream::open_by(&clients, &first).await;
    assert_eq!(welcome.live_seats.len(), 1);
    old.join(join()).await;
    let (mut new, _) = PlayStream::open_by(&clients, &second).await;
    let (held, _) = new.join(join()).await;
    let (mut again, welcome) = PlayStream::open_by(&clients, &first).await;
    assert_eq!((welcome.live_seats.len(), welcome.live_seat_count), (0, 0));
    for old in [&mut old, &mut again] {
        let refused = old.ask(0, Ask::Join(join())).await.unwrap();
        let Some(Answer::Rejection(error)) = refused.kind else { panic!("{refused:?} is no rejection") };
        assert_eq!(error.reason(), ErrorReason::TokenRotated, "{error:?}");
    }
    let left = new.ask(held, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(left.kind, Some(Answer::Left(_))), "{left:?}: the stream has lost the seat");

    // After a restart whoever comes first plays, and the new one from when it comes.
    let (server, clients) = server.restart().await;
    let (mut old, _) = PlayStream::open_by(&clients, &first).await;
    old.join(join()).await;
    let (mut new, _) = PlayStream::open_by(&clients, &second).await;
    new.join(join()).await;
    let refused = old.ask(0, Ask::Join(join())).await.unwrap();
    assert!(matches!(refused.kind, Some(Answer::Rejection(_))), "{refused:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_whose_token_is_rotated_is_told_and_waits_for_nothing_until_the_token_is_void() {
    let (server, clients) = TestServer::start().await;
    let (_, first) = clients.register_bot("ann", "ada").await;
    let (open, _) = PlayStream::open_by(&clients, &first).await;
    clients.rotate_token("ann", v1::OldTokens::PlayOn).await;
    let (later, _) = PlayStream::open_by(&clients, &first).await;
    let mut streams = [open, later];
    let mut words = Vec::new();
    for stream in &mut streams {
        words.push(told(stream).await);
        let refused = stream.ask(0, Ask::Queues(queues())).await.unwrap();
        let Some(Answer::Rejection(error)) = refused.kind else { panic!("{refused:?} is no rejection") };
        assert_eq!(error.reason(), ErrorReason::TokenRotated, "{error:?}");
        let left = stream.ask(0, Ask::Queues(v1::Queues::default())).await.unwrap();
        assert!(matches!(left.kind, Some(Answer::Acknowledgement(_))), "{left:?}");
    }
    assert_eq!(words[0], words[1]);
    let seconds = |time: &Option<prost_types::Timestamp>| time.unwrap().seconds;
    let plays_on = seconds(&words[0].void_time) - seconds(&words[0].rotate_time);
    assert_eq!(plays_on.unsigned_abs(), limits::ROTATED_TOKEN_PLAYS_ON.as_secs());

    let third = clients.rotate_token("ann", v1::OldTokens::Void).await;
    for stream in &mut streams {
        let status = end(stream).await;
        assert_eq!(v1::Error::from_status(&status).unwrap().reason(), ErrorReason::Unauthenticated);
    }
    PlayStream::open_by(&clients, &third).await;
    server.stop().await;
}
