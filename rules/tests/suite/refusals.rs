//! Options that are no rules: each is refused with the field's name ("Presets").

use zetema_rules::{Draw, Options, Preset, Rules, Teams};

fn sackson() -> Options {
    *Preset::Sackson.rules(2, None).unwrap()
}

/// `None` if these options are rules, else the field that is named.
fn refused(change: impl Fn(&mut Options)) -> Option<&'static str> {
    let mut options = sackson();
    change(&mut options);
    Rules::new(options).err().map(|error| error.field())
}

#[test]
fn players_are_2_to_6() {
    for players in 0..=u8::MAX {
        let expected = (!(2..=6).contains(&players)).then_some("players");
        assert_eq!(refused(|options| options.players = players), expected, "{players} players");
    }
}

#[test]
fn teams_are_those_that_r4_gives() {
    for players in 2..=6 {
        for teams in Teams::ALL {
            let allowed = match teams {
                Teams::Individual => true,
                Teams::Pairs => players == 4 || players == 6,
                Teams::Trios => players == 6,
            };
            let found = refused(|options| {
                options.players = players;
                options.teams = teams;
            });
            assert_eq!(found, (!allowed).then_some("teams"), "{players} players, {teams}");
        }
    }
}

#[test]
fn a_hand_is_3_to_10_cards() {
    for hand_size in 0..=u8::MAX {
        let expected = (!(3..=10).contains(&hand_size)).then_some("hand_size");
        assert_eq!(refused(|options| options.hand_size = hand_size), expected, "{hand_size}");
    }
}

#[test]
fn a_turn_draws_at_one_end_at_least() {
    let draws = [Draw::None, Draw::ToHandSize, Draw::ToHandSizePlusOne];
    for start in draws {
        for end in draws {
            let expected = (start == Draw::None && end == Draw::None).then_some("draw_at_start");
            let found = refused(|options| {
                options.draw_at_start = start;
                options.draw_at_end = end;
            });
            assert_eq!(found, expected, "{start:?}, {end:?}");
        }
    }
}

#[test]
fn declarations_score_0_to_150() {
    type Field = fn(&mut Options) -> &mut u16;
    let fields: [(&str, Field); 7] = [
        ("sequence_score", |options| &mut options.sequence_score),
        ("flush_score", |options| &mut options.flush_score),
        ("flush_sequence_score", |options| &mut options.flush_sequence_score),
        ("assembly_scores.royal", |options| &mut options.assembly_scores.royal),
        ("assembly_scores.jack", |options| &mut options.assembly_scores.jack),
        ("assembly_scores.ace_and_five", |options| &mut options.assembly_scores.ace_and_five),
        ("assembly_scores.other", |options| &mut options.assembly_scores.other),
    ];
    for (name, field) in fields {
        for (score, allowed) in [(0, true), (150, true), (151, false), (u16::MAX, false)] {
            let expected = (!allowed).then_some(name);
            assert_eq!(refused(|options| *field(options) = score), expected, "{name} {score}");
        }
    }
}

#[test]
fn reused_cards_are_0_to_9() {
    for (most, allowed) in [(0, true), (9, true), (10, false), (u8::MAX, false)] {
        let expected = (!allowed).then_some("max_reused");
        assert_eq!(refused(|options| options.max_reused = Some(most)), expected, "{most}");
    }
    assert_eq!(refused(|options| options.max_reused = None), None);
}

#[test]
fn a_target_is_1_to_10_000() {
    for (target, allowed) in [(0, false), (1, true), (10_000, true), (10_001, false), (u16::MAX, false)] {
        let expected = (!allowed).then_some("target");
        assert_eq!(refused(|options| options.target = Some(target)), expected, "{target}");
    }
    assert_eq!(refused(|options| options.target = None), None);
}

#[test]
fn a_refusal_gives_the_value_and_the_bounds() {
    let error = Rules::new(Options { hand_size: 11, ..sackson() }).unwrap_err();
    assert_eq!(error.to_string(), "hand_size is 11: give 3 to 10 (R5)");
    let error = Rules::new(Options { target: Some(0), ..sackson() }).unwrap_err();
    assert_eq!(error.to_string(), "target is 0: give 1 to 10000, or none for a match of one deal (R24)");
}
