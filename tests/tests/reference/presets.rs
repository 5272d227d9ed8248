//! The fast rules' presets and bounds against the reference's own.

use rand::RngExt;
use zetema_rules as fast;
use zetema_tests::reference::{Draw, Field, PRESETS, Preset, Rules, Teams, translate};

use crate::support::{generator, pick, random_rules};

#[test]
fn the_presets_are_those_of_the_table() {
    assert_eq!(fast::Preset::ALL.map(fast::Preset::name), PRESETS.map(Preset::name));
    for (preset, fast_preset) in PRESETS.into_iter().zip(fast::Preset::ALL) {
        for players in 0..=8 {
            for (teams, fast_teams) in [
                (Teams::Individual, fast::Teams::Individual),
                (Teams::Pairs, fast::Teams::Pairs),
                (Teams::Trios, fast::Teams::Trios),
            ] {
                let given = fast_preset.rules(players, Some(fast_teams)).ok();
                let given = given.map(|rules| translate::rules(&rules));
                assert_eq!(given, preset.rules(players, teams), "{preset:?} {players} {teams:?}");
            }
            let default = preset.teams(players).first();
            let given = fast_preset.rules(players, None).ok().map(|rules| translate::rules(&rules));
            assert_eq!(given, default.and_then(|teams| preset.rules(players, *teams)));
        }
    }
}

/// The name that the fast rules give the field.
fn names(field: Field) -> &'static [&'static str] {
    match field {
        Field::Players => &["players"],
        Field::Teams => &["teams"],
        Field::Hand => &["hand_size"],
        Field::Draw => &["draw_at_start"],
        Field::Sequence => &["sequence_score"],
        Field::Flush => &["flush_score"],
        Field::FlushSequence => &["flush_sequence_score"],
        Field::AssemblyScores => &[
            "assembly_scores.royal",
            "assembly_scores.jack",
            "assembly_scores.ace_and_five",
            "assembly_scores.other",
        ],
        Field::MaxReused => &["max_reused"],
        Field::Target => &["target"],
    }
}

#[test]
fn both_refuse_the_same_rules_for_the_same_field() {
    let mut random = generator(20);
    let mut refused = 0;
    for _ in 0..50_000 {
        let mut rules = random_rules(&mut random);
        for _ in 0..random.random_range(0..3) {
            let any = random.random_range(0..=12);
            let points = pick(&mut random, &[0, 149, 150, 151, 65_535]);
            match random.random_range(0..12) {
                0 => rules.players = any,
                1 => rules.teams = pick(&mut random, &[Teams::Individual, Teams::Pairs, Teams::Trios]),
                2 => rules.hand = any,
                3 => rules.draw_at_start = Draw::Never,
                4 => rules.draw_at_end = Draw::Never,
                5 => rules.sequence = points,
                6 => rules.flush = points,
                7 => rules.flush_sequence = points,
                8 => rules.assembly_scores.king_queen = points,
                9 => rules.assembly_scores.other = points,
                10 => rules.max_reused = Some(any),
                _ => rules.target = Some(pick(&mut random, &[0, 1, 10_000, 10_001, 65_535])),
            }
        }
        refused += u32::from(!compare_refusal(&rules));
    }
    assert!(refused > 10_000, "{refused}");
}

/// Says whether both accept the rules.
fn compare_refusal(rules: &Rules) -> bool {
    let options = translate::fast_options(rules).expect("numbers in range");
    let fields = rules.refused();
    match fast::Rules::new(options) {
        Ok(_) => assert_eq!(fields, [], "{rules:?}"),
        Err(error) => {
            let named = fields.iter().any(|field| names(*field).contains(&error.field()));
            assert!(named, "{error}, but {fields:?}: {rules:?}");
        }
    }
    fields.is_empty()
}
