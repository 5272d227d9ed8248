//! Matches of every preset.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use zetema_rules::{DealingKind, Options, Preset, Record, Rules, Suit};

use crate::played::{dealing, played};
use crate::verifier::{exported, verify_text};

const RECORDS_OF_EACH_PRESET: usize = 1_000;

/// The rules of a preset, over its numbers of players and all imperial suits.
fn rules_of(preset: Preset, number: usize) -> Rules {
    let players = preset.players()[number % preset.players().len()];
    let rules = preset.rules(usize::from(players), None).unwrap();
    Rules::new(Options { imperial_suit: Suit::ALL[number / 5 % 4], ..*rules }).unwrap()
}

#[test]
fn a_thousand_records_of_every_preset_hold() {
    let mut rng = SmallRng::seed_from_u64(1);
    for preset in Preset::ALL {
        let records: Vec<Record> = (0..RECORDS_OF_EACH_PRESET)
            .map(|number| {
                let rules = rules_of(preset, number);
                let kind = match number % 10 {
                    8 => DealingKind::Shared,
                    9 => DealingKind::Fixed,
                    _ => DealingKind::Joint,
                };
                let dealing = dealing(kind, rules.player_count().count(), &mut rng);
                let abort_after = (number % 20 == 0).then(|| rng.random_range(0..100));
                played(rules, dealing, abort_after, &mut rng)
            })
            .collect();
        let (code, lines) = verify_text(exported(&records));
        let wrong = lines.lines().find(|line| !line.starts_with("ok "));
        assert_eq!((wrong, code), (None, 0), "{}", preset.name());
        assert_eq!(lines.lines().count(), RECORDS_OF_EACH_PRESET);
    }
}
