//! I3: nothing hidden leaves.

use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_proto::v1::watch_match_response::Kind as Watched;
use zetema_proto::v1::{DealsKind, Preset};
use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{Action, Card, Deck, Players, Suit};
use zetema_tests::harness::{Clients, Created, SeatLog, Table, TestServer, fixed, join_all, preset, soon};

/// Two seeds whose deals look the same to seat 0 until its second draw: it deals to seat 0 first, gives it
/// the same hand and the same first draw, and the rest differs. They were found by trying 600,000.
const TWINS: [u32; 2] = [3_931, 488_422];

fn seed(number: u32) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The first deck of a seed, with two players.
fn deck(number: u32) -> Deck {
    let seed = MatchSeed::derive(&ServerSeed::new(seed(number)), &[Nonce::EMPTY, Nonce::EMPTY]);
    assert_eq!(seed.dealer(Players::TWO).index(), 1);
    seed.deck(0, Suit::Spades)
}

/// The cards of a seat's first hand, in order.
fn hand(deck: &Deck, seat: usize) -> Vec<Card> {
    let mut hand: Vec<Card> = deck.reveal()[..12].iter().copied().skip(seat).step_by(2).collect();
    hand.sort();
    hand
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deals_that_differ_only_in_what_is_hidden_give_the_same_bytes() {
    let decks = TWINS.map(deck);
    assert_eq!(hand(&decks[0], 0), hand(&decks[1], 0));
    assert_eq!(decks[0].reveal()[12], decks[1].reveal()[12]);
    assert_ne!(hand(&decks[0], 1), hand(&decks[1], 1));
    let common = hand(&decks[0], 1).into_iter().find(|card| hand(&decks[1], 1).contains(card)).unwrap();

    let seen = [seen_by_the_others(TWINS[0], common).await, seen_by_the_others(TWINS[1], common).await];
    assert!(seen[0].len() > 10);
    assert_eq!(seen[0].len(), seen[1].len());
    for (number, (one, other)) in seen[0].iter().zip(&seen[1]).enumerate() {
        assert!(one == other, "message {number} tells the twins apart:\n{one:?}\n{other:?}");
    }
}

/// Everything that seat 0 and a spectator get, as bytes without ids, times and the commitment, from before the
/// deal to the second decision of seat 0.
async fn seen_by_the_others(number: u32, common: Card) -> Vec<Vec<u8>> {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(fixed(preset(Preset::Sackson, 2), seed(number))).await;
    let request = v1::WatchMatchRequest { match_id: created.id().to_owned(), after_seq: None, views: None };
    let mut watch = soon("WatchMatch", clients.matches().watch_match(request)).await.unwrap().into_inner();
    let mut table = Table::open(&clients, &created.tokens).await;
    join_all(&clients, &[&created], |_| None).await;
    let mut seen = Vec::new();

    let first = table.decision().await.unwrap();
    assert_eq!(first.seat, 0);
    seen.extend(refusals(&clients, &created, first.number).await);
    let least = first.legal.discards.iter().next().unwrap();
    assert!(matches!(first.legal.get(0), Some(Action::Discard(card)) if card == least));
    table.act(&first, 0).await;

    let second = table.decision().await.unwrap();
    assert_eq!(second.seat, 1);
    seen.extend(refusals(&clients, &created, second.number).await);
    let same = second.legal.iter().position(|action| action == Action::Discard(common)).unwrap();
    table.act(&second, same).await;

    let third = table.decision().await.unwrap();
    assert_eq!(third.seat, 0);
    while seen_decision(&table.seats[0]) != Some(third.number) {
        table.read().await.unwrap();
    }
    let mut late = Table::open(&clients, &created.tokens[..1]).await;
    late.decision().await.unwrap();
    for log in [&table.seats[0], &late.seats[0]] {
        seen.extend(log.start.clone().map(start_bytes));
        seen.extend(log.observations.iter().map(Message::encode_to_vec));
    }

    loop {
        match soon("a spectator's message", watch.message()).await.unwrap().unwrap().kind.unwrap() {
            Watched::Start(start) => seen.push(start_bytes(start)),
            Watched::Observation(observation) => {
                seen.push(observation.encode_to_vec());
                if observation.decision_number == Some(third.number) {
                    break;
                }
            }
            Watched::End(end) => panic!("{end:?}: the match is not over"),
            Watched::Draining(draining) => panic!("{draining:?}: nobody has stopped the server"),
        }
    }
    server.stop().await;
    seen
}

fn seen_decision(log: &SeatLog) -> Option<u32> {
    log.observations.last().and_then(|observation| observation.decision_number)
}

/// What seat 0 is told when it offers every card there is while it may not.
async fn refusals(clients: &Clients, created: &Created, decision: u32) -> Vec<Vec<u8>> {
    let mut told = Vec::new();
    for number in 1..=52 {
        let card = v1::Action { kind: Some(v1::action::Kind::Discard(number)) };
        let act = v1::Act { decision_number: decision + 1, choice: Some(Choice::Action(card.clone())) };
        told.push(refusal(clients, created, act).await);
        let king = v1::Declaration {
            kind: Some(v1::declaration::Kind::Marriages(v1::Marriages {
                hand: vec![number],
                tableau: vec![],
            })),
        };
        let declare = v1::Action { kind: Some(v1::action::Kind::Declare(king)) };
        let act = v1::Act { decision_number: decision, choice: Some(Choice::Action(declare)) };
        told.push(refusal(clients, created, act).await);
    }
    told
}

async fn refusal(clients: &Clients, created: &Created, act: v1::Act) -> Vec<u8> {
    let request = v1::ActRequest { seat_token: created.tokens[0].clone(), act: Some(act), assigned: None };
    let status = soon("Act", clients.play().act(request)).await.unwrap_err();
    v1::Error::from_status(&status).unwrap().encode_to_vec()
}

fn start_bytes(mut start: v1::SubscriptionStart) -> Vec<u8> {
    let info = start.r#match.as_mut().unwrap();
    assert_eq!(info.deals(), DealsKind::Fixed);
    info.match_id.clear();
    info.commitment.clear();
    info.create_time = None;
    if let Some(From::Snapshot(snapshot)) = &mut start.kind {
        snapshot.setup.as_mut().unwrap().commitment.clear();
        assert_eq!(snapshot.revealed, None);
        if let Some(clock) = snapshot.decision.as_mut().and_then(|decision| decision.clock.as_mut()) {
            clock.elapsed_ms = 0;
        }
    }
    start.encode_to_vec()
}

pub(crate) async fn metrics(clients: &Clients) -> String {
    let address = clients.url().replace("http://", "");
    let mut stream = soon("a connection", TcpStream::connect(&address)).await.unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("the metrics", stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}
