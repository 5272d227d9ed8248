//! Ladders as a client in any language sees them: message by message.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::watch_standings_response::Kind as Shown;
use zetema_proto::{PROTOCOL_REVISION, v1};
use zetema_tests::harness::{Clients, PlayStream, TestServer, soon};

const LADDER: &str = "quick-2";

fn ladders(clients: &Clients) -> LadderServiceClient<Channel> {
    LadderServiceClient::new(clients.channel().clone())
}

fn queues(ladder: &str, matches_at_once: u32) -> v1::Queues {
    let queue = v1::LadderQueue { ladder: ladder.to_owned(), matches_at_once };
    v1::Queues { queues: vec![queue], challenges: None }
}

/// A stream of a bot whose hello names these queues, with so much room, and the answer to the queues.
async fn hello(
    clients: &Clients,
    token: &str,
    queues: v1::Queues,
    capacity: u32,
) -> (PlayStream, v1::PlayResponse) {
    loop {
        let mut stream = PlayStream::open_silent_by(clients, token).await;
        let hello = v1::Hello {
            protocol_revision: PROTOCOL_REVISION,
            capacity: Some(capacity),
            queues: Some(queues.clone()),
            ..v1::Hello::default()
        };
        let tag = stream.send(0, Some(Ask::Hello(hello))).await;
        let welcome = stream.answer(tag).await.unwrap();
        assert!(matches!(welcome.kind, Some(Answer::Welcome(_))), "{welcome:?}");
        let answer = stream.answer(tag).await.unwrap();
        // Right after the start it is asked again.
        if !matches!(&answer.kind, Some(Answer::Rejection(error)) if error.retry_after_ms.is_some()) {
            return (stream, answer);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn accepted(answer: &v1::PlayResponse) -> Vec<(&str, u32)> {
    let Some(Answer::Acknowledgement(v1::Acknowledgement { kind: Some(kind) })) = &answer.kind else {
        panic!("{answer:?} is no acknowledgement")
    };
    let v1::acknowledgement::Kind::Queues(accepted) = kind else { panic!("{kind:?} is of no queues") };
    accepted.queues.iter().map(|queue| (queue.ladder.as_str(), queue.matches_at_once)).collect()
}

/// The fields that a rejection names.
fn refused(answer: &v1::PlayResponse) -> (v1::ErrorReason, Vec<&str>) {
    let Some(Answer::Rejection(error)) = &answer.kind else { panic!("{answer:?} is no rejection") };
    (error.reason(), error.violations.iter().map(|violation| violation.field.as_str()).collect())
}

async fn update_queues(
    clients: &Clients,
    token: &str,
    queues: v1::Queues,
) -> Result<v1::UpdateQueuesResponse, Status> {
    let mut request = Request::new(v1::UpdateQueuesRequest { queues: Some(queues) });
    let bearer = MetadataValue::try_from(format!("Bearer {token}")).unwrap();
    request.metadata_mut().insert("authorization", bearer);
    Ok(soon("UpdateQueues", clients.play().update_queues(request)).await?.into_inner())
}

async fn watch(clients: &Clients) -> Streaming<v1::WatchStandingsResponse> {
    let request = v1::WatchStandingsRequest { ladder: LADDER.to_owned() };
    soon("WatchStandings", ladders(clients).watch_standings(request)).await.unwrap().into_inner()
}

/// Without points a match, which are computed in the background.
async fn shown(watch: &mut Streaming<v1::WatchStandingsResponse>) -> (u64, Shown) {
    let message = soon("standings", watch.message()).await.unwrap().expect("there are more");
    let mut kind = message.kind.unwrap();
    match &mut kind {
        Shown::All(v1::AllStandings { standings }) | Shown::Changed(v1::ChangedStandings { standings }) => {
            without_points(standings);
        }
        Shown::Draining(_) => {}
    }
    (message.result_number, kind)
}

fn without_points(standings: &mut [v1::Standing]) {
    for standing in standings {
        standing.points = None;
    }
}

/// The standings once the luck of all results up to this one is computed.
async fn with_luck(clients: &Clients, result: u64) -> Vec<v1::Standing> {
    loop {
        let request =
            v1::GetStandingsRequest { ladder: LADDER.to_owned(), ..v1::GetStandingsRequest::default() };
        let read = soon("GetStandings", ladders(clients).get_standings(request)).await.unwrap().into_inner();
        if read.luck_result_number >= result {
            return read.standings;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The standings as they were told, by rank, once they have two bots and the luck of both.
async fn with_luck_told(watch: &mut Streaming<v1::WatchStandingsResponse>) -> Vec<v1::Standing> {
    let mut latest: BTreeMap<String, v1::Standing> = BTreeMap::new();
    while latest.len() < 2 || latest.values().any(|standing| standing.points.is_none()) {
        let message = soon("luck", watch.message()).await.unwrap().expect("there is more");
        let (Shown::All(v1::AllStandings { standings }) | Shown::Changed(v1::ChangedStandings { standings })) =
            message.kind.unwrap()
        else {
            continue;
        };
        latest.extend(standings.into_iter().map(|standing| (standing.bot_name.clone(), standing)));
    }
    let mut standings: Vec<_> = latest.into_values().collect();
    standings.sort_by_key(|standing| standing.rank);
    standings
}

/// Joins the seat that a bot was given, and gives its handle.
async fn join(stream: &mut PlayStream, seat: &v1::LiveSeat) -> u32 {
    let assigned = v1::AssignedSeat { match_id: seat.match_id.clone(), seat: seat.seat };
    let by = Some(v1::join::By::Assigned(assigned));
    stream.join(v1::Join { by, ..v1::Join::default() }).await.0
}

async fn assigned(stream: &mut PlayStream) -> v1::LiveSeat {
    loop {
        if let Some(Answer::SeatAssigned(seat)) = stream.next().await.unwrap().unwrap().kind {
            return seat;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_wait_by_a_stream_and_by_calls_and_their_match_is_in_the_standings_after_a_restart_too() {
    let (server, clients) = TestServer::start().await;
    let (_, ann) = clients.register_bot("ann", "ada").await;
    let (_, bob) = clients.register_bot("bob", "ben").await;
    let mut watching = watch(&clients).await;
    assert_eq!(shown(&mut watching).await, (0, Shown::All(v1::AllStandings { standings: Vec::new() })));

    let (mut stream, answer) = hello(&clients, &ann, queues(LADDER, 1), 1).await;
    assert_eq!(accepted(&answer), [(LADDER, 1)]);
    let waits = update_queues(&clients, &bob, queues(LADDER, 2)).await.unwrap();
    assert_eq!((waits.queues[0].matches_at_once, waits.waits_ms), (2, 60_000));
    let seat = assigned(&mut stream).await;
    assert_eq!(seat.ladder, LADDER);
    // Who waits by calls finds the seat in the next answer, and in the welcome of a stream.
    let leave = update_queues(&clients, &bob, v1::Queues::default()).await.unwrap();
    let other = leave.live_seats.iter().find(|other| other.match_id == seat.match_id).unwrap();
    let (mut bobs, welcome) = PlayStream::open_by(&clients, &bob).await;
    assert_eq!(welcome.live_seats, leave.live_seats);
    join(&mut bobs, other).await;
    let handle = join(&mut stream, &seat).await;
    let left = stream.ask(0, Ask::Queues(v1::Queues::default())).await.unwrap();
    assert_eq!(accepted(&left), []);
    stream.ask(handle, Ask::Resign(v1::Resign::default())).await.unwrap();

    let (number, changed) = shown(&mut watching).await;
    let Shown::Changed(v1::ChangedStandings { standings }) = changed else { panic!("{changed:?}") };
    let names: Vec<&str> = standings.iter().map(|standing| standing.bot_name.as_str()).collect();
    assert_eq!((number, names), (1, vec!["bob", "ann"]));

    drop((stream, bobs, watching));
    let (server, clients) = server.restart().await;
    let (number, all) = shown(&mut watch(&clients).await).await;
    assert_eq!((number, all), (1, Shown::All(v1::AllStandings { standings: standings.clone() })));
    let request = v1::GetStandingsRequest { ladder: LADDER.to_owned(), ..v1::GetStandingsRequest::default() };
    let mut read = soon("GetStandings", ladders(&clients).get_standings(request)).await.unwrap().into_inner();
    without_points(&mut read.standings);
    assert_eq!((read.standings, read.result_number), (standings, 1));
    // Then the luck of its cards is known too: of the result, and of each bot's points a match.
    let points = with_luck(&clients, 1).await.into_iter().map(|standing| standing.points.unwrap());
    let scored: Vec<_> = points.map(|points| (points.matches, points.scored.unwrap().mean)).collect();
    let request = v1::ListResultsRequest { ladder: LADDER.to_owned(), ..v1::ListResultsRequest::default() };
    let results = soon("ListResults", ladders(&clients).list_results(request)).await.unwrap().into_inner();
    let mut adjusted = results.results[0].seats.iter().map(|seat| seat.adjusted_score.unwrap());
    let (one, other) = (adjusted.next().unwrap(), adjusted.next().unwrap());
    assert!(scored.contains(&(1, one.score)) && scored.contains(&(1, other.score)), "{scored:?}, {one:?}");
    assert_eq!((one.luck, one.adjusted), (-other.luck, one.score - one.luck));
    assert!(one.luck.abs() > 0.0);
    let list = soon("ListLadders", ladders(&clients).list_ladders(v1::ListLaddersRequest {})).await.unwrap();
    let quick = list.into_inner().ladders.into_iter().find(|ladder| ladder.name == LADDER).unwrap();
    assert_eq!((quick.queued_bots, quick.live_matches, quick.rated_matches), (0, 0, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_sees_luck_that_is_computed_later() {
    let (server, clients) = TestServer::start().await;
    let (_, ann) = clients.register_bot("ann", "ada").await;
    let (_, bob) = clients.register_bot("bob", "ben").await;
    let mut watching = watch(&clients).await;
    assert!(matches!(shown(&mut watching).await, (0, Shown::All(_))));
    let (mut stream, _) = hello(&clients, &ann, queues(LADDER, 1), 1).await;
    let (mut bobs, _) = hello(&clients, &bob, queues(LADDER, 1), 1).await;
    let (seat, other) = (assigned(&mut stream).await, assigned(&mut bobs).await);
    join(&mut bobs, &other).await;
    let handle = join(&mut stream, &seat).await;
    for queue in [&mut stream, &mut bobs] {
        queue.ask(0, Ask::Queues(v1::Queues::default())).await.unwrap();
    }
    stream.ask(handle, Ask::Resign(v1::Resign::default())).await.unwrap();
    // Nobody plays any more.
    let told = with_luck_told(&mut watching).await;
    assert_eq!(told, with_luck(&clients, 1).await);

    // After a restart too, whether it is there yet when somebody begins to watch or not.
    drop((stream, bobs, watching));
    let (server, clients) = server.restart().await;
    assert_eq!(with_luck_told(&mut watch(&clients).await).await, told);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_whose_stream_is_full_of_other_matches_is_paired_when_it_has_room() {
    let (server, clients) = TestServer::start().await;
    let (_, ann) = clients.register_bot("ann", "ada").await;
    let (_, bob) = clients.register_bot("bob", "ben").await;
    let match_id = clients.create_with_bot("ann").await;

    let (mut stream, answer) = hello(&clients, &ann, queues(LADDER, 1), 1).await;
    assert_eq!(accepted(&answer), [(LADDER, 1)]);
    join(&mut stream, &v1::LiveSeat { match_id: match_id.clone(), ..v1::LiveSeat::default() }).await;
    update_queues(&clients, &bob, queues(LADDER, 1)).await.unwrap();
    let both_wait = async {
        loop {
            let list = ladders(&clients).list_ladders(v1::ListLaddersRequest {}).await.unwrap().into_inner();
            let quick = list.ladders.into_iter().find(|ladder| ladder.name == LADDER).unwrap();
            if quick.queued_bots == 2 {
                return quick;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // It is shown when they could have been paired.
    assert_eq!(soon("both to wait", both_wait).await.live_matches, 0);
    let request = v1::CancelMatchRequest { match_id };
    soon("CancelMatch", clients.matches().cancel_match(request)).await.unwrap();
    assert_eq!(assigned(&mut stream).await.ladder, LADDER);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_that_are_refused_name_their_field_and_leave_what_was_before() {
    let (server, clients) = TestServer::start().await;
    let (_, ann) = clients.register_bot("ann", "ada").await;
    let field =
        |of: &str, name: &str| (v1::ErrorReason::InvalidField, vec![format!("{of}.queues[0].{name}")]);
    let check = |answer: &v1::PlayResponse, of: &str, name: &str| {
        let (reason, fields) = refused(answer);
        assert_eq!((reason, fields.into_iter().map(str::to_owned).collect::<Vec<_>>()), field(of, name));
    };
    for (wanted, capacity, name) in [
        (queues("nowhere", 1), 10, "ladder"),
        (queues("No", 1), 10, "ladder"),
        (queues(LADDER, 1_001), 10, "matches_at_once"),
        // A match that the stream has no room for would be lost as a no-show.
        (queues(LADDER, 3), 2, "matches_at_once"),
    ] {
        let (_, answer) = hello(&clients, &ann, wanted.clone(), capacity).await;
        check(&answer, "hello.queues", name);
        let (mut stream, answer) = hello(&clients, &ann, queues(LADDER, 2), capacity).await;
        assert_eq!(accepted(&answer), [(LADDER, 2)]);
        let answer = stream.ask(0, Ask::Queues(wanted)).await.unwrap();
        check(&answer, "queues", name);
    }
    for token in ["+5", "-1", "5.0"] {
        let (ladder, page_token) = (LADDER.to_owned(), token.to_owned());
        let request = v1::GetStandingsRequest { ladder, page_token, ..v1::GetStandingsRequest::default() };
        let status = soon("GetStandings", ladders(&clients).get_standings(request)).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{token}");
        let (ladder, page_token) = (LADDER.to_owned(), token.to_owned());
        let request = v1::ListResultsRequest { ladder, page_token, ..v1::ListResultsRequest::default() };
        let status = soon("ListResults", ladders(&clients).list_results(request)).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{token}");
    }
    server.stop().await;
}
