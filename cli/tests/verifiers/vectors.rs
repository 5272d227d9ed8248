//! The published vectors.

use std::fs;

use serde_json::Value;
use zetema_rules::fair::{Nonce, ServerSeed};
use zetema_rules::{
    AbortReason, Dealing, DealingKind, Entrant, Game, Options, Outcome, Phase, PlayedBy, Preset, Record,
    Rules, Step, Suit,
};

use crate::verifier::{examples, exported, verify};

/// What of the published vectors stands where in the records of `vectors.jsonl`. Of a deck these are the first cards.
const VECTORS: [(&str, &str); 8] = [
    ("/0/dealing/commitment", "9eac32f1d6b7c64c2c4e7f30f0a05c8d7369836af4a345d19e6baf5b4bb9bf65"),
    ("/0/dealing/entrants/0/nonce_hash", "e7770044b365de959564df05179dc95a7ef15bef47b2100bc6d85ce6c6139101"),
    ("/0/dealer", "1"),
    (
        "/0/deals/0/deck",
        "2S 5S 5S QD KD JS QS 2H TD 4S 5H 2C 2D 8D KS 6D 8S 3H 3S TH TC JD TS 3D JH 5C 7D 6S KC 7H 3C KS AS \
         9S 6C KH AC 7S AD 3S QC 8H 6H 9D JS 8C 9C 4D AS 7C 7S 6S QH QS 9S 5D 2S 8S 9H 4C 4S TS AH 4H JC",
    ),
    ("/0/deals/1/deck", "QD 2S TC 3D 2S KS 3C 8S"),
    ("/1/dealer", "0"),
    ("/1/deals/0/deck", "6S 9C 4C AS 7S 8C 7D 3C"),
    ("/2/deals/0/deck", "6S 9C 4C AH 7S 8C 7D 3C"),
];

/// The matches of the vectors: one of three that was cancelled when its second deal had been dealt, and two of two that never began, with
/// spades and with hearts as the imperial suit.
fn vectors() -> Vec<Record> {
    let cancelled = Outcome::Aborted { reason: AbortReason::Cancelled, seats: Vec::new() };
    let server_seed = ServerSeed::new(std::array::from_fn(|i| u8::try_from(i).unwrap()));
    let entrants = ["alice", "", "carol"].map(|text| {
        let nonce = Nonce::new(text.as_bytes()).unwrap();
        Entrant { hash: (!text.is_empty()).then(|| nonce.hash()), nonce: Some(nonce) }
    });
    let rules = Preset::Sackson.rules(3, None).unwrap();
    let dealing = Dealing {
        kind: DealingKind::Joint,
        commitment: server_seed.commitment(),
        server_seed,
        entrants: entrants.into(),
    };
    let seed = dealing.match_seed(&rules).unwrap();
    let mut events = Vec::new();
    let deck = seed.deck(0, rules.imperial_suit);
    let mut game = Game::new(rules, seed.dealer(rules.player_count()), &deck, &mut events).unwrap();
    let mut steps = Vec::new();
    while let Phase::Turn { seat, .. } = game.public().phase {
        let action = game.legal_actions().get(0).unwrap();
        game.play(seat, &action, &mut events).unwrap();
        steps.push(Step::Play { seat, action, points: 0, by: PlayedBy::Player });
    }
    let mut all = vec![Record::complete(rules, dealing, steps, Some(cancelled.clone())).unwrap()];
    for imperial_suit in [Suit::Spades, Suit::Hearts] {
        let rules = Preset::Sackson.rules(2, None).unwrap();
        let rules = Rules::new(Options { imperial_suit, ..*rules }).unwrap();
        let server_seed = ServerSeed::new([0; 32]);
        let dealing = Dealing {
            kind: DealingKind::Fixed,
            commitment: server_seed.commitment(),
            server_seed,
            entrants: Vec::new(),
        };
        all.push(Record::complete(rules, dealing, Vec::new(), Some(cancelled.clone())).unwrap());
    }
    all
}

#[test]
fn the_published_vectors_hold() {
    let file = examples().join("vectors.jsonl");
    let text = exported(&vectors());
    assert!(fs::read_to_string(&file).unwrap() == text, "{} must be this:\n{text}", file.display());
    let records: Value = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    for (place, expected) in VECTORS {
        let shown = match records.pointer(place).unwrap() {
            Value::Array(cards) => {
                cards.iter().map(|card| card.as_str().unwrap()).collect::<Vec<_>>().join(" ")
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert!(shown.starts_with(expected), "{place}: {shown}");
    }
    let (code, lines) = verify(&file);
    assert_eq!((code, lines.lines().count()), (0, 3), "{lines}");
}
