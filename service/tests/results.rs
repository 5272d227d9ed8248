//! `WatchResults` over a real socket: every result once, across restarts, and whoever reads slowly.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use tonic::{
    Status, Streaming,
    transport::{Channel, Endpoint},
};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, watch_results_request::From,
    watch_results_response::Kind,
};
use zetema_service::server::Server;

use common::{as_admin, channel, restart, spec, start};

/// A result, as far as a backend looks at it: its number and its match.
type Result = (u64, String);

async fn client(server: &Server) -> MatchServiceClient<Channel> {
    MatchServiceClient::new(channel(server).await)
}

fn reason(error: &Status) -> ErrorReason {
    v1::Error::from_status(error).unwrap().reason()
}

/// Creates matches with this reference and cancels them, one after the other.
async fn end(server: &Server, count: usize, reference: &str) -> Vec<String> {
    let mut client = client(server).await;
    let spec = v1::MatchSpec { client_reference: reference.to_owned(), ..spec(2, v1::Visibility::Private) };
    let batch = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: vec![spec; count] };
    let created = client.batch_create_matches(as_admin(server, batch)).await.unwrap().into_inner().matches;
    let mut ended = Vec::new();
    for match_id in created.into_iter().map(|created| created.r#match.unwrap().match_id) {
        let cancel = v1::CancelMatchRequest { match_id: match_id.clone() };
        client.cancel_match(as_admin(server, cancel)).await.unwrap();
        ended.push(match_id);
    }
    ended
}

async fn watch(
    server: &Server,
    from: Option<From>,
    reference: Option<&str>,
) -> std::result::Result<Streaming<v1::WatchResultsResponse>, Status> {
    let filter = reference.map(|text| v1::ResultFilter { client_reference: Some(text.to_owned()) });
    let request = v1::WatchResultsRequest { from, filter };
    Ok(client(server).await.watch_results(as_admin(server, request)).await?.into_inner())
}

/// Reads until nothing more is there: the results, and where to go on.
async fn until_caught_up(stream: &mut Streaming<v1::WatchResultsResponse>) -> (Vec<Result>, String) {
    let mut results = Vec::new();
    loop {
        let v1::WatchResultsResponse { cursor, kind } = stream.message().await.unwrap().unwrap();
        assert!(cursor.is_ascii() && cursor.len() <= 64, "{cursor}");
        match kind.unwrap() {
            Kind::Ended(v1::EndedMatch { r#match, result_number }) => {
                let ended = r#match.unwrap();
                assert_eq!(ended.state(), v1::MatchState::Aborted);
                results.push((result_number, ended.match_id));
            }
            Kind::CaughtUp(v1::CaughtUp {}) => return (results, cursor),
            Kind::Draining(draining) => panic!("{draining:?}"),
        }
    }
}

fn after(cursor: &str) -> From {
    From::After(cursor.to_owned())
}

fn numbered(first: u64, matches: &[String]) -> Vec<Result> {
    (first..).zip(matches.iter().cloned()).collect()
}

#[tokio::test]
async fn results_go_on_after_the_cursor_across_a_stop_and_a_start() {
    let (folder, server) = start().await;
    let mut stream = watch(&server, None, None).await.unwrap();
    assert_eq!(until_caught_up(&mut stream).await.0, []);
    let first = end(&server, 3, "").await;
    let mut told = Vec::new();
    let mut cursor = String::new();
    while told.len() < 3 {
        let (results, at) = until_caught_up(&mut stream).await;
        told.extend(results);
        cursor = at;
    }
    assert_eq!(told, numbered(1, &first));

    let (stopped, last_words) = tokio::join!(server.shutdown(), async {
        let word = stream.message().await.unwrap().unwrap();
        (word, stream.message().await.unwrap_err())
    });
    let () = stopped;
    let (word, status) = last_words;
    assert!(matches!(word.kind, Some(Kind::Draining(_))), "{word:?}");
    assert_eq!((word.cursor.as_str(), reason(&status)), (cursor.as_str(), ErrorReason::Draining));

    let server = restart(&folder).await;
    let second = end(&server, 2, "").await;
    let mut resumed = watch(&server, Some(after(&word.cursor)), None).await.unwrap();
    assert_eq!(until_caught_up(&mut resumed).await.0, numbered(4, &second));
    let mut again = watch(&server, None, None).await.unwrap();
    assert_eq!(until_caught_up(&mut again).await.0, numbered(1, &[first, second].concat()));
    server.shutdown().await;
}

#[tokio::test]
async fn a_reader_that_rests_misses_nothing_and_holds_up_nobody() {
    let (_folder, server) = start().await;
    let address = format!("http://{}", server.local_addr());
    let narrow = Endpoint::from_shared(address).unwrap().initial_stream_window_size(Some(16 * 1024));
    let mut resting_client = MatchServiceClient::new(narrow.connect().await.unwrap());
    let request = as_admin(&server, v1::WatchResultsRequest::default());
    let mut resting = resting_client.watch_results(request).await.unwrap().into_inner();
    // More than all buffers on the way hold.
    let mut ended = end(&server, 300, "x").await;
    ended.extend(end(&server, 300, "").await);
    let mut quick = watch(&server, None, Some("x")).await.unwrap();
    assert_eq!(until_caught_up(&mut quick).await.0, numbered(1, &ended[..300]));

    let mut told = Vec::new();
    while told.len() < ended.len() {
        told.extend(until_caught_up(&mut resting).await.0);
    }
    assert_eq!(told, numbered(1, &ended));
    server.shutdown().await;
}

#[tokio::test]
async fn a_cursor_of_what_is_not_here_is_refused_and_counted() {
    let (_folder, server) = start().await;
    end(&server, 1, "").await;
    let (_, cursor) = until_caught_up(&mut watch(&server, None, None).await.unwrap()).await;
    server.shutdown().await;

    // What a backup from before the result looks like to a client that has seen it.
    let (_other_folder, restored) = start().await;
    let refused = watch(&restored, Some(after(&cursor)), None).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused)), (tonic::Code::OutOfRange, ErrorReason::CursorAhead));
    let counted = zetema_service::metrics::page().unwrap().render();
    assert!(counted.contains("zetema_result_cursors_ahead_total{by=\"admin\"} 1"), "{counted}");
    let now = Some(From::Now(v1::FromNow {}));
    assert_eq!(until_caught_up(&mut watch(&restored, now, None).await.unwrap()).await.0, []);
    restored.shutdown().await;
}

#[tokio::test]
async fn a_list_of_records_has_the_numbers_of_the_results() {
    let (_folder, server) = start().await;
    let ended = end(&server, 3, "").await;
    let list = as_admin(&server, v1::ListRecordsRequest::default());
    let records = client(&server).await.list_records(list).await.unwrap().into_inner().records;
    let mut numbers: Vec<Result> =
        records.into_iter().map(|record| (record.result_number, record.match_id)).collect();
    numbers.reverse();
    assert_eq!(numbers, numbered(1, &ended));
    server.shutdown().await;
}

#[tokio::test]
async fn a_match_of_a_deal_set_that_is_held_shows_its_outcome() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let shared = v1::Deals { kind: Some(v1::deals::Kind::Shared(v1::SharedDeals { deal_set: 1 })) };
    let spec = v1::MatchSpec { deals: Some(shared), ..spec(2, v1::Visibility::Public) };
    let batch = v1::BatchCreateMatchesRequest { request_id: String::new(), matches: vec![spec; 2] };
    let created = client.batch_create_matches(as_admin(&server, batch)).await.unwrap().into_inner().matches;
    let match_id = created.into_iter().next().unwrap().r#match.unwrap().match_id;
    let cancel = v1::CancelMatchRequest { match_id: match_id.clone() };
    client.cancel_match(as_admin(&server, cancel)).await.unwrap();
    let mut stream = watch(&server, None, None).await.unwrap();
    let Some(Kind::Ended(ended)) = stream.message().await.unwrap().unwrap().kind else { panic!() };
    let shown = ended.r#match.unwrap();
    assert_eq!((shown.match_id.as_str(), ended.result_number), (match_id.as_str(), 1));
    assert!(shown.outcome.is_some());
    server.shutdown().await;
}

#[tokio::test]
async fn what_precedes_a_damaged_result_is_told_before_the_error_and_nothing_is_passed_over() {
    let (folder, server) = start().await;
    end(&server, 5, "").await;
    let mut stream = watch(&server, None, None).await.unwrap();
    let mut cursors = Vec::new();
    while cursors.len() < 5 {
        cursors.push(stream.message().await.unwrap().unwrap().cursor);
    }
    drop(stream);
    server.shutdown().await;
    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    assert_eq!(
        database.execute("UPDATE records SET summary = x'00' WHERE result_number = 3", []).unwrap(),
        1
    );
    drop(database);

    let server = restart(&folder).await;
    let check = async |from, told: &[u64]| {
        let mut stream = watch(&server, from, None).await.unwrap();
        let mut numbers = Vec::new();
        let error = loop {
            match stream.message().await {
                Ok(Some(v1::WatchResultsResponse { kind: Some(Kind::Ended(ended)), .. })) => {
                    numbers.push(ended.result_number);
                }
                Ok(other) => panic!("{other:?} after {numbers:?}"),
                Err(error) => break error,
            }
        };
        assert_eq!((numbers.as_slice(), reason(&error)), (told, ErrorReason::Internal));
    };
    check(None, &[1, 2]).await;
    check(Some(after(&cursors[0])), &[2]).await;
    check(Some(after(&cursors[1])), &[]).await;
    // Who has it already goes on.
    let mut stream = watch(&server, Some(after(&cursors[2])), None).await.unwrap();
    let numbers: Vec<u64> =
        until_caught_up(&mut stream).await.0.into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [4, 5]);
    drop(stream);
    server.shutdown().await;
}
