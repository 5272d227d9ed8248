//! The text notation: what is printed reads back, and what can't be read says why.

use std::fmt::Display;
use std::str::FromStr;

use proptest::prelude::*;
use zetema_rules::{
    Action, NamedTimeControl, Options, Outcome, Preset, Record, Rules, Seat, Seats, Side, Step as RecordStep,
    Teams, TimeControl,
};

use crate::support::{free_rules, preset_rules, seat};
use crate::walk::{Step, Trouble, Walk};

proptest! {
    #[test]
    fn rules_read_back(rules in free_rules()) {
        prop_assert_eq!(rules.to_string().parse(), Ok(rules));
        let options: Options = *rules;
        for (name, value) in options.as_text() {
            prop_assert_eq!(options.with(name, &value), Ok(options));
        }
    }

    #[test]
    fn actions_read_back(rules in free_rules(), seed: u64) {
        let mut walk = Walk::new(rules, seed, Trouble::NONE);
        while walk.step(1).is_some() {
            for action in walk.game.legal_actions().iter() {
                prop_assert_eq!(action.to_string().parse::<Action>(), Ok(action));
            }
        }
    }

    #[test]
    fn an_action_is_read_whatever_the_space_between_its_words(seed: u64) {
        let mut walk = Walk::new(Preset::Parlett.rules(2, None).unwrap(), seed, Trouble::NONE);
        while let Some(step) = walk.step(1) {
            let Step::Play(_, action) = step else { continue };
            let spaced = format!("  {}\t", action.to_string().replace(' ', "  "));
            prop_assert_eq!(spaced.parse::<Action>(), Ok(action));
        }
    }
}

#[test]
fn rules_of_every_preset_are_printed_by_its_name() {
    for rules in preset_rules() {
        assert_eq!(rules.to_string().parse(), Ok(rules));
    }
    let akagiri = Preset::Akagiri.rules(3, None).unwrap();
    // The two presets differ in the players that they take only; the default is named.
    assert_eq!(akagiri.to_string(), "sackson players=3 teams=individual");
}

/// `Err` with this text.
fn check<T: FromStr<Err: Display>>(text: &str, why: &str) {
    match text.parse::<T>() {
        Ok(_) => panic!("{text:?} is read"),
        Err(error) => assert!(error.to_string().contains(why), "{text:?}: {error}"),
    }
}

#[test]
fn texts_that_are_no_actions() {
    for (text, why) in [
        ("", "\"\" is no action"),
        ("pass", "\"pass\" is no action: give discard"),
        ("discard", "is no action"),
        ("discard KX", "\"KX\" is no card"),
        ("discard KS QS", "\"KS QS\" is no card"),
        ("sequence 2C 3C 2X", "\"2X\" is no card"),
        ("flush KS KS KS", "none more than twice"),
        ("assembly", "\"\" is no rank"),
        ("assembly 10", "\"10\" is no rank"),
        ("marriages KS QS", "\"KS\" stands where"),
        ("marriages handKS QS", "\"handKS\" stands where"),
        ("marriages hand KS tableauQS", "\"tableauQS\" is no card"),
        ("marriages tableau QS hand KS", "\"hand\" is no card"),
        ("marriages hand hand KS", "\"hand\" is no card"),
    ] {
        check::<Action>(text, why);
    }
}

#[test]
fn texts_that_are_no_rules() {
    for (text, why) in [
        ("", "\"\" is no preset"),
        ("hoyle", "\"hoyle\" is no preset: give one of victorian"),
        ("sackson 4", "\"4\" is no option: give option=value"),
        ("sackson players", "option=value"),
        ("sackson player=4", "\"player\" is no option: give one of players, teams"),
        ("sackson players=four", "players=four: invalid digit"),
        ("sackson players=7", "players is 7: give 2 to 6"),
        ("sackson players=2 players=3", "players is given twice"),
        ("sackson teams=trio", "\"trio\" is none of individual, pairs, trios"),
        ("akagiri players=5", "not played by 5: give 2, 3, 4, 6"),
        ("victorian players=4 teams=individual", "give pairs"),
        ("quick players=4 teams=trios", "give individual"),
        ("sackson target=0", "target is 0"),
        ("sackson target=soon", "target=soon: invalid digit found in string: give a number or none"),
        ("sackson melds_after_stock=true", "give yes or no"),
        ("sackson imperial_suit=X", "\"X\" is no suit"),
        ("sackson hand_size=11", "hand_size is 11"),
    ] {
        check::<Rules>(text, why);
    }
}

#[test]
fn texts_that_are_no_steps_or_outcomes() {
    for (text, why) in [
        ("", "give a seat and what it did"),
        ("0", "give a seat and what it did"),
        ("6 discard KS", "\"6\" is no seat: give 0 to 5"),
        ("0 fault KX", "\"KX\" is no card"),
        ("0 forfeit bored", "\"bored\" is none of resigned"),
        ("0 discard KS = many", "many"),
        ("0 autoplay autoplay discard KS", "is no action"),
    ] {
        check::<RecordStep>(text, why);
    }
    for (text, why) in [
        ("", "is no outcome: give result or aborted"),
        ("won", "\"won\" is no outcome"),
        ("result target", "give ranks and totals by side"),
        ("result target ranks 1 2 totals 300", "2 ranks and 1 totals"),
        ("result target ranks 0 1 totals 300 0", "one rank from 1"),
        ("result luck ranks 1 2 totals 300 0", "\"luck\" is none of target"),
        ("aborted bored", "\"bored\" is none of no-show"),
        ("aborted no-show 9", "\"9\" is no seat"),
    ] {
        check::<Outcome>(text, why);
    }
}

#[test]
fn texts_that_are_no_records_name_the_line() {
    let record = include_str!("../../fuzz/seeds/notation/record-sackson.txt");
    assert_eq!(record.parse::<Record>().unwrap().to_string(), record);
    let changed = |from: &str, to: &str| {
        assert!(record.contains(from), "{from}");
        record.replacen(from, to, 1)
    };
    for (text, why) in [
        (String::new(), "line 1: "),
        (changed("record 1", "record 2"), "line 1: "),
        (changed("rules sackson", "rules hoyle"), "line 2: \"hoyle\" is no preset"),
        (changed("revision 1", "revision one"), "line 3: "),
        (changed("dealing joint", "dealing fair"), "line 4: \"fair\" is none of joint"),
        (changed("commitment ", "commitment 0"), "line 5: "),
        (changed("commitment ", "commitment 00"), "line 5: 33 bytes: give 32"),
        (changed("entrant hash=", "entrant mash="), "line 7: "),
        (changed("entrant nonce=", "entrant nonce=00 nonce="), "line 8: nonce is given twice"),
        (
            changed("entrant hash=", &format!("entrant hash={} hash=", "00".repeat(32))),
            "line 7: hash is given twice",
        ),
        (
            changed("entrant nonce=", &format!("entrant nonce={}", "00".repeat(33))),
            "line 8: a nonce has at most",
        ),
        (changed("dealer ", "dealer 9"), "line 9: "),
        (changed("deal ", "deal KX "), "line 10: \"KX\" is no card"),
        (changed("deal ", "deal KS "), "line 10: these 66 cards are no pack"),
        (changed("scores ", "points "), "line 11: "),
        (changed("aborted idle 0", ""), "line "),
        (format!("{record}0 discard KS\n"), "nothing may follow the outcome"),
    ] {
        check::<Record>(&text, why);
    }
    let commented = record.replace('\n', "  # as it was\n\n");
    assert_eq!(commented.parse::<Record>(), record.parse());
}

/// A record as text, with lines for its clocks before the outcome.
fn with_clocks(lines: &str) -> String {
    let record = include_str!("../../fuzz/seeds/notation/record-sackson.txt");
    record.replacen("aborted", &format!("{lines}\naborted"), 1)
}

#[test]
fn the_clocks_of_a_record_read_back_from_their_text() {
    let standard = "join_timeout_ms=600000 budget_ms=10000 first_budget_ms=30000 bank_ms=120000 increment_ms=0 \
                    network_credit_ms=100 network_credit_total_ms=10000 time_out=autoplay:3";
    assert_eq!(TimeControl::default().to_string(), standard);
    for named in NamedTimeControl::ALL {
        let control = TimeControl::named(named);
        for ledger in [
            "",
            "\nledger decision=1 seat=0 published_ms=0 received_ms=52 credit_ms=3 charged_ms=49 bank_ms=5000",
            "\nledger decision=9 seat=1 published_ms=7 credit_ms=0 charged_ms=18446744073709551615 bank_ms=0 \
             interrupted=yes attendance=absent\
             \nledger decision=9 seat=1 published_ms=7 received_ms=7 credit_ms=0 charged_ms=0 bank_ms=1",
        ] {
            let text = with_clocks(&format!("time_control {control}{ledger}"));
            let record: Record = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let clocks = record.clocks.as_ref().expect("they were given");
            assert_eq!((clocks.control, clocks.ledger.len()), (control, ledger.matches("ledger").count()));
            assert_eq!(record.to_string(), text);
        }
    }
    let without: Record = include_str!("../../fuzz/seeds/notation/record-sackson.txt").parse().unwrap();
    assert_eq!(without.clocks, None);
}

#[test]
fn texts_that_are_no_clocks() {
    let none = "time_control join_timeout_ms=600000 idle_timeout_ms=86400000";
    let blitz = format!("time_control {}", TimeControl::named(NamedTimeControl::Blitz));
    let entry = "ledger decision=1 seat=0 published_ms=0 received_ms=52 credit_ms=0 charged_ms=52 bank_ms=0";
    let changed = |from: &str, to: &str| {
        let text = format!("{blitz}\n{entry}");
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let first = with_clocks("").lines().position(str::is_empty).expect("the clocks stand there") + 1;
    for (text, line, why) in [
        (entry.to_owned(), 0, "\"ledger\" is no outcome"),
        (format!("{none}\n{none}"), 1, "\"time_control\" is no outcome"),
        ("time_control blitz".to_owned(), 0, "blitz: give name=value"),
        ("time_control".to_owned(), 0, "budget_ms: is missing"),
        (format!("{none} bank_ms=0"), 0, "bank_ms: has no place beside idle_timeout_ms"),
        (none.replace("join_timeout_ms=600000 ", ""), 0, "join_timeout_ms: is missing"),
        (none.replace("600000", "999"), 0, "join_timeout_ms: is 999: give 1000 to 604800000"),
        (none.replace("86400000", "9999999999"), 0, "idle_timeout_ms: number too large"),
        (changed("increment_ms=200", "increment=200"), 0, "increment: is none of join_timeout_ms, "),
        (changed("bank_ms=", "bank_ms=1 bank_ms="), 0, "bank_ms: is given twice"),
        (changed("budget_ms=500", "budget_ms=0"), 0, "budget_ms: is 0: give 1 to 2592000000"),
        (changed("forfeit", "autoplay"), 0, "time_out: \"autoplay\" is neither forfeit nor autoplay:STRIKES"),
        (changed("forfeit", "autoplay:0"), 0, "strikes: is 0: give 1 to 1000"),
        (changed("forfeit", "autoplay:x"), 0, "time_out: \"x\": invalid digit"),
        (changed("decision=1 ", ""), 1, "decision: is missing"),
        (changed("seat=0", "seat=6"), 1, "seat: \"6\" is no seat"),
        (changed("charged_ms=52", "charged_ms=-1"), 1, "charged_ms: invalid digit"),
        (changed("received_ms=52", "received_ms="), 1, "received_ms: cannot parse integer from empty"),
        (changed("received_ms=52", "interrupted=no"), 1, "interrupted: give yes, or leave it out"),
        (changed("received_ms=52", "late"), 1, "late: give name=value"),
    ] {
        check::<Record>(&with_clocks(&text), &format!("line {}: {why}", first + line));
    }
}

#[test]
fn seats_and_sides_are_numbered_from_0() {
    assert_eq!((Seat::new(5).map(Seat::index), Seat::new(6)), (Some(5), None));
    assert_eq!((Side::new(5).map(Side::index), Side::new(6)), (Some(5), None));
    assert_eq!((seat(3).to_string(), Side::new(2).unwrap().to_string()), ("3".into(), "2".into()));
    let some = Seats::EMPTY.with(seat(4)).with(seat(1)).with(seat(4));
    assert_eq!(some.iter().collect::<Vec<_>>(), [seat(1), seat(4)]);
    assert!(Seats::EMPTY.is_empty() && !some.is_empty() && some.contains(seat(4)) && !some.contains(seat(0)));
    assert_eq!(Teams::ALL.map(Teams::word), ["individual", "pairs", "trios"]);
}
