//! What goes wrong for a bot is told to its owner, match by match: rejections, disconnects, time-outs and panics.

use zetema_proto::v1::act::Choice;
use zetema_proto::v1::decision_clock::TimeOut;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::player_fault::Kind;
use zetema_proto::v1::{self, ErrorReason, Preset};
use zetema_sdk::{Action, Bot, Decision, Fault, Session, Settings};
use zetema_tests::harness::{
    Clients, PlayStream, Process, TestServer, clocked, preset, soon, unhurried, with_bot,
};

/// A match between the bot, at seat 0, and whoever has the token of seat 1: its id, and that token.
async fn create(clients: &Clients, spec: v1::MatchSpec) -> (String, String) {
    let spec = with_bot(spec, 0, "rex");
    let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
    let answer = soon("CreateMatch", clients.matches().create_match(request)).await.unwrap().into_inner();
    (answer.r#match.unwrap().match_id, answer.seat_tokens[0].token.clone())
}

async fn join_seat(clients: &Clients, seat_token: String) {
    let request = v1::JoinSeatRequest { seat_token, nonce_hash: Vec::new(), assigned: None };
    soon("JoinSeat", clients.play().join_seat(request)).await.unwrap();
}

/// A stream of the bot that has joined its seat, and the handle.
async fn joined(clients: &Clients, bot: &str, match_id: &str) -> (PlayStream, u32) {
    let (mut stream, _) = PlayStream::open_by(clients, bot).await;
    let seat = v1::AssignedSeat { match_id: match_id.to_owned(), seat: 0 };
    let by = Some(v1::join::By::Assigned(seat));
    let (handle, _) = stream.join(v1::Join { by, ..v1::Join::default() }).await;
    (stream, handle)
}

/// What the owner reads of a match, the latest first, once there is something.
async fn faults(owner: &Clients, match_id: &str) -> Vec<Kind> {
    let told = async {
        loop {
            let request = v1::ListFaultsRequest {
                bot: "rex".to_owned(),
                match_id: match_id.to_owned(),
                ..v1::ListFaultsRequest::default()
            };
            let mut request = tonic::Request::new(request);
            let bearer = format!("Bearer {}", owner.admin_token());
            request.metadata_mut().insert("authorization", bearer.parse().unwrap());
            let faults = owner.play().list_faults(request).await.unwrap().into_inner().faults;
            if !faults.is_empty() {
                assert!(
                    faults
                        .iter()
                        .all(|fault| (fault.match_id.as_str(), fault.seat, fault.count) == (match_id, 0, 1))
                );
                return faults.into_iter().map(|fault| fault.kind.unwrap()).collect();
            }
            // A lost connection may be noticed a moment later.
            tokio::task::yield_now().await;
        }
    };
    soon("a fault", told).await
}

/// A match in which the bot acts before it is dealt, and then leaves.
async fn refused(clients: &Clients, bot: &str) -> String {
    let (match_id, _) = create(clients, unhurried(preset(Preset::Sackson, 2))).await;
    let (mut stream, handle) = joined(clients, bot, &match_id).await;
    let act = v1::Act { decision_number: 1, choice: Some(Choice::LegalIndex(0)) };
    let answer = stream.ask(handle, Ask::Act(act)).await.unwrap();
    assert!(matches!(answer.kind, Some(Answer::Rejection(_))), "{answer:?}");
    let leave = stream.ask(handle, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(leave.kind, Some(Answer::Left(_))), "{leave:?}");
    match_id
}

/// A bot that falls over its first decision.
struct Falls;

impl Bot for Falls {
    fn choose(&mut self, _: &Decision) -> Action {
        panic!("no idea {}", "é".repeat(200))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_reads_by_match_what_was_refused_lost_late_or_fell() {
    let (server, clients) = TestServer::start().await;
    let (_, kennel) = clients.owner_token("kennel").await;
    let (_, shop) = clients.owner_token("shop").await;
    let (_, rex) = clients.register_bot("rex", "kennel").await;
    let kennel = clients.by(&kennel);

    // Refused: it acts before the match is dealt.
    let refused = refused(&clients, &rex).await;
    let told = faults(&kennel, &refused).await;
    let [Kind::Rejection(error)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(error.reason(), ErrorReason::MatchNotStarted);

    // Lost: its stream goes without a word.
    let (lost, _) = create(&clients, unhurried(preset(Preset::Sackson, 2))).await;
    drop(joined(&clients, &rex, &lost).await);
    assert_eq!(faults(&kennel, &lost).await, [Kind::Lost(v1::ConnectionLost {})]);

    // Late: it says nothing when it is to act, and nor does the other.
    let time_out = Some(TimeOut::Forfeit(v1::ForfeitOnTimeOut {}));
    let clock = v1::DecisionClock { budget_ms: 100, time_out, ..v1::DecisionClock::default() };
    let late = loop {
        let (late, token) = create(&clients, clocked(preset(Preset::Sackson, 2), clock)).await;
        let (mut stream, _) = joined(&clients, &rex, &late).await;
        join_seat(&clients, token).await;
        let end = loop {
            if let Some(Answer::End(end)) = stream.next().await.unwrap().unwrap().kind {
                break end;
            }
        };
        assert!(end.outcome.is_some());
        // Whose turn it is first, the cards say: one of the two has run out of time.
        let record = clients.verified_record(&late).await;
        let forfeits = |step: &zetema_rules::Step| matches!(step, zetema_rules::Step::Forfeit { seat, .. } if seat.index() == 0);
        if record.steps.iter().any(forfeits) {
            break late;
        }
    };
    let told = faults(&kennel, &late).await;
    let forfeited_by_clock =
        told.iter().any(|kind| matches!(kind, Kind::TimedOut(v1::TimedOut { seat: 0, strikes: 1, .. })));
    assert!(forfeited_by_clock, "{told:?}");

    // Fell: the SDK says so with the resignation, as much as there is room for.
    let (fell, token) = create(&clients, unhurried(preset(Preset::Sackson, 2))).await;
    let mut bot =
        Session::open_for_bot(&clients.url(), Settings::default(), rex.as_str().into(), |_| Falls).unwrap();
    let house = |info: &zetema_sdk::MatchInfo| zetema_bots::House::Random.make(info, 1);
    let mut other = Session::open(&clients.url(), Settings::default(), house).unwrap();
    other.play(token.as_str().into()).unwrap();
    let outcome = loop {
        let outcome = soon("an outcome", bot.next()).await.unwrap();
        if outcome.info.as_ref().is_some_and(|info| info.match_id == fell) {
            break outcome;
        }
    };
    assert!(outcome.faults.iter().any(|fault| matches!(fault, Fault::Panicked { .. })), "{outcome}");
    let told = faults(&kennel, &fell).await;
    let [Kind::Panicked(v1::BotPanic { message })] = told.as_slice() else { panic!("{told:?}") };
    assert!(message.starts_with("no idea é") && (255..=256).contains(&message.len()), "{message}");

    // It is for nobody else: another owner has no such bot.
    let request = v1::ListFaultsRequest { bot: "rex".to_owned(), ..v1::ListFaultsRequest::default() };
    let mut request = tonic::Request::new(request);
    request.metadata_mut().insert("authorization", format!("Bearer {shop}").parse().unwrap());
    let status = soon("ListFaults", clients.play().list_faults(request)).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&status).unwrap().reason(), ErrorReason::NotFound);
    drop((bot, other));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_told_once_by_whichever_call_and_only_by_who_holds_the_seat() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(unhurried(preset(Preset::Sackson, 3))).await;
    let resign = async |seat_token: &str, message: String| {
        let panic = Some(v1::BotPanic { message });
        let request = v1::ResignRequest { seat_token: seat_token.to_owned(), panic, assigned: None };
        soon("Resign", clients.play().resign(request))
            .await
            .map_err(|status| v1::Error::from_status(&status).unwrap())
    };
    let listed = async |seat: usize| {
        let request =
            v1::ListFaultsRequest { seat_token: created.tokens[seat].clone(), ..Default::default() };
        let faults =
            soon("ListFaults", clients.play().list_faults(request)).await.unwrap().into_inner().faults;
        faults.into_iter().filter(|fault| matches!(fault.kind, Some(Kind::Panicked(_)))).collect::<Vec<_>>()
    };
    let error = resign(&created.tokens[0], "x".repeat(257)).await.unwrap_err();
    assert_eq!(error.violations[0].field, "panic.message");
    let mut forged = created.tokens[0].clone();
    forged.push('x');
    assert_eq!(resign(&forged, "mine".to_owned()).await.unwrap_err().reason(), ErrorReason::Unauthenticated);
    assert_eq!(listed(0).await, []);
    for message in ["first", "first", "second"] {
        let error = resign(&created.tokens[0], message.to_owned()).await.unwrap_err();
        assert_eq!(error.reason(), ErrorReason::MatchNotStarted);
    }
    let told = listed(0).await;
    let [v1::PlayerFault { count: 1, kind: Some(Kind::Panicked(v1::BotPanic { message })), .. }] =
        told.as_slice()
    else {
        panic!("{told:?}")
    };
    assert_eq!(message, "first");
    assert_eq!(listed(1).await, []);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_are_still_there_after_a_restart() {
    let (server, clients) = TestServer::start().await;
    let (_, kennel) = clients.owner_token("kennel").await;
    let (_, rex) = clients.register_bot("rex", "kennel").await;
    let refused = refused(&clients, &rex).await;
    let before = faults(&clients.by(&kennel), &refused).await;
    let (server, clients) = server.restart().await;
    assert_eq!(faults(&clients.by(&kennel), &refused).await, before);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_that_were_written_are_still_there_after_a_kill() {
    let (process, clients) = Process::start().await;
    let (_, kennel) = clients.owner_token("kennel").await;
    let (_, rex) = clients.register_bot("rex", "kennel").await;
    let refused = refused(&clients, &rex).await;
    let before = faults(&clients.by(&kennel), &refused).await;
    process.logs("what went wrong for players is written", 1).await;
    let (folder, _) = process.kill();
    let (process, clients) = Process::start_in(folder).await;
    assert_eq!(faults(&clients.by(&kennel), &refused).await, before);
    process.kill();
}
