//! No text makes the notation panic, and what it reads it prints so that it reads the same again.
#![no_main]

use std::fmt::Display;
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use zetema_rules::{
    Action, Card, Cards, Declaration, EndReason, LedgerEntry, Options, Outcome, Preset, Rank, Record, Rules,
    Step, Suit, Teams, TimeControl,
};

/// Reads, prints and reads again.
fn check<T: FromStr + Display + PartialEq>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let printed = value.to_string();
    match printed.parse::<T>() {
        Ok(again) => assert!(again == value, "{text:?} is printed as {printed:?}, which is another"),
        Err(_) => panic!("{text:?} is printed as {printed:?}, which can't be read"),
    }
    Some(value)
}

fuzz_target!(|text: &str| {
    check::<Card>(text);
    check::<Cards>(text);
    check::<Declaration>(text);
    check::<Action>(text);
    check::<Step>(text);
    check::<Outcome>(text);
    check::<TimeControl>(text);
    check::<LedgerEntry>(text);
    check::<Teams>(text);
    check::<EndReason>(text);
    check::<Preset>(text);
    // Without a printed form of their own, or with several.
    let _ = (text.parse::<Rank>(), text.parse::<Suit>());
    if let Some(rules) = check::<Rules>(text) {
        let options: Options = *rules;
        for (name, value) in options.as_text() {
            assert!(options.with(name, &value) == Ok(options), "{name}={value}");
        }
    }
    if let Some(record) = check::<Record>(text) {
        // Most are not true, but none makes the check panic.
        let _ = record.verify();
    }
});
