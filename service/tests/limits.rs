//! What clients see of the bounds of a server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::timeout,
};
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::{Code, Status, transport::Endpoint};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_request, play_response,
    play_service_client::PlayServiceClient, rules_service_client::RulesServiceClient,
    webhook_service_client::WebhookServiceClient,
};
use zetema_service::{config::Number, server::Server};

use common::{as_admin, as_bearer, channel, create, play_to_the_end, spec, start_with};

/// Too much was asked, and it is said when to ask again.
fn check_limit(status: &Status) -> Duration {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let error = v1::Error::from_status(status).unwrap();
    assert_eq!(error.reason(), ErrorReason::LimitExceeded, "{error:?}");
    Duration::from_millis(error.retry_after_ms.unwrap().into())
}

/// How many calls were answered, and the first refusal. What each costs comes back in a second, which a slow machine may take.
async fn until_refused(mut ask: impl AsyncFnMut() -> Result<(), Status>) -> (usize, Status) {
    for answered in 0..900 {
        if let Err(refused) = ask().await {
            return (answered, refused);
        }
    }
    panic!("nine hundred are too many")
}

fn presets() -> v1::ListPresetsRequest {
    v1::ListPresetsRequest::default()
}

fn hello() -> v1::PlayRequest {
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    v1::PlayRequest { tag: 1, handle: 0, kind: Some(play_request::Kind::Hello(hello)) }
}

#[tokio::test]
async fn an_address_with_as_many_connections_as_it_may_have_is_closed_at_once() {
    let (_folder, server) = start_with(&[(Number::MaxConnectionsPerAddress, 2)]).await;
    let open = [channel(&server).await, channel(&server).await];
    let mut third = TcpStream::connect(server.local_addr()).await.unwrap();
    let closed = timeout(Duration::from_secs(20), third.read_u8()).await.expect("it is closed");
    assert!(closed.is_err());
    RulesServiceClient::new(open[0].clone()).list_presets(presets()).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn who_asks_too_fast_is_told_when_to_ask_again_and_then_answered() {
    let (_folder, server) =
        start_with(&[(Number::RequestsPerSecondPerAddress, 1), (Number::RequestBurstPerAddress, 3)]).await;
    let mut rules = RulesServiceClient::new(channel(&server).await);
    let (answered, refused) = until_refused(async || rules.list_presets(presets()).await.map(drop)).await;
    assert!(answered >= 3, "{answered}");
    let wait = check_limit(&refused);
    assert!(wait <= Duration::from_secs(2), "{wait:?}");
    // A wrong token is refused for the same reason, before anything is looked up.
    let matches = MatchServiceClient::new(channel(&server).await);
    for token in ["zta_wrong", "zts_wrong"] {
        let list = as_bearer(token, v1::ListMatchesRequest::default());
        let refused = matches.clone().list_matches(list).await.unwrap_err();
        assert!(matches!(refused.code(), Code::ResourceExhausted | Code::Unauthenticated), "{refused:?}");
    }
    let again = async {
        while let Err(refused) = rules.list_presets(presets()).await {
            tokio::time::sleep(check_limit(&refused)).await;
        }
    };
    timeout(Duration::from_mins(1), again).await.expect("it is answered in the end");
    server.shutdown().await;
}

fn batch(count: usize) -> v1::BatchCreateMatchesRequest {
    v1::BatchCreateMatchesRequest {
        request_id: String::new(),
        matches: vec![spec(2, v1::Visibility::Private); count],
    }
}

#[tokio::test]
async fn a_batch_costs_as_many_creates_as_it_has_matches() {
    let (_folder, server) =
        start_with(&[(Number::CreatesPerSecondPerToken, 1), (Number::CreateBurstPerToken, 1_000)]).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    matches.batch_create_matches(as_admin(&server, batch(990))).await.unwrap();
    let refused = matches.batch_create_matches(as_admin(&server, batch(100))).await.unwrap_err();
    assert!(check_limit(&refused) > Duration::from_secs(1));
    matches.batch_create_matches(as_admin(&server, batch(5))).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn a_new_token_of_a_seat_costs_as_much_as_a_match() {
    let (_folder, server) =
        start_with(&[(Number::CreatesPerSecondPerToken, 1), (Number::CreateBurstPerToken, 1_000)]).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let created = matches.batch_create_matches(as_admin(&server, batch(990))).await.unwrap().into_inner();
    let match_id = created.matches[0].r#match.clone().unwrap().match_id;
    let (rotated, refused) = until_refused(async || {
        let rotate = v1::RotateSeatTokenRequest { match_id: match_id.clone(), ..Default::default() };
        matches.rotate_seat_token(as_admin(&server, rotate)).await.map(drop)
    })
    .await;
    assert!(rotated >= 10, "{rotated}");
    check_limit(&refused);
    server.shutdown().await;
}

/// What is answered over HTTP/1 to who says only this.
async fn told(server: &Server, said: &str) -> String {
    let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn what_a_browser_asks_before_a_call_counts_as_a_request_and_it_may_read_every_refusal() {
    let (_folder, server) =
        start_with(&[(Number::RequestsPerSecondPerAddress, 1), (Number::RequestBurstPerAddress, 3)]).await;
    let path = "/zetema.v1.RulesService/ListPresets";
    let head = format!("{path} HTTP/1.1\r\nhost: x\r\norigin: https://bots.example\r\nconnection: close\r\n");
    let preflight = format!(
        "OPTIONS {head}access-control-request-method: POST\r\naccess-control-request-headers: authorization,x-grpc-web\r\n\r\n"
    );
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(told(&server, &preflight).await.to_ascii_lowercase());
    }
    for answer in &answers[..3] {
        assert!(answer.starts_with("http/1.1 200 ok\r\n"), "{answer}");
        assert!(answer.contains("access-control-allow-origin: *\r\n"), "{answer}");
        assert!(answer.contains("access-control-allow-methods: *\r\n"), "{answer}");
        assert!(answer.contains("access-control-allow-headers: authorization,x-grpc-web\r\n"), "{answer}");
    }
    let refused =
        answers.iter().find(|answer| !answer.starts_with("http/1.1 200")).expect("ten are too many");
    assert!(refused.starts_with("http/1.1 429 ") && refused.contains("retry-after: "), "{refused}");
    let call = format!(
        "POST {head}content-type: application/grpc-web+proto\r\nx-grpc-web: 1\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0"
    );
    let mut calls = Vec::new();
    for _ in 0..10 {
        calls.push(told(&server, &call).await.to_ascii_lowercase());
    }
    let refused =
        calls.iter().find(|answer| answer.contains("grpc-status: 8") || answer.contains("grpc-status:8"));
    let refused = refused.unwrap_or_else(|| panic!("{calls:?}"));
    assert!(refused.contains("access-control-allow-origin: *\r\n"), "{refused}");
    let page = told(&server, "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(page.contains("\nzetema_preflights_total 10\n"), "{page}");
    server.shutdown().await;
}

#[tokio::test]
async fn dead_letters_cost_as_many_creates_as_are_named_and_one_if_none_is() {
    let (_folder, server) =
        start_with(&[(Number::CreatesPerSecondPerToken, 1), (Number::CreateBurstPerToken, 1_000)]).await;
    let mut webhooks = WebhookServiceClient::new(channel(&server).await);
    let numbers = |count: u64| v1::ResendDeadLettersRequest {
        webhook_id: "00".repeat(16),
        // Each twice, which is once.
        result_numbers: (0..2 * count).map(|number| number % count).collect(),
    };
    let there_is_none = webhooks.resend_dead_letters(as_admin(&server, numbers(500))).await.unwrap_err();
    assert_eq!(there_is_none.code(), Code::NotFound, "{there_is_none:?}");
    let there_is_none = webhooks.resend_dead_letters(as_admin(&server, numbers(490))).await.unwrap_err();
    assert_eq!(there_is_none.code(), Code::NotFound, "{there_is_none:?}");
    let refused = webhooks.resend_dead_letters(as_admin(&server, numbers(100))).await.unwrap_err();
    assert!(check_limit(&refused) > Duration::from_secs(1));
    let all = || v1::ResendDeadLettersRequest { webhook_id: "00".repeat(16), result_numbers: Vec::new() };
    let (_, refused) = until_refused(async || {
        match webhooks.resend_dead_letters(as_admin(&server, all())).await.unwrap_err() {
            none if none.code() == Code::NotFound => Ok(()),
            refused => Err(refused),
        }
    })
    .await;
    check_limit(&refused);
    server.shutdown().await;
}

#[tokio::test]
async fn an_owner_with_as_many_matches_as_it_may_have_leaves_room_for_another() {
    let (_folder, server) = start_with(&[(Number::MaxLiveMatchesPerOwner, 2)]).await;
    let mut tokens = v1::token_service_client::TokenServiceClient::new(channel(&server).await);
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let mut owners = Vec::new();
    for owner in ["greedy", "modest"] {
        let scope = v1::token_scope::Kind::Owner(v1::OwnerScope { owner: owner.to_owned() });
        let scope = Some(v1::TokenScope { kind: Some(scope) });
        let request = v1::CreateTokenRequest { scope, ..v1::CreateTokenRequest::default() };
        owners.push(tokens.create_token(as_admin(&server, request)).await.unwrap().into_inner().secret);
    }
    let one =
        v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec(2, v1::Visibility::Private)) };
    for _ in 0..2 {
        matches.create_match(as_bearer(&owners[0], one.clone())).await.unwrap();
    }
    check_limit(&matches.create_match(as_bearer(&owners[0], one.clone())).await.unwrap_err());
    matches.create_match(as_bearer(&owners[1], one.clone())).await.unwrap();
    matches.create_match(as_admin(&server, one)).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn matches_that_take_as_much_memory_as_they_may_are_played_on_and_none_is_begun() {
    let (_folder, server) = start_with(&[(Number::MaxLiveMatchBytes, 1024 * 1024)]).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let (match_id, tokens) = create(&server, spec(2, v1::Visibility::Private)).await;
    let mut created = Vec::new();
    let refused = loop {
        match matches.batch_create_matches(as_admin(&server, batch(100))).await {
            Ok(answer) => created.extend(answer.into_inner().matches),
            Err(status) => break status,
        }
    };
    check_limit(&refused);
    // A match that was just created takes more than 256 bytes and less than 4 KiB.
    assert!((256..4_096).contains(&created.len()), "{}", created.len());
    let rotate = v1::RotateSeatTokenRequest { match_id, ..Default::default() };
    check_limit(&matches.rotate_seat_token(as_admin(&server, rotate)).await.unwrap_err());

    play_to_the_end(channel(&server).await, &tokens).await;
    for created in created.iter().take(300) {
        let cancel = v1::CancelMatchRequest { match_id: created.r#match.clone().unwrap().match_id };
        matches.cancel_match(as_admin(&server, cancel)).await.unwrap();
    }
    matches.batch_create_matches(as_admin(&server, batch(100))).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn an_address_with_as_many_streams_as_it_may_have_is_told_so() {
    let (_folder, server) = start_with(&[(Number::MaxStreamsPerAddress, 2)]).await;
    let mut play = PlayServiceClient::new(channel(&server).await);
    let mut open = Vec::new();
    for _ in 0..2 {
        let (say, said) = mpsc::channel(1);
        say.send(hello()).await.unwrap();
        let mut answers = play.play(ReceiverStream::new(said)).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        open.push((say, answers));
    }
    check_limit(&RulesServiceClient::new(channel(&server).await).list_presets(presets()).await.unwrap_err());
    drop(open.pop());
    let mut rules = RulesServiceClient::new(channel(&server).await);
    let answered = async {
        while rules.list_presets(presets()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), answered).await.expect("what is closed makes room");
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_full_of_spectators_lets_play_and_says_that_it_serves() {
    let (_folder, server) = start_with(&[(Number::MaxStreams, 8)]).await;
    let (match_id, _) = create(&server, spec(2, v1::Visibility::Public)).await;
    let (_, tokens) = create(&server, spec(2, v1::Visibility::Private)).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let watch = v1::WatchMatchRequest { match_id, after_seq: None, views: None };
    let mut watching = Vec::new();
    let refused = loop {
        match matches.watch_match(watch.clone()).await {
            Ok(stream) => watching.push(stream.into_inner()),
            Err(status) => break status,
        }
    };
    check_limit(&refused);
    assert_eq!(watching.len(), 7, "one place is kept");
    let other = channel(&server).await;

    // A player has it.
    let (say, said) = mpsc::channel(1);
    say.send(hello()).await.unwrap();
    let mut play = PlayServiceClient::new(other.clone());
    let mut answers = play.play(ReceiverStream::new(said)).await.unwrap().into_inner();
    answers.message().await.unwrap().unwrap();
    check_limit(&RulesServiceClient::new(other.clone()).list_presets(presets()).await.unwrap_err());
    let resign = v1::ResignRequest { seat_token: tokens[0].clone(), panic: None, assigned: None };
    check_limit(&play.resign(resign).await.unwrap_err());
    let mut health = HealthClient::new(other);
    for _ in 0..100 {
        let health = health.check(HealthCheckRequest::default()).await.unwrap().into_inner();
        assert_eq!(health.status(), ServingStatus::Serving);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn who_asks_too_fast_is_still_told_whether_the_server_serves() {
    let (_folder, server) =
        start_with(&[(Number::RequestsPerSecondPerAddress, 1), (Number::RequestBurstPerAddress, 3)]).await;
    let channel = channel(&server).await;
    let mut rules = RulesServiceClient::new(channel.clone());
    check_limit(&until_refused(async || rules.list_presets(presets()).await.map(drop)).await.1);
    let mut health = HealthClient::new(channel);
    health.check(HealthCheckRequest::default()).await.unwrap();
    // That has a bound of its own.
    let (_, refused) =
        until_refused(async || health.check(HealthCheckRequest::default()).await.map(drop)).await;
    check_limit(&refused);
    server.shutdown().await;
}

#[tokio::test]
async fn a_play_stream_on_which_too_much_is_said_is_answered_all_of_it_but_no_faster() {
    let rate = 200;
    let (_folder, server) =
        start_with(&[(Number::RequestsPerSecondPerAddress, rate), (Number::RequestBurstPerAddress, 10)])
            .await;
    let mut play = PlayServiceClient::new(channel(&server).await);
    let asked = 100_u64;
    // What stands for nothing is rejected, each with its own tag.
    let resign = |tag| v1::PlayRequest {
        tag,
        handle: 7,
        kind: Some(play_request::Kind::Resign(v1::Resign::default())),
    };
    let said: Vec<_> = [hello()].into_iter().chain((2..asked + 2).map(resign)).collect();
    let begun = std::time::Instant::now();
    let said = tokio_stream::iter(said).chain(tokio_stream::pending());
    let mut answers = play.play(said).await.unwrap().into_inner();
    let mut last = 1;
    while last < asked + 1 {
        let answer = timeout(Duration::from_secs(20), answers.message()).await.unwrap().unwrap().unwrap();
        match answer.kind {
            Some(play_response::Kind::Rejection(error)) => {
                assert_eq!(error.reason(), ErrorReason::UnknownHandle);
                assert_eq!(answer.tag, last + 1, "in order, and none is left out");
                last = answer.tag;
            }
            Some(play_response::Kind::Welcome(_) | play_response::Kind::Ping(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    // The burst at once, and one that is still to be counted.
    let shortest = Duration::from_secs(asked - 11) / u32::try_from(rate).unwrap();
    assert!(begun.elapsed() >= shortest, "{:?}", begun.elapsed());
    server.shutdown().await;
}

#[tokio::test]
async fn a_play_stream_without_a_hello_is_cut() {
    let (_folder, server) = start_with(&[(Number::RequestTimeoutMs, 200)]).await;
    let mut play = PlayServiceClient::new(channel(&server).await);
    let mut answers = play.play(tokio_stream::pending()).await.unwrap().into_inner();
    let status = timeout(Duration::from_secs(20), answers.message()).await.unwrap().unwrap_err();
    assert_eq!(v1::Error::from_status(&status).unwrap().reason(), ErrorReason::HelloExpected);
    server.shutdown().await;
}

#[tokio::test]
async fn a_bot_that_does_not_read_is_cut_and_its_next_welcome_says_why() {
    let (_folder, server) = start_with(&[(Number::WriteStallTimeoutMs, 3_000)]).await;
    let mut tokens = v1::token_service_client::TokenServiceClient::new(channel(&server).await);
    let scope = v1::token_scope::Kind::Bot(v1::BotScope { bot: "lazy".to_owned() });
    let request = v1::CreateTokenRequest {
        scope: Some(v1::TokenScope { kind: Some(scope) }),
        ..v1::CreateTokenRequest::default()
    };
    let bot = tokens.create_token(as_admin(&server, request)).await.unwrap().into_inner().secret;
    let mut seats = spec(2, v1::Visibility::Public);
    seats.seats[1].kind = Some(v1::seat_spec::Kind::Bot(v1::BotSeat { name: "lazy".to_owned() }));
    let (match_id, _) = create(&server, seats).await;

    // A window of one byte, which is shut by the first that is sent, as it is never read.
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let narrow = endpoint.initial_stream_window_size(1).connect().await.unwrap();
    let assigned = v1::AssignedSeat { match_id: match_id.clone(), seat: 1 };
    let join = v1::Join { by: Some(v1::join::By::Assigned(assigned)), ..v1::Join::default() };
    let join = v1::PlayRequest { tag: 2, handle: 0, kind: Some(play_request::Kind::Join(join)) };
    let said = tokio_stream::iter([hello(), join]).chain(tokio_stream::pending());
    let unread = PlayServiceClient::new(narrow).play(as_bearer(&bot, said)).await.unwrap();

    let cut = async {
        loop {
            let said = tokio_stream::iter([hello()]).chain(tokio_stream::pending());
            let mut play = PlayServiceClient::new(channel(&server).await);
            let mut answers = play.play(as_bearer(&bot, said)).await.unwrap().into_inner();
            let first = answers.message().await.unwrap().unwrap();
            let Some(play_response::Kind::Welcome(welcome)) = first.kind else { panic!("{first:?}") };
            if let Some(cut) = welcome.previous_cut {
                return cut;
            }
            // Each look is another stream, and another connection, which stay open: what ended would be the last one's end.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let cut = timeout(Duration::from_mins(1), cut).await.expect("the stream is cut");
    assert_eq!(cut.reason(), ErrorReason::SlowReader);
    assert!(cut.message.contains("took nothing"), "{}", cut.message);
    let [cursor] = &*cut.cursors else { panic!("{cut:?}") };
    assert_eq!((&*cursor.match_id, cursor.seat), (&*match_id, 1));
    drop(unread);
    server.shutdown().await;
}

fn observe(tokens: &[String]) -> v1::ObserveRequest {
    let seat = |token: &String| v1::ObserveSeat { seat_token: token.clone(), ..v1::ObserveSeat::default() };
    v1::ObserveRequest { seats: tokens.iter().map(seat).collect() }
}

#[tokio::test]
async fn an_address_that_follows_as_many_seats_as_it_may_is_told_so() {
    let (_folder, server) = start_with(&[(Number::MaxFollowedSeatsPerAddress, 3)]).await;
    let (_, tokens) = create(&server, spec(4, v1::Visibility::Private)).await;
    let mut client = PlayServiceClient::new(channel(&server).await);
    let (say, said) = mpsc::channel(8);
    say.send(hello()).await.unwrap();
    let mut answers = client.play(ReceiverStream::new(said)).await.unwrap().into_inner();
    // Sends a message, and gives what answers it.
    let mut ask = async |tag, handle, kind| {
        say.send(v1::PlayRequest { tag, handle, kind: Some(kind) }).await.unwrap();
        loop {
            let answer = answers.message().await.unwrap().unwrap();
            if answer.tag == tag {
                break (answer.handle, answer.kind.unwrap());
            }
        }
    };
    let join = |token: &String| {
        let by = Some(v1::join::By::SeatToken(token.clone()));
        play_request::Kind::Join(v1::Join { by, ..v1::Join::default() })
    };
    let (handle, joined) = ask(10, 0, join(&tokens[0])).await;
    assert!(matches!(joined, play_response::Kind::Joined(_)), "{joined:?}");
    // There is room for two more: a request for three takes none of it.
    for _ in 0..10 {
        check_limit(&client.observe(observe(&tokens[1..])).await.unwrap_err());
    }
    let mut observed = client.observe(observe(&tokens[2..])).await.unwrap().into_inner();
    observed.message().await.unwrap().unwrap();
    check_limit(&client.observe(observe(&tokens[..1])).await.unwrap_err());
    let (_, refused) = ask(11, 0, join(&tokens[1])).await;
    let play_response::Kind::Rejection(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.reason(), ErrorReason::LimitExceeded, "{error:?}");
    assert!(error.retry_after_ms.is_some());
    // Who leaves makes room.
    let (_, left) = ask(12, handle, play_request::Kind::Leave(v1::Leave {})).await;
    assert!(matches!(left, play_response::Kind::Left(_)), "{left:?}");
    let again = async {
        for tag in 13.. {
            if let (_, play_response::Kind::Joined(_)) = ask(tag, 0, join(&tokens[1])).await {
                break;
            }
        }
    };
    timeout(Duration::from_secs(20), again).await.expect("there is room again");
    drop(observed);
    server.shutdown().await;
}

#[tokio::test]
async fn seats_are_followed_as_their_stream_is_read() {
    let (_folder, server) = start_with(&[(Number::MaxObserversPerMatch, 1)]).await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let batch = v1::BatchCreateMatchesRequest {
        request_id: String::new(),
        matches: vec![spec(2, v1::Visibility::Private); 500],
    };
    let created = matches.batch_create_matches(as_admin(&server, batch)).await.unwrap().into_inner();
    let seats = created.matches.into_iter().flat_map(|created| created.seat_tokens);
    let tokens: Vec<String> = seats.map(|seat| seat.token).collect();
    assert_eq!(tokens.len(), 1_000);
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let narrow = endpoint.initial_stream_window_size(1).connect().await.unwrap();
    let unread = PlayServiceClient::new(narrow).observe(observe(&tokens)).await.unwrap();
    // Each seat has one observer at most: the last one has none yet, as nobody reads so far.
    let mut client = PlayServiceClient::new(channel(&server).await);
    let mut last = client.observe(observe(&tokens[999..])).await.unwrap().into_inner();
    last.message().await.unwrap().unwrap();
    drop((unread, last));

    let mut all = client.observe(observe(&tokens)).await.unwrap().into_inner();
    for handle in 1..=1_000 {
        let started = timeout(Duration::from_secs(20), all.message()).await.unwrap().unwrap().unwrap();
        assert_eq!(started.handle, handle, "in the order of the request");
    }
    server.shutdown().await;
}
