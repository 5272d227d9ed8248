//! The text notation: what is printed reads back, and what can't be read says why.

use std::fmt::Display;
use std::str::FromStr;

use proptest::prelude::*;
use zetema_rules::{
    Action, Options, Outcome, Preset, Record, Rules, Seat, Seats, Side, Step as RecordStep, Teams,
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
