//! Values that hold secrets print none of them: not in `Debug`, not in a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use zetema_proto::{Wire, v1, view_to_wire};
use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{
    Action, Card, Deck, Game, NamedTimeControl, Preset, RULES_REVISION, Rules, Seat, Suit, TimeControl,
    Viewer,
};
use zetema_sdk::{BotToken, SeatToken};
use zetema_service::access::{Access, SeatGrant, ServiceKey, TokenSpec};
use zetema_service::journal::{
    BotName, MatchId, MetaValue, Payload, RecordBytes, Response, Scope, Summary, UnixMillis, Visibility,
};
use zetema_service::matches::SystemClock;
use zetema_service::table::{
    Change, Choice, Command, Created, DealSpec, Deals, Decided, Entrant, Entry, FairShuffler, LadderRates,
    MatchSpec, Moment, SeatAccess, SeatSpec, Started, Table,
};
use zetema_tests::harness::{Secrets, faces};
use zetema_tests::twins::MemoryJournal;

const SEED: [u8; 32] = *b"the seed of the server, 32 bytes";
const KEY: [u8; 32] = *b"the key of the service, 32 bytes";
const NONCE: &[u8] = b"the nonce of a seat";

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

fn rules() -> Rules {
    Preset::Sackson.rules(2, None).unwrap()
}

fn match_seed() -> MatchSeed {
    MatchSeed::derive(&ServerSeed::new(SEED), &[Nonce::new(NONCE).unwrap(), Nonce::EMPTY])
}

fn deck() -> Deck {
    match_seed().deck(0, Suit::Spades)
}

/// Two seats, of which each sees one hand and nobody the stock.
fn game() -> Game {
    Game::new(rules(), match_seed().dealer(rules().player_count()), &deck(), &mut Vec::new()).unwrap()
}

fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add("the server's seed", &SEED);
    secrets.add("the service key", &KEY);
    secrets.add("a nonce", NONCE);
    secrets.add("the match's seed", match_seed().reveal());
    secrets.add_cards("the deck", deck().reveal());
    for seat in rules().seats() {
        let hand: Vec<Card> = game().view(Viewer::Seat(seat)).hand.iter().collect();
        secrets.add_cards("a hand", &hand);
    }
    secrets
}

/// A value prints no secret, in `Debug` or in the panic of whoever did not expect it.
fn check(secrets: &Secrets, what: &str, value: impl Debug) {
    let mut printed = vec![format!("{value:?}"), format!("{value:#?}")];
    let panic = catch_unwind(AssertUnwindSafe(|| panic!("{value:?}"))).unwrap_err();
    printed.push(panic.downcast_ref::<String>().expect("a panic with a text").clone());
    for text in printed {
        secrets.check(what, text.as_bytes());
        assert!(faces(&text).is_empty(), "{what} shows {:?}: {text}", faces(&text));
    }
}

fn created() -> Created {
    Created {
        match_id: MatchId::from_bytes([1; 16]),
        at: UnixMillis::new(0),
        rules_revision: RULES_REVISION,
        rules: rules(),
        seats: vec![SeatSpec::Token; 2],
        deals: Deals::Joint,
        server_seed: ServerSeed::new(SEED),
        time_control: TimeControl::named(NamedTimeControl::None),
        visibility: Visibility::Public,
        client_reference: None,
        owner: None,
        ladder: None,
        ladder_rates: LadderRates::Yes,
    }
}

/// A match that is dealt, with the entries that made it so.
fn table() -> (Table, Vec<Entry>) {
    let nonce = Nonce::new(NONCE).unwrap();
    let started = Started {
        nonces: vec![nonce.clone(), Nonce::EMPTY],
        entrants: Arc::default(),
        dealer: match_seed().dealer(rules().player_count()),
        deck: deck(),
    };
    let changes = [
        Change::Created(Arc::new(created())),
        Change::SeatJoined { seat: seat(0), nonce_hash: Some(nonce.hash()) },
        Change::SeatJoined { seat: seat(1), nonce_hash: None },
        Change::NonceGiven { seat: seat(0), nonce },
        Change::Started(Box::new(started)),
    ];
    let entries: Vec<Entry> =
        changes.into_iter().map(|change| Entry { at: UnixMillis::new(0), change }).collect();
    (Table::replay(entries.clone(), Arc::new(FairShuffler)).unwrap(), entries)
}

#[test]
fn seeds_nonces_decks_and_hands_print_nothing() {
    let secrets = secrets();
    check(&secrets, "ServerSeed", ServerSeed::new(SEED));
    check(&secrets, "MatchSeed", match_seed());
    check(&secrets, "Nonce", Nonce::new(NONCE).unwrap());
    check(&secrets, "Deck", deck());
    check(&secrets, "Game", game());
    for seat in rules().seats() {
        check(&secrets, "View", game().view(Viewer::Seat(seat)));
        check(&secrets, "LegalActions", game().legal_actions());
    }
}

#[test]
fn what_a_table_is_asked_and_does_prints_nothing() {
    let secrets = secrets();
    let (table, entries) = table();
    let nonce = || Nonce::new(NONCE).unwrap();
    let access = SeatAccess { seat: seat(0), generation: 1 };
    for entry in &entries {
        check(&secrets, "Entry", entry);
    }
    check(&secrets, "Created", created());
    check(&secrets, "Decided", Decided::Write(entries.iter().map(|entry| entry.change.clone()).collect()));
    check(&secrets, "Table", &table);
    check(&secrets, "MatchInfo", table.info());
    for seat in rules().seats() {
        let snapshot = table.snapshot(Viewer::Seat(seat), Moment::since_start(std::time::Duration::ZERO));
        assert!(snapshot.view.is_some(), "it is dealt");
        check(&secrets, "Snapshot", snapshot);
    }
    let spec = MatchSpec {
        rules: rules(),
        seats: vec![SeatSpec::Token; 2],
        deals: DealSpec::Fixed(ServerSeed::new(SEED)),
        time_control: TimeControl::named(NamedTimeControl::None),
        visibility: Visibility::Public,
        client_reference: None,
        owner: None,
        ladder: None,
        ladder_rates: LadderRates::Yes,
    };
    check(&secrets, "MatchSpec", spec);
    let held = game().view(Viewer::Seat(seat(0))).hand.iter().next().unwrap();
    let choice = Choice::Action(Action::Discard(held));
    check(&secrets, "Command", Command::Act { access, decision: 1, choice });
    check(&secrets, "Command", Command::GiveNonce { access, nonce: nonce() });
    let entrant = Entrant {
        match_id: MatchId::from_bytes([1; 16]),
        seat: seat(0),
        nonce_hash: Some(nonce().hash()),
        nonce: nonce(),
    };
    check(&secrets, "Command", Command::DealSetComplete { entrants: [entrant].into() });
}

#[test]
fn what_the_journal_keeps_prints_nothing() {
    let secrets = secrets();
    let bytes = || Bytes::from([&SEED[..], &KEY, NONCE].concat());
    check(&secrets, "Payload", Payload::new(bytes()).unwrap());
    check(&secrets, "RecordBytes", RecordBytes::new(bytes()).unwrap());
    check(&secrets, "Summary", Summary::new(bytes()).unwrap());
    check(&secrets, "Response", Response::new(bytes()).unwrap());
    check(&secrets, "MetaValue", MetaValue::new(KEY.to_vec()).unwrap());
}

#[tokio::test]
async fn keys_and_tokens_print_nothing() {
    let mut secrets = secrets();
    let folder = tempfile::tempdir().unwrap();
    let access = Access::open(Arc::new(MemoryJournal::new()), Arc::new(SystemClock::new()), folder.path())
        .await
        .unwrap();
    let spec = TokenSpec {
        scope: Some(Scope::Bot(BotName::new("greedy").unwrap())),
        label: None,
        expires_at: None,
        replaces: None,
    };
    let (stored, bearer) = access.tokens().create(spec, None).await.unwrap();
    let grant = SeatGrant { match_id: MatchId::from_bytes([1; 16]), seat: seat(0), generation: 1 };
    let seat_token = access.seat_token(&grant);
    let admin = access.admin_token().unwrap();
    secrets.add("a bearer token", bearer.expose().as_bytes());
    secrets.add("a seat's token", seat_token.expose().as_bytes());
    secrets.add("the admin's token", admin.expose().as_bytes());

    check(&secrets, "ServiceKey", ServiceKey::from_bytes(KEY));
    check(&secrets, "the SDK's SeatToken", SeatToken::new(seat_token.expose()));
    check(&secrets, "the SDK's BotToken", BotToken::new(bearer.expose()));
    check(&secrets, "AdminToken", admin);
    check(&secrets, "Pass", access.pass(Some(bearer.expose())).unwrap());
    check(&secrets, "Pass", access.pass(Some(seat_token.expose())).unwrap());
    check(&secrets, "an unknown token", access.pass(Some(&bearer.expose()[1..])).unwrap_err());
    check(&secrets, "StoredToken", stored);
    check(&secrets, "Access", &access);
    check(&secrets, "SeatToken", seat_token);
    check(&secrets, "BearerToken", bearer);
}

#[test]
fn messages_print_nothing() {
    let mut secrets = secrets();
    let token = "zts_a_seat_token_that_is_as_long_as_they_are";
    secrets.add("a token", token.as_bytes());
    let (token, nonce) = (|| token.to_owned(), || NONCE.to_vec());
    let view = game().view(Viewer::Seat(seat(0)));
    let cards = || view.hand.iter().map(|card| card.to_wire()).collect::<Vec<i32>>();
    let seat_tokens = vec![v1::SeatToken { seat: 0, token: token() }];
    check(&secrets, "CreateMatchResponse", v1::CreateMatchResponse { r#match: None, seat_tokens });
    check(&secrets, "CreateTokenResponse", v1::CreateTokenResponse { token: None, secret: token() });
    check(
        &secrets,
        "JoinSeatRequest",
        v1::JoinSeatRequest { seat_token: token(), nonce_hash: vec![], assigned: None },
    );
    check(
        &secrets,
        "SendNonceRequest",
        v1::SendNonceRequest { seat_token: token(), nonce: nonce(), assigned: None },
    );
    let action = v1::Action { kind: Some(v1::action::Kind::Discard(cards()[0])) };
    let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::Action(action)) };
    check(
        &secrets,
        "ActRequest",
        v1::ActRequest { seat_token: token(), act: Some(act.clone()), assigned: None },
    );
    check(&secrets, "ResignRequest", v1::ResignRequest { seat_token: token(), panic: None, assigned: None });
    check(&secrets, "ListFaultsRequest", v1::ListFaultsRequest { seat_token: token(), ..Default::default() });
    let seats = vec![v1::ObserveSeat { seat_token: token(), ..v1::ObserveSeat::default() }];
    check(&secrets, "ObserveRequest", v1::ObserveRequest { seats });
    let join = v1::Join { by: Some(v1::join::By::SeatToken(token())), ..v1::Join::default() };
    for kind in [
        v1::play_request::Kind::Join(join),
        v1::play_request::Kind::Nonce(v1::GiveNonce { nonce: nonce() }),
        v1::play_request::Kind::Act(act),
    ] {
        check(&secrets, "PlayRequest", v1::PlayRequest { tag: 1, handle: 1, kind: Some(kind) });
    }
    let drew = v1::Drew { seat: 0, count: 6, cards: cards() };
    let decision = v1::Decision { legal_actions: Some(view.legal_actions().to_wire()), clock: None };
    let observation = v1::Observation {
        events: vec![v1::Event { kind: Some(v1::event::Kind::Drew(drew)) }],
        view: Some(Box::new(view_to_wire(&view))),
        decision: Some(decision),
        ..v1::Observation::default()
    };
    check(&secrets, "Observation", observation);
    check(&secrets, "FixedDeals", v1::FixedDeals { server_seed: SEED.to_vec() });
    check(&secrets, "Dealing", v1::Dealing { server_seed: SEED.to_vec(), ..v1::Dealing::default() });
    check(&secrets, "RecordDeal", v1::RecordDeal { deck: cards(), ..v1::RecordDeal::default() });
}
