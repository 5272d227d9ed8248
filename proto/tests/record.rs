//! Records come back from the wire as they were, and still verify.

#![allow(clippy::expect_used, clippy::panic)] // The whole file is tests.

use proptest::prelude::*;
use prost::Message;
use zetema_proto::{DealSet, FieldError, RecordHeader, Visibility, record_from_wire, record_to_wire, v1};
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    AbortReason, Attendance, Charge, Clocks, Dealing, DealingKind, Entrant, ForfeitReason, Game, LedgerEntry,
    NamedTimeControl, Outcome, Phase, PlayedBy, Preset, Record, Rules, Seat, Step, TimeControl,
};

fn seat(index: usize) -> Seat {
    Seat::new(index).expect("a seat")
}

/// The first seat was played by a bot, the others by token.
fn header(players: usize) -> RecordHeader {
    let mut bots = vec![None; players];
    bots[0] = Some("deep-zetema".into());
    RecordHeader {
        match_id: "m1".into(),
        visibility: Visibility::Public,
        client_reference: "round 3".into(),
        created_at_ms: 1_795_228_800_123,
        ended_at_ms: 1_795_228_860_000,
        bots,
        ladder: Some("quick-2".into()),
        deal_set: None,
    }
}

fn entrant(nonce: &[u8]) -> Entrant {
    let nonce = Nonce::new(nonce).expect("it is short");
    Entrant { hash: (!nonce.reveal().is_empty()).then(|| nonce.hash()), nonce: Some(nonce) }
}

fn dealing(kind: DealingKind, seed: u8, entrants: Vec<Entrant>) -> Dealing {
    let server_seed = ServerSeed::new([seed; 32]);
    Dealing { kind, commitment: server_seed.commitment(), server_seed, entrants }
}

/// A match played by numbers that stand for chance, and ended by a resignation after some steps.
fn record(rules: Rules, dealing: Dealing, chances: &[usize]) -> Record {
    let seed = dealing.match_seed(&rules).expect("every nonce is there");
    let deck = |deal| seed.deck(deal, rules.imperial_suit);
    let mut events = Vec::new();
    let mut game = Game::new(rules, seed.dealer(rules.player_count()), &deck(0), &mut events).expect("dealt");
    let mut steps = Vec::new();
    for &chance in chances {
        if game.public().phase == Phase::DealOver {
            game.deal(&deck(game.public().deal + 1), &mut events).expect("a deal is due");
        }
        let Some(to_act) = game.to_act() else { break };
        let other = rules.seats().nth(chance % rules.player_count().count()).expect("a seat");
        if let Some(card) = game.faults(other).iter().next().filter(|_| chance.is_multiple_of(7)) {
            game.fault(other, card, &mut events).expect("it was listed");
            steps.push(Step::Fault { seat: other, card });
        }
        let legal = game.legal_actions();
        let action = legal.get(legal.len() - 1 - chance % legal.len()).expect("it is in the list");
        game.play(to_act, &action, &mut events).expect("it was listed");
        steps.push(Step::Play { seat: to_act, action, points: 0, by: PlayedBy::Player });
    }
    if let Some(first) = game.to_act() {
        // One seat after the other, until one side is left.
        for places in 0..rules.player_count().count() {
            let resigned = first.clockwise(places, rules.player_count());
            if game.forfeit(resigned, &mut events).is_ok() {
                steps.push(Step::Forfeit { seat: resigned, reason: ForfeitReason::Resigned });
            }
        }
    }
    // A match whose last step ended a deal, and no more, is aborted between two deals.
    let aborted = Outcome::Aborted { reason: AbortReason::Idle, seats: vec![] };
    Record::complete(rules, dealing, steps, Some(aborted)).expect("the rules allowed every step")
}

fn check(record: &Record, header: &RecordHeader) {
    let message = record_to_wire(record, header).expect("the header fits the record");
    let message = v1::Record::decode(message.encode_to_vec().as_slice()).expect("it was encoded");
    let (read, read_header) = record_from_wire(&message).expect("it was written so");
    assert_eq!(&read, record);
    assert_eq!(&read_header, header);
    read.verify().expect("it was complete");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_record_of_any_preset_comes_back_as_it_was(
        preset in proptest::sample::select(Preset::ALL.to_vec()),
        players in 2..=6_usize,
        seed in any::<u8>(),
        chances in proptest::collection::vec(0..1_000_usize, 0..400),
    ) {
        if let Ok(rules) = preset.rules(players, None) {
            let nonces = (0..players).map(|i| entrant(&vec![seed; i])).collect();
            check(&record(rules, dealing(DealingKind::Joint, seed, nonces), &chances), &header(players));
        }
    }
}

fn two() -> Rules {
    Preset::Sackson.rules(2, None).expect("sackson is played by two")
}

#[test]
fn fixed_and_shared_deals_come_back_as_they_were() {
    check(&record(two(), dealing(DealingKind::Fixed, 1, vec![]), &[1, 2, 3]), &header(2));

    let entrants = vec![entrant(b"a"), entrant(b""), entrant(b"c"), entrant(b"d")];
    let shared = record(two(), dealing(DealingKind::Shared, 2, entrants), &[1, 2, 3]);
    let name = |id: &str, index| (id.to_owned(), seat(index));
    let names = vec![name("m1", 0), name("m1", 1), name("m2", 0), name("m2", 1)];
    let deal_set = Some(DealSet { id: "s1".into(), entrants: names });
    check(&shared, &RecordHeader { deal_set, ..header(2) });

    let refused = record_to_wire(&shared, &header(2)).expect_err("shared deals have a deal set");
    assert_eq!(refused.path, "dealing.shared.deal_set_id");
}

#[test]
fn matches_aborted_before_the_deal_come_back_as_they_were() {
    let promised = Entrant { nonce: None, ..entrant(b"never sent") };
    let cases = [
        (AbortReason::NoShow, vec![seat(1)], vec![]),
        (AbortReason::NonceMissing, vec![seat(0)], vec![promised.clone(), entrant(b"sent")]),
        (AbortReason::TooLong, vec![], vec![]),
        (AbortReason::Cancelled, vec![], vec![entrant(b"sent"), promised]),
    ];
    for (reason, seats, entrants) in cases {
        let aborted = Outcome::Aborted { reason, seats };
        let dealing = dealing(DealingKind::Joint, 3, entrants);
        let record = Record::complete(two(), dealing, vec![], Some(aborted)).expect("it was aborted");
        assert_eq!(record.dealer, None);
        check(&record, &header(2));
    }
}

fn entry(decision: u32, received_ms: Option<u64>) -> LedgerEntry {
    LedgerEntry {
        decision,
        seat: seat(1),
        published_ms: u64::from(u32::MAX) + 1,
        received_ms,
        charge: Charge { credit_ms: 3, charged_ms: u64::MAX, bank_ms: 5 },
        interrupted: received_ms.is_none(),
        attendance: received_ms.is_none().then_some(Attendance::Absent),
    }
}

#[test]
fn the_clocks_come_back_as_they_were() {
    let played = record(two(), dealing(DealingKind::Fixed, 1, vec![]), &[1, 2, 3]);
    for named in NamedTimeControl::ALL {
        for ledger in [vec![], vec![entry(1, Some(u64::MAX)), entry(2, None)]] {
            let clocks = Some(Clocks { control: TimeControl::named(named), ledger });
            let with_clocks = Record { clocks, ..played.clone() };
            let message = record_to_wire(&with_clocks, &header(2)).expect("the header fits the record");
            assert_eq!(record_from_wire(&message), Ok((with_clocks, header(2))));
        }
    }
}

#[test]
fn records_that_are_not_valid_name_the_field() {
    type Case = (&'static str, &'static str, fn(&mut v1::Record));
    fn joint(record: &mut v1::Record) -> &mut v1::JointDealing {
        match record.dealing.as_mut().and_then(|dealing| dealing.kind.as_mut()) {
            Some(v1::dealing::Kind::Joint(joint)) => joint,
            _ => panic!("the deals are joint"),
        }
    }
    let cases: &[Case] = &[
        ("rules", "missing", |record| record.rules = None),
        ("seats", "are not those of the rules", |record| record.seats.swap(0, 1)),
        ("visibility", "missing", |record| record.visibility = 0),
        ("end_time", "missing", |record| record.end_time = None),
        ("create_time", "no time", |record| {
            record.create_time = Some(prost_types::Timestamp { seconds: 0, nanos: -1 });
        }),
        ("dealing", "missing", |record| record.dealing = None),
        ("dealing.joint.hashes[0].seat", "seat 0 comes here", |record| joint(record).hashes[0].seat = 1),
        ("dealing.joint.hashes[1].nonce_hash", "give 32", |record| {
            joint(record).hashes[1].nonce_hash = vec![1];
        }),
        ("dealing.joint.nonces[1].seat", "is 0", |record| joint(record).nonces[1].seat = 0),
        ("dealing.joint.nonces[0].nonce", "33 were given", |record| {
            joint(record).nonces[0].nonce = vec![0; 33];
        }),
        ("dealer", "9 is no seat", |record| record.dealer = Some(9)),
        ("deals[0].deck", "no pack of 65", |record| record.deals[0].deck.truncate(64)),
        ("deals[0].deck[3]", "missing", |record| record.deals[0].deck[3] = 0),
        ("deals[0].scores[1]", "too large", |record| record.deals[0].scores[1] = 65_536),
        ("steps[1].kind", "missing", |record| record.steps[1].kind = None),
        ("outcome", "missing", |record| record.outcome = None),
        ("time_control.named", "missing", |record| {
            let control = record.time_control.as_mut().expect("it has one");
            control.decisions = Some(v1::time_control::Decisions::Named(0));
        }),
        ("time_control", "missing", |record| record.time_control = None),
        ("ledger[1].seat", "9 is no seat", |record| record.ledger[1].seat = 9),
        ("outcome.kind", "missing", |record| record.outcome = Some(v1::Outcome { kind: None })),
    ];
    let nonces = vec![entrant(b"alice"), entrant(b"")];
    let record = Record {
        clocks: Some(Clocks {
            control: TimeControl::default(),
            ledger: vec![entry(1, Some(7)), entry(2, Some(8))],
        }),
        ..record(two(), dealing(DealingKind::Joint, 4, nonces), &[1, 2, 3, 4])
    };
    for (path, words, break_it) in cases {
        let mut message = record_to_wire(&record, &header(2)).expect("the header fits the record");
        break_it(&mut message);
        let Err(FieldError { path: found, problem }) = record_from_wire(&message) else {
            panic!("{path} should be refused: {words}");
        };
        assert_eq!(&found, path);
        assert!(problem.to_string().contains(words), "{path}: {problem}");
    }
}
