//! I4: a stream can be cut anywhere.

use tonic::Streaming;
use zetema_proto::v1;
use zetema_proto::v1::Preset;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_proto::v1::watch_match_response::Kind as Watched;
use zetema_tests::harness::{
    Clients, Created, PlayStream, SeatLog, Table, TestServer, join_all, preset, soon, unhurried,
};

/// A spectator's stream.
struct Watcher {
    stream: Streaming<v1::WatchMatchResponse>,
    log: SeatLog,
}

impl Watcher {
    async fn new(clients: &Clients, created: &Created, after_seq: Option<u64>) -> Self {
        let request = v1::WatchMatchRequest { match_id: created.id().to_owned(), after_seq, views: None };
        let stream = soon("WatchMatch", clients.matches().watch_match(request)).await.unwrap().into_inner();
        Self { stream, log: SeatLog::default() }
    }

    /// Reads one message. `false` at the end.
    async fn read(&mut self) -> bool {
        let Some(message) = soon("a spectator's message", self.stream.message()).await.unwrap() else {
            return false;
        };
        match message.kind.unwrap() {
            Watched::Start(start) => {
                assert!(self.log.start(0, start).is_none(), "a spectator decides nothing");
            }
            Watched::Observation(observation) => {
                assert!(self.log.observe(0, observation).is_none(), "a spectator decides nothing");
            }
            Watched::End(end) => self.log.end(end),
            // The match goes on.
            Watched::Draining(_) => {}
        }
        true
    }

    async fn read_out(mut self) -> SeatLog {
        while self.read().await {}
        self.log
    }
}

/// A match with joint deals whose seats have all joined, with a nonce each.
async fn match_in_play(clients: &Clients, players: usize) -> Created {
    let created = clients.create(unhurried(preset(Preset::Quick, players))).await;
    join_all(clients, &[&created], |seat| {
        Some(zetema_rules::fair::Nonce::new(&[u8::try_from(seat).unwrap(); 32]).unwrap())
    })
    .await;
    created
}

/// Reads until every seat has what the last to act has shown the others: the decision that is open.
async fn caught_up(table: &mut Table) -> bool {
    let Some(open) = table.decision().await else { return false };
    let behind = |log: &SeatLog| {
        let last = log.observations.last().and_then(|observation| observation.decision_number);
        let started = log.start.as_ref().and_then(|start| match &start.kind {
            Some(From::Snapshot(snapshot)) => snapshot.decision_number,
            _ => None,
        });
        last.or(started) != Some(open.number)
    };
    while table.seats.iter().any(behind) {
        assert!(table.read().await.unwrap());
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_cut_after_every_observation_equals_one_that_was_not() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(unhurried(preset(Preset::Quick, 2))).await;
    // From before the first seat has joined.
    let mut whole = Table::open(&clients, &created.tokens).await;
    let spectator = Watcher::new(&clients, &created, None).await;
    join_all(&clients, &[&created], |_| None).await;

    let mut cut: Vec<Vec<v1::Observation>> = vec![Vec::new(); 3];
    let mut last = false;
    while !last {
        last = !caught_up(&mut whole).await;
        for (seat, token) in created.tokens.iter().enumerate() {
            let upto = whole.seats[seat].observations.len();
            while cut[seat].len() < upto {
                let after = cut[seat].last().map_or(0, |observation| observation.seq);
                cut[seat].push(one_observation(&clients, token, after).await);
            }
        }
        let upto = usize::try_from(whole.seats[0].last_seq()).unwrap();
        while cut[2].len() < upto {
            let after = cut[2].last().map_or(0, |observation| observation.seq);
            let mut watcher = Watcher::new(&clients, &created, Some(after)).await;
            while watcher.log.observations.is_empty() {
                assert!(watcher.read().await);
            }
            cut[2].append(&mut watcher.log.observations);
        }
        if !last {
            whole.act_at_random().await;
        }
    }
    for (seat, cut) in cut.iter().take(2).enumerate() {
        assert_eq!(whole.seats[seat].observations, *cut);
    }
    assert_eq!(spectator.read_out().await.observations, cut[2]);
    server.stop().await;
}

/// The observation after this one, by a stream that is opened for it alone: each second one by Play.
async fn one_observation(clients: &Clients, token: &str, after: u64) -> v1::Observation {
    if after.is_multiple_of(2) {
        let mut table = Table::resume(clients, &[token.to_owned()], &[Some(after)]).await;
        while table.seats[0].observations.is_empty() {
            assert!(table.read().await.unwrap());
        }
        return table.seats[0].observations.remove(0);
    }
    let (mut stream, _) = PlayStream::open(clients).await;
    let join = v1::Join {
        by: Some(v1::join::By::SeatToken(token.to_owned())),
        after_seq: Some(after),
        ..v1::Join::default()
    };
    let (_, start) = stream.join(join).await;
    assert_eq!(start.kind, Some(From::Resumed(v1::Resumed { after_seq: after, ..v1::Resumed::default() })));
    match stream.next().await.unwrap().and_then(|message| message.kind) {
        Some(Answer::Observation(observation)) => observation,
        other => panic!("{other:?} is no observation"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_and_the_tail_equal_the_whole() {
    let (server, clients) = TestServer::start().await;
    let created = match_in_play(&clients, 3).await;
    let mut whole = Table::resume(&clients, &created.tokens, &[Some(0); 3]).await;
    let all = Watcher::new(&clients, &created, Some(0)).await;

    let mut seats = Vec::new();
    let mut spectators = Vec::new();
    while caught_up(&mut whole).await {
        if whole.acted.len() % 20 == 0 {
            let mut late = Table::open(&clients, &created.tokens).await;
            while late.seats.iter().any(|log| log.start.is_none()) {
                late.read().await.unwrap();
            }
            for (late, whole) in late.seats.iter().zip(&whole.seats) {
                check_snapshot(late, whole);
            }
            seats.push(late);
            spectators.push(Watcher::new(&clients, &created, None).await);
        }
        whole.act_at_random().await;
    }
    for mut late in seats {
        while late.read().await.unwrap() {}
        for (late, whole) in late.seats.iter().zip(&whole.seats) {
            check_tail(late, whole);
        }
    }
    let all = all.read_out().await;
    for late in spectators {
        check_tail(&late.read_out().await, &all);
    }
    server.stop().await;
}

/// The snapshot says what the last observation said.
fn check_snapshot(late: &SeatLog, whole: &SeatLog) {
    let Some(From::Snapshot(snapshot)) = late.start.clone().unwrap().kind else { panic!("no snapshot") };
    let last = whole.observations.last().unwrap();
    assert_eq!(snapshot.seq, last.seq);
    assert_eq!(snapshot.decision_number, last.decision_number);
    assert_eq!(snapshot.decision, last.decision);
    assert_eq!(snapshot.view.as_ref(), whole.last_view());
    assert_eq!(snapshot.revealed, None);
}

fn check_tail(late: &SeatLog, whole: &SeatLog) {
    let Some(From::Snapshot(snapshot)) = late.start.clone().unwrap().kind else { panic!("no snapshot") };
    let included = usize::try_from(snapshot.seq).unwrap();
    assert_eq!(late.observations, whole.observations[included..]);
    assert_eq!(late.end, whole.end);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_that_is_over_can_be_followed_from_anywhere() {
    let (server, clients) = TestServer::start().await;
    let created = match_in_play(&clients, 2).await;
    let mut whole = Table::resume(&clients, &created.tokens, &[Some(0); 2]).await;
    whole.play_out().await;

    let (server, clients) = server.restart().await;
    let last = whole.seats[0].last_seq();
    for after in (0..=last).step_by(50).chain([last]) {
        let mut again = Table::resume(&clients, &created.tokens, &[Some(after); 2]).await;
        while again.read().await.unwrap() {}
        for (again, whole) in again.seats.iter().zip(&whole.seats) {
            assert_eq!(again.observations, whole.observations[usize::try_from(after).unwrap()..]);
            assert_eq!(again.end, whole.end);
        }
    }
    server.stop().await;
}
