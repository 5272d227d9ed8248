//! Records that were tampered with.

use serde_json::{Value, json};
use zetema_rules::fair::ServerSeed;

use crate::played::victorian;
use crate::verifier::verify_text;

/// Where the first step of this kind is.
fn first(record: &Value, kind: &str) -> usize {
    record["steps"].as_array().unwrap().iter().position(|step| step.get(kind).is_some()).unwrap()
}

fn list<'a>(record: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    record.pointer_mut(pointer).unwrap().as_array_mut().unwrap()
}

/// A fault before the first step: of the second seat after the dealer, with a card that it was dealt, and its seat as this makes it.
fn fault_of(record: &mut Value, seat: fn(u64) -> Value) {
    let card = record["deals"][0]["deck"][1].clone();
    let of = (record["dealer"].as_u64().unwrap() + 2) % 3;
    list(record, "/steps").insert(0, json!({"fault": {"seat": seat(of), "card": card}}));
}

/// Makes this of the first action.
fn first_action(record: &mut Value, action: &Value) {
    let at = first(record, "play");
    record["steps"][at]["play"]["action"] = action.clone();
}

type Change = fn(&mut Value);

/// What is changed in a record that held, how, and what the verifiers say of it.
const TAMPERED: &[(&str, Change, &str)] = &[
    (
        "a byte of the server's seed",
        |record| record["dealing"]["server_seed"] = json!(format!("06{}", "07".repeat(31))),
        "dealing.commitment is not the hash of the server seed",
    ),
    (
        "the seed, with a commitment to it",
        |record| {
            let seed = ServerSeed::new([8; 32]);
            let commitment = seed.commitment().to_string();
            record["dealing"]["server_seed"] = json!("08".repeat(32));
            record["dealing"]["commitment"] = json!(commitment);
        },
        "does not follow from the seed",
    ),
    (
        "the commitment",
        |record| record["dealing"]["commitment"] = json!("00".repeat(32)),
        "dealing.commitment is not the hash of the server seed",
    ),
    (
        "a nonce",
        |record| record["dealing"]["entrants"][0]["nonce"] = json!("616c69636f"),
        "dealing.entrants[0].nonce_hash is not the hash of the nonce",
    ),
    (
        "the hash of a nonce",
        |record| record["dealing"]["entrants"][2]["nonce_hash"] = json!("00".repeat(32)),
        "dealing.entrants[2].nonce_hash is not the hash of the nonce",
    ),
    (
        "a nonce that nobody committed to",
        |record| record["dealing"]["entrants"][0]["nonce_hash"] = Value::Null,
        "dealing.entrants[0].nonce_hash is not the hash of the nonce",
    ),
    (
        "no nonce",
        |record| record["dealing"]["entrants"][1]["nonce"] = Value::Null,
        "dealing.entrants[1].nonce is missing",
    ),
    (
        "nonces in another order",
        |record| list(record, "/dealing/entrants").swap(0, 2),
        "does not follow from the seed",
    ),
    (
        "an entrant left out",
        |record| drop(list(record, "/dealing/entrants").pop()),
        "dealing.entrants are 2, for joint deals of 3 seats",
    ),
    (
        "shared deals of too few",
        |record| {
            record["dealing"]["kind"] = json!("shared");
            list(record, "/dealing/entrants").pop();
        },
        "dealing.entrants are 2, for shared deals of 3 seats",
    ),
    (
        "fixed deals with nonces",
        |record| record["dealing"]["kind"] = json!("fixed"),
        "dealing.entrants are 3, for fixed deals of 3 seats",
    ),
    (
        "the dealer",
        |record| record["dealer"] = json!((record["dealer"].as_u64().unwrap() + 1) % 3),
        "dealer does not follow from the seed",
    ),
    ("no dealer", |record| record["dealer"] = Value::Null, "dealer does not follow from the seed"),
    (
        "two cards swapped in the deck",
        |record| list(record, "/deals/0/deck").swap(3, 40),
        "deals[0].deck does not follow from the seed",
    ),
    (
        "two cards swapped at the end of the stock",
        |record| list(record, "/deals/0/deck").swap(63, 64),
        "deals[0].deck does not follow from the seed",
    ),
    (
        "a card of the deck",
        |record| record["deals"][0]["deck"][7] = record["deals"][0]["deck"][8].clone(),
        "deals[0].deck does not follow from the seed and the imperial suit",
    ),
    (
        "a card left out of the deck",
        |record| drop(list(record, "/deals/0/deck").pop()),
        "deals[0].deck does not follow from the seed and the imperial suit",
    ),
    (
        "a deck of lists",
        |record| list(record, "/deals/0/deck").iter_mut().for_each(|card| *card = json!([card])),
        "deals[0].deck does not follow from the seed and the imperial suit",
    ),
    (
        "the imperial suit",
        |record| record["rules"]["imperial_suit"] = json!("H"),
        "deals[0].deck does not follow from the seed and the imperial suit",
    ),
    ("no deal", |record| list(record, "/deals").clear(), "the last deal is missing and the match result"),
    (
        "a deal too many",
        |record| list(record, "/deals").push(record_deal_again()),
        "deals[1].deck does not follow from the seed",
    ),
    ("a larger hand", |record| record["rules"]["hand_size"] = json!(7), "steps["),
    ("a draw left out", |record| record["rules"]["draw_at_end"] = json!("none"), "is not in the hand"),
    (
        "a draw too many",
        |record| record["rules"]["draw_at_end"] = json!("hand-size-plus-one"),
        "is not in the hand",
    ),
    ("the first step left out", |record| drop(list(record, "/steps").remove(0)), "is to act"),
    (
        "the last step left out",
        |record| drop(list(record, "/steps").pop()),
        "the last deal is open and the match result",
    ),
    (
        "a step too many",
        |record| list(record, "/steps").push(json!({"forfeit": {"seat": 0, "reason": "resigned"}})),
        "steps are left and no deal",
    ),
    (
        "the card of a discard",
        |record| {
            // Seat 0 holds none of the last card of the stock, but by chance: another copy is not its own.
            let card = record["deals"][0]["deck"][64].clone();
            let at = first(record, "play");
            record["steps"][at]["play"]["action"] = json!({"discard": card});
        },
        "is not in the hand",
    ),
    (
        "the seat of a step",
        |record| {
            let at = first(record, "play");
            let seat = record["steps"][at]["play"]["seat"].as_u64().unwrap();
            record["steps"][at]["play"]["seat"] = json!((seat + 1) % 3);
        },
        "is to act",
    ),
    (
        "a fault left out",
        |record| {
            let at = first(record, "fault");
            list(record, "/steps").remove(at);
        },
        "steps[",
    ),
    (
        "the card of a fault",
        |record| {
            let at = first(record, "fault");
            record["steps"][at]["fault"]["card"] = record["deals"][0]["deck"][64].clone();
        },
        "can't be exposed",
    ),
    (
        "a fault where there are none",
        |record| record["rules"]["exposed_card_penalty"] = json!(false),
        "can't be exposed",
    ),
    (
        "a fault of a seat that is a text",
        |record| fault_of(record, |seat| json!(seat.to_string())),
        "steps[0].seat is none",
    ),
    (
        "a fault of the seat \"length\"",
        |record| fault_of(record, |_| json!("length")),
        "steps[0].seat is none",
    ),
    (
        "a fault of a seat that is a truth",
        |record| fault_of(record, |_| json!(true)),
        "steps[0].seat is none",
    ),
    ("a fault of a seat that is not there", |record| fault_of(record, |_| json!(3)), "steps[0].seat is none"),
    ("a fault of half a seat", |record| fault_of(record, |_| json!(0.5)), "steps[0].seat is none"),
    (
        "a fault of a list of cards",
        |record| {
            let at = first(record, "fault");
            let card = record["steps"][at]["fault"]["card"].clone();
            record["steps"][at]["fault"]["card"] = json!([card]);
        },
        "is no text",
    ),
    (
        "the seat of a step as a text",
        |record| {
            let at = first(record, "play");
            let seat = record["steps"][at]["play"]["seat"].to_string();
            record["steps"][at]["play"]["seat"] = json!(seat);
        },
        ".seat is none",
    ),
    (
        "an assembly of a list of ranks",
        |record| first_action(record, &json!({"assembly": ["K"]})),
        "is no text",
    ),
    (
        "a discard of a list of cards",
        |record| first_action(record, &json!({"discard": ["KS"]})),
        "is no text",
    ),
    ("a flush of numbers", |record| first_action(record, &json!({"flush": [2, 3, 4]})), "is no text"),
    (
        "marriages of an object",
        |record| first_action(record, &json!({"marriages": {"hand": {"length": 0}, "tableau": []}})),
        "is no list",
    ),
    (
        "a declaration of cards from the stock",
        |record| {
            let cards = record["deals"][0]["deck"].as_array().unwrap()[59..].to_vec();
            let at = first(record, "play");
            record["steps"][at]["play"]["action"] = json!({"sequence": cards});
        },
        "is not in the hand",
    ),
    (
        "marriages without cards",
        |record| {
            let at = first(record, "play");
            record["steps"][at]["play"]["action"] = json!({"marriages": Value::Null});
        },
        "is no object",
    ),
    (
        "the reason of the end as a list",
        |record| {
            let reason = record["outcome"]["result"]["reason"].clone();
            record["outcome"]["result"]["reason"] = json!([reason]);
        },
        "outcome.reason is no text",
    ),
    (
        "a truth for the revision",
        |record| record["rules_revision"] = json!(true),
        "rules_revision is unknown",
    ),
    (
        "a truth for the dealer",
        |record| record["dealer"] = json!(record["dealer"] == 1),
        "dealer does not follow from the seed",
    ),
    ("the revision", |record| record["rules_revision"] = json!(2), "rules_revision is unknown"),
    (
        "an unknown kind of deals",
        |record| record["dealing"]["kind"] = json!("raffled"),
        "dealing.kind is unknown",
    ),
    (
        "an unknown action",
        |record| {
            let at = first(record, "play");
            record["steps"][at]["play"]["action"] = json!({"peek": "KS"});
        },
        ".peek is unknown",
    ),
    (
        "an unknown step",
        |record| record["steps"][0] = json!({"peek": {"seat": 0}}),
        "steps[0].peek is unknown",
    ),
    (
        "a step of two kinds",
        |record| {
            let at = first(record, "play");
            record["steps"][at]["forfeit"] = json!({"seat": 0, "reason": "resigned"});
        },
        "is not of one kind",
    ),
    (
        "an unknown outcome",
        |record| record["outcome"] = json!({"adjourned": {}}),
        "outcome.adjourned is unknown",
    ),
    ("an unknown field", |record| record["cut"] = json!(3), "record.cut is unknown"),
    ("an unknown option", |record| record["rules"]["jokers"] = json!(2), "rules.jokers is unknown"),
    ("an unknown field of deals", |record| record["dealing"]["cut"] = json!(3), "dealing.cut is unknown"),
    (
        "an unknown field of a nonce",
        |record| record["dealing"]["entrants"][0]["salt"] = json!(""),
        "dealing.entrants[0].salt is unknown",
    ),
    (
        "an unknown value of an option",
        |record| record["rules"]["assembly"] = json!("burn"),
        "rules.assembly is unknown",
    ),
    (
        "a number for a word",
        |record| record["rules"]["exposed_card_penalty"] = json!(1),
        "rules.exposed_card_penalty is unknown",
    ),
    (
        "a field left out",
        |record| drop(record["dealing"].as_object_mut().unwrap().remove("commitment")),
        "dealing.commitment is missing",
    ),
    (
        "a short seed",
        |record| record["dealing"]["server_seed"] = json!("07"),
        "dealing.server_seed is no text of 32 hexadecimal bytes",
    ),
    (
        "a nonce of 33 bytes",
        |record| record["dealing"]["entrants"][0]["nonce"] = json!("00".repeat(33)),
        "dealing.entrants[0].nonce is no text of 0,32 hexadecimal bytes",
    ),
    ("no list of steps", |record| record["steps"] = Value::Null, "steps is no list"),
    ("no object of rules", |record| record["rules"] = json!([]), "rules is no object"),
];

/// A deal that no seed gives.
fn record_deal_again() -> Value {
    let suits = ["C", "D", "H", "S", "S"];
    let pack: Vec<String> = suits
        .iter()
        .flat_map(|suit| "A23456789TJQK".chars().map(move |rank| format!("{rank}{suit}")))
        .collect();
    json!({"deck": pack, "scores": [0, 0, 0]})
}

#[test]
fn what_was_tampered_with_is_found_and_named() {
    let record = victorian();
    let mut records = vec![record.to_string()];
    for (what, change, _) in TAMPERED {
        let mut changed = record.clone();
        change(&mut changed);
        assert_ne!(changed, record, "{what} changes nothing");
        records.push(changed.to_string());
    }
    let (code, lines) = verify_text(records.join("\n"));
    let mut lines = lines.lines();
    assert!(lines.next().unwrap().starts_with("ok record 1: joint, nonces: 0, 2, commitment: "));
    for (line, (what, _, problem)) in lines.by_ref().zip(TAMPERED) {
        assert!(line.starts_with("DIFFERS record ") && line.contains(problem), "{what}: {line}");
    }
    assert_eq!((code, lines.next()), (1, None));
}
