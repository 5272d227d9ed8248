//! Clocks over sockets, in real time: who is silent loses, and what is the server's own fault costs nobody.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::decision_clock::TimeOut;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::{self, DecisionClosedBy, ErrorReason, Preset};
use zetema_rules::{AbortReason, ForfeitReason, LedgerEntry, Outcome, PlayedBy, Record, Step};
use zetema_tests::harness::{
    Clients, Created, PlayStream, Pongs, Process, StreamTable, Table, TestServer, clocked, join_all, preset,
    soon, unhurried,
};

/// So long for each decision, and nothing more.
fn clock(budget_ms: u32, time_out: TimeOut) -> v1::DecisionClock {
    v1::DecisionClock { budget_ms, time_out: Some(time_out), ..v1::DecisionClock::default() }
}

const FORFEIT: TimeOut = TimeOut::Forfeit(v1::ForfeitOnTimeOut {});

/// A match that is dealt.
async fn dealt(clients: &Clients, players: usize, clock: v1::DecisionClock) -> (Created, Table) {
    let created = clients.create(clocked(preset(Preset::Sackson, players), clock)).await;
    // Followed from before the deal: the clock of the first decision may be short.
    let mut table = Table::open(clients, &created.tokens).await;
    while table.seats.iter().any(|log| log.start.is_none()) {
        table.read().await.unwrap();
    }
    join_all(clients, &[&created], |_| None).await;
    (created, table)
}

/// Reads everything to the end of the match.
async fn to_the_end(table: &mut Table) {
    while table.read().await.unwrap() {}
}

fn ledger(record: &Record) -> &[LedgerEntry] {
    &record.clocks.as_ref().expect("a served match has clocks").ledger
}

fn forfeits(record: &Record) -> Vec<(usize, ForfeitReason)> {
    let forfeit = |step: &Step| match step {
        Step::Forfeit { seat, reason } => Some((seat.index(), *reason)),
        _ => None,
    };
    record.steps.iter().filter_map(forfeit).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_bot_forfeits_and_is_told_that_the_clock_closed_its_decision() {
    let (server, clients) = TestServer::start().await;
    let (created, mut table) = dealt(&clients, 2, clock(200, FORFEIT)).await;
    let open = table.decision().await.unwrap();
    to_the_end(&mut table).await;

    let act = v1::Act { decision_number: open.number, choice: Some(Choice::LegalIndex(0)) };
    let request =
        v1::ActRequest { seat_token: created.tokens[open.seat].clone(), act: Some(act), assigned: None };
    let late = soon("Act", clients.play().act(request)).await.unwrap_err();
    let late = v1::Error::from_status(&late).unwrap();
    assert_eq!((late.reason(), late.closed_by()), (ErrorReason::DecisionOver, DecisionClosedBy::Clock));

    let record = clients.verified_record(created.id()).await;
    assert_eq!(forfeits(&record), [(open.seat, ForfeitReason::OutOfTime)]);
    let Outcome::Result(result) = &record.outcome else { panic!("{:?}", record.outcome) };
    assert_eq!(result.ranks[1 - open.seat], 1);
    let [entry] = ledger(&record) else { panic!("{:?}", ledger(&record)) };
    assert_eq!((entry.received_ms, entry.charge.charged_ms), (None, 200));
    for log in &table.seats {
        let events = log.observations.iter().flat_map(|observation| &observation.events);
        let timed_out: Vec<_> = events
            .filter_map(|event| match event.kind {
                Some(v1::event::Kind::TimedOut(timed_out)) => Some(timed_out),
                _ => None,
            })
            .collect();
        let seat = u32::try_from(open.seat).unwrap();
        assert_eq!(timed_out, [v1::TimedOut { seat, decision_number: 1, strikes: 1 }]);
    }
    server.stop().await;
}

/// How the first decision of a match is answered.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// On a Play stream with such pongs.
    Play(Pongs),
    /// By Act, beside a Play stream with such pongs.
    Act(Pongs),
}

/// Answers the first decision so long after its budget, in a match in which so much may be credited: its entry.
async fn late(clients: &Clients, way: Way, network_credit_ms: u32, after_budget: Duration) -> LedgerEntry {
    const BUDGET_MS: u32 = 100;
    let clock = v1::DecisionClock {
        bank_ms: 60_000,
        network_credit_ms: Some(network_credit_ms),
        ..clock(BUDGET_MS, FORFEIT)
    };
    let created = clients.create(clocked(preset(Preset::Sackson, 2), clock)).await;
    let (mut stream, _) = PlayStream::open(clients).await;
    let (Way::Play(pongs) | Way::Act(pongs)) = way;
    stream.pongs(pongs);
    let mut table = StreamTable::join(&mut stream, &created.tokens).await;
    let open = table.decision(&mut stream).await.unwrap();
    // Real time has to pass here: the answer is to be late.
    tokio::time::sleep(Duration::from_millis(BUDGET_MS.into()) + after_budget).await;
    if pongs != Pongs::Never {
        stream.pongs_sent().await;
    }
    match way {
        Way::Play(_) => {
            table.act_at_random(&mut stream).await.unwrap();
            table.decision(&mut stream).await.unwrap();
        }
        Way::Act(_) => {
            let act = v1::Act { decision_number: open.number, choice: Some(Choice::LegalIndex(0)) };
            let request = v1::ActRequest {
                seat_token: created.tokens[open.seat].clone(),
                act: Some(act),
                assigned: None,
            };
            soon("Act", clients.play().act(request)).await.unwrap();
        }
    }
    let cancel = v1::CancelMatchRequest { match_id: created.id().to_owned() };
    soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
    let record = clients.verified_record(created.id()).await;
    let entry = ledger(&record)[0];
    let took = entry.received_ms.unwrap() - entry.published_ms;
    assert!(took > u64::from(BUDGET_MS), "{took} ms");
    assert_eq!(entry.charge.charged_ms, took - u64::from(entry.charge.credit_ms));
    entry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_answer_is_credited_the_way_that_was_measured_up_to_the_cap_and_on_that_stream_alone() {
    let (server, clients) = TestServer::start().await;
    let slow = Pongs::After(Duration::from_millis(60));
    let late_by = Duration::from_millis(500);
    let credit = async |way, cap| late(&clients, way, cap, late_by).await.charge.credit_ms;
    // The way is 60 ms and what the machine takes beside, and the answer is later than that.
    assert_eq!(credit(Way::Play(slow), 40).await, 40, "the cap");
    let measured = credit(Way::Play(slow), 1_000).await;
    assert!((60..=1_000).contains(&measured), "{measured} ms");
    assert_eq!(credit(Way::Play(Pongs::Never), 1_000).await, 0, "nothing was measured");
    assert_eq!(credit(Way::Act(slow), 1_000).await, 0, "nothing is measured on the way of Act");
    assert_eq!(credit(Way::Play(slow), 0).await, 0, "nothing is allowed");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_every_bot_silent_a_match_ends_by_itself() {
    let (server, clients) = TestServer::start().await;
    let strikes = TimeOut::Autoplay(v1::AutoplayOnTimeOut { strikes: 2 });
    for players in [2, 3] {
        let (created, mut table) = dealt(&clients, players, clock(20, strikes)).await;
        to_the_end(&mut table).await;
        let record = clients.verified_record(created.id()).await;
        assert_eq!(forfeits(&record).len(), players - 1, "until one side is left");
        assert!(forfeits(&record).iter().all(|(_, reason)| *reason == ForfeitReason::OutOfStrikes));
        let by_player = |step: &Step| matches!(step, Step::Play { by: PlayedBy::Player, .. });
        assert!(!record.steps.iter().any(by_player));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_never_joins_ends_the_match() {
    let (server, clients) = TestServer::start().await;
    let mut spec = unhurried(preset(Preset::Sackson, 2));
    spec.time_control.as_mut().unwrap().join_timeout_ms = Some(1_000);
    let created = clients.create(spec).await;
    let join =
        v1::JoinSeatRequest { seat_token: created.tokens[0].clone(), nonce_hash: Vec::new(), assigned: None };
    soon("JoinSeat", clients.play().join_seat(join)).await.unwrap();
    let mut table = Table::open(&clients, &created.tokens[..1]).await;
    to_the_end(&mut table).await;
    let record = clients.verified_record(created.id()).await;
    let Outcome::Aborted { reason, seats } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert_eq!((*reason, seats.iter().map(|seat| seat.index()).collect()), (AbortReason::NoShow, vec![1]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_and_a_restart_are_charged_to_nobody() {
    let (process, clients) = Process::start().await;
    // The first decision is the one that is open at the kill: the others have time on any machine.
    let clock = v1::DecisionClock { first_budget_ms: Some(3_000), ..clock(60_000, FORFEIT) };
    let (created, mut table) = dealt(&clients, 2, clock).await;
    let open = table.decision().await.unwrap();
    let (folder, _) = process.kill();
    // A decision with the same clock, opened after the kill, runs out of time elsewhere.
    let (elsewhere, others) = TestServer::start().await;
    let (_, mut same) = dealt(&others, 2, clock).await;
    to_the_end(&mut same).await;
    elsewhere.stop().await;
    let (process, clients) = Process::start_in(folder).await;
    table.cut(&clients).await;
    table.act(&open, 0).await;
    table.play_out().await;
    let record = clients.verified_record(created.id()).await;
    assert_eq!(forfeits(&record), []);
    let first = ledger(&record)[0];
    assert!(first.interrupted);
    assert_eq!(
        (first.published_ms, first.received_ms, first.charge.charged_ms),
        (0, Some(0), 0),
        "in the grace"
    );
    assert!(ledger(&record)[1..].iter().all(|entry| !entry.interrupted));
    process.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_of_ten_seconds_is_charged_to_nobody() {
    const STALL: Duration = Duration::from_secs(10);
    let (process, clients) = Process::start().await;
    let (created, mut table) = dealt(&clients, 2, clock(5_000, FORFEIT)).await;
    let open = table.decision().await.unwrap();
    let begun = Instant::now();
    process.freeze();
    // Real time has to pass here: the decision would be over twice.
    tokio::time::sleep(STALL).await;
    process.thaw();
    table.act(&open, 0).await;
    let real = begun.elapsed();
    process.logs("the server stalled", 1).await;
    table.play_out().await;
    let record = clients.verified_record(created.id()).await;
    assert_eq!(forfeits(&record), []);
    let charged = Duration::from_millis(ledger(&record)[0].charge.charged_ms);
    assert!(charged < Duration::from_secs(5), "{charged:?} of {real:?}");
    process.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_of_the_server_cuts_no_stream_and_loses_nothing_that_came_meanwhile() {
    // Silent for longer than a client may be, which is three ping intervals.
    const STALL: Duration = Duration::from_secs(2);
    let flags = ["--ping-interval-ms", "500"].map(OsStr::new);
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let clients = process.connect().await;
    let (created, mut table) = dealt(&clients, 2, clock(60_000, FORFEIT)).await;
    let open = table.decision().await.unwrap();
    let (mut stream, _) = PlayStream::open(&clients).await;
    let token = created.tokens[open.seat].clone();
    let join = v1::Join { by: Some(v1::join::By::SeatToken(token)), ..v1::Join::default() };
    let (handle, _) = stream.join(join).await;
    process.freeze();
    let act = v1::Act { decision_number: open.number, choice: Some(Choice::LegalIndex(0)) };
    stream.send(handle, Some(Ask::Act(act))).await;
    // Real time has to pass here.
    tokio::time::sleep(STALL).await;
    process.thaw();
    loop {
        let message = stream.next().await.unwrap().expect("the stream goes on");
        let Some(v1::play_response::Kind::Observation(observation)) = message.kind else { continue };
        if observation.answered_decision_number.is_some() {
            break;
        }
    }
    process.kill();
}

/// A client that says of HTTP/2 no more than a connection needs.
struct Bare(TcpStream);

impl Bare {
    async fn connect(process: &Process) -> Self {
        const PREFACE_AND_EMPTY_SETTINGS: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        let address = process.url().strip_prefix("http://").unwrap();
        let mut stream = soon("a connection", TcpStream::connect(address)).await.unwrap();
        stream.write_all(PREFACE_AND_EMPTY_SETTINGS).await.unwrap();
        Self(stream)
    }

    async fn read<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        soon("a frame", self.0.read_exact(&mut bytes)).await.expect("the connection stays open");
        bytes
    }

    /// What the next ping of the server holds.
    async fn ping(&mut self) -> [u8; 8] {
        loop {
            let [high, middle, low, kind, flags, ..] = self.read::<9>().await;
            match (kind, flags) {
                (6, 0) => return self.read().await,
                (7, _) => panic!("the server says farewell"),
                _ => {}
            }
            for _ in 0..u32::from_be_bytes([0, high, middle, low]) {
                self.read::<1>().await;
            }
        }
    }

    async fn pong(&mut self, ping: [u8; 8]) {
        let header = [0, 0, 8, 6, 1, 0, 0, 0, 0];
        self.0.write_all(&[&header[..], &ping].concat()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_of_the_server_closes_no_connection_whose_ping_was_under_way() {
    // Longer than the answer to a ping of HTTP/2 may take, which is two ping intervals, and no long stall.
    const STALL: Duration = Duration::from_millis(4_500);
    // It asks for nothing all the time.
    let flags = ["--ping-interval-ms", "2000", "--idle-timeout-ms", "3600000"].map(OsStr::new);
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let mut client = Bare::connect(&process).await;
    for _ in 0..2 {
        let ping = client.ping().await;
        process.freeze();
        client.pong(ping).await;
        // Real time has to pass here.
        tokio::time::sleep(STALL).await;
        process.thaw();
    }
    client.ping().await;
    process.kill();
}
