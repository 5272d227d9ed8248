//! I1: a server that is killed goes on where it was, with all that it acknowledged and nothing else.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::{ErrorReason, MatchState, Preset};
use zetema_proto::{Wire, v1};
use zetema_rules::fair::Nonce;
use zetema_rules::{PlayedBy, Record, Step};
use zetema_tests::harness::{
    Acted, Clients, Created, Process, SeatLog, Table, join_all, preset, sackson_to, soon, unhurried,
};

/// So many points that no match ends before the test has done all: by the 200 of the preset, one of four seats did.
const LONG: u16 = 600;

fn nonce(seat: usize) -> Nonce {
    Nonce::new(format!("nonce {seat}").as_bytes()).unwrap()
}

async fn restart(process: Process) -> (Process, Clients) {
    let (folder, _) = process.kill();
    Process::start_in(folder).await
}

async fn join(clients: &Clients, created: &Created, seat: usize) {
    let nonce_hash = Some(nonce(seat).hash()).to_wire();
    let request =
        v1::JoinSeatRequest { seat_token: created.tokens[seat].clone(), nonce_hash, assigned: None };
    soon("JoinSeat", clients.play().join_seat(request)).await.unwrap();
}

async fn give(clients: &Clients, created: &Created, seat: usize, nonce: &Nonce) -> Result<(), v1::Error> {
    let request = v1::SendNonceRequest {
        seat_token: created.tokens[seat].clone(),
        nonce: nonce.to_wire(),
        assigned: None,
    };
    let answer = soon("SendNonce", clients.play().send_nonce(request)).await;
    answer.map(drop).map_err(|status| v1::Error::from_status(&status).unwrap())
}

/// The record holds the actions that were acknowledged, each once, and no other.
fn check_record(record: &Record, acted: &[Acted]) {
    let played = record.steps.iter().map(|step| match step {
        Step::Play { seat, action, by: PlayedBy::Player, .. } => (seat.index(), *action),
        other => panic!("{other:?} was not asked for"),
    });
    assert!(played.eq(acted.iter().map(|acted| (acted.seat, acted.action))));
    for (acted, decision) in acted.iter().zip(1..) {
        assert_eq!(acted.receipt.decision_number, decision, "decisions are numbered without a gap");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_before_the_deal_keeps_every_join_and_every_nonce() {
    let (process, clients) = Process::start().await;
    let created = clients.create(preset(Preset::Sackson, 3)).await;
    let commitment = created.info.commitment.clone();
    let (process, clients) = restart(process).await;

    join(&clients, &created, 0).await;
    join(&clients, &created, 1).await;
    let (process, clients) = restart(process).await;
    assert_eq!(clients.get(created.id()).await.state(), MatchState::WaitingForSeats);
    join(&clients, &created, 0).await;
    join(&clients, &created, 2).await;
    assert_eq!(clients.get(created.id()).await.state(), MatchState::WaitingForNonces);

    give(&clients, &created, 0, &nonce(0)).await.unwrap();
    give(&clients, &created, 2, &nonce(2)).await.unwrap();
    let (process, clients) = restart(process).await;
    let other = give(&clients, &created, 0, &nonce(9)).await.unwrap_err();
    assert_eq!(other.reason(), ErrorReason::NonceFixed);
    give(&clients, &created, 0, &nonce(0)).await.unwrap();
    assert_eq!(clients.get(created.id()).await.state(), MatchState::WaitingForNonces);
    give(&clients, &created, 1, &nonce(1)).await.unwrap();
    let (process, clients) = restart(process).await;

    let mut table = Table::resume(&clients, &created.tokens, &[Some(0); 3]).await;
    table.play_out().await;
    let record = clients.verified_record(created.id()).await;
    check_record(&record, &table.acted);
    assert_eq!(record.dealing.commitment.to_wire(), commitment);
    let nonces: Vec<_> = record.dealing.entrants.into_iter().map(|entrant| entrant.nonce.unwrap()).collect();
    assert!(nonces == [nonce(0), nonce(1), nonce(2)]);
    process.kill();
}

/// A match in play, across restarts.
struct Played {
    created: Created,
    table: Table,
}

impl Played {
    async fn new(clients: &Clients, players: usize) -> Self {
        let created = clients.create(unhurried(sackson_to(LONG, players))).await;
        join_all(clients, &[&created], |seat| Some(nonce(seat))).await;
        let table = Table::resume(clients, &created.tokens, &vec![Some(0); players]).await;
        Self { created, table }
    }

    /// What each seat sees now.
    async fn snapshots(&self, clients: &Clients) -> Vec<SeatLog> {
        let mut now = Table::open(clients, &self.created.tokens).await;
        while now.seats.iter().any(|log| log.start.is_none()) {
            now.read().await.unwrap();
        }
        now.seats
    }

    /// Every seat goes on after what it saw last, and comes to what it sees now.
    async fn check_streams(&mut self, clients: &Clients) {
        let snapshots = self.snapshots(clients).await;
        for (seat, now) in snapshots.iter().enumerate() {
            while self.table.seats[seat].last_seq() < now.last_seq() {
                self.table.read().await.unwrap();
            }
            assert_eq!(self.table.seats[seat].last_view(), now.last_view(), "the same hand and tableau");
        }
    }
}

/// Answers the open decision.
async fn act(clients: &Clients, seat_token: String, decision_number: u32) -> Option<v1::Receipt> {
    let act = v1::Act { decision_number, choice: Some(Choice::LegalIndex(0)) };
    let request = v1::ActRequest { seat_token, act: Some(act), assigned: None };
    let answer = clients.play().act(request).await;
    answer.ok().and_then(|answer| answer.into_inner().receipt)
}

/// Answers the open decision of every match at once, kills the server when so many are acknowledged,
/// and after the restart sends every answer again.
async fn kill_in_flight(
    process: Process,
    clients: Clients,
    played: &mut [Played],
    acknowledged: usize,
) -> (Process, Clients) {
    let mut open = Vec::new();
    let mut answers = FuturesUnordered::new();
    for (i, one) in played.iter_mut().enumerate() {
        let decision = one.table.decision().await.expect("the match is not over");
        let receipt = act(&clients, one.created.tokens[decision.seat].clone(), decision.number);
        answers.push(async move { (i, receipt.await) });
        open.push(decision);
    }
    let mut receipts = vec![None; played.len()];
    for _ in 0..acknowledged {
        let (i, receipt) = soon("a receipt", answers.next()).await.unwrap();
        assert!(receipt.is_some(), "an action that is legal is acknowledged");
        receipts[i] = receipt;
    }
    let (folder, _) = process.kill();
    // What is on its way was stored or not: nobody knows.
    while let Some((i, receipt)) = soon("an answer, or the end of the connection", answers.next()).await {
        receipts[i] = receipt;
    }
    drop(answers);
    let (process, clients) = Process::start_in(folder).await;
    for ((one, open), before) in played.iter_mut().zip(&open).zip(receipts) {
        one.table.cut(&clients).await;
        let again = one.table.act(open, 0).await;
        assert!(before.is_none_or(|before| before == again), "the first receipt comes again");
        one.check_streams(&clients).await;
    }
    (process, clients)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_in_play_loses_nothing_and_repeats_nothing() {
    let (mut process, mut clients) = Process::start().await;
    let mut played = Vec::new();
    for players in [2, 2, 3, 4] {
        played.push(Played::new(&clients, players).await);
    }
    // From the very first decision on, with none to all of the actions acknowledged.
    for (round, acknowledged) in [0, 1, 4, 2, 3, 0].into_iter().enumerate() {
        (process, clients) = kill_in_flight(process, clients, &mut played, acknowledged).await;
        for one in &mut played {
            let acted = u32::try_from(one.table.acted.len()).unwrap();
            one.table.play_to(acted + 1 + 7 * u32::try_from(round).unwrap()).await;
        }
    }
    // With nothing on its way: every seat sees the same as before.
    let mut before = Vec::new();
    for one in &mut played {
        assert!(one.table.decision().await.is_some(), "the match is not over");
        before.push(one.snapshots(&clients).await);
    }
    let (process, clients) = restart(process).await;
    for (one, before) in played.iter_mut().zip(before) {
        assert_eq!(one.snapshots(&clients).await, before);
        one.table.cut(&clients).await;
        one.table.play_out().await;
        check_record(&clients.verified_record(one.created.id()).await, &one.table.acted);
    }
    let (process, clients) = restart(process).await;
    for one in &played {
        check_record(&clients.verified_record(one.created.id()).await, &one.table.acted);
    }
    process.kill();
}
