//! What the definition gives for some decks, and for the samples: numbers that only another version may change.

use zetema_ladder::{Baseline, Reference, ReferenceVersion};
use zetema_rules::{Preset, Rules};

use crate::played::seed;

/// The rules of a preset in its first team form.
pub(crate) fn rules(preset: Preset, players: usize) -> Rules {
    preset.rules(players, None).expect("the preset is played so")
}

/// The sums of the whole samples of version 1; [`check_baseline`] computes them anew.
const BASELINES: [(Preset, usize, &[u64]); 3] = [
    (Preset::Sackson, 2, &[4_864_150, 4_585_470]),
    (Preset::Sackson, 4, &[3_286_515, 3_053_660]),
    (Preset::Quick, 3, &[5_185_780, 5_276_540, 4_561_180]),
];

pub(crate) fn baseline(preset: Preset, players: usize) -> Baseline {
    let reference = Reference::new(&rules(preset, players), ReferenceVersion::One);
    let found = BASELINES.iter().find(|baseline| (baseline.0, baseline.1) == (preset, players));
    Baseline::from_sums(reference, found.expect("a baseline in the table").2).expect("the sums of a sample")
}

#[test]
fn the_values_of_a_deck_stay_those_of_its_version() {
    let cases: [(Preset, usize, &[u64]); 6] = [
        (Preset::Victorian, 2, &[2425, 1995]),
        (Preset::Sackson, 2, &[1910, 2390]),
        (Preset::Fosdick, 3, &[2220, 1790, 3470]),
        (Preset::Quick, 4, &[1035, 470, 1165, 2410]),
        (Preset::Akagiri, 4, &[2375, 1325]),
        (Preset::Parlett, 6, &[1070, 1015, 715]),
    ];
    let computed = cases.map(|(preset, players, _)| {
        let rules = rules(preset, players);
        let reference = Reference::new(&rules, ReferenceVersion::One);
        let deck = seed(0).deck(0, rules.imperial_suit);
        (preset, players, reference.deal(&deck).expect("the pack").finish().sums().to_vec())
    });
    let expected = cases.map(|(preset, players, sums)| (preset, players, sums.to_vec()));
    assert_eq!(computed, expected);
}

/// Plays all decks of a sample out, which takes some twenty seconds.
fn check_baseline(preset: Preset, players: usize) {
    let rules = rules(preset, players);
    let computed = Reference::new(&rules, ReferenceVersion::One).baseline().finish();
    assert_eq!(computed.sums(), baseline(preset, players).sums());
}

#[test]
fn the_baseline_of_two_is_that_of_the_sample() {
    check_baseline(Preset::Sackson, 2);
}

#[test]
fn the_baseline_of_two_pairs_is_that_of_the_sample() {
    check_baseline(Preset::Sackson, 4);
}

#[test]
fn the_baseline_of_three_is_that_of_the_sample() {
    check_baseline(Preset::Quick, 3);
}
