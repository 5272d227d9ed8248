//! Bad input: a table of what must be refused, each with its typed error, after which every match goes on
//! and nothing is lost.

mod assigned_cases;
mod bot_cases;
mod case;
mod complete;
mod ladder_cases;
mod match_cases;
mod play_cases;
mod rules_cases;
mod scene;
mod spec_cases;
mod stream_cases;
mod token_cases;
mod undecodable;
mod webhook_cases;

use std::collections::BTreeSet;

use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::{PROTOCOL_REVISION, Wire};
use zetema_rules::fair::Nonce;
use zetema_rules::{PlayedBy, Record, Step};
use zetema_tests::harness::{Acted, Clients, PlayStream, StreamTable, Table, call, preset, soon};

use case::{Caller, Case, StreamCase};
use scene::{Scene, cancel, nonce};
use stream_cases::Handles;

/// The reasons that the rows of the table have met.
type Met = BTreeSet<ErrorReason>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_input_gets_its_error_and_every_match_goes_on() {
    let mut scene = Box::pin(Scene::set()).await;
    let clients = scene.clients.clone();
    soon("CreateMatch", clients.matches().create_match(match_cases::request())).await.unwrap();
    let mut before = Vec::new();
    for (_, created) in scene.matches() {
        before.push(clients.get(created.id()).await);
    }

    let mut met = Met::new();
    let mut failures = Vec::new();
    let cases = all_cases(&scene).await;
    for case in &cases {
        check(&clients, case, &mut met, &mut failures).await;
    }
    for case in stream_cases::first_messages(&scene) {
        let stream = PlayStream::open_silent(&clients).await;
        check_first_message(stream, case, &mut met, &mut failures).await;
    }
    let (_, bot) = clients.bot_token("bot").await;
    for case in stream_cases::first_messages_of_a_bot() {
        let stream = PlayStream::open_silent_by(&clients, &bot).await;
        check_first_message(stream, case, &mut met, &mut failures).await;
    }
    check_capacity(&clients, &scene, &mut met, &mut failures).await;
    for ((name, created), before) in scene.matches().iter().zip(&before) {
        assert_eq!(&clients.get(created.id()).await, before, "what was refused changed the match {name}");
    }
    check_stream(&clients, &scene, &mut met, &mut failures).await;
    assert!(failures.is_empty(), "{} of the table's rows:\n{}", failures.len(), failures.join("\n"));

    complete::check(&cases, &met);
    finish(&clients, &mut scene).await;
    let Scene { server, .. } = scene;
    server.stop().await;
}

async fn all_cases(scene: &Scene) -> Vec<Case> {
    let sackson = v1::PresetRules { preset: v1::Preset::Sackson.into(), teams: None, imperial_suit: None };
    let request = v1::GetPresetRequest { preset: Some(sackson), players: 2 };
    let answer = soon("GetPreset", scene.clients.rules().get_preset(request)).await.unwrap();
    let rules = answer.into_inner().rules.unwrap();
    let (token, shop) = scene.clients.owner_token("shop").await;
    scene.clients.register_bot("rex", "kennel").await;
    let (_, stray) = scene.clients.bot_token("stray").await;
    [
        bot_cases::cases(scene),
        ladder_cases::cases(&stray),
        rules_cases::cases(),
        spec_cases::cases(rules, &shop),
        match_cases::cases(scene),
        play_cases::cases(scene),
        assigned_cases::cases(scene, &stray),
        token_cases::cases(scene, &token),
        webhook_cases::cases(scene),
        complete::of_every_method(),
    ]
    .concat()
}

async fn check(clients: &Clients, case: &Case, met: &mut Met, failures: &mut Vec<String>) {
    let token = match &case.caller {
        Caller::Admin => Some(clients.admin_token()),
        Caller::Nobody => None,
        Caller::Token(token) => Some(token.as_str()),
    };
    let method = format!("/zetema.v1.{}", case.method);
    let (messages, end) = call(clients.channel(), &method, token, case.bodies.clone()).await;
    let difference = match end {
        Ok(()) => Some(format!("expected {:?}, got {} messages and no error", case.expected, messages.len())),
        Err(status) => case.expected.difference_of_status(&status),
    };
    met.insert(case.expected.reason);
    failures.extend(difference.map(|difference| format!("{}, {}: {difference}", case.method, case.name)));
}

async fn check_on(stream: &mut PlayStream, case: StreamCase, met: &mut Met, failures: &mut Vec<String>) {
    let StreamCase { name, handle, ask, expected } = case;
    let tag = stream.send(handle, ask).await;
    let answer =
        stream.answer(tag).await.unwrap_or_else(|status| panic!("{name} ended the stream: {status}"));
    met.insert(expected.reason);
    let difference = match &answer.kind {
        Some(Answer::Rejection(error)) if answer.handle == handle => expected.difference(error),
        _ => Some(format!("expected {expected:?} for handle {handle}, got {answer:?}")),
    };
    failures.extend(difference.map(|difference| format!("on a stream, {name}: {difference}")));
}

/// After the rejection the same stream says hello and is welcome.
async fn check_first_message(
    mut stream: PlayStream,
    case: StreamCase,
    met: &mut Met,
    failures: &mut Vec<String>,
) {
    check_on(&mut stream, case, met, failures).await;
    let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, ..v1::Hello::default() };
    let answer = stream.ask(0, Ask::Hello(hello)).await.unwrap();
    assert!(matches!(answer.kind, Some(Answer::Welcome(_))), "{answer:?} is no welcome");
}

async fn check_capacity(clients: &Clients, scene: &Scene, met: &mut Met, failures: &mut Vec<String>) {
    let mut stream = PlayStream::open_silent(clients).await;
    let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, capacity: Some(1), ..v1::Hello::default() };
    stream.ask(0, Ask::Hello(hello)).await.unwrap();
    stream.join(join(&scene.nonces.tokens[1])).await;
    check_on(&mut stream, stream_cases::beyond_the_capacity(scene), met, failures).await;
}

fn join(token: &str) -> v1::Join {
    v1::Join { by: Some(v1::join::By::SeatToken(token.to_owned())), ..v1::Join::default() }
}

/// A match on a stream on which all else is refused: it goes on, to the end.
async fn check_stream(clients: &Clients, scene: &Scene, met: &mut Met, failures: &mut Vec<String>) {
    let created = clients.create(preset(v1::Preset::Sackson, 2)).await;
    let (mut stream, _) = PlayStream::open(clients).await;
    let mut table = StreamTable::join(&mut stream, &created.tokens).await;
    table.play_to(&mut stream, 8).await;
    let open = table.decision(&mut stream).await.unwrap();

    let mut handles = Handles { playing: table.handles.clone(), nonces: Vec::new(), joining: 0, left: 0 };
    for token in &scene.nonces.tokens {
        handles.nonces.push(stream.join(join(token)).await.0);
    }
    handles.joining = stream.join(join(&scene.joining.tokens[0])).await.0;
    handles.left = stream.join(join(&scene.forfeited.created.tokens[0])).await.0;
    let left = stream.ask(handles.left, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(left.kind, Some(Answer::Left(_))), "{left:?} is no answer to leave");

    let not_held = table.seats[open.seat].not_held();
    let bad_acts = play_cases::bad_acts(&open, 1 - open.seat, not_held);
    for case in stream_cases::cases(scene, &handles, bad_acts) {
        check_on(&mut stream, case, met, failures).await;
    }
    table.play_out(&mut stream).await;
    check_record(&clients.verified_record(created.id()).await, &table.acted);
}

/// Every match that was in play ends, and its record holds what was acknowledged.
async fn finish(clients: &Clients, scene: &mut Scene) {
    for in_play in [&mut scene.playing, &mut scene.faults, &mut scene.forfeited] {
        in_play.table.play_out().await;
        let record = clients.verified_record(in_play.created.id()).await;
        check_record(&record, &in_play.table.acted);
    }
    scene.held_table.play_out().await;
    check_record(&clients.verified_record(scene.held[1].id()).await, &scene.held_table.acted);
    clients.verified_record(scene.held[0].id()).await;

    // The match that waited for a nonce gets it, is dealt, and ends.
    let request = v1::SendNonceRequest {
        seat_token: scene.nonces.tokens[1].clone(),
        nonce: nonce(1).to_wire(),
        assigned: None,
    };
    soon("SendNonce", clients.play().send_nonce(request)).await.unwrap();
    let mut table = Table::open(clients, &scene.nonces.tokens).await;
    table.play_out().await;
    let record = clients.verified_record(scene.nonces.id()).await;
    check_record(&record, &table.acted);
    let nonces: Vec<_> = record.dealing.entrants.iter().map(|entrant| entrant.nonce.clone()).collect();
    assert_eq!(nonces, [Some(nonce(0)), Some(nonce(1)), Some(Nonce::EMPTY)]);

    // The match that waited for a seat is still there to be cancelled.
    let cancelled = cancel(clients, &scene.joining).await;
    assert_eq!(cancelled.state(), v1::MatchState::Aborted);
}

/// The record holds the actions that were acknowledged, each once, and no other of a player.
fn check_record(record: &Record, acted: &[Acted]) {
    let played = record.steps.iter().filter_map(|step| match step {
        Step::Play { seat, action, by: PlayedBy::Player, .. } => Some((seat.index(), *action)),
        _ => None,
    });
    let acknowledged = acted.iter().map(|acted| (acted.seat, acted.action));
    assert!(played.eq(acknowledged), "the record is not what was acknowledged");
}
