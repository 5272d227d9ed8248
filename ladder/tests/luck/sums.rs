//! What the definition gives for some decks, and for the samples: numbers that only another version may change.

use zetema_ladder::{Baseline, Reference, ReferenceVersion};
use zetema_rules::{Options, Preset, Rules};

use crate::played::seed;

/// The rules of a preset in its first team form.
pub(crate) fn rules(preset: Preset, players: usize) -> Rules {
    preset.rules(players, None).expect("the preset is played so")
}

/// The baseline of the whole sample, as it is published; [`check_baseline`] computes it anew.
pub(crate) fn baseline(preset: Preset, players: usize) -> Baseline {
    let reference = Reference::new(&rules(preset, players), ReferenceVersion::One);
    Baseline::published(&reference).expect("a published baseline")
}

#[test]
fn a_baseline_is_published_for_the_rules_that_it_was_computed_for_and_no_others() {
    let published = |rules: &Rules| Baseline::published(&Reference::new(rules, ReferenceVersion::One));
    let usual = rules(Preset::Sackson, 2);
    let longer = Rules::new(Options { target: Some(1_000), ..*usual }).expect("rules");
    assert!(
        published(&usual).is_some() && published(&longer) == published(&usual),
        "the target makes no difference"
    );
    let other = Rules::new(Options { sequence_score: 25, ..*usual }).expect("rules");
    assert_eq!(published(&other), None);
    assert_eq!(published(&rules(Preset::Victorian, 2)), None);
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
fn the_baseline_of_two_in_one_deal_is_that_of_the_sample() {
    check_baseline(Preset::Quick, 2);
}

#[test]
fn the_baseline_of_two_pairs_is_that_of_the_sample() {
    check_baseline(Preset::Sackson, 4);
}

#[test]
fn the_baseline_of_three_is_that_of_the_sample() {
    check_baseline(Preset::Quick, 3);
}
